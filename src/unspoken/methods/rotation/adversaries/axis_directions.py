"""Axes of a rotation from the release alone: differences of discrete data, independent components.

On discrete data many pairs of records differ in one column only; their difference is a multiple of
one column of the matrix, so the most frequent direction of differences is an axis. What is left is
looked at without it (deflation) until all axes are there. Nothing needs to be known; which axis is
which column, and its sign, is plain from the values (and from a sample or published means).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.rotation.adversaries.rotation_adversary import (
    RotatedView,
    RowAdversary,
    RowGuesses,
    RowKnowledge,
)
from unspoken.numerics.orthogonal import completed, polished

_CLOSE = 1e-8
_LEAST = 4
"""Pairs that must share a direction before it is called an axis."""
_GRID = 33
"""Quantiles by which columns are distinguished."""
ORTHOGONAL = frozenset({"rotation", "pairwise-rotation", "similarity-outsourcing"})
"""The methods that keep right angles; a projection does not."""


@dataclass(frozen=True)
class Axes:
    """Axes as columns, and how many pairs showed each."""

    axes: Floats
    support: Ints


def frequent_directions(records: Floats, rng: np.random.Generator, rows: int = 300) -> Axes:
    """Find the axes along which single columns change, most frequent first."""
    chosen = rng.permutation(records.shape[0])[:rows]
    some = records[chosen]
    width = records.shape[1]
    axes = np.empty((width, 0))
    support: list[int] = []
    while axes.shape[1] < width:
        rest = completed(axes) if axes.shape[1] else np.eye(width)
        if rest.shape[1] == 1:
            axes, support = np.column_stack([axes, rest]), [*support, _LEAST]
            break
        direction, count = _most_frequent(some @ rest, rng, float(np.abs(some).max()))
        if count < _LEAST:
            break
        axes, support = np.column_stack([axes, rest @ direction]), [*support, count]
    return Axes(axes, np.array(support, np.int64))


def _most_frequent(records: Floats, rng: np.random.Generator, size: float
                   ) -> tuple[Floats, int]:
    """Return the direction that most pairs of records share, and how many do."""
    records = np.unique(np.round(records / size, 13), axis=0) * size
    first, second = np.triu_indices(records.shape[0], 1)
    apart = records[first] - records[second]
    length = np.linalg.norm(apart, axis=1)
    real = length > 1e-9 * size
    unit = apart[real] / length[real, None]
    if unit.shape[0] < _LEAST:
        return np.zeros(records.shape[1]), 0
    # Directions have no sign: a random plane gives them one, and a number to sort by.
    probe = rng.standard_normal(records.shape[1])
    unit *= np.where(unit @ probe < 0, -1.0, 1.0)[:, None]
    order = np.argsort(unit @ probe)
    return _largest_group(unit[order], (unit @ probe)[order])


def _largest_group(unit: Floats, number: Floats) -> tuple[Floats, int]:
    """Return the mean of the largest run of equal directions among sorted ones."""
    starts = np.r_[0, np.flatnonzero(np.diff(number) > _CLOSE) + 1, number.size]
    sizes = np.diff(starts)
    best, count = np.zeros(unit.shape[1]), 0
    for run in np.argsort(-sizes)[:20]:
        if sizes[run] <= count:
            break
        part = unit[starts[run]:starts[run + 1]]
        middle = np.median(part, axis=0)
        same = np.abs(part - middle).max(axis=1) <= 100 * _CLOSE
        if same.sum() > count:
            mean = part[same].mean(axis=0)
            best, count = mean / np.linalg.norm(mean), int(same.sum())
    return best, count


def named(values: Floats, knowledge: RowKnowledge, frame: tuple[Floats, Floats] | None,
          moved: bool) -> tuple[Floats, bool]:
    """Give found columns an order, signs and, after a translation, a place.

    With a sample, or means and spreads, columns are matched by their quantiles; without, they
    stay as found and the sign is that of most values.
    """
    if knowledge.sample is not None and frame is not None:
        return _matched(values, (knowledge.sample - frame[0]) / frame[1], moved), True
    if knowledge.centre is not None and knowledge.scale is not None and frame is not None:
        two = np.array([-1.0, 1.0])[:, None] * knowledge.scale + knowledge.centre
        return _matched(values, (two - frame[0]) / frame[1], moved, spread=True), True
    sign = np.where((values > 0).mean(axis=0) >= 0.5, 1.0, -1.0)
    return values * sign, False


def _matched(values: Floats, sample: Floats, moved: bool, spread: bool = False) -> Floats:
    from scipy.optimize import linear_sum_assignment

    place = np.linspace(0.02, 0.98, _GRID)
    if moved:
        values = values - values.mean(axis=0)
    wanted = sample - sample.mean(axis=0) if moved else sample
    known = _looks(wanted, place, spread)
    cost = np.empty((2, values.shape[1], sample.shape[1]))
    for side, sign in enumerate((1.0, -1.0)):
        seen = _looks(sign * values, place, spread)
        cost[side] = np.abs(seen.T[:, None] - known.T[None]).mean(axis=2)
    cost /= np.abs(known - known.mean(axis=0)).mean(axis=0) + 1e-12
    rows, columns = linear_sum_assignment(cost.min(axis=0))
    out = np.empty((values.shape[0], sample.shape[1]))
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        sign = 1.0 if cost[0, row, column] <= cost[1, row, column] else -1.0
        out[:, column] = sign * values[:, row]
    return out + sample.mean(axis=0) if moved else out


def _looks(data: Floats, place: Floats, spread: bool) -> Floats:
    if spread:
        middle, width = data.mean(axis=0), data.std(axis=0)
        return np.array([middle - width, middle + width])
    return np.asarray(np.quantile(data, place, axis=0))


class DifferenceDirections(RowAdversary):
    """Reads the axes off the most frequent directions between records; needs no knowledge.

    Works on discrete data, where many pairs of records differ in one column only. Not in liu2006.

    Parameters
    ----------
    rows : int, default 300
        Records, drawn at random, whose differences are compared.

    Examples
    --------
    >>> guesses = DifferenceDirections().attack(release, RowKnowledge(4))  # doctest: +SKIP
    """

    name: ClassVar[str] = "difference-directions"
    attacks: ClassVar[frozenset[str] | None] = ORTHOGONAL
    gets: ClassVar[str] = "knows nothing and reads the axes off differences between records"

    def __init__(self, rows: int = 300) -> None:
        self.rows = rows

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        directions = frequent_directions(view.records, rng, self.rows)
        width = view.records.shape[1]
        if directions.axes.shape[1] < width:
            return self.failed(view, knowledge, f"{directions.axes.shape[1]} of {width} axes: no "
                               "direction between records is frequent, as with values that "
                               "hardly ever repeat")
        return _read_off(self.name, view, knowledge, directions.axes)


class IndependentComponents(RowAdversary):
    """Separates the columns as independent components, then names them with a sample.

    Works where columns are nearly independent and not Gaussian; axes are made orthogonal, which
    a rotation's are, so that scales are right without knowledge.
    """

    name: ClassVar[str] = "independent-components"
    attacks: ClassVar[frozenset[str] | None] = ORTHOGONAL
    needs: ClassVar[frozenset[str]] = frozenset({"sample"})
    gets: ClassVar[str] = "separates independent columns and names them with a sample"

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        if view.records.shape[0] <= view.records.shape[1]:
            return self.failed(view, knowledge, "more records than columns are needed")
        mixing, settled = _components(view.records, int(rng.integers(1 << 31)))
        if mixing is None:
            return self.failed(view, knowledge, "the components could not be separated")
        guesses = _read_off(self.name, view, knowledge, mixing)
        reason = "" if settled else "the search for components did not settle"
        return RowGuesses(self.name, guesses.records, guesses.baseline, settled, reason,
                          named=guesses.named)


def _components(records: Floats, seed: int) -> tuple[Floats | None, bool]:
    import warnings

    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    model = FastICA(whiten="unit-variance", random_state=seed, max_iter=400, tol=1e-4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            mixing = model.fit(records[:20_000]).mixing_
        except (ValueError, np.linalg.LinAlgError):
            return None, False
    if not np.isfinite(mixing).all() or np.linalg.matrix_rank(mixing) < mixing.shape[0]:
        return None, False
    unit = mixing / np.linalg.norm(mixing, axis=0)
    left, _, right = np.linalg.svd(unit)
    settled = not any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return polished(left @ right), settled


def _read_off(name: str, view: RotatedView, knowledge: RowKnowledge, axes: Floats) -> RowGuesses:
    frame = knowledge.frame(view)
    values, known = named(view.records @ axes, knowledge, frame, view.translated)
    if frame is not None and known:
        values = values * frame[1] + frame[0]
    reason = "" if known else "columns are found up to their order, sign, place and unit"
    return RowGuesses(name, values, knowledge.blind(), True, reason, named=known)
