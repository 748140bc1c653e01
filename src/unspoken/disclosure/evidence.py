"""What the pictures of an audit need, which only the custodian has: values beside their codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints


@dataclass(frozen=True)
class Evidence:
    """One column: values (increasing), the code of each, its records, its pieces.

    `starts` are positions among the values; `venn` holds the shares of values that are recovered
    by exactly the curves named, see `plots.venn_regions`.
    """

    name: str
    values: Floats
    codes: Floats
    records: Ints
    starts: Ints
    mono: npt.NDArray[np.bool_]
    venn: Mapping[tuple[int, ...], float] | None
