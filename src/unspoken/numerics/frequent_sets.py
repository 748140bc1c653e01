"""Frequent itemsets, exactly: pairs counted in one pass, larger sets by intersection.

Items are ranked by frequency, the rarest first, so that every set is reached through its rarest
items and few baskets are left to look at. Sets are extended level by level, all candidates of a
level at once: those of two frequent sets that differ in their last item only, where the two last
items are a frequent pair. What is intersected is the list of baskets of the smaller set with the
bits of the new item (sparse data), or bits with bits (dense data), whichever reads less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints, Words
from unspoken.numerics.packed_bits import bit_counts, packed
from unspoken.numerics.pair_counting import count_pairs, pairs_by_bits

Codes = npt.NDArray[np.int32]
Level = tuple[Ints, Ints]
"""Sets of one size as rows of codes, and in how many baskets each occurs."""

ENTRIES = 1 << 22
"""Baskets of candidates looked at in one step."""
BLOCK = 1 << 25
"""Baskets of the sets that are extended together."""
TRIED = 4
"""Candidates for every set that may be held."""
WORD_COST = 0.5
"""What reading 64 bits costs, in basket look-ups (measured)."""
PAIR_COST = 4.0
"""What writing out a pair costs, in words (measured)."""


@dataclass(frozen=True)
class Ranked:
    """Baskets of frequent items only, coded by rank."""

    offsets: Ints
    codes: Codes
    items: Ints
    counts: Ints

    @classmethod
    def of(cls, offsets: Ints, codes: Codes, counts: Ints, least: int) -> Ranked:
        """Keep the items that occur often enough, the rarest first."""
        kept = np.flatnonzero(counts >= least)
        order = kept[np.argsort(counts[kept], kind="stable")]
        rank = np.full(counts.size, -1, np.int64)
        rank[order] = np.arange(order.size)
        rows = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        ranks = rank[codes]
        here = ranks >= 0
        keys = np.sort(rows[here] * max(order.size, 1) + ranks[here])
        row, code = np.divmod(keys, max(order.size, 1))
        ends = np.cumsum(np.bincount(row, minlength=offsets.size - 1))
        return cls(np.r_[0, ends], code.astype(np.int32), order, counts[order])

    @property
    def baskets(self) -> int:
        """Return the number of baskets."""
        return int(self.offsets.size - 1)

    def columns(self) -> tuple[Ints, Codes]:
        """Return the baskets of every item: where each starts, and their numbers."""
        narrow = self.codes.astype(np.uint16) if self.items.size <= 1 << 16 else self.codes
        rows = np.repeat(np.arange(self.baskets, dtype=np.int32), np.diff(self.offsets))
        return np.r_[0, np.cumsum(self.counts)], rows[np.argsort(narrow, kind="stable")]

    def pairs(self, words: Words, least: int) -> Level:
        """Return the frequent pairs of ranks, in order."""
        size, sizes = self.items.size, np.diff(self.offsets)
        written = PAIR_COST * float((sizes * (sizes - 1) // 2).sum())
        if written <= words.shape[1] * size * size / 2:
            keys, counts = count_pairs(self.offsets, self.codes, size)
        else:
            table = np.triu(pairs_by_bits(words), 1).ravel()
            keys = np.flatnonzero(table >= least)
            counts = table[keys]
        often = counts >= least
        return np.stack(np.divmod(keys[often], max(size, 1)), axis=1), counts[often]


@dataclass(frozen=True)
class ByLists:
    """Sets with the numbers of their baskets, one list after the other."""

    starts: Ints
    rows: Codes
    words: Words

    def extend(self, parent: Ints, item: Ints, least: int) -> tuple[Ints, ByLists]:
        """Return the counts of sets with one item more, and the lists of the frequent ones."""
        sizes = (self.starts[1:] - self.starts[:-1])[parent]
        counts, lists = np.zeros(parent.size, np.int64), [np.zeros(0, np.int32)]
        for a, b in _chunks(sizes, ENTRIES):
            here = sizes[a:b]
            ends = np.cumsum(here)
            where = np.arange(int(ends[-1])) + np.repeat(self.starts[parent[a:b]] - ends + here,
                                                         here)
            row = self.rows[where]
            held = self.words[np.repeat(item[a:b], here), row >> 6]
            inside = (held >> (row & 63).astype(np.uint64)) & np.uint64(1) == 1
            counts[a:b] = np.diff(np.r_[0, np.cumsum(inside)[ends - 1]])
            lists.append(row[inside & np.repeat(counts[a:b] >= least, here)])
        starts = np.r_[0, np.cumsum(counts[counts >= least])]
        return counts, ByLists(starts, np.concatenate(lists), self.words)


@dataclass(frozen=True)
class ByBits:
    """Sets with a bit for every basket."""

    bits: Words
    words: Words

    def extend(self, parent: Ints, item: Ints, least: int) -> tuple[Ints, ByBits]:
        """Return the counts of sets with one item more, and the bits of the frequent ones."""
        counts, kept = np.zeros(parent.size, np.int64), [self.bits[:0]]
        width = max(self.bits.shape[1], 1)
        for a, b in _chunks(np.full(parent.size, width), ENTRIES // 16):
            both = self.bits[parent[a:b]] & self.words[item[a:b]]
            counts[a:b] = bit_counts(both)
            kept.append(both[counts[a:b] >= least])
        return counts, ByBits(np.concatenate(kept), self.words)


def _chunks(sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges whose sizes sum to `most` at most, or which are single."""
    ends, start = np.cumsum(sizes), 0
    while start < sizes.size:
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield start, stop
        start = stop


