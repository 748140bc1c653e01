"""One proof that everything dealt since the last one is right: what each side draws, opens, tests.

Nothing here sends. The prover knows both holders' seeds, and so everything that they have; what the
last holder cannot draw is sent to it before anybody tells the prover the coin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic import auth_dealing, ring128
from unspoken.joint.mpc.authentic.auth_dealing import Drawn, TagKeys
from unspoken.joint.mpc.authentic.ring128 import Long
from unspoken.joint.mpc.authentic.tagged_bits import TAG_WORDS
from unspoken.joint.mpc.correlated.kinds import GAP, Need
from unspoken.joint.mpc.randomness import Stream, derive
from unspoken.joint.mpc.verified.bit_proof import (
    BitMasks,
    bit_rests,
    coefficients,
    fitting_sum,
    opened_bits,
)
from unspoken.joint.mpc.verified.claims import (
    Claims,
    Product,
    claims_of,
    fitting_hidden,
    sizes_of,
)
from unspoken.joint.mpc.verified.number_proof import (
    NumberMasks,
    fitting_product,
    folded,
    number_rests,
    opened_numbers,
)
from unspoken.joint.mpc.verified.tag_proof import HALVES, VEILS, bit_sums, number_sums

Dealt = Sequence[tuple[Need, list[Drawn]]]


@dataclass(frozen=True)
class Sizes:
    """How long the parts of one proof are, which depends on what was drawn alone."""

    hidden: int
    ands: int
    products: int
    veils: Need

    @classmethod
    def of(cls, needs: Sequence[Need]) -> Sizes:
        """Return the sizes of a proof of some wishes."""
        kinds = "".join(auth_dealing.TYPES[need.kind] for need in needs)
        return cls(*sizes_of(needs), Need("veils", (HALVES if set(kinds) & {"n", "t"} else 0,
                                                    VEILS if "b" in kinds else 0)))

    @property
    def sent(self) -> int:
        """Return how many words the last holder is sent."""
        return self.hidden + TAG_WORDS + 2 + auth_dealing.sent_length(self.veils)

    @property
    def opened(self) -> int:
        """Return how many words the prover opens."""
        return (TAG_WORDS + 1) * self.ands + 4 * self.products + self._sums

    @property
    def _sums(self) -> int:
        numbers, bits = self.veils.sizes
        return 2 * numbers + bits


@dataclass
class Part:
    """What one holder draws for one proof."""

    hidden: Words
    bits: BitMasks
    numbers: NumberMasks
    veils: list[Drawn]

    @classmethod
    def drawn(cls, sizes: Sizes, seed: bytes, turn: int, *, last: bool) -> Part:
        """Return a holder's part, with gaps where the last one is sent something."""
        stream = Stream(derive(seed, "proof", turn))
        return cls(GAP if last else stream.words(sizes.hidden),
                   BitMasks.drawn(sizes.ands, stream, last=last),
                   NumberMasks.drawn(sizes.products, stream, last=last),
                   auth_dealing.draw(sizes.veils, stream, last=last))

    def complete(self, sizes: Sizes, words: Words) -> None:
        """Fill the last holder's gaps with what it was sent."""
        ends = np.cumsum([sizes.hidden, TAG_WORDS, 2])
        self.hidden, self.bits.joined, self.numbers.product, rest = np.split(words, ends)
        auth_dealing.complete(sizes.veils, self.veils, rest)


def fitted(sizes: Sizes, parts: Sequence[Part], keys: TagKeys,
           dealt: Sequence[tuple[Need, list[list[Drawn]]]]) -> Words:
    """Return what the last holder is sent, and fill its part with it."""
    first, last = parts
    out = np.empty(sizes.sent, np.uint64)
    last.complete(sizes, out)
    last.hidden[:] = fitting_hidden(dealt, first.hidden)
    last.bits.joined[:] = fitting_sum(first.bits, last.bits)
    last.numbers.product[:] = fitting_product(first.numbers, last.numbers)
    auth_dealing.deal(sizes.veils, [first.veils, last.veils], keys, {},
                      out[sizes.sent - auth_dealing.sent_length(sizes.veils):])
    return out


def claims_with(dealt: Dealt, part: Part, sizes: Sizes, *, first: bool) -> Claims:
    """Return a holder's claims, those about the veils of this proof last."""
    claims = claims_of(dealt, part.hidden, first=first)
    for veil, size in zip(part.veils, sizes.veils.sizes, strict=True):
        if size:
            claims.add_tags(veil)
    return claims


