"""Correlated randomness: what holders expand from a seed, and what the last one is sent.

Each kind says how many words every holder draws from its own stream, and which one or two parts
the last holder is sent by the dealer, so that all parts together satisfy the relation
(Beaver 1995, 1997; matrix triples: SecureML; edaBits; daBits; truncation: Dalskov, Escudero and
Keller 2020). The dealer and the holders run this same code.

    triple  n        a, b, c       sum c = (sum a)(sum b)
    matrix  n k m    A, B, C       sum C = (sum A)(sum B)
    edabits l n      r, planes     xor of planes = the l bits of sum r mod 2^l
    ladders l n      r, planes, joined     as edabits, and planes 2i and 2i + 1 joined by AND
    dabits  n        r, plane      sum r = the bits of the xor of planes
    ands    w        a, b, c       xor c = (xor a) and (xor b), bit by bit
    pairs   w        a, b1, b2, c1, c2     two ANDs with one operand in common
    cuts    n f      r, h, t       sum h = (sum r) >> f, sum t = top bit of sum r
    crosses n w w... R, C          sum C = R_i' R_j of all groups i < j of columns, modulo 2^20
    lanes   n l      a, b, c       as triple, modulo 2^16 (l up to 16) or 2^32
    flags   n l      r, plane      as dabits, modulo 2^16 or 2^32
    zeros   n l      r, table      sum table = 1 at sum r modulo 2^l, 0 elsewhere
    choices n k w    plane, s, t   sum t = holder w's bits times the sum of the others' s, k times
    windows n top    r, table      sum table = the coefficients for masks sum r (`windows`)

A holder's own parts are uniform; what is sent is masked by the other holders' streams.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import InputError, explain
from unspoken.joint.mpc.bit_planes import bits_of, plane_words, planes_of
from unspoken.joint.mpc.masked_log import TERMS, TOPS, coefficients
from unspoken.joint.mpc.packed_small_ints import (
    Lanes,
    in_words,
    lane_type,
    lane_words,
    lanes_of,
)
from unspoken.joint.mpc.pair_count_ring import (
    MASK,
    ROWS,
    cell_words,
    cells_of,
    cross_size,
    crosses,
)
from unspoken.joint.mpc.randomness import Stream
from unspoken.joint.mpc.shared import times, total

MAX_WORDS = 1 << 27
ANY = -1
MOST_HOLDERS = 64
Parts = list[Words]
NONE = np.zeros((), np.uint64)
GAP = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class Need:
    """A wish for correlated randomness: its kind and its public sizes."""

    kind: str
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        known = self.kind in KINDS and KINDS[self.kind].dimensions in (ANY, len(self.sizes))
        known = known and len(self.sizes) > 0
        if not known or not all(isinstance(s, int) and 0 <= s <= MAX_WORDS for s in self.sizes):
            raise InputError(f"There is no correlated randomness of kind {self.kind!r} and sizes "
                             f"{self.sizes}.")
        if sum(self.lengths) > MAX_WORDS:
            raise InputError(f"One request for correlated randomness may have at most {MAX_WORDS} "
                             f"words. This one has {sum(self.lengths)}. Work in blocks.")

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return how many words each part has."""
        return KINDS[self.kind].lengths(*self.sizes)

    @property
    def sent(self) -> tuple[int, ...]:
        """Return which parts the last holder does not draw, but is sent."""
        return KINDS[self.kind].sent

    def draw(self, stream: Stream, *, last: bool = False) -> Parts:
        """Return one holder's parts as its stream gives them; the last one's have gaps."""
        return [GAP if last and place in self.sent else stream.words(length)
                for place, length in enumerate(self.lengths)]

    def deal(self, draws: Sequence[Parts]) -> Parts:
        """Return what the last holder is sent, from what all of them drew."""
        return KINDS[self.kind].deal(draws, *self.sizes)

    def complete(self, parts: Parts, sent: Sequence[Words]) -> Parts:
        """Return the last holder's parts, the gaps filled."""
        out = list(parts)
        for place, words in zip(self.sent, sent, strict=True):
            out[place] = words
        return out

    @property
    def sent_lengths(self) -> list[int]:
        """Return how many words each part has that the dealer sends."""
        return [self.lengths[place] for place in self.sent]


