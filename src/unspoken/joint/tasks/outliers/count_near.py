"""Comparing and counting on shares, in blocks: memory never grows with the square of the objects.

Each unordered pair is compared once and counts for both. A block of far bits becomes numbers and
is added to two running counts; nothing of it is kept. In the end one comparison an object says
whether its count is enough, and only that bit is opened, to those who may know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.shared_bits import SharedBits, to_numbers
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, public
from unspoken.joint.tasks.outliers.params import OutlierParams
from unspoken.models.outliers import Outliers

OUTLIERS = "which objects are outliers"
BLOCK = 1 << 20


@dataclass(frozen=True)
class Pairs:
    """Pairs (i, j), i < j < objects, for some i in order, and all j of each."""

    start: int
    stop: int
    objects: int

    @property
    def size(self) -> int:
        """Return how many pairs there are."""
        return sum(self.objects - 1 - row for row in range(self.start, self.stop))

    def firsts(self, values: Ints) -> Ints:
        """Return the value of i for every pair."""
        rows = np.arange(self.start, self.stop)
        return np.repeat(values[rows], self.objects - 1 - rows)

    def seconds(self, values: Ints) -> Ints:
        """Return the value of j for every pair."""
        return np.concatenate([values[row + 1:] for row in range(self.start, self.stop)])


def pairs_of(objects: int, block: int = BLOCK) -> Iterator[Pairs]:
    """Yield all pairs, whole rows at a time, at most `block` of them unless a row is longer."""
    start = 0
    while start < objects - 1:
        stop = start + 1
        size = objects - 1 - start
        while stop < objects - 1 and size + objects - 1 - stop <= block:
            size += objects - 1 - stop
            stop += 1
        yield Pairs(start, stop, objects)
        start = stop


class Counts:
    """How many objects lie far from each, as a running share."""

    def __init__(self, party: Party, objects: int) -> None:
        self.party, self.share = party, public(party, np.zeros(objects, np.int64)).share

    def add_pairs(self, far: Shared, pairs: Pairs) -> None:
        """Count the far bits of pairs for both objects."""
        place = 0
        for row in range(pairs.start, pairs.stop):
            bits = far.share[place:place + pairs.objects - 1 - row]
            self.share[row:row + 1] += bits.sum(dtype=np.uint64)
            self.share[row + 1:] += bits
            place += bits.size

    def add_block(self, far: Shared, rows: slice, columns: slice) -> None:
        """Count a rectangle of far bits for its rows and its columns."""
        self.share[rows] += far.share.sum(axis=1, dtype=np.uint64)
        self.share[columns] += far.share.sum(axis=0, dtype=np.uint64)

    def add(self, counts: Shared, rows: slice) -> None:
        """Add counts that an owner shared of its own objects."""
        self.share[rows] += counts.share

    def shared(self) -> Shared:
        """Return the counts, each below the number of objects."""
        return Shared(self.party, self.share, 0, self.share.size - 1)


async def far_bits(party: Party, powers: Shared, limit: int) -> Shared:
    """Return 1 where a power of a distance is greater than the limit."""
    return await to_numbers(party, await less_than(party, -powers, -limit))


async def enough(party: Party, counts: Shared, rules: OutlierParams) -> SharedBits:
    """Return bits: where as many are far as the rule asks for."""
    return await less_than(party, -counts, 1 - rules.needed(counts.size))


async def tell(party: Party, counts: Shared, rules: OutlierParams,
               receivers: Sequence[str]) -> Outliers | None:
    """Open the outliers to the receivers, and to nobody else."""
    flags = await reveal(party, await enough(party, counts, rules), because=OUTLIERS, to=receivers)
    return None if flags is None else Outliers(np.asarray(flags, np.bool_), rules.words())

