"""Mining trees and forests from a release, or from the original table to compare with.

The learners are scikit-learn's, XGBoost's and LightGBM's own; what is done here is what the
manifest asks of an honest miner: numeric columns in their order, labels as they are, the seed
pinned and recorded, and no model that the release's guarantee does not cover unless it is asked
for. A miner learns what the release shows (see the release's method); mining adds nothing to it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.encoding.learners.fit_learners import (
    chosen_rows,
    declare_categories,
    train,
)
from unspoken.methods.encoding.learners.fitted_check import enforce, look, verdict_of
from unspoken.methods.encoding.learners.pinned_learners import LEARNERS, build, versions
from unspoken.methods.encoding.learners.stop_rounds import NOTE, Stopping, stopped_params
from unspoken.methods.encoding.learners.training_matrix import Matrix, Wanted, matrix_of
from unspoken.methods.encoding.learners.tune_learners import Search, held_out, score, search
from unspoken.models.category_groups import Groups
from unspoken.models.forest import Forest
from unspoken.models.histogram_trees import HistogramTrees
from unspoken.models.packed_models import SUFFIX
from unspoken.models.readers import LightGBMModel, as_model, as_pattern
from unspoken.models.recipe import Recipe
from unspoken.models.tree import Tree
from unspoken.release.guarantee import Verdict
from unspoken.release.release import Release
from unspoken.table.atomic_files import named_path, write_file
from unspoken.table.table import Table

__all__ = ["LEARNERS", "Mined", "Stopping", "fit", "forest", "tree"]

NATIVE = ("xgboost", "lightgbm", "histogram", "c45")
"""Learners that take categories as sets."""
MAX_CLASSES = 100
"""A target of whole numbers with more different values than this is taken as a quantity."""


@dataclass(frozen=True)
class Mined:
    """A mined model, the fitted estimator it was taken from, and how it was mined.

    Attributes
    ----------
    estimator : object
        The fitted estimator.
    recipe : Recipe
        Learner, parameters, columns and versions, which the custodian needs to decode the model.
    verdict : Verdict or None
        Whether the guarantee of the release covers the learner; None for a model of a table.
    categories : mapping
        The labels behind the numbers of each column of categories.
    """

    estimator: Any
    recipe: Recipe
    verdict: Verdict | None
    categories: Groups = field(default_factory=dict)

    @property
    def model(self) -> Any:
        """Return the model as a pattern, with the labels behind the numbers of categories."""
        if self.recipe.learner == "histogram":
            return HistogramTrees.from_sklearn(self.estimator, self.categories,
                                               self.recipe.columns)
        if self.recipe.learner == "c45":
            return self.estimator.pattern(self.recipe.columns, self.categories)
        model = as_pattern(as_model(self.estimator))
        if isinstance(model, LightGBMModel) and self.recipe.columns:
            model = model.with_columns(self.recipe.columns)
        return model.with_categories(self.categories) if self.categories else model

    def to_bytes(self) -> bytes:
        """Return the model file: unspoken's JSON, XGBoost's JSON or LightGBM's text."""
        model = self.model
        if isinstance(model, LightGBMModel):
            return model.text.encode()
        return json.dumps(model.to_json(), allow_nan=False).encode()

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the model file, and beside it `<path>.recipe`, which the custodian needs."""
        target = named_path(path)
        recipe = recipe_path(target)
        self.recipe.save(recipe, overwrite)
        try:
            packed = target.suffix.lower() == SUFFIX and not isinstance(self.model, LightGBMModel)
            write_file(target, self.model.packed() if packed else self.to_bytes(),
                       overwrite=overwrite)
        except BaseException:
            recipe.unlink(missing_ok=True)
            raise

    def summary(self) -> str:
        """Return model, recipe and verdict in a few lines."""
        lines = [self.recipe.summary(), self.model.summary()]
        return "\n".join(lines + ([f"covered: {self.verdict}"] if self.verdict else []))


def recipe_path(model: Path) -> Path:
    """Return where the recipe of a model file lies."""
    return model.with_name(model.name + ".recipe")


def fit(  # noqa: PLR0913
        source: Release | Table, learner: str = "tree", *, task: str | None = None,
        anyway: bool = False, rows: npt.ArrayLike | None = None,
        tune: Search | Mapping[str, Sequence[Any]] | None = None,
        stop: Stopping | int | None = None,
        categories: Wanted | None = None, onehot: bool = False, **params: Any) -> Mined:
    """Mine a model from a release or a table.

    Categories go to XGBoost, LightGBM, histogram boosting and C4.5 as categories, to the others
    by number.

    Parameters
    ----------
    source : Release or Table
        What is mined; its target is predicted.
    learner : {"tree", "forest", "xgboost", "lightgbm", "gradient", "histogram", "adaboost", \
"bagging", "c45"}, default "tree"
        Whose trees are mined; LEARNERS lists the names.
    task : {"classification", "regression"}, optional
        Follows the target if left out.
    anyway : bool, default False
        Mine, with a warning, although the guarantee of the release does not cover the learner;
        otherwise that is refused with the reason.
    rows : array of int, optional
        The rows to learn from, all if left out; the recipe records them for decoding.
    tune : mapping of str to list, optional
        Parameters to search for, with the values to try: the best by five-fold cross-validation
        over the rows is then fitted on all of them.
    stop : Stopping or int, optional
        Early stopping of XGBoost and LightGBM: rows that are held out choose the number of rounds,
        at most `n_estimators`; a number is the patience. Decode with the recipe.
    categories : mapping, optional
        How to number the categories of columns: for each a list of groups of categories. Sorted,
        each by itself, if left out. For comparing with a decoded model: its `categories`.
    onehot : bool, default False
        Give trees, forests, gradient boosting, AdaBoost and bagging one column for each label, so
        that they ask `colour == red`; the other learners have categories of their own.
    **params
        Parameters of the estimator; of the trees inside AdaBoost and bagging as
        `estimator__max_depth`.

    Returns
    -------
    Mined

    Examples
    --------
    >>> mined = fit(unspoken.Release.load("release"), "forest", n_estimators=50)  # doctest: +SKIP
    >>> mined.save("forest.json")  # doctest: +SKIP
    """
    if not isinstance(source, Release | Table):
        raise InputError(explain("What is mined", "a Release or a Table", type(source).__name__,
                                 "Read it first: unspoken.read(data, target=...)."))
    if onehot and learner in NATIVE:
        raise InputError(f"The learner '{learner}' has categories of its own. Leave 'onehot' out.")
    matrix = matrix_of(source, categories, onehot)
    labels = _labels(source.table if isinstance(source, Release) else source)
    task = task or (task_of(labels) if not is_number(source) else "regression")
    chosen = None if rows is None else chosen_rows(rows, labels.size)
    params, facts, parts = _searched(matrix, labels, chosen, (learner, task), params, tune, stop)
    chosen, watched = parts
    estimator, used = build(learner, task, params)
    declare_categories(estimator, matrix)
    verdict, later = verdict_of(source, estimator, matrix)
    if not later:
        enforce(verdict, estimator, anyway)
    train(estimator, matrix, labels, chosen)
    if later and verdict is not None:
        verdict = look(estimator, verdict)
        enforce(verdict, estimator, anyway)
    recipe = Recipe(learner, task, used, matrix.columns, matrix.left_out,
                    source.fingerprint if isinstance(source, Release) else None,
                    versions(learner), _listed(chosen), facts, _listed(watched))
    if watched is not None and verdict:
        verdict = Verdict(True, verdict.reason + NOTE)
    return Mined(estimator, recipe, verdict, matrix.groups)


def _searched(matrix: Matrix, labels: npt.NDArray[Any], chosen: Ints | None,
              learner: tuple[str, str], params: dict[str, Any], tune: Any, stop: Any
              ) -> tuple[dict[str, Any], dict[str, Any], tuple[Ints | None, Ints | None]]:
    """Return parameters, how they were searched for, the rows to learn from and those scored."""
    everything = np.arange(labels.size) if chosen is None else chosen
    facts: dict[str, Any] = {}
    if tune is not None:
        params, facts = search(matrix, labels, everything, learner, params,
                               tune if isinstance(tune, Search) else Search(tune))
    if stop is None:
        return params, facts, (chosen, None)
    wanted = stop if isinstance(stop, Stopping) else Stopping(stop)
    parts = wanted.parts(everything, labels.size)
    params, known = stopped_params(matrix, labels, parts, learner, params, wanted.patience)
    return params, {**facts, **known}, parts


def _listed(rows: Ints | None) -> tuple[int, ...] | None:
    return None if rows is None else tuple(rows.tolist())


def fit_part(source: Release | Table, learner: str, share: float, seed: int = 0,
             **options: Any) -> tuple[Mined, float]:
    """Mine from a part of the rows and return the model with its score on the held-out share.

    Which rows those are follows from the seed; the recipe names them, and decoding needs them.
    """
    table = source.table if isinstance(source, Release) else source
    kept, left = held_out(table.rows, share, seed)
    mined = fit(source, learner, rows=kept, **options)
    matrix = matrix_of(source, options.get("categories"), options.get("onehot", False))
    return mined, score(mined.estimator, matrix, _labels(table), left)


def tree(source: Release | Table, **params: Any) -> Tree:
    """Mine one scikit-learn decision or regression tree.

    Parameters
    ----------
    source : Release or Table
        What is mined; its target is predicted.
    **params
        Parameters of the estimator, and `task` and `anyway` of `fit`.

    Returns
    -------
    Tree

    Examples
    --------
    >>> unspoken.mine.tree(release, max_depth=4).summary()  # doctest: +SKIP
    """
    return Tree.from_sklearn(fit(source, "tree", **params).estimator)


def forest(source: Release | Table, **params: Any) -> Forest:
    """Mine a scikit-learn random forest.

    Parameters
    ----------
    source : Release or Table
        What is mined; its target is predicted.
    **params
        Parameters of the estimator, and `task` and `anyway` of `fit`.

    Returns
    -------
    Forest

    Examples
    --------
    >>> unspoken.mine.forest(release, n_estimators=50).summary()  # doctest: +SKIP
    """
    return Forest.from_sklearn(fit(source, "forest", **params).estimator)


def _labels(table: Table) -> npt.NDArray[Any]:
    missing = table.engine.count_missing(table.frame, table.target)
    if missing:
        raise DataError(f"Target '{table.target}' must have a value in every row. "
                        f"{missing} rows have none.")
    labels = table.labels()
    return labels.astype(str) if labels.dtype == object and _all_text(labels) else labels


def _all_text(labels: npt.NDArray[Any]) -> bool:
    return all(isinstance(label, str) for label in labels.tolist())


def task_of(labels: npt.NDArray[Any]) -> str:
    """Return "regression" for numbers with fractions or with many different values."""
    if labels.dtype.kind not in "iuf":
        return "classification"
    whole = bool(np.all(labels == np.rint(labels)))
    few = np.unique(labels).size <= MAX_CLASSES
    return "classification" if whole and few else "regression"


def is_number(source: Release | Table) -> bool:
    """Return True if a release says that its target is a number, not a class."""
    known = source.guarantee.facts.get("target") if isinstance(source, Release) else ""
    return known in ("affine", "scaled", "clear")
