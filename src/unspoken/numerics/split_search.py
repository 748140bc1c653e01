"""The best split of a node over all columns at once.

Columns of one kind lie one after another in a flat histogram and are searched in one sweep: every
record is counted once in each column, so a running sum starts again if the total is taken off at
the start of every column. What comes out is what `splitting` finds column by column, bit for bit;
columns with missing numbers and splits into one child a category are left to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.numerics.splitting import NUMERIC, SEARCH, TWO_WAY, Criterion, Split, route_of

Best = tuple[float, int, Callable[[], Split | None]]
"""How good a split is, its column, and how it is made; most are never made."""
_NONE: Best = (-math.inf, 1 << 30, lambda: None)


@dataclass(frozen=True)
class Sweep:
    """Columns side by side in a flat histogram: the column of each bin, and its code there.

    `later` are the first bins of all columns but the first.
    """

    bins: slice
    column: npt.NDArray[np.int32]
    code: Ints
    columns: tuple[int, ...]
    later: Ints

    def ends(self, present: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return where each column but the last one ends among bins that hold records.

        Every column has such bins: every record is counted in each.
        """
        return np.searchsorted(present, self.later) - 1


@dataclass(frozen=True)
class Layout:
    """Where each column lies in the flat histogram, and how it is searched.

    `order` is the order of the columns in the histogram: those of one sweep side by side.
    """

    kinds: tuple[str, ...]
    order: tuple[int, ...]
    spans: tuple[slice, ...]
    cuts: Sweep | None
    groups: Sweep | None
    single: tuple[int, ...]

    def part(self, histogram: Ints, column: int) -> Ints:
        """Return the histogram of one column."""
        return histogram[:, self.spans[column]]

    def search(self, by: Criterion, total: Ints, histogram: Ints) -> Split | None:
        """Return the best split; of equally good ones that of the first column."""
        best = _better(_cuts(self.cuts, by, total, histogram),
                       _groups(self.groups, by, total, histogram, self))
        for column in self.single:
            split = SEARCH[self.kinds[column]](by, column, total, self.part(histogram, column))
            if split is not None:
                best = _better(best, (split.score, column, _made(split)))
        return best[2]()


def layout(kinds: Sequence[str], bins: Sequence[int], missing: Sequence[bool]) -> Layout:
    """Lay out columns; `missing` says which numeric columns have missing values at all."""
    cuts = [i for i, kind in enumerate(kinds) if kind == NUMERIC and not missing[i]]
    groups = [i for i, kind in enumerate(kinds) if kind == TWO_WAY]
    rest = [i for i in range(len(kinds)) if i not in cuts and i not in groups]
    order = [*cuts, *groups, *rest]
    ends = np.cumsum([bins[i] for i in order]).tolist()
    spans: list[slice] = [slice(0, 0)] * len(kinds)
    for place, column in enumerate(order):
        spans[column] = slice(ends[place] - bins[column], ends[place])
    return Layout(tuple(kinds), tuple(order), tuple(spans), _sweep(cuts, spans),
                  _sweep(groups, spans), tuple(rest))


def _sweep(columns: Sequence[int], spans: Sequence[slice]) -> Sweep | None:
    if not columns:
        return None
    sizes = [spans[c].stop - spans[c].start for c in columns]
    code = np.concatenate([np.arange(size) for size in sizes])
    return Sweep(slice(spans[columns[0]].start, spans[columns[-1]].stop),
                 np.repeat(np.arange(len(columns), dtype=np.int32), sizes), code, tuple(columns),
                 np.cumsum(sizes)[:-1])


def _made(split: Split) -> Callable[[], Split]:
    return lambda: split


def _better(first: Best, second: Best) -> Best:
    """Return the better split; of equally good ones that of the earlier column."""
    if second[0] > first[0] or (second[0] == first[0] and second[1] < first[1]):
        return second
    return first


def _cuts(sweep: Sweep | None, by: Criterion, total: Ints, histogram: Ints) -> Best:
    if sweep is None:
        return _NONE
    flat = histogram[:, sweep.bins]
    present = np.flatnonzero(by.size(flat) > 0)
    ends = sweep.ends(present)
    left = _running(flat.take(present, axis=1), ends, total)
    scores = _scores(by, total, left, ends)
    at = int(scores.argmax())
    score, column = float(scores[at]), sweep.columns[sweep.column[present[at]]]

    def split() -> Split:
        more = 2 * int(by.size(left[:, at])) >= int(by.size(total))
        low, high = sweep.code[present[at : at + 2]].tolist()
        return Split(column, score, (low, high), more)

    return _NONE if score == -math.inf else (score, column, split)


def _running(parts: Ints, ends: npt.NDArray[np.intp], total: Ints) -> Ints:
    """Return running sums that start again with every column; `parts` is overwritten."""
    parts[:, ends + 1] -= total[:, None]
    return np.cumsum(parts, axis=1, dtype=parts.dtype)


def _scores(by: Criterion, total: Ints, left: Ints, ends: npt.NDArray[np.intp]
            ) -> npt.NDArray[np.float64]:
    """Score a cut after every bin; after the last bin of a column there is none."""
    scores = by.score(total, left, total[:, None] - left)
    scores[ends] = -math.inf
    scores[-1] = -math.inf
    return by.settle(total, left, scores)


def _groups(sweep: Sweep | None, by: Criterion, total: Ints, histogram: Ints, of: Layout) -> Best:
    if sweep is None:
        return _NONE
    flat = histogram[:, sweep.bins]
    present = np.flatnonzero(by.size(flat) > 0)
    parts, column = flat.take(present, axis=1), sweep.column.take(present)
    ends, best = sweep.ends(present), _NONE
    for key in by.keys(parts):
        order = np.lexsort((key, column))
        left = _running(parts.take(order, axis=1), ends, total)
        scores = _scores(by, total, left, ends)
        at = int(scores.argmax())
        score, here = float(scores[at]), int(column[at])
        if score > -math.inf:
            name, first = sweep.columns[here], ends[here - 1] + 1 if here else 0
            chosen = sweep.code[present[order[first : at + 1]]]
            best = _better(best, (score, name, partial(
                route_of, by, name, score, total, of.part(histogram, name), chosen)))
    return best
