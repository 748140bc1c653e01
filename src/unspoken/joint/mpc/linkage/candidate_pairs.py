"""Which pairs are compared at all: those that agree in some sampled bits (Hamming LSH).

Of 100,000 by 100,000 records nobody can compare all pairs. A table samples bits, as many as let
through about four unrelated pairs per record; pairs that agree in all of them are compared. Many
tables, each with other bits, find nearly every pair of similar records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.joint.mpc.linkage.record_encodings import similarity

Places = npt.NDArray[np.int64]
TABLES = 80
FEW = 1 << 20
"""Where there are not more pairs than this, all are compared."""
SAMPLE = 20_000
PER_RECORD = 4
CHUNK = 1 << 19


@dataclass(frozen=True)
class Pairs:
    """Pairs of records of two owners, by their places, and how similar they are."""

    first: Places
    second: Places
    similar: npt.NDArray[np.float64]

    def chosen(self, which: npt.NDArray[np.bool_] | Places) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.first[which], self.second[which], self.similar[which])


def similar_pairs(one: Words, other: Words, kind: str, floor: float) -> Pairs:
    """Return the pairs that are found and at least as similar as the floor, each once."""
    pieces = [_compared(one, other, first, second, kind, floor)
              for first, second in _candidates(one, other)]
    joined = Pairs(*(np.concatenate([getattr(piece, name) for piece in pieces])
                     for name in ("first", "second", "similar")))
    _, once = np.unique(joined.first * len(other) + joined.second, return_index=True)
    return joined.chosen(once)


def _compared(one: Words, other: Words, first: Places, second: Places, kind: str,
              floor: float) -> Pairs:
    kept = []
    for start in range(0, max(1, len(first)), CHUNK):
        part = slice(start, start + CHUNK)
        similar = similarity(one[first[part]], other[second[part]], kind)
        near = np.flatnonzero(similar >= floor)
        kept.append(Pairs(first[part][near], second[part][near], similar[near]))
    return kept[0] if len(kept) == 1 else Pairs(
        *(np.concatenate([getattr(piece, name) for piece in kept])
          for name in ("first", "second", "similar")))


def _candidates(one: Words, other: Words) -> Iterator[tuple[Places, Places]]:
    if len(one) * len(other) <= FEW:
        yield (np.repeat(np.arange(len(one)), len(other)),
               np.tile(np.arange(len(other)), len(one)))
        return
    draw = np.random.default_rng(0)
    width = _sampled_bits(one, other, draw)
    for _ in range(TABLES):
        bits = draw.choice(64 * one.shape[1], width, replace=False)
        yield _agreeing(_keys(one, bits), _keys(other, bits))


def _sampled_bits(one: Words, other: Words, draw: np.random.Generator) -> int:
    """Return how many bits let few unrelated pairs through."""
    apart = np.bitwise_count(one[draw.integers(len(one), size=SAMPLE)]
                             ^ other[draw.integers(len(other), size=SAMPLE)])
    share = np.clip(1 - apart.sum(axis=1).mean() / (64 * one.shape[1]), 0.3, 0.9)
    allowed = PER_RECORD * max(len(one), len(other))
    return int(np.clip(np.ceil(np.log(allowed / (len(one) * len(other))) / np.log(share)), 4, 63))


def _keys(rows: Words, bits: Places) -> Words:
    """Return the sampled bits of every row as one word."""
    keys = np.zeros(len(rows), np.uint64)
    for place, bit in enumerate(bits):
        keys |= (rows[:, bit // 64] >> np.uint64(bit % 64) & np.uint64(1)) << np.uint64(place)
    return keys


def _agreeing(one: Words, other: Words) -> tuple[Places, Places]:
    """Return all pairs with equal keys; a key that too many share is left out of this table."""
    order, listed = np.argsort(other), np.sort(other)
    left, right = np.searchsorted(listed, one), np.searchsorted(listed, one, "right")
    counts = right - left
    counts[counts > 100 * PER_RECORD] = 0
    first = np.repeat(np.arange(len(one)), counts)
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    return first, order[np.repeat(left, counts) + within]
