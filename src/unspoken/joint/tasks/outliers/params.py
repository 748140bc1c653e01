"""What everybody knows before outliers are sought, with the edges of the definition stated.

An object is an outlier if enough others lie at a distance **greater** than `distance`. "Enough":
the book says "at least p" in the definition and "more than p" in its algorithms, of |O| objects
there and of the others in between; here both are chosen by name and computed with fractions, so
that 0.1 of 10 is 1. Distances are Minkowski's of order 1, 2, ...: the sum over all columns of
|x - y|^order is compared with distance^order (thresholds of sites add up in that power, not as
distances, and not as "dt^2 + m_r/m", as is printed).

Values are rounded to `scale` fractional bits; from there on everything is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.shared import check_interval
from unspoken.joint.tasks.common.column_checks import as_numbers
from unspoken.joint.tasks.param_rules import Between, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed, check_declared
from unspoken.release.parameters import OneOf, Real

MOST_SCALE = 24
MOST_ORDER = 8


@dataclass(frozen=True)
class OutlierParams:
    """The fraction p, the distance, and how both are meant.

    Attributes
    ----------
    p : float
        The fraction of objects that must be far.
    distance : float
        Objects at a greater distance are far.
    most : float, default 8.0
        Every value lies between -most and most (tight is cheap).
    scale : int, default 8
        Fractional bits of values.
    order : int, default 2
        The order of the Minkowski distance; 2 is Euclidean.
    enough : {'at least', 'more than'}, default 'at least'
        Whether at least p of them are far, or more than p.
    among : {'others', 'all'}, default 'others'
        Of which objects p is a fraction (an object is never far from itself).
    """

    p: float = field(metadata=agreed(
        Real(0.0, 1.0), "the part of the objects that must be far from an outlier"))
    distance: float = field(metadata=agreed(Real(0.0), "objects at a greater distance are far"))
    most: float = field(default=8.0, metadata=agreed(
        Real(0.0, 2.0**40), "every value lies between -most and most"))
    scale: int = field(default=8, metadata=agreed(
        Between(0, MOST_SCALE), "fractional bits of values"))
    order: int = field(default=2, metadata=agreed(
        Between(1, MOST_ORDER), "the order of the Minkowski distance"))
    enough: str = field(default="at least", metadata=agreed(
        OneOf(("at least", "more than")), "whether at least p of them are far, or more than p"))
    among: str = field(default="others", metadata=agreed(
        OneOf(("others", "all")), "of which objects p is a part"))

    def __post_init__(self) -> None:
        """Refuse what makes no outliers."""
        check_declared("outliers", self)

    @property
    def units(self) -> int:
        """Return the bound of values in units of 2^-scale."""
        return int(np.ceil(np.ldexp(self.most, self.scale)))

    def reach(self, columns: int) -> int:
        """Return the greatest |x - y|^order over some columns; refused if it does not fit."""
        bound = int(columns * (2 * self.units) ** self.order)
        check_interval(-2 * bound, 2 * bound, "A distance to the power of its order")
        return bound

    def limit(self, columns: int) -> int:
        """Return the greatest power of a distance that is not far, at most the reach."""
        exact = Fraction(repr(float(self.distance))) * (1 << self.scale)
        return min(floor(exact**self.order), self.reach(columns))

    def needed(self, objects: int) -> int:
        """Return how many far objects make an outlier."""
        share = Fraction(repr(float(self.p))) * (objects - (self.among == "others"))
        return ceil(share) if self.enough == "at least" else floor(share) + 1

    def words(self) -> str:
        """Return the rule for people."""
        others = "other objects" if self.among == "others" else "all objects"
        kind = "" if self.order == 2 else f" (Minkowski of order {self.order})"
        return (f"{self.enough} {self.p:g} of the {others} at a distance{kind} greater than "
                f"{self.distance:g}")


@dataclass(frozen=True, kw_only=True)
class OutlierSettings(TaskSettings, OutlierParams):
    """What a study says about its outliers."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words('a list of different columns; of several owners ["bank:amount"]'), "the columns"))


def rules_of(parameters: Mapping[str, Any]) -> OutlierParams:
    """Return what a study calls an outlier."""
    return OutlierSettings.of(parameters).part(OutlierParams)


def rounded(values: Any, rules: OutlierParams) -> Ints:
    """Return an owner's values in units of 2^-scale; what does not fit is refused."""
    rows = as_numbers("This owner's data", values)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise DataError(explain("This owner's values", "objects and at least one column",
                                rows.shape))
    if rows.shape[0] == 0:
        raise RefusedError("Every owner must have objects. This one has none. Leave it out of the "
                           "study.")
    if not np.isfinite(rows).all():
        raise DataError("This owner's values must be finite. Some are missing or infinite.")
    if np.abs(rows).max() > rules.most:
        raise DataError(f"This owner's values must lie between {-rules.most:g} and "
                        f"{rules.most:g}, as agreed. Some do not. Agree on a greater 'most', or "
                        "standardise the columns.")
    return np.asarray(np.rint(np.ldexp(rows, rules.scale)), np.int64)


def check_objects(objects: int) -> None:
    """Refuse to seek outliers among fewer than two objects."""
    if objects < 2:
        raise RefusedError(f"Outliers need two objects or more. There is {objects}.")


def powers(one: Ints, other: Ints, order: int) -> Ints:
    """Return the sum over columns of |x - y|^order, for rows that broadcast."""
    total = np.zeros(np.broadcast_shapes(one.shape, other.shape)[:-1], np.int64)
    for column in range(one.shape[-1]):
        total += to_power(one[..., column] - other[..., column], order)
    return total


def to_power(gap: Ints, order: int) -> Ints:
    """Return |gap|^order."""
    if order == 2:
        return gap * gap
    return np.asarray(np.abs(gap) ** order)