def partners(sets: Ints) -> Ints:
    """Return how many sets after each one (in order) differ from it in the last item only."""
    count = sets.shape[0]
    same = np.all(sets[1:, :-1] == sets[:-1, :-1], axis=1)
    edges = np.flatnonzero(~same) + 1
    end = np.r_[edges, count][np.searchsorted(edges, np.arange(count), side="right")]
    return np.asarray(end - np.arange(count) - 1)


def candidates(sets: Ints, pairs: Ints, items: int) -> tuple[Ints, Ints]:
    """Join sets (in order) that differ in the last item only, if the last two are a pair.

    Return the set to extend and the item to add. `pairs` are keys a * items + b, in order.
    """
    if sets.shape[0] < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    later = partners(sets)
    first = np.repeat(np.arange(later.size), later)
    ends = np.cumsum(later)
    second = first + 1 + np.arange(first.size) - np.repeat(ends - later, later)
    key = sets[first, -1] * items + sets[second, -1]
    place = np.minimum(np.searchsorted(pairs, key), max(pairs.size - 1, 0))
    known = pairs[place] == key if pairs.size else np.zeros(key.size, np.bool_)
    return first[known], sets[second[known], -1]


class TooManySetsError(ValueError):
    """There are more frequent sets than may be held at a time."""


def _refuse_more(levels: list[list[Level]], wanted: Ints, most: int) -> None:
    """Refuse to go on where sets, or the sets to try next, are too many."""
    held = sum(counts.size for parts in levels for _, counts in parts)
    if held > most or (wanted.size > 1 and int(partners(wanted).sum()) > TRIED * most):
        raise TooManySetsError(f"There are more than {most:,} frequent sets.")


def frequent(offsets: Ints, codes: Codes, items: int, least: int, longest: int,
             most: int = 1 << 62) -> list[Level]:
    """Return all sets of up to `longest` items in at least `least` baskets, by size.

    More than `most` sets are a TooManySetsError, raised before they take memory.
    """
    counts = np.bincount(codes, minlength=items)
    kept = np.flatnonzero(counts >= least)
    levels: list[list[Level]] = [[(kept[:, None], counts[kept])]]
    if longest > 1 and kept.size > 1:
        ranked = Ranked.of(offsets, codes, counts, least)
        starts, rows = ranked.columns()
        words = packed(starts, rows, np.arange(ranked.items.size), ranked.baskets)
        ranks, often = ranked.pairs(words, least)
        keys = ranks[:, 0] * ranked.items.size + ranks[:, 1]
        levels.append([(ranked.items[ranks], often)])
        for block in _blocks(ranks, often):
            base = ByLists(starts, rows, words)
            _extend(base, ranks[block], often[block], keys, (least, longest, most), levels,
                    ranked)
    return [_in_order(parts) for parts in levels]


def _blocks(ranks: Ints, counts: Ints) -> Iterator[slice]:
    """Yield runs of pairs that no other block extends: whole groups of one first item."""
    firsts = np.flatnonzero(np.r_[True, ranks[1:, 0] != ranks[:-1, 0]]) if ranks.size else \
        np.zeros(0, np.int64)
    sums = np.add.reduceat(counts, firsts) if firsts.size else firsts
    bounds = np.r_[firsts, ranks.shape[0]]
    for a, b in _chunks(sums, BLOCK):
        yield slice(int(bounds[a]), int(bounds[b]))


def _extend(base: ByLists, sets: Ints, counts: Ints, pairs: Ints, limits: tuple[int, int, int],
            levels: list[list[Level]], ranked: Ranked) -> None:
    """Go on from pairs, level by level, as long as there are candidates."""
    least, longest, most = limits
    _refuse_more(levels, sets, most)
    parent, item = candidates(sets, pairs, ranked.items.size)
    cover: Any = None
    while parent.size and sets.shape[1] < longest:
        used, place = np.unique(parent, return_inverse=True)
        cover = _start(base, sets[used], counts[parent]) if cover is None else _only(cover, used)
        sizes, cover = cover.extend(place.reshape(-1), item, least)
        often = sizes >= least
        sets = np.column_stack([sets[parent[often]], item[often]])
        counts = sizes[often]
        while len(levels) < sets.shape[1]:
            levels.append([])
        levels[sets.shape[1] - 1].append((ranked.items[sets], counts))
        _refuse_more(levels, sets, most)
        parent, item = candidates(sets, pairs, ranked.items.size)


def _start(base: ByLists, pairs: Ints, costs: Ints) -> Any:
    """Return the baskets of some pairs in the form that is read faster."""
    if float(costs.sum()) <= WORD_COST * base.words.shape[1] * costs.size:
        return base.extend(pairs[:, 0], pairs[:, 1], 0)[1]
    return ByBits(base.words[pairs[:, 0]] & base.words[pairs[:, 1]], base.words)


def _only(cover: Any, used: Ints) -> Any:
    if isinstance(cover, ByBits):
        return ByBits(cover.bits[used], cover.words)
    sizes = (cover.starts[1:] - cover.starts[:-1])[used]
    ends = np.cumsum(sizes)
    where = np.arange(int(ends[-1])) + np.repeat(cover.starts[used] - ends + sizes, sizes)
    return ByLists(np.r_[0, ends], cover.rows[where], cover.words)


def _in_order(parts: list[Level]) -> Level:
    sets = np.sort(np.concatenate([one for one, _ in parts]), axis=1)
    counts = np.concatenate([many for _, many in parts])
    order = np.lexsort(sets.T[::-1])
    return sets[order], counts[order]