def opened(claims: Sequence[Claims], parts: Sequence[Part], coin: bytes) -> Words:
    """Return what the prover opens, from what both holders have."""
    masks = parts[0].bits ^ parts[1].bits
    x, y = (claims[0].planes(place) ^ claims[1].planes(place) for place in range(2))
    shown_x, shown_y = opened_bits(x, y, masks, coefficients(x.size, derive(coin, "bits")))
    products = [_sum_of(*pair) for pair in zip(claims[0].products, claims[1].products,
                                               strict=True)]
    numbers = NumberMasks(ring128.add(parts[0].numbers.a, parts[1].numbers.a),
                          ring128.add(parts[0].numbers.b, parts[1].numbers.b), GAP)
    shown = opened_numbers(folded(products, derive(coin, "numbers")), numbers)
    return np.concatenate([shown_x.ravel(), shown_y, *(w for long in shown for w in long),
                           *_opened_sums(claims, coin)])


def _sum_of(one: Product, other: Product) -> Product:
    return Product(ring128.add(one.a, other.a), ring128.add(one.b, other.b),
                   ring128.add(one.c, other.c))


def _opened_sums(claims: Sequence[Claims], coin: bytes) -> list[Words]:
    sums: list[Words] = []
    if claims[0].numbers:
        value = ring128.add(*(_values(each) for each in claims))
        sums += number_sums([value], derive(coin, "values"))[0]
    if claims[0].bits:
        one, other = (np.concatenate([words for words, _ in each.bits]) for each in claims)
        sums.append(bit_sums((one ^ other)[:, None], derive(coin, "planes")).ravel())
    return sums


def _values(claims: Claims, place: int = 0) -> Long:
    """Return all numbers of one holder, or (1) their tags."""
    longs = [pair[place] for pair in claims.numbers]
    return np.concatenate([low for low, _ in longs]), np.concatenate([high for _, high in longs])


def rests(claims: Claims, part: Part, sizes: Sizes, coin: bytes, shown: Words,
          keys: TagKeys, *, first: bool) -> list[Words]:
    """Return words that both holders have alike if, and only if, everything that was dealt fits."""
    ands, products, numbers, bits = _pieces(sizes, shown)
    own = folded(claims.products, derive(coin, "numbers"))
    longs = number_rests(own, part.numbers, products, first=first)
    words = [*claims.zeros, *bit_rests((claims.planes(0), claims.planes(1), claims.planes(2)),
                                       part.bits, derive(coin, "bits"), ands, first=first)]
    if claims.numbers:
        longs += _number_tags(claims, coin, numbers, keys, first)
    if claims.bits:
        words += _bit_tags(claims, coin, bits, keys, first)
    signed = longs if first else [ring128.negative(each) for each in longs]
    return [*words, *(word for long in signed for word in long)]


def _pieces(sizes: Sizes, shown: Words) -> tuple[tuple[Words, Words], tuple[Long, Long], Long,
                                                 Words]:
    """Return what was opened of bits, products, sums of numbers and sums of bits."""
    n, k, veils = sizes.ands, sizes.products, sizes.veils.sizes[0]
    x, y, a, b, c, d, low, high, bits = np.split(shown, np.cumsum(
        [TAG_WORDS * n, n, k, k, k, k, veils, veils]))
    return (x.reshape(n, TAG_WORDS), y), ((a, b), (c, d)), (low, high), bits


def _number_tags(claims: Claims, coin: bytes, shown: Long, keys: TagKeys,
                 first: bool) -> list[Long]:
    value, tags = number_sums([_values(claims), _values(claims, 1)], derive(coin, "values"))
    own = ring128.subtract(value, shown) if first else value
    return [own, ring128.subtract(tags, ring128.times(shown, keys.number))]


def _bit_tags(claims: Claims, coin: bytes, shown: Words, keys: TagKeys,
              first: bool) -> list[Words]:
    rows = np.concatenate([np.concatenate([words[:, None], tags], axis=1)
                           for words, tags in claims.bits])
    sums = bit_sums(rows, derive(coin, "planes"))
    own = sums[:, 0] ^ shown if first else sums[:, 0]
    return [own, sums[:, 1:] ^ (shown[:, None] & keys.bit)]
