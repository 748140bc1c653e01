"""Neighbours and k-means that treat equal distances alike (liu2006 section 2, on whole numbers).

Rotation keeps distances up to rounding, so where records are equally far, which is the rule among
whole numbers, rounding decides who is nearest: of 30 small tables of whole numbers scikit-learn's
k-means found other clusters in 14, and its k-NN other classes for 81 of 3,000 records. Here
distances that differ by less than `closeness` of the longest record are equal, by two rules that
rounding cannot change: all records as near as the k-th vote, and a record joins the first of the
equally near clusters. They see distances alone; a miner learns no more with them than with others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain

CLOSENESS = 1e-9
"""Far above rounding, far below differences that mean something."""
STARTS = ("k-means++", "random")
_CHUNK = 1 << 22


class EvenNeighbours(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The class of most of the nearest records; all that are as near as the k-th vote.

    Of classes with equally many votes the first in sorted order is taken.
    """

    def __init__(self, n_neighbors: int = 5, *, closeness: float = CLOSENESS) -> None:
        self.n_neighbors = n_neighbors
        self.closeness = closeness

    def fit(self, X: Any, y: Any) -> EvenNeighbours:
        """Keep the records."""
        data, labels = validate_data(self, X, y, dtype=np.float64)
        _check_whole("n_neighbors", self.n_neighbors, data.shape[0])
        self.classes_, self.labels_ = np.unique(labels, return_inverse=True)
        self.middle_ = data.mean(axis=0)
        self.records_ = data - self.middle_
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each record."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, reset=False) - self.middle_
        step = max(1, _CHUNK // self.records_.size)
        parts = [self._best(data[start:start + step]) for start in range(0, len(data), step)]
        return np.asarray(self.classes_[np.concatenate(parts)])

    def _best(self, some: Floats) -> Ints:
        squares = ((some[:, None, :] - self.records_[None, :, :]) ** 2).sum(axis=2)
        last = np.partition(squares, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1]
        near = squares <= (last + _slack(self.records_, self.closeness))[:, None]
        votes = near.astype(np.int64) @ np.eye(self.classes_.size, dtype=np.int64)[self.labels_]
        return np.asarray(votes.argmax(axis=1))


class EvenKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Lloyd's k-means in which a record joins the first of the equally near centres."""

    def __init__(
        self, n_clusters: int = 8, *, init: str = "k-means++", n_init: int = 3,
        max_iter: int = 300, random_state: int | None = 0, closeness: float = CLOSENESS,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.closeness = closeness

    def fit(self, X: Any, y: Any = None) -> EvenKMeans:
        """Run from several starts and keep the tightest clusters, the first of equally tight."""
        data = validate_data(self, X, dtype=np.float64)
        if self.init not in STARTS:
            raise InputError(explain("'init'", " or ".join(map(repr, STARTS)), self.init))
        _check_whole("n_clusters", self.n_clusters, data.shape[0])
        for name in ("n_init", "max_iter"):
            _check_whole(name, getattr(self, name), 1 << 30)
        middle = data.mean(axis=0)
        rng = np.random.default_rng(self.random_state)
        runs = [self._run(data - middle, rng) for _ in range(self.n_init)]
        least = min(runs, key=lambda run: run[2])[2]
        first = next(run for run in runs if run[2] <= least * (1 + self.closeness))
        self.labels_, self.cluster_centers_, self.inertia_ = first[0], first[1] + middle, first[2]
        return self

    def _run(self, data: Floats, rng: np.random.Generator) -> tuple[Ints, Floats, float]:
        centres = _start(data, self.n_clusters, self.init, rng)
        slack = _slack(data, self.closeness)
        labels = np.full(data.shape[0], -1)
        for _ in range(self.max_iter):
            squares = _squares(data, centres)
            joined = (squares <= squares.min(axis=1, keepdims=True) + slack).argmax(axis=1)
            if np.array_equal(joined, labels):
                break
            labels = joined
            for cluster in np.unique(labels):
                centres[cluster] = data[labels == cluster].mean(axis=0)
        return labels, centres, float(((data - centres[labels]) ** 2).sum())


def _check_whole(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
        raise InputError(explain(f"'{name}'", f"a whole number from 1 to {most}", value))


def _slack(data: Floats, closeness: float) -> float:
    """Return which squared distances are taken for equal: a share of the longest record's."""
    return float(closeness * (data**2).sum(axis=1).max(initial=0.0))


def _squares(data: Floats, centres: Floats) -> Floats:
    lengths = (data**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(lengths - 2 * data @ centres.T, 0.0))


def _start(data: Floats, clusters: int, init: str, rng: np.random.Generator) -> Floats:
    """Draw records to start from: far ones sooner with k-means++ (Arthur and Vassilvitskii)."""
    if init == "random":
        return data[rng.choice(data.shape[0], clusters, replace=False)].copy()
    chosen = [int(rng.integers(data.shape[0]))]
    for _ in range(clusters - 1):
        far = _squares(data, data[chosen]).min(axis=1)
        far[far <= _slack(data, CLOSENESS)] = 0.0
        total = np.cumsum(far)
        place = int(np.searchsorted(total, rng.random() * total[-1], "right"))
        chosen.append(min(place, data.shape[0] - 1))
    return data[chosen].copy()
