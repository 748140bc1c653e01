"""k-means with everything on shares: data, centres and assignments (vcz2006 section 7.2).

The book opens every round's assignments (columns at different sites) or sums and counts (rows at
different sites), and leaves better for future research. Here nothing is opened on the way, at a
similar price: with data X, centres C and one-hot assignments O as shares, half the squared
distance less the record's own length is C C'/2 - C X', a matrix product; the nearest centre is a
tournament; sums are O X; the k means are divisions. How data lie no longer matters.
  discloses: nothing; with a tolerance one bit a round, whether the centres still moved.
  safe against: whom products and comparisons are.
  precision: a centre has `scale` + 2 fractional bits and an error of a unit or two of them, so
    that near-ties may fall to the other centre.
  cost: as `closest`, N k words opened a round, and 2 N d once in four; about 35 + 10 log2 k rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled_shares, remember_shares
from unspoken.joint.mpc.ops.division import divide
from unspoken.joint.mpc.ops.fixed_operand_matmul import FixedRight
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import SharedBits, to_numbers
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public
from unspoken.joint.tasks.kmeans.nearest_centre import aligned, closest, one_hot
from unspoken.joint.tasks.kmeans.params import FINER, KMeansParams, threshold

SMALL = "whether a cluster has fewer records than agreed"
MOVED = "whether the centres still move, once a round"
BLOCK = 1 << 21


class Hidden:
    """Shared data, in blocks of records, and shared centres."""

    def __init__(self, party: Party, data: Shared, centres: Shared, rules: KMeansParams) -> None:
        self.party, self.rules, self.records = party, rules, data.shape[0]
        data = replace(data, scale=rules.scale)
        rows = max(64, BLOCK // rules.k // 64 * 64)
        self.blocks = [data[start:start + rows] for start in range(0, self.records, rows)]
        # The data stay the same: they are opened under a mask once for several rounds.
        self.across = [FixedRight(party, aligned(block.T), rules.k, rules.iterations + 1)
                       for block in self.blocks]
        self.along = [FixedRight(party, block, rules.k, rules.iterations)
                      for block in self.blocks]
        bound = rules.units << FINER
        self.centres = replace((centres * (1 << FINER)).within(-bound, bound),
                               scale=rules.scale + FINER)

    async def run(self) -> None:
        """Move the centres until they stand, or for all rounds."""
        for _ in range(self.rules.iterations):
            counts = Shared(self.party, np.zeros(self.rules.k, np.uint64), 0, self.records)
            like = replace(self.centres, rounded=True), counts
            known = recalled_shares(self.party, "a round", like)
            if known is not None:
                self.centres, self.counts = known
                continue
            before, self.centres = self.centres, await self._means(await self.nearest())
            if self.rules.tolerance is not None and not await self._moved(before):
                return
            await remember_shares(self.party, "a round", (self.centres, self.counts))

    async def nearest(self) -> list[SharedBits]:
        """Return the bits of every record's nearest centre, block by block."""
        lengths = await self._half_squares()
        return [await closest(self.party, await self._scores(block, lengths))
                for block in self.across]

    async def _half_squares(self) -> Shared:
        """Return half the squared length of every centre, with the scale of a product."""
        squares = (await multiply(self.party, self.centres, self.centres)).sum(axis=1)
        cut = await truncate(self.party, squares.within(0, squares.high), FINER + 1)
        return replace(cut, scale=2 * self.rules.scale + FINER)

    async def _scores(self, block: FixedRight, lengths: Shared) -> Shared:
        """Return half the squared distances, less what is the same for all centres."""
        bound = self.centres.shape[1] * self.rules.units * (self.rules.units << FINER)
        product = await block.product(self.centres, (-bound, bound))
        spread = np.broadcast_to(lengths.share[:, None], product.shape)
        return lengths.with_share(spread.copy()) - product

    async def _means(self, bits: Sequence[SharedBits]) -> Shared:
        """Return the centres of what was assigned; an empty cluster keeps its own."""
        sums, counts = await self._totals(bits)
        party, rules = self.party, self.rules
        empty = await to_numbers(party, await less_than(party, counts, 1))
        averages = await divide(party, sums, counts.reshape(rules.k, 1), rules.scale + FINER,
                                most=rules.most)
        bound = rules.units << FINER
        change = (self.centres - averages.within(-bound, bound))
        kept = await multiply(party, empty.reshape(rules.k, 1), change)
        after = averages + replace(kept, scale=averages.scale)
        return replace(after, low=-bound, high=bound)

    async def _totals(self, bits: Sequence[SharedBits]) -> tuple[Shared, Shared]:
        bound, parts, counts = self.rules.units * self.records, [], []
        for block, assigned in zip(self.along, bits, strict=True):
            hot = (await one_hot(self.party, assigned))[:, :block.right.shape[0]]
            parts.append(await block.product(hot, (-bound, bound)))
            counts.append(hot.sum(axis=1))
        sums, number = parts[0], counts[0]
        for one, other in zip(parts[1:], counts[1:], strict=True):
            sums, number = sums + one, number + other
        self.counts = number.within(0, self.records)
        return sums.within(-bound, bound), self.counts

    async def refuse_small(self) -> None:
        """Open one bit, and refuse if a centre is that of fewer records than agreed.

        A cluster without records counts too: its centre may be the record that it began with.
        """
        least = self.rules.smallest_group
        below = await to_numbers(self.party, await less_than(self.party, self.counts, least))
        some = await less_than(self.party, (-below.sum()).reshape(1), 0)
        if bool((await reveal(self.party, some, because=SMALL))[0]):
            raise RefusedError(f"Every cluster must have at least {least} records, as agreed in "
                               "'smallest_group'. Some has fewer, and its centre was not opened. "
                               "Ask for fewer clusters.")

    async def _moved(self, before: Shared) -> bool:
        """Open one bit: whether the centres moved further than the tolerance."""
        gap = self.centres - before
        squares = (await multiply(self.party, gap, gap)).sum()
        limit = threshold(self.rules) << (squares.scale - self.rules.fine)
        more = await less_than(self.party, -squares.within(0, squares.high).reshape(1), -limit)
        return bool((await reveal(self.party, more, because=MOVED))[0])


def assignment_bits(party: Party, parts: Sequence[SharedBits], records: int) -> SharedBits:
    """Return the blocks' bits as one array (centres, records filled up to words)."""
    planes = [part.share.reshape(part.shape[0], -1) for part in parts]
    share = np.concatenate(planes, axis=1)
    return SharedBits(party, share.ravel(), (share.shape[0], share.shape[1] * 64))


def chosen(data: Shared, places: Sequence[int]) -> Shared:
    """Return records as shared centres; which records is public, what they are is not."""
    return concatenate([data[place:place + 1] for place in places])


def public_centres(party: Party, start: np.ndarray[tuple[int, int], np.dtype[np.int64]],
                   rules: KMeansParams) -> Shared:
    """Return centres that everybody knows as shares."""
    return public(party, start, rules.scale).within(-rules.units, rules.units)
