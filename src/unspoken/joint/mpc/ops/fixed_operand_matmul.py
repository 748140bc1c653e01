"""Matrix products with one operand that stays the same: it is masked and opened once for several.

A matrix triple for several left operands at once, stacked, has one mask for the right one. The
right operand is opened under that mask in the beginning; each product then opens its left operand
alone, under rows of the mask that no other product uses (SecureML does so for training data).
  discloses: nothing. The right operand must be the same every time: it has one mask.
  safe against: as products.
  cost: 1 round a product and 8 bytes for each value of the left operand from each holder to each
    other; once in `ahead` products 8 bytes for each of the right one, and 8 from the dealer for
    each value of all results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, check_interval, times, total
from unspoken.joint.mpc.words.opening import open_sum

AHEAD = 4
MOST_BLOCK = 1 << 22
NOTHING = np.zeros(0, np.uint64)


class FixedRight:
    """Products of changing left operands (rows, k) with one right operand (k, m).

    `rows`: the rows of each product, in order, or of every product to come.
    """

    def __init__(self, party: Party, right: Shared, rows: int | Sequence[int],
                 count: int = 0) -> None:
        self.party, self.right = party, right
        # What is still to come: public, and the same for everybody.
        self.left = [rows] * max(1, count) if isinstance(rows, int) else list(rows)
        self.masks: list[tuple[Words, Words]] = []
        self.ready = 0
        self.mask: Words = np.zeros(0, np.uint64)
        self.opened: Words = np.zeros(0, np.uint64)

    async def product(self, left: Shared, within: tuple[int, int]) -> Shared:
        """Return left times right, whose values stay within an interval."""
        party, size = self.party, (left.shape[0], self.right.shape[1])
        check_interval(*within, "A matrix product")
        if not party.engine.reuses_masks:
            return await matmul(party, left, self.right, within)
        if self.ready == 0:
            await self._open()
        self.ready -= 1
        party.begin("matmul fixed")
        share = np.zeros(size, np.uint64)
        if self.masks:
            share = await self._share(left.share)
        return Shared(party, share, *within, left.scale + self.right.scale,
                      left.rounded or self.right.rounded)

    async def _open(self) -> None:
        """Draw masks for the next products and open the right operand under its own."""
        self.party.begin("matmul open")
        (k, m), sizes = self.right.shape, self.left[:AHEAD]
        # More of the last kind may follow than were announced.
        self.left, self.ready = self.left[AHEAD:] or sizes[-1:], len(sizes)
        drawn = await self.party.draw([Need("matrix", (sum(sizes), k, m))])
        if drawn is None or not self.party.is_holder:
            return
        [[a, b, c]] = drawn
        self.mask = b.reshape(k, m)
        opened = await open_sum(self.party, "matmul.open", self.right.share.ravel() - b)
        self.opened, ends = opened.reshape(k, m), np.cumsum(sizes)[:-1]
        self.masks = list(zip(np.split(a.reshape(-1, k), ends), np.split(c.reshape(-1, m), ends),
                              strict=True))

    async def _share(self, left: Words) -> Words:
        """Open the left operand under rows of the mask that are used this once."""
        a, c = self.masks.pop(0)
        opened = await open_sum(self.party, "matmul.open", (left - a).ravel())
        right = self.mask + self.party.engine.public_words(self.opened)
        return np.asanyarray(c + times(opened.reshape(left.shape), right) + times(a, self.opened))


class PooledRight:
    """The same where how many rows a product has shows only in the run.

    `pool` rows of masks are drawn at once and taken as they are needed; the right operand is opened
    again when they are used up.
    """

    def __init__(self, party: Party, right: Shared, pool: int) -> None:
        self.party, self.right, self.pool = party, right, max(1, pool)
        self.ready = 0
        self.masks: tuple[Words, Words] | None = None
        self.masked: tuple[Words, Words] = (NOTHING, NOTHING)

    async def product(self, left: Shared, within: tuple[int, int]) -> Shared:
        """Return left times right, whose values stay within an interval."""
        party, rows = self.party, left.shape[0]
        check_interval(*within, "A matrix product")
        if not party.engine.reuses_masks:
            return await matmul(party, left, self.right, within)
        if self.ready < rows:
            await self._open(max(self.pool, rows))
        self.ready -= rows
        party.begin("matmul fixed")
        share = np.zeros((rows, self.right.shape[1]), np.uint64)
        if self.masks is not None:
            share = await self._share(left.share)
        return Shared(party, share, *within, left.scale + self.right.scale,
                      left.rounded or self.right.rounded)

    async def _open(self, rows: int) -> None:
        """Draw masks for some rows and open the right operand under its own."""
        self.party.begin("matmul open")
        (k, m), self.ready = self.right.shape, rows
        drawn = await self.party.draw([Need("matrix", (rows, k, m))])
        if drawn is None or not self.party.is_holder:
            return
        [[a, b, c]] = drawn
        opened = (await open_sum(self.party, "matmul.open", self.right.share.ravel() - b)).reshape(
            k, m)
        right = b.reshape(k, m) + self.party.engine.public_words(opened)
        self.masked = _down_columns(right), _down_columns(opened)
        self.masks = a.reshape(rows, k), c.reshape(rows, m)

    async def _share(self, left: Words) -> Words:
        """Open the left operand under rows of the mask that are used this once."""
        assert self.masks is not None
        rows, (a, c), (right, opened_right) = left.shape[0], self.masks, self.masked
        self.masks = a[rows:], c[rows:]
        opened = await open_sum(self.party, "matmul.open", (left - a[:rows]).ravel())
        return np.asanyarray(c[:rows] + times(opened.reshape(left.shape), right)
                             + times(a[:rows], opened_right))


def _down_columns(matrix: Words) -> Words:
    """Return a matrix in the order in which products read it, once for all of them."""
    return np.asfortranarray(matrix) if type(matrix) is np.ndarray else matrix


class PooledBlocks:
    """The same with a long right operand: a block of its rows at a time, so that messages fit."""

    def __init__(self, party: Party, right: Shared, pool: int) -> None:
        step = max(1, MOST_BLOCK // max(1, right.shape[1]))
        self.blocks = [(slice(at, at + step), PooledRight(party, right[at:at + step], pool))
                       for at in range(0, right.shape[0], step)]

    async def product(self, left: Shared, within: tuple[int, int]) -> Shared:
        """Return left times right, whose values stay within an interval, also in every block."""
        products = [await block.product(left[:, rows], within) for rows, block in self.blocks]
        return products[0].with_share(total([each.share for each in products]))
