"""What everybody knows about a clustering before it starts, and how values are rounded.

Values are rounded to `scale` fractional bits once, so that all ways of computing see the same
numbers. Squared distances that a site computes itself are rounded to `scale` + 6 bits: two
centres whose squared distances differ by less than the number of sites times 2^-(scale + 6) are
a near-tie, and either may be taken; the joint and the central result take the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.shared import check_interval
from unspoken.joint.tasks.common.column_checks import as_numbers
from unspoken.joint.tasks.param_rules import Between, OneWord, RealBetween, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed, check_declared
from unspoken.release.parameters import OneOf, Real, Whole

EXTRA = 6
FINER = 2
"""A centre has so many more fractional bits than values."""
MOST_SCALE = 24
ROW_WAYS = ("hidden", "revealed")
COLUMN_WAYS = ("hidden", "assignments")
CLOSEST = ("shares", "permuted")


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
    smallest_group : int, default 0
        Over rows: centres are not opened if a cluster has fewer records; 0 opens them all.
    bits : int, optional
        Over rows: with how many fractional bits centres are opened. Default: all, `scale` + 2.
    """

    k: int = field(metadata=agreed(Whole(1), "the number of clusters"))
    iterations: int = field(default=10, metadata=agreed(
        Whole(1), "how many iterations are run at most"))
    most: float = field(default=8.0, metadata=agreed(
        Real(0.0, 2.0**40), "every value lies between -most and most", "Standardise the columns."))
    scale: int = field(default=12, metadata=agreed(
        Between(1, MOST_SCALE), "fractional bits of values"))
    tolerance: float | None = field(default=None, metadata=agreed(
        RealBetween(0.0, 2.0**40), "stop when the centres' squared movement is at most that; "
        "without it all iterations are run"))
    seed: int = field(default=0, metadata=agreed(
        Whole(0), "public: which records the clustering starts from"))
    start: str = field(default="records", metadata=agreed(
        OneOf(("records", "spread")), "spread is k-means++, only with way hidden"))
    smallest_group: int = field(default=0, metadata=agreed(
        Whole(0), "centres are opened only if every cluster has this many records; one bit says "
        "so, and 0 asks for none", split="rows"))
    bits: int | None = field(default=None, metadata=agreed(
        Between(1, MOST_SCALE), "with how many fractional bits centres are opened, without it "
        "'scale' and 2 more", split="rows"))

    def __post_init__(self) -> None:
        """Refuse what makes no clustering."""
        check_declared("kmeans", self)
        if self.bits is not None and self.bits > self.scale + FINER:
            raise InputError(explain("k-means: 'bits'", f"at most 'scale' + {FINER}, which is "
                                     f"{self.scale + FINER}", self.bits))

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


@dataclass(frozen=True, kw_only=True)
class KMeansSettings(TaskSettings, KMeansParams):
    """What a study says about its clustering."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words('a list of different columns; of several owners ["north:age", "south:stay"]'),
        "the columns"))
    way_rows: str = field(default="hidden", metadata=agreed(
        OneWord(ROW_WAYS), "revealed opens sums in every round", name="way", split="rows"))
    way_columns: str = field(default="hidden", metadata=agreed(
        OneWord(COLUMN_WAYS), "assignments are opened in every round, or hidden", name="way",
        split="columns"))
    closest: str = field(default="shares", metadata=agreed(
        OneWord(CLOSEST), "how the nearest centre is found", split="columns"))


def rules_of(parameters: Mapping[str, Any]) -> KMeansParams:
    """Return what a study says about its clustering."""
    return KMeansSettings.of(parameters).part(KMeansParams)


def rounded(values: Any, rules: KMeansParams, what: str = "values") -> Ints:
    """Return an owner's values in units of 2^-scale; what does not fit is refused."""
    rows = as_numbers(f"This owner's {what}", values)
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
