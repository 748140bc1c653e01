"""What decoding needs to know of an encoding, whichever method made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class Codebook(Protocol):
    """The correspondence between original and released features, rows and classes."""

    @property
    def features(self) -> tuple[str, ...]:
        """Original names of the encoded numeric features, in released column order."""

    @property
    def released_features(self) -> tuple[str, ...]:
        """Released names of the same features."""

    @property
    def classes(self) -> Mapping[Any, Any] | None:
        """Released class label to original class label; None if labels were kept."""

    @property
    def increasing(self) -> bool:
        """Whether larger originals have larger codes (False: reversed, mode "anti")."""

    def column(self, index: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Distinct original values in increasing order, and the code of each."""

    def encode(self, data: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Codes of original training records, rows in their original order; NaN stays NaN."""

    def order(self, rows: int) -> npt.NDArray[np.int64] | None:
        """Original row of each released row; None if rows were not moved."""


def is_category(book: Codebook, column: int) -> bool:
    """Return True if a feature is categories by number; books of numbers alone have none."""
    known = getattr(book, "categorical", ())
    return bool(known) and bool(known[column])
