"""Two releases of one table attacked together: their orders are put on one another.

Both releases rank the same records. In a column that both hold, a group of codes without order
(a permuted monochromatic run) is a range of ranks; the two releases cut ranks into different
ranges when their classes differ. Records are recognised across releases by the ranges in which
they lie in all shared columns. A code whose records are recognised lies where its two ranges
overlap, so permuted runs fall apart. Two strict releases add nothing: each shows the full order
already. Only the order of codes is learned here; any attack can then be run on the finer view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.disclosure.adversary import ColumnView, View
from unspoken.errors import InputError
from unspoken.table.arrow_arrays import to_numbers

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Side:
    """One release's column: the range of record ranks of every code, and the code of every row."""

    low: Ints
    high: Ints
    row: Ints


@dataclass(frozen=True)
class Ranges:
    """The range of record ranks in which the records of each code must lie.

    Attributes
    ----------
    low, high : array of int
        The first rank of each code, and the one after its last.
    """

    low: Ints
    high: Ints

    def exact(self, seen: ColumnView) -> float:
        """Return the share of codes that fill their range alone: their rank is known exactly."""
        if seen.codes.size == 0:
            return 1.0
        return float((self.high - self.low == seen.counts).mean())


def ranges(seen: ColumnView) -> Ranges:
    """Return the ranges that a release shows by itself.

    Parameters
    ----------
    seen : ColumnView
        A released column as an adversary sees it.

    Returns
    -------
    Ranges
    """
    ends = np.cumsum(seen.cell_records)
    return Ranges((ends - seen.cell_records)[seen.cells], ends[seen.cells])


def overlaps(first: View, second: View, columns: Mapping[str, str]) -> dict[str, Ranges]:
    """Return the ranges of the first release's codes, cut down by what the second shows.

    Parameters
    ----------
    first, second : View
        Two releases of one table, seen with their rows: `View.of(release, rows=True)`.
    columns : mapping
        Names in the first release to those of the same column in the second.

    Returns
    -------
    dict
        The Ranges of every shared column, by its name in the first release.

    Examples
    --------
    >>> narrowed = overlaps(one, two, {"a1": "a1"})  # doctest: +SKIP
    """
    pairs = {a: (_side(first, a), _side(second, b)) for a, b in columns.items()}
    if not pairs:
        return {}
    links = _links([_shared_cells(*pair) for pair in pairs.values()])
    return {name: _overlap(first[name], *pair, links) for name, pair in pairs.items()}


def finer(first: View, second: View, columns: Mapping[str, str]) -> View:
    """Return the first view with the order that the second one adds, for any attack to use.

    Codes are put in the order of the middles of their ranges; those whose records were not
    recognised keep the middle of their group.

    Parameters
    ----------
    first, second : View
        Two releases of one table, seen with their rows: `View.of(release, rows=True)`.
    columns : mapping
        Names in the first release to those of the same column in the second.

    Returns
    -------
    View

    Examples
    --------
    >>> view = finer(one, two, {"a1": "a1"})  # doctest: +SKIP
    """
    seen = {name: first[name].regrouped(_by_middle(overlap))
            for name, overlap in overlaps(first, second, columns).items()}
    return View(first.mechanism, {**first.columns, **seen}, first.rows, first.target, first.table)


def _side(view: View, name: str) -> Side:
    if view.table is None:
        raise InputError("Attacking two releases needs views with their rows. Use "
                         "View.of(release, rows=True).")
    seen = view[name]
    known = ranges(seen)
    data = np.asarray(to_numbers(view.table[name]), np.float64)
    row = np.searchsorted(seen.codes, np.nan_to_num(data, nan=seen.codes[0]))
    row[np.isnan(data)] = -1
    return Side(known.low, known.high, np.asarray(row, np.int64))


def _shared_cells(first: Side, second: Side) -> tuple[Ints, Ints]:
    """Return for each release's rows the range between ranks where both releases cut."""
    cuts = np.intersect1d(first.low, second.low)
    cells = []
    for side in (first, second):
        cell = np.searchsorted(cuts, side.low, side="right")
        cells.append(np.where(side.row < 0, -1, cell[side.row]))
    return cells[0], cells[1]


def _links(cells: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Return the rows of both releases whose ranges in all shared columns are theirs alone."""
    first = _signature([pair[0] for pair in cells])
    second = _signature([pair[1] for pair in cells])
    only_first, only_second = _unique_rows(first), _unique_rows(second)
    _, a, b = np.intersect1d(first[only_first], second[only_second], assume_unique=True,
                             return_indices=True)
    return only_first[a], only_second[b]


def _signature(parts: list[Ints]) -> npt.NDArray[np.uint64]:
    out = np.zeros(parts[0].size, np.uint64)
    for part in parts:
        out = (out ^ (out >> np.uint64(29))) * _MIX + (part + 2).astype(np.uint64)
    return out


def _unique_rows(signature: npt.NDArray[np.uint64]) -> Ints:
    _, where, counts = np.unique(signature, return_index=True, return_counts=True)
    return np.asarray(where[counts == 1], np.int64)


def _overlap(seen: ColumnView, first: Side, second: Side, links: tuple[Ints, Ints]) -> Ranges:
    """Cut the ranges of codes down to where their recognised records lie in both releases.

    A code drawn per record may stand for several values: its range is that of all its records,
    and is cut down only if all of them were recognised.
    """
    mine, other = first.row[links[0]], second.row[links[1]]
    both = (mine >= 0) & (other >= 0)
    mine, other = mine[both], other[both]
    low, high = first.high.copy(), first.low.copy()
    np.minimum.at(low, mine, np.maximum(first.low[mine], second.low[other]))
    np.maximum.at(high, mine, np.minimum(first.high[mine], second.high[other]))
    counts = np.bincount(mine, minlength=low.size)
    enough = counts >= (seen.counts if seen.per_record else 1)
    return Ranges(np.where(enough, low, first.low), np.where(enough, high, first.high))


def _by_middle(ranges: Ranges) -> Ints:
    _, cells = np.unique(ranges.low + ranges.high, return_inverse=True)
    return np.asarray(cells.reshape(-1), np.int64)
