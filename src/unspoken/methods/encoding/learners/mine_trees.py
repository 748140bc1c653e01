"""Mining trees and forests from a release, or from the original table to compare with.

The learners are scikit-learn's, XGBoost's and LightGBM's own; what is done here is what the
manifest asks of an honest miner: numeric columns in their order, labels as they are, the seed
pinned and recorded, and no model that the release's guarantee does not cover unless it is asked
for. A miner learns what the release shows (see the release's method); mining adds nothing to it.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError, InputError, NotCoveredError, SchemaError
from unspoken.methods.encoding.learners.pinned_learners import LEARNERS, build, versions
from unspoken.models.forest import Forest
from unspoken.models.load_model import load_model
from unspoken.models.recipe import Recipe
from unspoken.models.tree import Tree
from unspoken.release.guarantee import Verdict
from unspoken.release.release import Release
from unspoken.table.atomic_files import write_file
from unspoken.table.table import Table

__all__ = ["LEARNERS", "Mined", "fit", "forest", "tree"]

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
    """

    estimator: Any
    recipe: Recipe
    verdict: Verdict | None

    @property
    def model(self) -> Tree | Forest | None:
        """Return the model as a pattern; None for XGBoost and LightGBM, which have their own."""
        if self.recipe.learner == "tree":
            return Tree.from_sklearn(self.estimator)
        return Forest.from_sklearn(self.estimator) if self.recipe.learner == "forest" else None

    def to_bytes(self) -> bytes:
        """Return the model file: unspoken's JSON, XGBoost's JSON or LightGBM's text."""
        model = self.model
        if model is not None:
            return json.dumps(model.to_json(), allow_nan=False).encode()
        if self.recipe.learner == "xgboost":
            return bytes(self.estimator.get_booster().save_raw("json"))
        return str(self.estimator.booster_.model_to_string()).encode()

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the model file, and beside it `<path>.recipe`, which the custodian needs."""
        target = Path(path)
        recipe = recipe_path(target)
        self.recipe.save(recipe, overwrite)
        try:
            write_file(target, self.to_bytes(), overwrite=overwrite)
        except BaseException:
            recipe.unlink(missing_ok=True)
            raise

    def summary(self) -> str:
        """Return model, recipe and verdict in a few lines."""
        model = self.model or load_model(self.to_bytes())
        lines = [self.recipe.summary(), model.summary()]
        return "\n".join(lines + ([f"covered: {self.verdict}"] if self.verdict else []))


def recipe_path(model: Path) -> Path:
    """Return where the recipe of a model file lies."""
    return model.with_name(model.name + ".recipe")


def fit(source: Release | Table, learner: str = "tree", *, task: str | None = None,
        anyway: bool = False, **params: Any) -> Mined:
    """Mine a model from a release or a table.

    Non-numeric columns are skipped, with a warning, and named in the recipe.

    Parameters
    ----------
    source : Release or Table
        What is mined; its target is predicted.
    learner : {"tree", "forest", "xgboost", "lightgbm"}, default "tree"
        Whose trees are mined; LEARNERS lists the names.
    task : {"classification", "regression"}, optional
        Follows the target if left out.
    anyway : bool, default False
        Mine, with a warning, although the guarantee of the release does not cover the learner;
        otherwise that is refused with the reason.
    **params
        Parameters of the estimator.

    Returns
    -------
    Mined

    Examples
    --------
    >>> mined = fit(unspoken.Release.load("release"), "forest", n_estimators=50)  # doctest: +SKIP
    >>> mined.save("forest.json")  # doctest: +SKIP
    """
    table = source.table if isinstance(source, Release) else source
    only = source.guarantee.facts.get("predictors") if isinstance(source, Release) else None
    columns, left_out = _columns(table, only)
    labels = _labels(table)
    task = task or task_of(labels)
    estimator, used = build(learner, task, params)
    verdict = _judge(source, estimator, columns, anyway)
    _fit(estimator, learner, table.numbers(columns), labels, columns)
    fingerprint = source.fingerprint if isinstance(source, Release) else None
    recipe = Recipe(learner, task, used, columns, left_out, fingerprint, versions(learner))
    return Mined(estimator, recipe, verdict)


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


def _columns(table: Table, only: Any = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the numeric features, of those that the release names as predictors if it does."""
    numeric = table.schema.of_kind("numeric", "ordinal")
    if isinstance(only, list):
        numeric = tuple(name for name in numeric if name in only)
    left_out = tuple(name for name in table.schema.features if name not in numeric)
    if not numeric:
        raise SchemaError("Mining needs at least one numeric feature. Got none.")
    if left_out:
        other = ", or because the release names other predictors" * isinstance(only, list)
        warnings.warn(f"Left out, because a threshold learner would order their labels{other}: "
                      f"{', '.join(left_out[:10])}.", UserWarning, stacklevel=3)
    return numeric, left_out


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


def _judge(source: Release | Table, estimator: Any, columns: tuple[str, ...],
           anyway: bool) -> Verdict | None:
    if not isinstance(source, Release):
        return None
    verdict = source.guarantee.covers(estimator, columns)
    if not verdict and not anyway:
        raise NotCoveredError(
            f"The release does not promise the same model for {type(estimator).__name__}: "
            f"{verdict.reason} Change the parameters, or use anyway=True (on the command line "
            "--anyway) if another model will do."
        )
    if not verdict:
        warnings.warn(f"Mined without a promise: {verdict.reason}", UserWarning, stacklevel=3)
    return verdict


def _fit(estimator: Any, learner: str, data: Any, labels: Any, columns: Sequence[str]) -> None:
    """Fit, and set the column names where that is safe.

    LightGBM rewrites names with blanks and refuses others, so its models count their columns; the
    recipe names them.
    """
    try:
        if learner == "xgboost":
            _fit_xgboost(estimator, data, labels, columns)
        else:
            estimator.fit(data, labels)
        if learner in ("tree", "forest"):
            estimator.feature_names_in_ = np.array(columns, dtype=object)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{type(estimator).__name__} could not be fitted to this data with these parameters: "
            f"{error}"
        ) from error


def _fit_xgboost(estimator: Any, data: Any, labels: Any, columns: Sequence[str]) -> None:
    """XGBoost wants classes 0, 1, ...: their sorted order is kept, as everywhere."""
    if type(estimator).__name__.endswith("Classifier"):
        labels = np.unique(labels, return_inverse=True)[1]
    estimator.fit(data, labels)
    estimator.get_booster().feature_names = list(columns)
