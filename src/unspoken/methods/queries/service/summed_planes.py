"""Whole numbers as planes of bits, so that a sum over any set of records is a count of bits.

Sets of records are packed, 64 to a word. The sum of numbers over a set is, over their bits b, 2^b
times how many records of the set have that bit: exact, and without a pass over the numbers
themselves. How long it takes depends on the declared ends alone, not on who is in the set.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unspoken.arrays import Bools, Ints, Words
from unspoken.numerics.record_bitsets import pack, shared

_BLOCK = 1 << 18
"""Records that are turned into planes at a time."""


@dataclass(frozen=True, eq=False)
class Planes:
    """Numbers less their least, bit by bit: one row of packed bits for each bit."""

    least: int
    bits: Words = field(repr=False)

    @classmethod
    def of(cls, numbers: Ints, low: int, high: int) -> Planes:
        """Return the planes of numbers that were declared to lie between two ends."""
        # The ends decide how many planes there are, and with them the time an answer takes.
        least = min(low, int(numbers.min(initial=low)))
        width = max((max(high, int(numbers.max(initial=high))) - least).bit_length(), 1)
        return cls(least, np.stack([pack(_bit(numbers, least, place)) for place in range(width)]))

    def total(self, members: Words, count: int) -> int:
        """Return the sum over a packed set of `count` records."""
        counts: list[int] = shared(self.bits, members).tolist()
        return sum(one << place for place, one in enumerate(counts)) + count * self.least


def _bit(numbers: Ints, least: int, place: int) -> Bools:
    out = np.empty(numbers.size, np.bool_)
    for start in range(0, numbers.size, _BLOCK):
        part = numbers[start:start + _BLOCK] - least
        out[start:start + _BLOCK] = (part >> place) & 1
    return out
