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
from unspoken.joint.mpc.shared import Shared, check_interval, times
from unspoken.joint.mpc.words.opening import open_sum

AHEAD = 4


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
        return Shared(party, share, *within, left.scale + self.right.scale)

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
