"""Published contingency tables: counts rounded, with noise, or merged, and the attack on them.

    random       every count goes to a multiple of the base below or above, by chance, so that its
                 expectation stays; totals are rounded on their own and need not add up
    controlled   counts and totals go to a multiple beside them so that everything adds up (Cox
                 1987); a whole-number program with random prices draws one of all such tables,
                 the nearer the likelier
    noise        whole numbers from -width to width are added to counts and totals
    merged       neighbouring categories of an axis become one until no count is small

Whoever knows how a table was made knows between which numbers every count and total lies, and no
more: every table of whole numbers within these ranges could have been published as this one.
`reach` is what follows from all ranges together (whole-number programs): both its ends are attained
by such a table. Where it leaves one number for a small count, nothing is published. A table that
would stay as it is is refused too.

Who learns what. Everything the totals and their reach say; several tables of the same people, or
the same table rounded anew, say more: publish once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats
from unspoken.errors import DataError, InputError, unknown
from unspoken.methods.anonymity.measures.contingency import (
    MAX_CELLS,
    Bounds,
    checked_axes,
    small_cells,
)
from unspoken.numerics.random import generator, seed_from

Axes = tuple[int, ...]
RANDOM, CONTROLLED, NOISE = HOW = ("random", "controlled", "noise")


@dataclass(frozen=True)
class PerturbedCounts:
    """What is published: by axes the counts and totals; `reach` is what an attacker gets."""

    tables: Mapping[Axes, Floats]
    how: str
    width: int
    reach: Bounds

    @property
    def counts(self) -> Floats:
        """Return the published counts of the full table."""
        return self.tables[max(self.tables, key=len)]

    def summary(self) -> str:
        """Return in a sentence how far an attacker gets."""
        room = self.reach.high - self.reach.low
        known = room[~np.isnan(room)]
        left = "no count is small" if known.size == 0 else (
            f"of small counts a range of at least {int(known.min())} remains open to whoever uses "
            "all of them")
        return (f"{self.counts.size} counts and {len(self.tables) - 1} sets of totals, {self.how}, "
                f"within {self.width}; {left}.")


def perturb_counts(counts: npt.ArrayLike, how: str = CONTROLLED, width: int = 5, *,
                   threshold: int = 3, totals: Sequence[Sequence[int]] | None = None,
                   random_state: Any = None) -> PerturbedCounts:
    """Round a table of counts and its totals to multiples of `width`, or add noise up to it.

    `totals`: the axes of each total that is published; by default every sum along one axis, and
    that of all. `threshold`: counts below it, zero aside, must not be found out.
    """
    table = _checked(counts, how, width)
    kept = totals if totals is not None else [
        *combinations(range(table.ndim), table.ndim - 1), ()] if table.ndim > 1 else [()]
    every = [tuple(range(table.ndim)), *(checked_axes(axes, table.ndim) for axes in kept)]
    true = {axes: _total(table, axes) for axes in dict.fromkeys(every)}
    rng = generator(seed_from(random_state), "perturb counts")
    shown = _controlled(table, true, width, rng) if how == CONTROLLED else {
        axes: _apart(part, how, width, rng) for axes, part in true.items()}
    if all(np.array_equal(shown[axes], part) for axes, part in true.items()):
        raise DataError("Nothing would change; the table would be published as it is. Use a larger "
                        "'width'.")
    room = width - 1 if how != NOISE else width
    small = small_cells(table, threshold)
    reach = reach_of(table.shape, {axes: (np.maximum(part - room, 0), part + room)
                                   for axes, part in shown.items()}, small)
    _refuse_found_out(table, small, reach)
    return PerturbedCounts(shown, how, width, reach)


def _checked(counts: npt.ArrayLike, how: str, width: int) -> Floats:
    table = np.asarray(counts, np.float64)
    if how not in HOW:
        raise InputError(unknown("A way to perturb counts", how, HOW))
    if table.size == 0 or table.ndim == 0 or not np.isfinite(table).all() or (
            table < 0).any() or (table != np.rint(table)).any():
        raise DataError("'counts' must be a table of whole numbers, with at least one cell and "
                        "without missing, infinite or negative values.")
    if table.size > MAX_CELLS:
        raise InputError(f"The table must have at most {MAX_CELLS:,} cells. It has "
                         f"{table.size:,}. Merge categories.")
    if isinstance(width, bool) or int(width) != width or width < 2:
        raise InputError(f"'width' must be a whole number of at least 2. Got {width!r}. Use 5.")
    return table


def _total(table: Floats, axes: Sequence[int]) -> Floats:
    gone = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return np.asarray(table.sum(axis=gone)) if gone else table


def _apart(part: Floats, how: str, width: int, rng: np.random.Generator) -> Floats:
    """Round or disturb every number on its own."""
    if how == NOISE:
        return np.maximum(part + rng.integers(-width, width + 1, part.shape), 0.0)
    below = np.floor(part / width) * width
    return np.asarray(below + width * (rng.random(part.shape) * width < part - below))


def _controlled(table: Floats, true: Mapping[Axes, Floats], width: int,
                rng: np.random.Generator) -> dict[Axes, Floats]:
    """Round so that everything adds up: which counts go up is a whole-number program."""
    from scipy.optimize import Bounds as Limits
    from scipy.optimize import LinearConstraint, milp

    flat = table.reshape(-1)
    below = np.floor(flat / width) * width
    part = (flat - below) / width
    rows, low, high = [], [], []
    for axes, total in true.items():
        if len(axes) < table.ndim:
            member = _members(table.shape, axes)
            base = member @ below
            rows.append(member * width)
            low.append(np.floor(total.reshape(-1) / width) * width - base)
            high.append(np.ceil(total.reshape(-1) / width) * width - base)
    # Were the nearest table taken, it would rule out originals that are nearer to another one.
    # Prices around zero can prefer any table that adds up: all of them stay possible.
    cost = rng.random(part.size) - part
    solved = milp(cost, integrality=np.ones(part.size), bounds=Limits(0, np.ceil(part)),
                  constraints=[LinearConstraint(np.vstack(rows), np.concatenate(low),
                                                np.concatenate(high))] if rows else [])
    if not solved.success:
        raise DataError("No rounding to multiples beside the counts adds up to such totals. Use "
                        "how='random', or publish fewer totals.")
    rounded = (below + width * np.rint(solved.x)).reshape(table.shape)
    return {axes: _total(rounded, axes) for axes in true}


def _members(shape: tuple[int, ...], axes: Axes) -> Floats:
    """Return which cells belong to each number of a total."""
    places = np.indices(shape).reshape(len(shape), -1)
    sizes = tuple(shape[axis] for axis in axes)
    cell = np.ravel_multi_index([places[a] for a in axes], sizes) if axes else np.zeros(
        places.shape[1], np.int64)
    return np.asarray((cell[None, :] == np.arange(max(int(np.prod(sizes)), 1))[:, None]),
                      np.float64)


def reach_of(shape: tuple[int, ...], ranges: Mapping[Axes, tuple[Floats, Floats]],
             cells: Bools) -> Bounds:
    """Return how small and large chosen cells can be if every published number lies in a range."""
    from scipy.optimize import LinearConstraint, milp

    member = np.vstack([_members(shape, axes) for axes in ranges])
    least = np.concatenate([np.asarray(low).reshape(-1) for low, _ in ranges.values()])
    most = np.concatenate([np.asarray(high).reshape(-1) for _, high in ranges.values()])
    low, high = np.full(cells.shape, np.nan), np.full(cells.shape, np.nan)
    for at in np.flatnonzero(cells.reshape(-1)):
        for sign, out in ((1.0, low), (-1.0, high)):
            cost = np.zeros(member.shape[1])
            cost[at] = sign
            end = milp(cost, integrality=np.ones(cost.size),
                       constraints=LinearConstraint(member, least, most))
            out.reshape(-1)[at] = np.rint(sign * end.fun)
    return Bounds(low, high)


def _refuse_found_out(table: Floats, small: Bools, reach: Bounds) -> None:
    sure = small & (reach.low == reach.high)
    if sure.any():
        raise DataError(f"{int(sure.sum())} small counts could be computed from what would be "
                        f"published, the first being {int(table[sure][0])}. Use a larger 'width', "
                        "or publish fewer totals.")


def merge_categories(counts: npt.ArrayLike, threshold: int = 3, axis: int = 0
                     ) -> tuple[Floats, list[list[int]]]:
    """Merge neighbouring categories of an axis until no count is small; also return who merged.

    The category with the smallest count joins the smaller of its neighbours, again and again.
    """
    table = np.moveaxis(_checked(counts, CONTROLLED, 2), axis, 0)
    groups = [[at] for at in range(table.shape[0])]
    while len(groups) > 1 and small_cells(table, threshold).any():
        poor = small_cells(table, threshold).reshape(table.shape[0], -1).any(axis=1)
        sizes = table.reshape(table.shape[0], -1).sum(axis=1)
        at = int(np.flatnonzero(poor)[np.argmin(sizes[poor])])
        near = [i for i in (at - 1, at + 1) if 0 <= i < len(groups)]
        other = min(near, key=lambda i: float(sizes[i]))
        first, second = min(at, other), max(at, other)
        groups[first] += groups.pop(second)
        table = np.concatenate([table[:first], table[first:second].sum(axis=0, keepdims=True)
                                + table[second:second + 1], table[second + 1:]])
    if small_cells(table, threshold).any():
        raise DataError("Even one category has small counts. Merge another axis, or use a smaller "
                        "'threshold'.")
    if len(groups) == np.asarray(counts).shape[axis]:
        raise DataError("Nothing would change: no count is small. Publish the table, or use a "
                        "larger 'threshold'.")
    return np.asarray(np.moveaxis(table, 0, axis)), groups
