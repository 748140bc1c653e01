"""Finding float32 values by hashing their bits: a few passes over an array, no search per value.

A table of slots holds one candidate each; values whose slot was taken by another are few and are
left to a search. So the answer never depends on the hash, only the time does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Narrow = npt.NDArray[np.float32]
Payload = npt.NDArray[np.int32]

_FACTORS = tuple(np.uint32(f) for f in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F))
_SLOTS_PER_VALUE = 16
_MAX_BITS = 22


class FloatHash:
    """What belongs to each of some distinct float32 values."""

    def __init__(self, known: Narrow, payload: Payload) -> None:
        wanted = max(8, (known.size * _SLOTS_PER_VALUE - 1).bit_length())
        self._shift = np.uint32(32 - min(wanted, _MAX_BITS))
        self._known, self._payload = known, payload
        self._factor = max(_FACTORS, key=lambda f: np.unique(self._slots(known, f)).size)
        slots = self._slots(known, self._factor)
        size = 1 << int(32 - self._shift)
        # NaN equals nothing, so an empty slot never looks like a find.
        self._value = np.full(size, np.nan, np.float32)
        self._held = np.zeros(size, np.int32)
        self._value[slots], self._held[slots] = known, payload

    def _slots(self, values: Narrow, factor: np.uint32) -> npt.NDArray[np.intp]:
        # Adding zero turns -0.0 into 0.0, which has other bits and is the same value.
        bits = (values + np.float32(0)).view(np.uint32)
        bits *= factor
        bits >>= self._shift
        return bits.astype(np.intp)

    def find(self, values: Narrow) -> tuple[Payload, npt.NDArray[np.intp]]:
        """Return the payloads, and which values are not known (their payload means nothing)."""
        slots = self._slots(values, self._factor)
        held = self._held.take(slots)
        open_ = np.flatnonzero(self._value.take(slots) != values)
        if open_.size:
            near = np.minimum(np.searchsorted(self._known, values[open_]), self._known.size - 1)
            held[open_] = self._payload[near]
            open_ = open_[self._known[near] != values[open_]]
        return held, open_
