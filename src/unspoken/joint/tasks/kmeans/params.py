"""What everybody knows about a clustering before it starts, and how values are rounded.

Values are rounded to `scale` fractional bits once, so that all ways of computing see the same
numbers. Squared distances that a site computes itself are rounded to `scale` + 6 bits: two
centres whose squared distances differ by less than the number of sites times 2^-(scale + 6) are
a near-tie, and either may be taken; the joint and the central result take the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.shared import check_interval
from unspoken.joint.tasks.common.study_parameters import as_study
from unspoken.joint.tasks.task import Param
from unspoken.release.parameters import OneOf, Real, Rule, Whole, check

EXTRA = 6
MOST_SCALE = 24
RULES = ("k", "iterations", "most", "scale", "tolerance", "seed", "start")
PARAMS = (
    Param("columns", 'the columns, a list of names; of several owners ["north:age", "south:stay"]'),
    Param("k", "the number of clusters"),
    Param("iterations", "how many iterations are run at most (10)"),
    Param("most", "every value lies between -most and most (8.0)"),
    Param("scale", "fractional bits of values, 1 to 24 (12)"),
    Param("tolerance", "stop when the centres' squared movement is at most that (no: run all)"),
    Param("seed", "public: which records the clustering starts from (0)"),
    Param("start", "records, or spread (k-means++; only with way hidden) (records)"))
ROWS_PARAMS = (*PARAMS, Param("way", "hidden, or revealed: sums are opened every round (hidden)"))
COLUMNS_PARAMS = (
    *PARAMS, Param("way", "hidden, or assignments: opened every round (hidden)"),
    Param("closest", "how the nearest centre is found: shares, or permuted (shares)"))


@dataclass(frozen=True)
class KMeansParams:
    """k, when to stop, and how large values may be.

    Attributes
    ----------
    k : int
        The number of clusters.
    iterations : int, default 10
        How many iterations are run, at most.
    most : float, default 8.0
        Every value lies between -most and most (standardise first; tight is cheap).
    scale : int, default 12
        Fractional bits of values.
    tolerance : float, optional
        Stop when the centres' squared movement, all together, is at most that; None runs all
        `iterations` and opens nothing about them.
    seed : int, default 0
        Public; which records, or which partition, the clustering starts from.
    start : {'records', 'spread'}, default 'records'
        Public numbers of records, whatever the data is, or k-means++, all of it on shares.
    """

    k: int
    iterations: int = 10
    most: float = 8.0
    scale: int = 12
    tolerance: float | None = None
    seed: int = 0
    start: str = "records"
    allowed: ClassVar[Mapping[str, tuple[Rule, str]]] = {
        "k": (Whole(1), ""), "iterations": (Whole(1), ""), "scale": (Whole(1), ""),
        "seed": (Whole(0), ""), "start": (OneOf(("records", "spread")), ""),
        "most": (Real(0.0, 2.0**40), "Standardise the columns.")}

    def __post_init__(self) -> None:
        """Refuse what makes no clustering."""
        check("kmeans", self.allowed, {name: getattr(self, name) for name in self.allowed})
        if self.scale > MOST_SCALE:
            raise InputError(explain("kmeans: 'scale'", f"at most {MOST_SCALE}", self.scale))
        if self.tolerance is not None and not 0 <= self.tolerance < 2**40:
            raise InputError(explain("kmeans: 'tolerance'", "None or not negative",
                                     self.tolerance))

    @property
    def units(self) -> int:
        """Return the bound of values in units of 2^-scale."""
        return int(np.ceil(self.most * 2**self.scale))

    @property
    def fine(self) -> int:
        """Return the fractional bits of squared distances."""
        return self.scale + EXTRA

    def reach(self, columns: int) -> int:
        """Return the greatest squared distance in units; what does not fit is refused."""
        bound = int(np.ceil(columns * (2 * self.most) ** 2 * 2**self.fine)) + 1
        check_interval(-2 * bound, 2 * bound, "A squared distance")
        return bound


def rules_of(parameters: Mapping[str, Any]) -> KMeansParams:
    """Return what a study says about its clustering."""
    if "k" not in parameters:
        raise StudyError("Parameter 'k', the number of clusters, must be there. It is not.")
    return as_study(lambda: KMeansParams(**{n: parameters[n] for n in RULES if n in parameters}))


def rounded(values: Any, rules: KMeansParams, what: str = "values") -> Ints:
    """Return an owner's values in units of 2^-scale; what does not fit is refused."""
    rows = np.asarray(values, np.float64)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise DataError(explain(f"This owner's {what}", "rows and at least one column",
                                rows.shape))
    if not np.isfinite(rows).all():
        raise DataError(f"This owner's {what} must be finite. Some are missing or infinite.")
    if rows.size and np.abs(rows).max() > rules.most:
        raise DataError(f"This owner's {what} must lie between {-rules.most:g} and "
                        f"{rules.most:g}, as agreed. Some do not. Agree on a greater 'most', or "
                        "standardise the columns.")
    return np.asarray(np.rint(np.ldexp(rows, rules.scale)), np.int64)


def as_floats(units: Ints, rules: KMeansParams) -> Floats:
    """Return units as numbers."""
    return np.ldexp(units.astype(np.float64), -rules.scale)


def distances(rows: Floats, centres: Floats, rules: KMeansParams) -> Ints:
    """Return squared distances to every centre in units, one row a centre."""
    squared = np.empty((centres.shape[0], rows.shape[0]), np.int64)
    for place, centre in enumerate(centres):
        squared[place] = np.rint(np.ldexp(((rows - centre) ** 2).sum(axis=1), rules.fine))
    return squared


def means(sums: Floats, counts: Floats, before: Floats) -> Floats:
    """Return new centres; a cluster without records keeps its centre."""
    averages = sums / np.maximum(counts, 1.0)[:, None]
    return np.asarray(np.where(counts[:, None] > 0, averages, before))


def totals(units: Ints, assigned: Ints, k: int) -> tuple[Ints, Ints]:
    """Return the sums of every cluster, exact, and how many records it has."""
    check_interval(0, int(np.abs(units).sum(axis=0).max(initial=0)) << 9, "A sum of a cluster")
    sums = np.zeros((k, units.shape[1]), np.int64)
    for column in range(units.shape[1]):
        # Sums of whole numbers below 2^53 are exact in floats.
        sums[:, column] = np.bincount(assigned, units[:, column].astype(np.float64), k)
    return sums, np.bincount(assigned, minlength=k).astype(np.int64)


def movement(after: Floats, before: Floats, rules: KMeansParams) -> int:
    """Return how far centres moved, squared and in units."""
    return int(np.rint(np.ldexp(((after - before) ** 2).sum(), rules.fine)))


def threshold(rules: KMeansParams) -> int:
    """Return the greatest movement, in units, at which the clustering stops."""
    return int(np.floor(np.ldexp(rules.tolerance or 0.0, rules.fine)))


def first_records(rules: KMeansParams, records: int) -> Ints:
    """Return the records that the clustering starts from: public numbers, whatever the data is."""
    check_enough(rules, records)
    places = np.random.default_rng(rules.seed).choice(records, rules.k, replace=False)
    return np.asarray(places, np.int64)


def check_enough(rules: KMeansParams, records: int) -> None:
    """Refuse more clusters than records."""
    if not 0 < rules.k <= records:
        raise RefusedError(f"There must be at least as many records as clusters. There are "
                           f"{records:,} records for k = {rules.k}. Ask for fewer clusters.")
