"""The array types, once: what a name in a signature says about the numbers it holds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

__all__ = ["Bools", "Floats", "Ints", "Words"]
