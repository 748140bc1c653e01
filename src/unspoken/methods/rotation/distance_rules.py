"""Which miners see nothing but Euclidean distances, and what they make of equal ones.

Every rule returns why a miner is not covered, or an empty text. Columns that are written with few
decimals lie on a grid, and on a grid many distances are equal: a miner that has to choose among
equal ones chooses by rounding there, and is not covered.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Params = Mapping[str, Any]
_EUCLIDEAN = ("euclidean", "l2", "sqeuclidean")


@dataclass(frozen=True)
class Grid:
    """What is known of the columns: the decimals they are written with, None if they have more.

    Of embedded categories: what one that differs adds to a squared distance, and how many can.
    """

    decimals: int | None = None
    standardised: bool = False
    category_square: float = 0.0
    categories: int = 0

    def attains(self, distance: Any) -> bool:
        """Return True if two records may lie exactly that far apart."""
        if self.decimals is None or self.standardised or not isinstance(distance, numbers.Real):
            return self.decimals is not None
        size = 100.0**self.decimals
        return any(_whole((float(distance) ** 2 - differing * self.category_square) * size)
                   for differing in range(self.categories + 1))


def _whole(steps: float) -> bool:
    """Return True if that is a number of steps, up to rounding."""
    return steps > -1e-6 and abs(steps - round(steps)) <= 1e-6 * max(1.0, steps)


def _metric(params: Params) -> str:
    metric = params.get("metric", "euclidean")
    if params.get("metric_params"):
        return "metric_params changes the distance"
    if metric == "minkowski" and params.get("p") in (None, 2, 2.0):
        return ""
    if metric in _EUCLIDEAN:
        return ""
    return f"metric={metric!r} with p={params.get('p')!r} is not the Euclidean distance"


def _kmeans(params: Params, grid: Grid) -> str:
    if not isinstance(params.get("init"), str):
        return "init holds centres of the original space; rotate them with the key first"
    if not isinstance(params.get("random_state"), int | np.integer):
        return "random_state must be a whole number, so that both sides start alike"
    return _equal(grid, "a record as far from two centres goes where rounding sends it; use "
                        "'unspoken mine --learner kmeans' (EvenKMeans), which has a rule for it")


def _equal(grid: Grid, why: str) -> str:
    """Return why a miner that chooses among equal distances is not covered on a grid."""
    return "" if grid.decimals is None else f"the columns are written with few decimals, and {why}"


def _neighbours(params: Params, grid: Grid) -> str:
    if callable(params.get("weights")):
        return "weights is a function, of which nothing is known"
    return _metric(params) or _equal(
        grid, "which of several equally near records is the k-th is for rounding to say; use "
              "EvenNeighbours, in which all of them vote")


def _within(name: str) -> Callable[[Params, Grid], str]:
    def rule(params: Params, grid: Grid) -> str:
        if callable(params.get("weights")):
            return "weights is a function, of which nothing is known"
        why = _metric(params)
        if not why and grid.attains(params.get(name)):
            return (f"{name}={params.get(name)!r} may be the very distance of two records, and "
                    f"rounding then says which side it falls on; take a {name} between two "
                    "distances, such as one whose square is no whole number of steps")
        return why
    return rule


def _agglomerative(params: Params, grid: Grid) -> str:
    if params.get("connectivity") is not None:
        return "connectivity says more than distances"
    return _metric(params) or _equal(
        grid, "which of several equally near clusters are merged first is for rounding to say")


def _even(params: Params, grid: Grid) -> str:
    closeness = params.get("closeness")
    if not isinstance(closeness, numbers.Real) or not 1e-11 <= float(closeness) <= 1e-6:
        return "closeness must lie between 1e-11, far above rounding, and 1e-6"
    if "random_state" in params and not isinstance(params["random_state"], int | np.integer):
        return "random_state must be a whole number, so that both sides start alike"
    return ""


def _kernel(params: Params, grid: Grid) -> str:
    """Machines with a radial kernel see exp(-gamma d^2) of distances d, and the target."""
    if params.get("kernel") != "rbf":
        return ("only kernel='rbf' is a function of distances; other kernels change with the "
                "shift, or come out within the solver's tolerance only")
    gamma = params.get("gamma")
    if isinstance(gamma, bool) or not isinstance(gamma, numbers.Real) or not (
            0 < float(gamma) < math.inf):
        return ("gamma must be a number: 'scale' and 'auto' take it from the released columns, "
                "whose variance is another one")
    return "probability=True draws folds by chance" if params.get("probability") is True else ""


Rule = Callable[[Params, Grid], str]
COVERED: Mapping[tuple[str, str], Rule] = {
    **{("sklearn", name): _neighbours for name in (
        "KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors")},
    **{("sklearn", name): _within("radius") for name in (
        "RadiusNeighborsClassifier", "RadiusNeighborsRegressor")},
    **{("sklearn", name): _kernel for name in (
        "SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM", "KernelRidge")},
    ("sklearn", "KMeans"): _kmeans,
    ("sklearn", "AgglomerativeClustering"): _agglomerative,
    ("sklearn", "DBSCAN"): _within("eps"),
    ("unspoken", "EvenNeighbours"): _even,
    ("unspoken", "EvenKMeans"): _even,
}
