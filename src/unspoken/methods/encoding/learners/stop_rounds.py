"""How many rounds a boosted model has, by rows that it does not learn from (early stopping).

XGBoost and LightGBM are fitted once while the watched rows are scored after every round; the model
is then fitted anew with the best number of rounds, so that it is one of a fixed number and covered
as such. Which number is best may come out differently on the original, where a watched value can
lie on another side of the middle of two others than its code does. So the recipe names the watched
rows, and decoding looks at them again (`decode.replayed_stopping`). It tells the custodian nothing
that the release does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.methods.encoding.learner_rules import MOST_ROUNDS
from unspoken.methods.encoding.learners.fit_learners import (
    chosen_rows,
    declare_categories,
    train,
)
from unspoken.methods.encoding.learners.pinned_learners import build
from unspoken.methods.encoding.learners.training_matrix import Matrix
from unspoken.methods.encoding.learners.tune_learners import held_out
from unspoken.models.recipe import Recipe

STOPPED = ("xgboost", "lightgbm")
ROUNDS = "n_estimators"
AT_MOST = "rounds_at_most"
_OWN = {"source", "learner", "task", "anyway", "rows", "tune", "stop", "categories", "onehot"}
"""Names that mining takes for itself."""
_LARGEST = {"n_estimators": 10**5, "max_iter": 10**5, "num_parallel_tree": 64, "max_bin": 65_536,
            "max_bins": 255, "num_leaves": 131_072, "max_leaves": 131_072, "n_jobs": 256,
            "max_cat_threshold": 65_536, "max_depth": 10**5}
"""What parameters of a recipe, which comes from outside, may ask for at most."""
NOTE = (" The number of rounds was chosen by rows that are held out; decoding with the recipe "
        "looks where the original stops, which takes up to twice as long as fitting.")


@dataclass(frozen=True)
class Stopping:
    """When boosting stops: by the score of rows that it does not learn from.

    Attributes
    ----------
    patience : int
        Rounds without a better score after which it stops.
    share : float
        The share of the rows that is held out and scored.
    seed : int
        From which those rows are drawn.
    rows : array of int or None
        The rows to hold out and score, if they are not to be drawn.

    Examples
    --------
    >>> fit(release, "lightgbm", stop=Stopping(20, share=0.2))  # doctest: +SKIP
    """

    patience: int = 10
    share: float = 0.1
    seed: int = 0
    rows: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        _whole("'patience'", self.patience)

    def parts(self, chosen: Ints, count: int) -> tuple[Ints, Ints]:
        """Return the rows to learn from and those to score, of `count` rows in all."""
        if self.rows is None:
            kept, left = held_out(chosen.size, self.share, self.seed)
            return chosen[kept], chosen[left]
        watched = chosen_rows(self.rows, count)
        learned = chosen[~np.isin(chosen, watched)]
        if not learned.size:
            raise InputError("Some rows must be left to learn from. All of them are held out.")
        return learned, watched


def _whole(name: str, value: Any) -> int:
    """Return a number of rounds, checked: a recipe comes from outside."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 1 <= value <= MOST_ROUNDS:
        raise InputError(explain(name, f"a whole number from 1 to {MOST_ROUNDS:,}", value))
    return int(value)


def stopped_params(
    matrix: Matrix, labels: npt.NDArray[Any], parts: tuple[Ints, Ints], learner: tuple[str, str],
    params: Mapping[str, Any], patience: int,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters with the best number of rounds, and how it was found.

    `parts`: the rows to learn from, and the rows to score.
    """
    if learner[0] not in STOPPED:
        raise InputError(f"The learner '{learner[0]}' is not stopped by held-out rows that are "
                         f"named: {' and '.join(STOPPED)} are. GradientBoosting (n_iter_no_change) "
                         "and HistGradientBoosting (early_stopping) hold rows out by themselves.")
    estimator, _ = build(*learner, params)
    declare_categories(estimator, matrix)
    most = _whole(f"'{ROUNDS}'", 100 if estimator.n_estimators is None
                  else estimator.n_estimators)
    _check_classes(labels, parts, learner[1])
    train(estimator, matrix, labels, parts[0], _watching(estimator, matrix, labels, parts,
                                                         patience))
    best = _best(estimator)
    return {**params, ROUNDS: best}, {"patience": patience, "rounds": best, AT_MOST: most}


def _check_classes(labels: npt.NDArray[Any], parts: tuple[Ints, Ints], task: str) -> None:
    learned, watched = (labels[rows] for rows in parts)
    if task == "classification" and not np.isin(watched, learned).all():
        raise InputError("Every class of the rows that are held out must be among those that are "
                         "learned from. One is not; hold other rows out, or more of them.")


def _watching(estimator: Any, matrix: Matrix, labels: npt.NDArray[Any],
              parts: tuple[Ints, Ints], patience: int) -> dict[str, Any]:
    """Return what each library's `fit` takes to score rows and to stop."""
    learned, watched = parts
    data, wanted = matrix.data[watched], labels[watched]
    if type(estimator).__name__.endswith("Classifier"):
        # Both libraries number classes in their sorted order, but not those of other rows.
        wanted = np.searchsorted(np.unique(labels[learned]), wanted)
    if type(estimator).__module__.startswith("lightgbm"):
        import lightgbm

        return {"eval_X": data, "eval_y": wanted,
                "callbacks": [lightgbm.early_stopping(patience, verbose=False)]}
    estimator.set_params(early_stopping_rounds=patience)
    return {"eval_set": [(data, wanted)], "verbose": False}


def _best(estimator: Any) -> int:
    if type(estimator).__module__.startswith("lightgbm"):
        return max(1, int(estimator.best_iteration_))
    return int(estimator.best_iteration) + 1


def _check_sizes(recipe: Recipe) -> None:
    """Refuse parameters that would make a learner take memory or time without end."""
    for name, largest in _LARGEST.items():
        value = recipe.params.get(name)
        if isinstance(value, int | float) and not value <= largest:
            raise InputError(explain(f"The recipe's '{name}'", f"at most {largest:,}", value))


def options_of(recipe: Recipe) -> dict[str, Any]:
    """Return rows, parameters and stopping with which a recipe is mined again."""
    strange = sorted(_OWN & set(recipe.params))
    if strange:
        raise InputError(f"A recipe's parameters are those of a learner. Got {', '.join(strange)}.")
    _check_sizes(recipe)
    options = {**recipe.params, "rows": recipe.rows}
    if recipe.watched is None:
        return options
    most = _whole(f"The recipe's '{AT_MOST}'", recipe.search.get(AT_MOST))
    patience = _whole("The recipe's 'patience'", recipe.search.get("patience"))
    return {**options, ROUNDS: most, "stop": Stopping(patience, rows=recipe.watched)}