def _triple(draws: Sequence[Parts], n: int) -> Parts:
    a, b = (total(d[i] for d in draws) for i in range(2))
    return [a * b - _others(draws, 2)]


def _matrix(draws: Sequence[Parts], n: int, k: int, m: int) -> Parts:
    a, b = (total(d[i] for d in draws) for i in range(2))
    return [times(a.reshape(n, k), b.reshape(k, m)).ravel() - _others(draws, 2)]


def _edabits(draws: Sequence[Parts], width: int, n: int) -> Parts:
    r = total(d[0] for d in draws)
    return [planes_of(r, width).ravel() ^ _other_bits(draws, 1)]


def _ladders(draws: Sequence[Parts], width: int, n: int) -> Parts:
    planes = planes_of(total(d[0] for d in draws), width)
    count = 2 * (width // 2)
    joined = planes[0:count:2] & planes[1:count:2]
    return [planes.ravel() ^ _other_bits(draws, 1), joined.ravel() ^ _other_bits(draws, 2)]


def _dabits(draws: Sequence[Parts], n: int) -> Parts:
    return [bits_of(_xor(draws, 1), n) - _others(draws, 0)]


def _ands(draws: Sequence[Parts], w: int) -> Parts:
    return [(_xor(draws, 0) & _xor(draws, 1)) ^ _other_bits(draws, 2)]


def _pairs(draws: Sequence[Parts], w: int) -> Parts:
    a = _xor(draws, 0)
    return [(a & _xor(draws, 1)) ^ _other_bits(draws, 3),
            (a & _xor(draws, 2)) ^ _other_bits(draws, 4)]


def _cuts(draws: Sequence[Parts], n: int, f: int) -> Parts:
    r = total(d[0] for d in draws)
    return [(r >> np.uint64(f)) - _others(draws, 1), (r >> np.uint64(63)) - _others(draws, 2)]


def _crosses(draws: Sequence[Parts], n: int, *widths: int) -> Parts:
    shape = n, sum(widths)
    cells = reduce(np.add, [cells_of(d[0], *shape) for d in draws]) & MASK
    return [crosses(cells, cells, widths) - _others(draws, 1)]


def _lanes(draws: Sequence[Parts], n: int, width: int) -> Parts:
    a, b = (reduce(np.add, [lanes_of(d[i], n, width) for d in draws]) for i in range(2))
    return [in_words(a * b - _other_lanes(draws, 2, n, width))]


def _flags(draws: Sequence[Parts], n: int, width: int) -> Parts:
    bits = bits_of(_xor(draws, 1), n).astype(lane_type(width))
    return [in_words(bits - _other_lanes(draws, 0, n, width))]


def _windows(draws: Sequence[Parts], n: int, top: int) -> Parts:
    table = coefficients(total(d[0] for d in draws), top).ravel()
    table -= _others(draws, 1)
    return [table]


def _zeros(draws: Sequence[Parts], n: int, width: int) -> Parts:
    r = total(d[0] for d in draws) & np.uint64((1 << width) - 1)
    table = (np.arange(1 << width, dtype=np.uint64)[:, None] == r).astype(np.uint64).ravel()
    table -= _others(draws, 1)
    return [table]


def _choices(draws: Sequence[Parts], n: int, k: int, who: int) -> Parts:
    # A place where nobody is cannot be asked for to any use: what is dealt fits nobody's parts.
    known = draws[who % len(draws)]
    masks = total([NONE, *(parts[1] for parts in draws if parts is not known)])
    bits = np.tile(bits_of(known[0], n), k)
    return [bits * masks - _others(draws, 2)]


def _with_tags(draws: Sequence[Parts], n: int, who: int) -> Parts:
    raise InputError("What one party knows is dealt with tags only.")


def _other_lanes(draws: Sequence[Parts], place: int, n: int, width: int) -> Lanes:
    rest = [lanes_of(d[place], n, width) for d in draws[:-1]]
    return reduce(np.add, rest, np.zeros(n, lane_type(width)))


def _others(draws: Sequence[Parts], place: int) -> Words:
    """Return the sum of what all but the last drew."""
    return total(d[place] for d in draws[:-1]) if len(draws) > 1 else NONE


def _other_bits(draws: Sequence[Parts], place: int) -> Words:
    return _xor(draws[:-1], place) if len(draws) > 1 else NONE


def _xor(draws: Sequence[Parts], place: int) -> Words:
    return reduce(np.bitwise_xor, [parts[place] for parts in draws])


def _edabits_lengths(width: int, n: int) -> tuple[int, ...]:
    _within("width", width, 1, 64)
    return n, width * plane_words(n)


def _ladders_lengths(width: int, n: int) -> tuple[int, ...]:
    _within("width", width, 1, 64)
    return n, width * plane_words(n), width // 2 * plane_words(n)


def _cuts_lengths(n: int, f: int) -> tuple[int, ...]:
    _within("bits to cut", f, 1, 61)
    return n, n, n


def _crosses_lengths(n: int, *widths: int) -> tuple[int, ...]:
    _within("rows of a block", n, 0, ROWS)
    return cell_words(n * sum(widths)), cross_size(widths)


def _lanes_lengths(n: int, width: int) -> tuple[int, ...]:
    _within("width", width, 1, 32)
    return (lane_words(n, width),) * 3


def _flags_lengths(n: int, width: int) -> tuple[int, ...]:
    _within("width", width, 1, 32)
    return lane_words(n, width), plane_words(n)


def _windows_lengths(n: int, top: int) -> tuple[int, ...]:
    _within("bits of a mantissa", top, TOPS[0], TOPS[-1])
    return n, 2 * TERMS * n


def _choices_lengths(n: int, k: int, who: int) -> tuple[int, ...]:
    _within("holder's place", who, 0, MOST_HOLDERS - 1)
    return plane_words(n), k * n, k * n


def _zeros_lengths(n: int, width: int) -> tuple[int, ...]:
    _within("width", width, 0, 10)
    return n, n << width


def _within(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(explain(f"The {what}", f"between {least} and {most}", value))


@dataclass(frozen=True)
class _Kind:
    dimensions: int
    lengths: Callable[..., tuple[int, ...]]
    sent: tuple[int, ...]
    deal: Callable[..., Parts]


KINDS = {
    "triple": _Kind(1, lambda n: (n, n, n), (2,), _triple),
    "matrix": _Kind(3, lambda n, k, m: (n * k, k * m, n * m), (2,), _matrix),
    "edabits": _Kind(2, _edabits_lengths, (1,), _edabits),
    "ladders": _Kind(2, _ladders_lengths, (1, 2), _ladders),
    "dabits": _Kind(1, lambda n: (n, plane_words(n)), (0,), _dabits),
    "ands": _Kind(1, lambda w: (w, w, w), (2,), _ands),
    "pairs": _Kind(1, lambda w: (w, w, w, w, w), (3, 4), _pairs),
    "cuts": _Kind(2, _cuts_lengths, (1, 2), _cuts),
    "lanes": _Kind(2, _lanes_lengths, (2,), _lanes),
    "flags": _Kind(2, _flags_lengths, (0,), _flags),
    "zeros": _Kind(2, _zeros_lengths, (1,), _zeros),
    "choices": _Kind(3, _choices_lengths, (2,), _choices),
    "windows": _Kind(2, _windows_lengths, (1,), _windows),
    "crosses": _Kind(ANY, _crosses_lengths, (1,), _crosses),
    "masks": _Kind(2, lambda n, who: (n,), (0,), _with_tags),
    "totals": _Kind(1, lambda n: (n,), (), lambda draws, n: _with_tags(draws, n, 0)),
    "release": _Kind(ANY, lambda number, size, first, *to: (0,), (),
                     lambda draws, n, *_: _with_tags(draws, n, 0)),
    "tops": _Kind(1, lambda n: (n,), (), lambda draws, n: _with_tags(draws, n, 0)),
    "veils": _Kind(2, lambda n, w: (n, w), (), _with_tags),
    "bitmasks": _Kind(2, lambda w, who: (w,), (0,), _with_tags),
}
