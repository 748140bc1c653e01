"""(c, t)-isolation and p-indistinguishability (vcz2006 section 2.1, Definitions 2.1 and 2.2).

Both speak about every adversary, and are measured here with named ones. A guess q isolates the
point y if the ball around q of radius c |q - y| holds fewer than t points. Guesses:

    centre   the mean of all points: all that published statistics give
    other    another point, drawn at random: guessing with another person's record
    near     the point itself with errors of 10%: the record is known roughly
    ...      any points that are given, such as the rows of a release

Two people are p-indistinguishable if no function tells them apart by more than p. Functions are
classifiers that learn a sensitive value from the other columns; for each the gap is the largest
difference of its probabilities between two people, and, since two outliers decide the largest,
also the mean over pairs. `class share` is the best that equivalence classes allow. A family can
only show that p is at least that large, never that no cleverer function exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.numerics.random import generator, seed_from
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

ERROR = 0.1


def isolation(points: Table | npt.ArrayLike, c: float = 4.0, t: int = 5, *,
              guesses: Mapping[str, npt.ArrayLike] | None = None,
              random_state: Any = None) -> dict[str, float]:
    """Return for every family of guesses the share of points that its guess (c, t)-isolates.

    Columns are brought to the same spread first. `guesses`: more families by name, a guess for
    every point in the points' order.
    """
    data = points.numbers() if isinstance(points, Table) else np.asarray(points, np.float64)
    _check(data, c, t)
    scale = np.where(data.std(axis=0) > 0, data.std(axis=0), 1.0)
    families = {**_families(data, seed_from(random_state)),
                **{name: np.asarray(q, np.float64) for name, q in (guesses or {}).items()}}
    return {name: float(isolated(data / scale, q / scale, c, t).mean())
            for name, q in families.items()}


def isolated(points: Floats, guesses: Floats, c: float, t: int) -> npt.NDArray[np.bool_]:
    """Return which points are (c, t)-isolated, each by its own guess (Definition 2.2)."""
    from scipy.spatial import cKDTree

    if guesses.shape != points.shape:
        raise DataError(f"There must be one guess per point, of shape {points.shape}. "
                        f"Got {guesses.shape}.")
    away = np.linalg.norm(guesses - points, axis=1)
    nth = cKDTree(points).query(guesses, k=[t])[0][:, 0]
    # Closed balls; a relative hair keeps a point on the rim inside despite rounding.
    return np.asarray(nth > c * away * (1 + 1e-12))


def _check(data: Floats, c: float, t: int) -> None:
    if data.ndim != 2 or not np.isfinite(data).all():
        raise DataError("The points must be numeric records without missing values. Got an array "
                        f"of shape {data.shape}. Leave incomplete records out.")
    if not 0 <= c < np.inf or not 1 <= t <= data.shape[0]:
        raise InputError(f"'c' must be at least 0 and 't' from 1 to {data.shape[0]}. "
                         f"Got c = {c} and t = {t}.")


def _families(data: Floats, seed: bytes) -> dict[str, Floats]:
    rng = generator(seed, "isolation")
    shift = rng.integers(1, max(data.shape[0], 2), data.shape[0])
    other = data[(np.arange(data.shape[0]) + shift) % data.shape[0]]
    near = data * (1 + ERROR * rng.standard_normal(data.shape))
    return {"centre": np.broadcast_to(data.mean(axis=0), data.shape), "other": other, "near": near}


@dataclass(frozen=True)
class Indistinct:
    """How far apart one function sets two people: at most, and on average over pairs."""

    function: str
    value: str
    largest: float
    mean: float


def indistinguishability(table: Table, sensitive: str, columns: Sequence[str] | None = None, *,
                         classifiers: Mapping[str, Any] | None = None,
                         folds: int = 5) -> tuple[Indistinct, ...]:
    """Return for every function how well it distinguishes people by a sensitive column.

    Functions are learnt from the other columns by cross-validation, so that nobody's own record
    teaches the function about them; `class share` counts everybody, as a published table does.
    """
    names = tuple(columns) if columns is not None else tuple(
        name for name in table.schema.features if name != sensitive)
    rows = table.arrow([*names, sensitive])
    secret = coded(rows[sensitive])
    labels = [str(value) for value in secret.values()] + ["(missing)"]
    data = np.column_stack([_feature(rows[name]) for name in names])
    out = list(_gaps("class share", _class_share(rows, names, secret.codes), labels))
    for name, model in (classifiers or _classifiers()).items():
        out += _gaps(name, _probabilities(model, data, secret.codes, folds), labels)
    return tuple(out)


def _feature(column: Any) -> Floats:
    if is_number(column.type):
        return np.nan_to_num(np.asarray(to_numbers(column), np.float64), nan=-1.0)
    return coded(column).codes.astype(np.float64)


def _class_share(rows: Any, names: Sequence[str], codes: npt.NDArray[np.int64]) -> Floats:
    owner = stats.classes(coded(rows[name]).codes for name in names)
    counts = np.zeros((int(owner.max()) + 1, int(codes.max()) + 1))
    np.add.at(counts, (owner, codes), 1.0)
    return np.asarray((counts / counts.sum(axis=1, keepdims=True))[owner])


def _classifiers() -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    return {"tree": DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
            "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))}


def _probabilities(model: Any, data: Floats, codes: npt.NDArray[np.int64], folds: int) -> Floats:
    """Return everybody's probabilities by models that did not see them."""
    from sklearn.base import clone

    fold = np.arange(codes.size) % folds
    out = np.zeros((codes.size, int(codes.max()) + 1))
    for one in range(folds):
        fitted = clone(model).fit(data[fold != one], codes[fold != one])
        out[np.ix_(fold == one, fitted.classes_)] = fitted.predict_proba(data[fold == one])
    return out


def _gaps(function: str, shares: Floats, labels: Sequence[str]) -> list[Indistinct]:
    """Return largest and mean difference between two people, for every value."""
    ranked = np.sort(shares, axis=0)
    size = max(shares.shape[0], 2)
    weight = 2.0 * np.arange(1, shares.shape[0] + 1) - shares.shape[0] - 1
    mean = 2.0 * (weight[:, None] * ranked).sum(axis=0) / (size * (size - 1))
    return [Indistinct(function, labels[i], float(ranked[-1, i] - ranked[0, i]), float(mean[i]))
            for i in range(shares.shape[1])]
