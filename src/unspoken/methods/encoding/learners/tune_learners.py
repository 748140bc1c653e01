"""Searching for parameters on a release, with folds that anybody can draw again.

Scores are those of held-out released rows. A value that only held-out rows have lies between two
codes and may fall on another side than in the original, so the scores, and with them the choice,
may differ a little from a search on the original. The model that comes out does not: it is fitted
on all rows with the chosen parameters, and is covered as if they had been given.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import InputError
from unspoken.methods.encoding.learners.fit_learners import declare_categories, train
from unspoken.methods.encoding.learners.pinned_learners import build
from unspoken.methods.encoding.learners.training_matrix import Matrix

MAX_CANDIDATES = 1000


@dataclass(frozen=True)
class Search:
    """What is to be tried, and how it is judged."""

    grid: Mapping[str, Sequence[Any]]
    folds: int = 5
    seed: int = 0

    def candidates(self) -> list[dict[str, Any]]:
        """Return every combination, in the order in which equal scores are broken."""
        if not self.grid or any(not values for values in self.grid.values()):
            raise InputError("A search needs at least one value for each of its parameters. Got "
                             "none.")
        count = int(np.prod([len(values) for values in self.grid.values()]))
        if count > MAX_CANDIDATES:
            raise InputError(f"A search tries at most {MAX_CANDIDATES} combinations. Got {count}.")
        return [dict(zip(self.grid, values, strict=True))
                for values in itertools.product(*self.grid.values())]


def held_out(rows: int, share: float, seed: int) -> tuple[Ints, Ints]:
    """Return the rows to learn from and those held out, drawn from the seed, each in order."""
    count = round(rows * share)
    if not 0 < count < rows:
        raise InputError(f"The share of held-out rows must leave some on both sides. Got {share} "
                         f"of {rows} rows.")
    drawn = np.random.RandomState(seed).permutation(rows)
    return np.sort(drawn[count:]), np.sort(drawn[:count])


def search(
    matrix: Matrix, labels: npt.NDArray[Any], rows: Ints, learner: tuple[str, str],
    params: Mapping[str, Any], wanted: Search,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters with the best mean score over the folds, and how they were found."""
    folds = _folds(labels[rows], wanted, learner[1])
    best: tuple[float, dict[str, Any]] | None = None
    candidates = wanted.candidates()
    for chosen in candidates:
        scores = [score(_fitted(matrix, labels, rows[kept], learner, {**params, **chosen}),
                        matrix, labels, rows[left]) for kept, left in folds]
        mean = float(np.mean(scores))
        if best is None or mean > best[0]:
            best = (mean, chosen)
    if best is None:
        raise InputError("A search needs at least one combination of parameters. Got none.")
    facts = {"folds": wanted.folds, "seed": wanted.seed, "candidates": len(candidates),
             "score": best[0]}
    return {**params, **best[1]}, facts


def _folds(labels: npt.NDArray[Any], wanted: Search, task: str) -> list[tuple[Ints, Ints]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if task == "classification" else KFold
    try:
        folds = kind(wanted.folds, shuffle=True, random_state=wanted.seed)
        return list(folds.split(np.zeros((labels.size, 1)), labels))
    except ValueError as error:
        raise InputError(f"These rows cannot be cut into {wanted.folds} folds: {error}") from None


def _fitted(matrix: Matrix, labels: npt.NDArray[Any], rows: Ints, learner: tuple[str, str],
            params: Mapping[str, Any]) -> Any:
    estimator, _ = build(*learner, params)
    declare_categories(estimator, matrix)
    train(estimator, matrix, labels, rows)
    return estimator


def score(estimator: Any, matrix: Matrix, labels: npt.NDArray[Any], rows: Ints) -> float:
    """Return the share of rows that are classified rightly, or R squared."""
    wanted = labels[rows]
    if type(estimator).__module__.startswith("xgboost") and hasattr(estimator, "n_classes_"):
        wanted = np.unique(labels, return_inverse=True)[1][rows]
    # By position: names were set after fitting, and scikit-learn would warn about them.
    data = matrix.data[rows]
    predicted = np.asarray(estimator.predict(data)).reshape(-1)
    if not hasattr(estimator, "classes_"):
        spread = float(np.sum((wanted - wanted.mean()) ** 2))
        return 1.0 - float(np.sum((wanted - predicted) ** 2)) / spread if spread else 0.0
    return float(np.mean(predicted == wanted))
