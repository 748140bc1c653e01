"""Operations by masks: correlated randomness is drawn, masked values are opened."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import plane_words
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.engines.engine import Engine
from unspoken.joint.mpc.words.masked_comparison import (
    below_zero_needs,
    below_zero_words,
    is_zero_needs,
    is_zero_words,
)
from unspoken.joint.mpc.words.masked_cut import cut_words
from unspoken.joint.mpc.words.masked_products import (
    and_words,
    matrix_words,
    number_words,
    product_words,
)


class MaskedEngine(Engine):
    """A party's side of operations on triples, edaBits and daBits, wherever they come from."""

    async def multiply(self, one: Words, other: Words) -> Words:
        """Draw triples and open both factors under them."""
        drawn = await self.draw([Need("triple", (int(one.size),))])
        if drawn is None:
            return np.zeros(one.shape, np.uint64)
        return (await product_words(self.party, one, other, drawn[0])).reshape(one.shape)

    async def matmul(self, one: Words, other: Words) -> Words:
        """Draw a matrix triple: n k + k m words are opened, not n k m."""
        (n, k), m = one.shape, other.shape[1]
        drawn = await self.draw([Need("matrix", (n, k, m))])
        if drawn is None:
            return np.zeros((n, m), np.uint64)
        return await matrix_words(self.party, one, other, drawn[0])

    async def truncate(self, words: Words, bits: int) -> Words:
        """Open values under a mask of which the upper bits are shared too."""
        drawn = await self.draw([Need("cuts", (words.size, bits))])
        if drawn is None:
            return np.zeros(words.shape, np.uint64)
        return (await cut_words(self.party, words, bits, drawn[0])).reshape(words.shape)

    async def below_zero(self, words: Words, width: int) -> Words:
        """Open values under a mask whose bits are shared, and find the borrow."""
        drawn = await self.draw(below_zero_needs(words.size, width))
        if drawn is None:
            return np.zeros(plane_words(words.size), np.uint64)
        return await below_zero_words(self.party, words, width, drawn)

    async def is_zero(self, words: Words, width: int) -> Words:
        """Open values under a mask whose bits are shared, and compare all bits."""
        drawn = await self.draw(is_zero_needs(words.size, width))
        if drawn is None:
            return np.zeros(plane_words(words.size), np.uint64)
        return await is_zero_words(self.party, words, width, drawn)

    async def both(self, one: Words, other: Words, size: int) -> Words:
        """Draw triples of bits, 64 a word."""
        drawn = await self.draw([Need("ands", (one.size,))])
        if drawn is None:
            return one
        return await and_words(self.party, "and.open", one, other, drawn[0])

    async def to_numbers(self, plane: Words, size: int) -> Words:
        """Draw bits that are shared both ways."""
        drawn = await self.draw([Need("dabits", (size,))])
        if drawn is None:
            return np.zeros(size, np.uint64)
        return await number_words(self.party, plane, drawn[0])
