"""Finding float32 values among sorted distinct ones: by address where whole, else by hash."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.numerics.float_hashing import FloatHash
from unspoken.numerics.tally import DIRECT_RANGE

_EXACT = 1 << 24
_ABSENT = np.iinfo(np.int32).min


class Lookup:
    """What belongs to each of some distinct, increasing values, found for whole arrays."""

    def __init__(self, values: Floats, payload: npt.NDArray[np.int32]) -> None:
        self.values = values
        self.payload = payload
        self._direct = self._address_table(values)

    @cached_property
    def _narrow(self) -> npt.NDArray[np.float32]:
        return self.values.astype(np.float32)

    @cached_property
    def _hash(self) -> FloatHash:
        return FloatHash(self._narrow, self.payload)

    def _address_table(self, values: Floats) -> npt.NDArray[np.int32] | None:
        """A table addressed by the value itself; negative values count from its end."""
        if values.size == 0 or values[-1] - values[0] >= DIRECT_RANGE:
            return None
        if max(abs(values[0]), abs(values[-1])) >= _EXACT or np.any(values != np.rint(values)):
            return None
        low, high = min(0, int(values[0])), max(0, int(values[-1]))
        table = np.full(high - low + 1, _ABSENT, np.int32)
        table[values.astype(np.intp)] = self.payload
        return table

    def find(self, data: npt.NDArray[Any], nearest: bool = False) -> tuple[Any, Any, float | None]:
        """Return the payloads, the mask of missing values (or None), and a value not there.

        With `nearest` a value that is not there gets the payload of its nearest neighbour.
        Where a value is missing, the payload means nothing.
        """
        missing = None
        if np.issubdtype(data.dtype, np.floating):
            missing = np.isnan(data)
            missing = missing if missing.any() else None
        if missing is not None:
            known = self.find(data[~missing], nearest)
            places = np.zeros(data.size, np.int32)
            places[~missing] = known[0]
            return places, missing, known[2]
        if data.size == 0:
            return np.zeros(0, np.int32), None, None
        if self._direct is not None:
            direct = self._address(data)
            if direct is not None:
                return direct, None, None
        return self._search(data, nearest)

    def _address(self, data: npt.NDArray[Any]) -> Any | None:
        assert self._direct is not None
        if data.min() < self.values[0] or data.max() > self.values[-1]:
            return None
        cell = data
        if not np.issubdtype(data.dtype, np.integer):
            cell = data.astype(np.int32)
            if not np.array_equal(cell, data):
                return None
        places = self._direct.take(cell)
        return None if places.min() == _ABSENT else places

    def _search(self, data: npt.NDArray[Any], nearest: bool) -> tuple[Any, Any, float | None]:
        if self.values.size == 0:
            return np.zeros(data.size, np.int32), None, float(data[0])
        wanted = data.astype(np.float32)
        held, unknown = self._hash.find(wanted)
        if unknown.size and not nearest:
            return np.zeros(0, np.int32), None, float(data[unknown[0]])
        if unknown.size:
            held[unknown] = self.payload[self._nearest(wanted[unknown])]
        return held, None, None

    def _nearest(self, wanted: npt.NDArray[np.float32]) -> npt.NDArray[np.intp]:
        known = self._narrow
        right = np.minimum(np.searchsorted(known, wanted), known.size - 1)
        left = np.maximum(right - 1, 0)
        closer = np.abs(wanted - known[left]) < np.abs(known[right] - wanted)
        return np.where(closer, left, right)
