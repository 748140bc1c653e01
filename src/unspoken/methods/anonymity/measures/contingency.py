"""Contingency tables: small cells, what several tables determine together, suppression.

A count of one in one table is harmless until another table discloses the rest of that person
(vcz2006 section 2.1). `bounds` asks for every cell of the table behind all published ones how
small and how large it can be; where both agree the cell is disclosed. `suppress` leaves small
cells out (primary suppression) and as many others as it takes to keep them from being computed
from the totals (complementary suppression, by the linear programs of Kelly, Golden and Assad
1992): the cells that are cheapest to move together with a small one are left out with it.

Limits: bounds are those of linear programs, rounded inwards to whole numbers. Whole tables alone
can be tighter (`whole=True` asks for them, slowly). Suppression guards each small cell against
anyone who knows the published table, not against a respondent who knows their own count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats
from unspoken.errors import DataError, InputError

Published = tuple[Sequence[int], npt.ArrayLike]
"""The axes of the full table that a published table keeps, and its counts; NaN is suppressed."""

MAX_CELLS = 20_000
_SLACK = 1e-6


@dataclass(frozen=True)
class Bounds:
    """The least and the most that every cell can be."""

    low: Floats
    high: Floats

    @property
    def disclosed(self) -> Bools:
        """Return which cells are determined exactly."""
        return np.asarray(self.low == self.high)


def small_cells(counts: npt.ArrayLike, threshold: int = 3) -> Bools:
    """Return the cells with at least one person, but fewer than the threshold."""
    table = np.asarray(counts)
    return np.asarray((table > 0) & (table < threshold))


def bounds(shape: Sequence[int], published: Iterable[Published], *,
           cells: Bools | None = None, whole: bool = False) -> Bounds:
    """Return what published tables together say about every cell of the full table.

    `cells`: which to ask for, by default all; the others get 0 and infinity. `whole`: cells are
    whole numbers, solved as such.
    """
    rows, sums = _equations(tuple(shape), published)
    asked = np.ones(shape, np.bool_) if cells is None else np.asarray(cells, np.bool_)
    low, high = np.zeros(asked.size), np.full(asked.size, np.inf)
    empty = np.asarray(rows[sums == 0].sum(axis=0) > 0).reshape(-1)
    high[empty] = 0.0
    for at in np.flatnonzero(asked.reshape(-1) & ~empty):
        low[at] = np.ceil(_extreme(rows, sums, int(at), 1.0, whole) - _SLACK)
        high[at] = np.floor(-_extreme(rows, sums, int(at), -1.0, whole) + _SLACK)
    return Bounds(low.reshape(shape), high.reshape(shape))


def checked_axes(axes: Sequence[int], dimensions: int) -> tuple[int, ...]:
    """Return the axes that a total keeps; what is no axis, or stands twice, is refused."""
    kept = tuple(int(axis) for axis in axes)
    if len({*kept}) < len(kept) or any(not 0 <= axis < dimensions for axis in kept):
        raise InputError(f"The axes of a total must be different numbers from 0 to "
                         f"{dimensions - 1}. Got {kept}.")
    return kept


def _equations(shape: tuple[int, ...], published: Iterable[Published]) -> tuple[Any, Floats]:
    """Return one sparse row for every published count."""
    from scipy.sparse import csr_array, vstack

    size = int(np.prod(shape))
    if size > MAX_CELLS:
        raise InputError(f"The full table must have at most {MAX_CELLS:,} cells. It has {size:,}. "
                         "Merge categories, or ask about fewer columns.")
    places = np.indices(shape).reshape(len(shape), -1)
    rows, sums = [csr_array((0, size))], [np.zeros(0)]
    for axes, counts in published:
        table = np.asarray(counts, np.float64)
        kept = list(checked_axes(axes, len(shape)))
        if table.shape != tuple(shape[axis] for axis in kept):
            wanted = tuple(shape[axis] for axis in kept)
            raise DataError(f"A published table over the axes {kept} must have the shape {wanted}. "
                            f"Got {table.shape}.")
        cell = np.ravel_multi_index([places[a] for a in kept], table.shape) if kept \
            else np.zeros(size, np.int64)
        known = np.flatnonzero(~np.isnan(table.reshape(-1)))
        row = csr_array((np.ones(size), (cell, np.arange(size))), (max(table.size, 1), size))
        rows.append(row[known])
        sums.append(table.reshape(-1)[known])
    return vstack(rows, format="csr"), np.concatenate(sums)


def _extreme(rows: Any, sums: Floats, at: int, sign: float, whole: bool) -> float:
    from scipy.optimize import linprog

    cost = np.zeros(rows.shape[1])
    cost[at] = sign
    solution = linprog(cost, A_eq=rows, b_eq=sums, integrality=np.full(cost.size, int(whole)),
                       method="highs")
    if solution.status == 3:
        return -np.inf
    if not solution.success:
        raise DataError("The published tables contradict each other: no table of counts has "
                        "these totals. Check that they count the same people.")
    return float(solution.fun)


@dataclass(frozen=True)
class Suppression:
    """A table with cells left out (NaN): the small ones and those that would give them away."""

    published: Floats
    primary: Bools
    complementary: Bools

    def summary(self) -> str:
        """Return what was left out, in a sentence."""
        total = np.nansum(self.published)
        return (f"{int(self.primary.sum())} small cells and {int(self.complementary.sum())} others "
                f"of {self.primary.size} are left out; {total:,.0f} people are still counted.")


def suppress(counts: npt.ArrayLike, threshold: int = 3, *, protection: int | None = None,
             totals: Sequence[Sequence[int]] | None = None) -> Suppression:
    """Leave small cells out, and others until no small cell can be computed from the totals.

    `totals`: the axes of each total that is published; by default every sum along one axis.
    `protection`: how far above and below its count each small cell must stay possible (never
    below 0); by default threshold - 1.
    """
    table = np.asarray(counts, np.float64)
    if table.size == 0 or table.ndim == 0 or not np.isfinite(table).all() or (table < 0).any():
        raise DataError("'counts' must be a table of counts, with at least one cell and without "
                        "missing, infinite or negative values.")
    reach = threshold - 1 if protection is None else protection
    kept = list(combinations(range(table.ndim), table.ndim - 1)) if totals is None else [
        checked_axes(axes, table.ndim) for axes in totals]
    rows, _ = _equations(table.shape, [(axes, _total(table, axes)) for axes in kept])
    primary, flat = small_cells(table, threshold), table.reshape(-1)
    hidden = primary.reshape(-1).copy()
    for at in np.flatnonzero(primary.reshape(-1))[np.argsort(-flat[primary.reshape(-1)])]:
        for move in (float(reach), -float(min(reach, flat[at]))):
            hidden |= _moved(rows, flat, hidden, int(at), move)
    mask = hidden.reshape(table.shape)
    return Suppression(np.where(mask, np.nan, table), primary, mask & ~primary)


def _total(table: Floats, axes: Sequence[int]) -> Floats:
    gone = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return np.asarray(table.sum(axis=gone)) if gone else table


def _moved(rows: Any, flat: Floats, hidden: Bools, at: int, move: float) -> Bools:
    """Return the cells that move along in the cheapest other table where one cell moved."""
    from scipy.optimize import linprog
    from scipy.sparse import hstack

    size = flat.size
    cost = np.tile(np.where(hidden, 1e-6, flat + 1.0), 2)
    limits = np.column_stack([np.zeros(2 * size), np.r_[np.full(size, np.inf), flat]])
    limits[at] = max(move, 0.0)
    limits[size + at] = max(-move, 0.0)
    solution = linprog(cost, A_eq=hstack([rows, -rows], format="csr"),
                       b_eq=np.zeros(rows.shape[0]), bounds=limits, method="highs")
    if not solution.success:
        raise DataError("A small cell cannot be protected: it is alone in a total, or the total "
                        "itself is small. Merge categories, ask for less "
                        "protection, or publish fewer totals.")
    return np.asarray(solution.x[:size] + solution.x[size:] > _SLACK)
