"""How many of an owner's own baskets hold each candidate, level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Ints, Words
from unspoken.joint.tasks.rules.candidate_levels import Ladder
from unspoken.numerics.packed_bits import bit_counts, packed
from unspoken.numerics.pair_counting import count_pairs
from unspoken.table.baskets import Baskets

ENTRIES = 1 << 22
"""So many baskets of candidates are looked at in one step."""


WORD_COST = 0.5
"""What reading 64 bits costs, in basket look-ups (as in `stats.frequent`)."""


@dataclass(frozen=True)
class ByLists:
    """Sets with the numbers of their baskets, one list after the other; lists may be empty.

    (The lists of `stats.frequent` never are: there a set that is followed is frequent.)
    """

    starts: Ints
    rows: npt.NDArray[np.int32]
    words: Words

    def extended(self, parent: Ints, item: Ints) -> tuple[Ints, ByLists]:
        """Return the counts of sets with one item more, and their lists."""
        sizes = (self.starts[1:] - self.starts[:-1])[parent]
        bounds = np.r_[0, np.cumsum(sizes)]
        counts, lists = np.zeros(parent.size, np.int64), [np.zeros(0, np.int32)]
        for a, b in _pieces(bounds):
            row = self._rows(parent[a:b])
            held = self.words[np.repeat(item[a:b], sizes[a:b]), row >> 6]
            inside = (held >> (row & 63).astype(np.uint64)) & np.uint64(1) == 1
            running = np.r_[0, np.cumsum(inside)]
            counts[a:b] = np.diff(running[bounds[a:b + 1] - bounds[a]])
            lists.append(row[inside])
        return counts, ByLists(np.r_[0, np.cumsum(counts)], np.concatenate(lists), self.words)

    def only(self, used: Ints) -> ByLists:
        """Return the lists of some of the sets."""
        sizes = (self.starts[1:] - self.starts[:-1])[used]
        return ByLists(np.r_[0, np.cumsum(sizes)], self._rows(used), self.words)

    def _rows(self, used: Ints) -> npt.NDArray[np.int32]:
        sizes = (self.starts[1:] - self.starts[:-1])[used]
        ends = np.r_[0, np.cumsum(sizes)]
        where = np.arange(int(ends[-1])) + np.repeat(self.starts[:-1][used] - ends[:-1], sizes)
        return np.asarray(self.rows[where])


@dataclass(frozen=True)
class ByBits:
    """Sets with a bit for every basket: for owners with few baskets, or full ones."""

    bits: Words
    words: Words

    def extended(self, parent: Ints, item: Ints) -> tuple[Ints, ByBits]:
        """Return the counts of sets with one item more, and their bits."""
        step = max(1, ENTRIES // max(self.bits.shape[1], 1))
        both = [self.bits[parent[a:a + step]] & self.words[item[a:a + step]]
                for a in range(0, max(parent.size, 1), step)]
        bits = both[0] if len(both) == 1 else np.concatenate(both)
        return bit_counts(bits), ByBits(bits, self.words)

    def only(self, used: Ints) -> ByBits:
        """Return the bits of some of the sets."""
        return ByBits(self.bits[used], self.words)


def _pieces(bounds: Ints) -> list[tuple[int, int]]:
    """Return ranges whose lists are ENTRIES long at most, or which are single."""
    ranges, start, count = [], 0, bounds.size - 1
    while start < count:
        stop = int(np.searchsorted(bounds, bounds[start] + ENTRIES, side="right")) - 1
        ranges.append((start, max(stop, start + 1)))
        start = ranges[-1][1]
    return ranges


class LocalCounts:
    """Counts of candidates that others choose: rare ones here may be frequent in all."""

    def __init__(self, baskets: Baskets) -> None:
        self._baskets = baskets
        self._cover: ByLists | ByBits | None = None
        self.kept: list[Ints] = []

    def count(self, ladder: Ladder) -> Ints:
        """Return the counts of a ladder's candidates, and keep the lists of their baskets."""
        size = ladder.sets.shape[1]
        if size == 1:
            return self._baskets.frequencies()
        if size == 2:
            return self._pairs(ladder)
        counts, self._cover = self._follow(ladder).extended(ladder.parent, ladder.last)
        return counts

    def _pairs(self, ladder: Ladder) -> Ints:
        """Count pairs of frequent items in one pass over the baskets."""
        kept = ladder.levels[0][:, 0]
        rank = np.full(ladder.items, -1, np.int64)
        rank[kept] = np.arange(kept.size)
        codes = rank[self._baskets.codes]
        here = codes >= 0
        ends = np.r_[0, np.cumsum(here)][self._baskets.offsets]
        table = np.zeros(kept.size * kept.size, np.int64)
        keys, counts = count_pairs(ends, codes[here].astype(np.int32), kept.size)
        table[keys] = counts
        return np.asarray(table[ladder.parent * kept.size + ladder.last])

    def _follow(self, ladder: Ladder) -> ByLists | ByBits:
        """Return the baskets of every frequent set of the level before."""
        if self._cover is None:
            starts, rows = self._baskets.columns
            kept = ladder.levels[0][:, 0]
            words = packed(starts, rows, kept, len(self._baskets))
            pairs = np.searchsorted(kept, ladder.levels[1])
            looked_up = float(self.kept[1][ladder.parent].sum())
            dense = looked_up > WORD_COST * words.shape[1] * ladder.parent.size
            single = ByBits(words, words) if dense else ByLists(starts, rows, words).only(kept)
            # The list of the rarer of the two is the shorter one.
            rarer = np.argsort(self.kept[0][pairs], axis=1)
            first, second = np.take_along_axis(pairs, rarer, axis=1).T
            self._cover = single.extended(first, second)[1]
        return self._cover

    def keep(self, counts: Ints, frequent: Bools) -> None:
        """Keep the counts, and the lists, of what turned out frequent."""
        self.kept.append(counts[frequent])
        if len(self.kept) > 2 and self._cover is not None:
            self._cover = self._cover.only(np.flatnonzero(frequent))
