"""What dealt randomness has to satisfy, as relations between the shares of two holders.

Three relations say all of it. **x and y = z** on bits: triples of bits, and sums. For a number
whose shares are r0 and r1, each holder has the bits of its own share, and with shared bits b of
the sum the carries k = b xor r0 xor r1 are shared as well: the sum is right where the lowest carry
is zero and (b xor r1) and (b xor r0) = k xor the next carry, at every bit. edaBits, daBits (a sum
of which all upper bits are zero) and the parts of a truncation are such sums. **a b = c** modulo
2^128 on numbers: triples and matrix triples; what c lacks above 64 bits is dealt for the proof
only. **tag = key x value** for every value and every bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.auth_dealing import Drawn
from unspoken.joint.mpc.authentic.ring128 import Long
from unspoken.joint.mpc.authentic.tagged_bits import TAG_WORDS
from unspoken.joint.mpc.bit_planes import plane_words, planes_of
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.shared import times

WIDTH = 64


@dataclass(frozen=True)
class Product:
    """Shares of a and b and c: numbers one by one, or matrices."""

    a: Long
    b: Long
    c: Long


@dataclass
class Claims:
    """One holder's shares of everything that a proof is about; lists in the order of wishes."""

    ands: list[tuple[Words, Words, Words]] = field(default_factory=list)
    zeros: list[Words] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    numbers: list[tuple[Long, Long]] = field(default_factory=list)
    bits: list[tuple[Words, Words]] = field(default_factory=list)

    def add_and(self, x: Words, y: Words, z: Words) -> None:
        """Claim that z is x and y, bit by bit."""
        self.ands.append((x.ravel(), y.ravel(), z.ravel()))

    def add_sum(self, own: Words, planes: Words, *, first: bool) -> None:
        """Claim that planes are the bits of a number of which this holder's share is `own`."""
        carries = planes ^ planes_of(own, len(planes))
        x, y = (planes, carries) if first else (carries, planes)
        self.add_and(x[:-1], y[:-1], carries[:-1] ^ carries[1:])
        self.zeros.append(carries[0])

    def add_tags(self, part: Drawn) -> None:
        """Claim that the tags of a part are its values times the key."""
        if part.bits:
            self.bits.append((part.words, part.tags.reshape(-1, TAG_WORDS)))
        elif part.kind == "t":
            self.numbers.append(((part.words, part.high), (part.words, part.tags)))
        else:
            low, high = part.tags.reshape(2, -1)
            self.numbers.append(((part.words, part.high), (low, high)))

    def planes(self, place: int) -> Words:
        """Return all x, y or z, one after the other."""
        return np.concatenate([np.zeros(0, np.uint64), *(row[place] for row in self.ands)])


@dataclass(frozen=True)
class _Relation:
    """How much one kind hides for a proof, claims of bits and of numbers, and the claims."""

    sizes: Callable[..., tuple[int, int, int]]
    claim: Callable[..., object]
    hidden: Callable[..., Words] | None = None


def sizes_of(needs: Iterable[Need]) -> tuple[int, int, int]:
    """Return how many words are hidden, words of bits are joined, and numbers multiplied."""
    sums = [0, 0, 0]
    for need in needs:
        if need.kind in RELATIONS:
            sums = [a + b for a, b in zip(sums, RELATIONS[need.kind].sizes(*need.sizes),
                                          strict=True)]
    return sums[0], sums[1], sums[2]


def claims_of(dealt: Sequence[tuple[Need, list[Drawn]]], hidden: Words, *,
              first: bool) -> Claims:
    """Return one holder's claims about what it drew, and was given for the proof only."""
    claims, at = Claims(), 0
    for need, parts in dealt:
        for part in parts:
            claims.add_tags(part)
        if need.kind in RELATIONS:
            relation = RELATIONS[need.kind]
            size = relation.sizes(*need.sizes)[0]
            relation.claim(claims, parts, hidden[at:at + size], need.sizes, first)
            at += size
    return claims


def fitting_hidden(dealt: Sequence[tuple[Need, list[list[Drawn]]]], others: Words) -> Words:
    """Return what the last holder hides, from what all holders drew and the first one hides."""
    pieces, at = [np.zeros(0, np.uint64)], 0
    for need, rows in dealt:
        relation = RELATIONS.get(need.kind)
        if relation is not None and relation.hidden is not None:
            size = relation.sizes(*need.sizes)[0]
            pieces.append(relation.hidden(rows, need.sizes, others[at:at + size]))
            at += size
    return np.concatenate(pieces)


def whole(rows: Sequence[list[Drawn]], place: int) -> Long:
    """Return a part that all holders share."""
    return reduce(ring128.add, [(row[place].words, row[place].high) for row in rows])


