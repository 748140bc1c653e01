"""Finding the level that whole numbers are rounded to, by address instead of by search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from unspoken.numerics.tally import DIRECT_RANGE

_EXACT = 1 << 24


@dataclass(frozen=True)
class WholeLevels:
    """What belongs to each whole number from `low` to `high`: that of the level it falls into.

    `table` is addressed by the number itself, negative ones from its end. Numbers below the first
    level belong to it, as numbers above the last belong to that.
    """

    low: int
    high: int
    table: npt.NDArray[np.int32]

    @classmethod
    def over(cls, floor: npt.NDArray[np.float32], payload: npt.NDArray[np.int32]) -> Self | None:
        """Return the levels that begin at increasing numbers; None where they reach too far."""
        if not floor.size or not np.isfinite(floor).all() or \
                np.abs(floor[[0, -1]]).max() >= _EXACT:
            return None
        low, high = min(0, int(np.floor(floor[0]))), max(0, int(np.ceil(floor[-1])))
        if high - low >= DIRECT_RANGE:
            return None
        grid = np.arange(low, high + 1)
        place = np.searchsorted(floor.astype(np.float64), grid.astype(np.float64), "right")
        table = np.empty(grid.size, np.int32)
        table[grid] = payload[np.maximum(place - 1, 0)]
        return cls(low, high, table)

    def find(self, data: npt.NDArray[Any]) -> npt.NDArray[np.int32] | None:
        """Return what belongs to every number; None where one is missing or not whole."""
        if not data.size or data.dtype.kind not in "iuf":
            return None
        least, most = data.min(), data.max()
        # A comparison with NaN is false, too.
        if not (least > -_EXACT and most < _EXACT):
            return None
        cells = data if data.dtype.kind != "f" else data.astype(np.int32)
        if data.dtype.kind == "f" and not np.array_equal(cells, data):
            return None
        if least < self.low or most > self.high:
            cells = np.clip(cells.astype(np.int32), self.low, self.high)
        return self.table.take(cells)
