"""Frequency matching with the exact histogram, which recovers values, not just ranges.

Groups of codes without order are lined up with values by the number of records below them.
Inside a group codes and values are matched by how often they occur; among equally frequent ones
every code is guessed as the middle one of the values, which is right once and near otherwise.
With a code per record frequencies are gone, and the most frequent value of the group is guessed.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import Adversary, ColumnView, View
from unspoken.disclosure.knowledge import Histogram, Knowledge
from unspoken.errors import InputError


class FrequencyMatching(Adversary):
    """Matches codes with the values of a known histogram by order and by frequency."""

    name: ClassVar[str] = "frequency"
    needs: ClassVar[frozenset[str]] = frozenset({"histogram"})
    measures: ClassVar[tuple[str, ...]] = ("domain", "records", "exact", "exact records")
    gets: ClassVar[str] = "matches how often codes occur with the exact histogram"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the matched value of every code; the same in every trial."""
        if knowledge.histogram is None or knowledge.histogram.values.size == 0:
            raise InputError("Frequency matching needs a histogram. The knowledge "
                             f"'{knowledge.label}' has none.")
        return match(view[column], knowledge.histogram)[None, :]


def match(seen: ColumnView, known: Histogram) -> Floats:
    """Return a value for every code."""
    group = _groups_of_values(seen, known)
    out = _most_frequent(seen, known, group)
    sizes = np.bincount(group, minlength=seen.cell_codes.size)
    same = seen.cell_codes == sizes[: seen.cell_codes.size]
    if seen.per_record:
        same &= seen.cell_codes == 1
    codes = np.flatnonzero(same[seen.cells])
    values = np.flatnonzero(same[group])
    codes = codes[np.lexsort((seen.counts[codes], seen.cells[codes]))]
    values = values[np.lexsort((known.values[values], known.counts[values], group[values]))]
    out[codes] = _middles(seen.cells[codes], seen.counts[codes], known.values[values])
    return out


def _groups_of_values(seen: ColumnView, known: Histogram) -> Ints:
    """Return the group into which each value falls by the records below it."""
    ends = np.cumsum(seen.cell_records)
    middle = np.cumsum(known.counts) - known.counts / 2
    scale = ends[-1] / known.counts.sum()
    groups = np.searchsorted(ends, middle * scale, side="right")
    return np.asarray(np.minimum(groups, ends.size - 1), np.int64)


def _most_frequent(seen: ColumnView, known: Histogram, group: Ints) -> Floats:
    best = np.full(seen.cell_codes.size, np.nan)
    order = np.lexsort((known.counts, group))
    best[group[order]] = known.values[order]
    empty = np.isnan(best)
    if empty.any():
        full = np.flatnonzero(~empty)
        best[empty] = np.interp(np.flatnonzero(empty), full, best[full])
    return best[seen.cells]


def _middles(cells: Ints, counts: Ints, values: Floats) -> Floats:
    """Return for runs of equal (cell, count) the middle one of their values, which are sorted."""
    if cells.size == 0:
        return values
    new = np.r_[True, (np.diff(cells) != 0) | (np.diff(counts) != 0)]
    starts = np.flatnonzero(new)
    lengths = np.diff(starts, append=cells.size)
    return np.repeat(values[starts + (lengths - 1) // 2], lengths)