def _exact(part: Drawn, hidden: Words) -> Long:
    return part.words, part.high + hidden


def _triple(claims: Claims, parts: list[Drawn], hidden: Words, *_: Any) -> None:
    a, b, c = parts
    claims.products.append(Product((a.words, a.high), (b.words, b.high), _exact(c, hidden)))


def _matrix(claims: Claims, parts: list[Drawn], hidden: Words, sizes: tuple[int, ...],
            *_: Any) -> None:
    n, k, m = sizes
    longs = [(part.words, part.high) for part in parts[:2]] + [_exact(parts[2], hidden)]
    a, b, c = ((low.reshape(shape), high.reshape(shape))
               for (low, high), shape in zip(longs, ((n, k), (k, m), (n, m)), strict=True))
    claims.products.append(Product(a, b, c))


def _above_triple(rows: Sequence[list[Drawn]], _: Any, others: Words) -> Words:
    """Return what c lacks above 64 bits."""
    product = ring128.times_long(whole(rows, 0), whole(rows, 1))
    return product[1] - whole(rows, 2)[1] - others


def _above_matrix(rows: Sequence[list[Drawn]], sizes: tuple[int, ...], others: Words) -> Words:
    n, k, m = sizes
    a = tuple(part.reshape(n, k) for part in whole(rows, 0))
    b = tuple(part.reshape(k, m) for part in whole(rows, 1))
    [(_, high)] = ring128.matrix([(a[0], a[1])], b[0], left=False)
    return (high + times(a[0], b[1])).ravel() - whole(rows, 2)[1] - others


def _ands(claims: Claims, parts: list[Drawn], *_: Any) -> None:
    a, b, c = parts
    claims.add_and(a.words, b.words, c.words)


def _pairs(claims: Claims, parts: list[Drawn], *_: Any) -> None:
    a, b1, b2, c1, c2 = parts
    claims.add_and(a.words, b1.words, c1.words)
    claims.add_and(a.words, b2.words, c2.words)


def _edabits(claims: Claims, parts: list[Drawn], _: Words, sizes: tuple[int, ...],
             first: bool) -> Words:
    width, n = sizes
    planes = parts[1].words.reshape(width, plane_words(n))
    claims.add_sum(parts[0].words, planes, first=first)
    return planes


def _ladders(claims: Claims, parts: list[Drawn], hidden: Words, sizes: tuple[int, ...],
             first: bool) -> None:
    planes, count = _edabits(claims, parts, hidden, sizes, first), 2 * (sizes[0] // 2)
    claims.add_and(planes[0:count:2], planes[1:count:2], parts[2].words)


def _dabits(claims: Claims, parts: list[Drawn], _: Words, sizes: tuple[int, ...],
            first: bool) -> None:
    [n] = sizes
    # Bits beyond the last number are drawn, and belong to no number.
    used = planes_of(np.ones(n, np.uint64), 1)
    claims.add_sum(parts[0].words, _lowest(parts[1].words[None] & used), first=first)


def _lowest(planes: Words) -> Words:
    """Return planes with zeros above them."""
    return np.concatenate([planes, np.zeros((WIDTH - len(planes), planes.shape[1]), np.uint64)])


def _cuts(claims: Claims, parts: list[Drawn], hidden: Words, sizes: tuple[int, ...],
          first: bool) -> None:
    n, bits = sizes
    planes = hidden.reshape(WIDTH, plane_words(n))
    for part, upper in zip(parts, (planes, planes[bits:], planes[-1:]), strict=True):
        claims.add_sum(part.words, _lowest(upper), first=first)


def _bits_of_mask(rows: Sequence[list[Drawn]], _: Any, others: Words) -> Words:
    return planes_of(whole(rows, 0)[0]).ravel() ^ others


RELATIONS = {
    "triple": _Relation(lambda n: (n, 0, n), _triple, _above_triple),
    "matrix": _Relation(lambda n, k, m: (n * m, 0, k), _matrix, _above_matrix),
    "edabits": _Relation(lambda width, n: (0, (width - 1) * plane_words(n), 0), _edabits),
    "ladders": _Relation(lambda width, n: (0, (width - 1 + width // 2) * plane_words(n), 0),
                         _ladders),
    "dabits": _Relation(lambda n: (0, (WIDTH - 1) * plane_words(n), 0), _dabits),
    "ands": _Relation(lambda w: (0, w, 0), _ands),
    "pairs": _Relation(lambda w: (0, 2 * w, 0), _pairs),
    "cuts": _Relation(lambda n, f: (WIDTH * plane_words(n), 3 * (WIDTH - 1) * plane_words(n), 0),
                      _cuts, _bits_of_mask),
}
