"""DistancesPreserved: what a rotated table promises, to whom (liu2006 section 2).

Orthogonal maps keep Euclidean distances up to rounding. A miner who looks at nothing else gets the
same result wherever no two distances that decide something are closer than the tolerance; ties of
the original are kept only up to rounding, so a miner who breaks ties may break them another way.
`verify` runs the miners on both sides and reports whether they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unspoken.release.guarantee import Guarantee, Verdict

if TYPE_CHECKING:
    from unspoken.methods.rotation.verify_distances import Verification
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.table import Table

Params = Mapping[str, Any]

_EUCLIDEAN = ("euclidean", "l2", "sqeuclidean")


def tolerance_for(columns: int) -> float:
    """Return the tolerance of distances, as a share of the largest length of a record.

    Products of n numbers are off by at most n units of rounding; two records, centring, scaling,
    a shift and the matrix itself add a few.
    """
    return float(8 * (columns + 8) * np.finfo(np.float64).eps)


def _metric(params: Params) -> str:
    metric = params.get("metric", "euclidean")
    if params.get("metric_params"):
        return "metric_params changes the distance"
    if metric == "minkowski" and params.get("p") in (None, 2, 2.0):
        return ""
    if metric in _EUCLIDEAN:
        return ""
    return f"metric={metric!r} with p={params.get('p')!r} is not the Euclidean distance"


def _kmeans(params: Params) -> str:
    if not isinstance(params.get("init"), str):
        return "init holds centres of the original space; rotate them with the key first"
    if not isinstance(params.get("random_state"), int | np.integer):
        return "random_state must be a whole number, so that both sides start alike"
    return ""


def _neighbours(params: Params) -> str:
    if callable(params.get("weights")):
        return "weights is a function, of which nothing is known"
    return _metric(params)


def _agglomerative(params: Params) -> str:
    if params.get("connectivity") is not None:
        return "connectivity says more than distances"
    return _metric(params)


_COVERED: Mapping[str, Callable[[Params], str]] = {
    "KMeans": _kmeans,
    "KNeighborsClassifier": _neighbours, "KNeighborsRegressor": _neighbours,
    "RadiusNeighborsClassifier": _neighbours, "RadiusNeighborsRegressor": _neighbours,
    "NearestNeighbors": _neighbours,
    "AgglomerativeClustering": _agglomerative,
    "DBSCAN": _metric,
}


@dataclass(frozen=True)
class DistancesPreserved(Guarantee):
    """Distances between released records are those of the original, within a tolerance."""

    name: ClassVar[str] = "distances-preserved"

    @property
    def tolerance(self) -> float:
        """Return the tolerance, as a share of the largest length of a record."""
        return float(self.facts.get("tolerance", 0.0))

    def covers(self, miner: Any, columns: Sequence[str] | None = None) -> Verdict:
        """Return whether an estimator object sees nothing but Euclidean distances."""
        kind = type(miner)
        rule = _COVERED.get(kind.__name__)
        if rule is None or not kind.__module__.startswith("sklearn."):
            return Verdict(False, f"{kind.__name__} is not known to look at Euclidean distances "
                           f"only. Covered are {', '.join(sorted(_COVERED))} of scikit-learn.")
        if columns is not None and set(columns) != set(self.facts.get("columns", ())):
            return Verdict(False, "Distances are kept over all released columns together. "
                           "Give the miner all of them.")
        why = rule(miner.get_params())
        if why:
            return Verdict(False, f"{kind.__name__}: {why}.")
        return Verdict(True, f"{kind.__name__} sees Euclidean distances only; ties and gaps below "
                       f"{self.tolerance:.1g} of the largest length may fall the other way.")

    def verify(self, table: Table, release: Release, key: Key | None = None) -> Verification:
        """Run k-means, k-NN, hierarchical clustering and DBSCAN on both sides and compare."""
        from unspoken.methods.rotation.verify_distances import verify_distances

        return verify_distances(table, release, key, self.tolerance)


@dataclass(frozen=True)
class DistancesInExpectation(Guarantee):
    """Squared distances of a random projection are right on average, within a stated factor."""

    name: ClassVar[str] = "distances-in-expectation"

    @property
    def distortion(self) -> float | None:
        """Return delta: all squared distances are within 1 +- delta; None where none is known."""
        distortion = self.facts.get("distortion")
        return None if distortion is None else float(distortion)


def preserved(columns: Sequence[str], width: int, standardised: bool, blank: int
              ) -> DistancesPreserved:
    """Return the promise of an orthogonal map over that many original columns."""
    share = tolerance_for(width)
    of = "standardised columns" if standardised else "columns as they are"
    conditions = [
        f"distances of the {of}, to {share:.1g} of the largest length of a record (rounding)",
        "ties, and distances closer than that, may be broken another way",
        "starts given as coordinates and new records must be rotated with the key",
        "identity is with the original in the released row order",
    ]
    if blank:
        conditions.append(f"{blank} records with missing values are released blank: leave them out")
    return DistancesPreserved(
        "A miner who sees nothing but Euclidean distances finds what it would find in the "
        "original.", tuple(conditions),
        {"tolerance": share, "columns": list(columns), "standardised": standardised,
         "blank": blank})


def in_expectation(columns: Sequence[str], delta: float, chance: float, noise: float
                   ) -> DistancesInExpectation:
    """Return the promise of a random projection."""
    known = bool(np.isfinite(delta))
    within = (f"all squared distances lie within a factor of 1 +- {delta:.3g} with probability "
              f"{1 - chance:g}" if known else "no bound holds for all pairs with so few columns")
    extra = (f"noise adds {2 * len(columns) * noise**2:.4g} to every squared distance on average",
             ) if noise else ()
    return DistancesInExpectation(
        "Squared distances are right on average over the projections that could have been drawn.",
        (within, *extra, "no miner is promised the same result"),
        {"distortion": float(delta) if known else None, "chance": chance,
         "columns": list(columns)})
