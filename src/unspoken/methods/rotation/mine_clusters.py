"""Clusters of a rotated release, and what they are for the custodian (liu2006 sections 1 and 2).

The miner sees distances only, and finds the clusters that the original records have. The custodian
gets back whose record lies in which cluster, and the centres in the original columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import (
    DataError,
    DecodeError,
    ForeignKeyError,
    InputError,
    NotCoveredError,
    explain,
    unknown,
)
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.models.clusters import Clusters
from unspoken.release.key import Key
from unspoken.release.record_key import as_protected, original_rows
from unspoken.release.release import Release
from unspoken.table.read import read
from unspoken.table.table import Table

LEARNERS = ("kmeans", "dbscan")
OUTSIDE = -1
"""The cluster of a record that belongs to none."""


def mine_clusters(release: Release, learner: str = "kmeans", anyway: bool = False,
                  **params: Any) -> Clusters:
    """Group the records of a release by their distances.

    Parameters
    ----------
    release : Release
        Of a method that keeps distances; others are refused unless `anyway`.
    learner : {"kmeans", "dbscan"}, default "kmeans"
        How. Records that DBSCAN leaves outside every cluster have the cluster -1.
    anyway : bool, default False
        Do so although the release promises nothing for it.
    **params
        Parameters of scikit-learn's estimator, such as `n_clusters` or `eps`; of `EvenKMeans`
        where the columns are written with few decimals.

    Returns
    -------
    Clusters
        With the cluster of every released record, in the order of the release.
    """
    estimator = _estimator(learner, params, release.guarantee.facts.get("decimals") is not None)
    verdict = release.guarantee.covers(estimator)
    if not verdict and not anyway:
        raise NotCoveredError(f"The release promises nothing for {learner}: {verdict.reason}")
    data = release.table.numbers(release.schema.features)
    whole = ~np.isnan(data).any(axis=1)
    if not whole.any():
        raise DataError("The release has no complete record.")
    assigned = np.full(data.shape[0], OUTSIDE, np.int64)
    assigned[whole] = _fitted(estimator, learner, data[whole]).labels_
    if assigned.max() < 0:
        raise DataError(f"{learner} found no cluster. Try other parameters.")
    return Clusters(tuple(release.schema.features), _means(data, assigned), assigned,
                    learner=learner, release=release.fingerprint)


def _fitted(estimator: Any, learner: str, data: Floats) -> Any:
    try:
        return estimator.fit(data)
    except (TypeError, ValueError) as error:
        raise InputError(f"{learner} cannot be run with these parameters: "
                         f"{str(error).splitlines()[0]}") from None


def _estimator(learner: str, params: Mapping[str, Any], grid: bool) -> Any:
    """Return the miner; on a grid, where many distances are equal, k-means with a rule for them."""
    from sklearn.cluster import DBSCAN, KMeans

    from unspoken.methods.rotation.even_miners import EvenKMeans

    if learner not in LEARNERS:
        raise InputError(unknown("A learner of clusters", learner, LEARNERS))
    kind: Any = DBSCAN if learner == "dbscan" else EvenKMeans if grid else KMeans
    known = kind().get_params()
    for name in params:
        if name not in known:
            raise InputError(explain(f"'{name}' of {learner}", "one of " + ", ".join(known), name))
    return kind(**({"random_state": 0} if learner == "kmeans" else {}) | dict(params))


def _means(data: Floats, assigned: Ints) -> Floats:
    """Return the mean of every cluster's records."""
    return np.array([data[assigned == number].mean(axis=0)
                     for number in range(int(assigned.max()) + 1)])


def decode_clusters(model: Any, key: Key, data: Any = None, y: Any = None,
                    **options: Any) -> Clusters:
    """Return clusters over the original columns, with the cluster of every original record.

    Records that were not released, or that belong to no cluster, have the cluster -1. The records
    stand in the order in which they were protected; `data`, if given, must be that table.
    """
    if not isinstance(model, Clusters):
        raise DecodeError(f"Only clusters are decoded for the method '{key.mechanism}'. "
                          f"Got {type(model).__name__}.")
    motion = Motion.from_key(key)
    if model.release and model.release != key.fingerprint:
        raise ForeignKeyError("The key must be that of the release that was mined. It is that of "
                              "another one.")
    rows = None if data is None else as_protected(_as_table(data), key).rows
    if model.centres.shape[1] != motion.inner:
        raise DecodeError(f"The clusters must have {motion.inner} columns, as the release has. "
                          f"Got {model.centres.shape[1]}.")
    centres = motion.invert(model.centres, snap=False)
    scale = motion.scale if np.any(motion.scale != 1) else None
    assigned = None if model.assigned is None else _in_place(key, model.assigned, rows)
    return Clusters(motion.features, centres, assigned, None, scale, model.learner)


def _as_table(data: Any) -> Table:
    return data if isinstance(data, Table) else read(data, show=False)


def _in_place(key: Key, assigned: Ints, count: int | None) -> Ints:
    """Return the cluster of every original record, of which there are `count` if that is known."""
    rows = original_rows(key, assigned.size)
    everybody = np.full(count or max(int(rows.max()) + 1, assigned.size), OUTSIDE, np.int64)
    everybody[rows] = assigned
    return everybody
