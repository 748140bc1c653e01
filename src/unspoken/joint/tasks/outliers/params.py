"""What everybody knows before outliers are sought, with the edges of the definition stated.

An object is an outlier if enough others lie at a distance **greater** than `distance`. "Enough" is
said in one of two ways:

  p: a part of the objects (Knorr and Ng). The book says "at least p" in the definition and "more
    than p" in its algorithms, of |O| objects there and of the others in between; here both are
    chosen by name and computed with fractions, so that 0.1 of 10 is 1.
  neighbours: the k-th nearest of the others lies further away than `distance` (the other
    definitions that section 7.3.1 names): fewer than k others are within it. An object is no
    neighbour of itself; another object in the same place is one.
    With `top` in place of `distance` the outliers are the `top` objects whose k-th neighbour is
    farthest.

Distances are Minkowski's of order 1, 2, ...: the sum over all columns of
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

from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.shared import check_interval
from unspoken.joint.tasks.common.grid_distances import MOST_ORDER, MOST_SCALE, reach_of
from unspoken.joint.tasks.param_rules import Between, Words
from unspoken.joint.tasks.task_params import TaskSettings, agreed, check_declared
from unspoken.release.parameters import OneOf, Real

MOST_NEIGHBOURS = 1 << 20


@dataclass(frozen=True)
class OutlierParams:
    """The fraction p or the number of neighbours, the distance, and how these are meant.

    Attributes
    ----------
    p : float or None
        The fraction of objects that must be far. Default: none, `neighbours` says it.
    distance : float or None
        Objects at a greater distance are far. Default: none, `top` says it.
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
    neighbours : int or None
        An object is an outlier if its neighbour of this number, by distance, is far. Default:
        none, `p` says it.
    top : int or None
        With `neighbours`: how many objects are outliers, those whose neighbour of that number is
        farthest; of equally far ones the earlier. Default: none, `distance` says it.
    """

    p: float | None = field(default=None, metadata=agreed(
        Real(0.0, 1.0), "the part of the objects that must be far from an outlier"))
    distance: float | None = field(default=None, metadata=agreed(
        Real(0.0), "objects at a greater distance are far"))
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
    neighbours: int | None = field(default=None, metadata=agreed(
        Between(1, MOST_NEIGHBOURS), "in place of p: which neighbour, by distance, must be far"))
    top: int | None = field(default=None, metadata=agreed(
        Between(1, MOST_NEIGHBOURS), "in place of distance, with neighbours: how many objects are "
        "outliers, those whose neighbour is farthest"))

    def __post_init__(self) -> None:
        """Refuse what makes no outliers."""
        check_declared("outliers", self)
        if (self.p is None) == (self.neighbours is None):
            raise InputError(explain("Outliers", "said by 'p' or by 'neighbours'",
                                     "neither" if self.p is None else "both"))
        if (self.distance is None) == (self.top is None):
            raise InputError(explain("Outliers", "said by 'distance' or by 'top'",
                                     "neither" if self.top is None else "both"))
        if self.p is None and (self.enough, self.among) != ("at least", "others"):
            raise InputError("'enough' and 'among' of outliers say how 'p' is meant. There is no "
                             "'p', but 'neighbours'. Leave them out.")
        if self.p is not None and self.top is not None:
            raise InputError("'top' of outliers goes with 'neighbours'. There is 'p'. Use one of "
                             "both.")

    def reach(self, columns: int) -> int:
        """Return the greatest |x - y|^order over some columns; refused if it does not fit."""
        bound = reach_of(self, columns)
        if self.top is not None:
            # Objects that were passed over are put beyond all others.
            check_interval(0, 4 * bound + 8, "A distance to the power of its order")
        return bound

    def limit(self, columns: int) -> int:
        """Return the greatest power of a distance that is not far, at most the reach."""
        if self.distance is None:
            return self.reach(columns)
        exact = Fraction(repr(float(self.distance))) * (1 << self.scale)
        return min(floor(exact**self.order), self.reach(columns))

    def needed(self, objects: int) -> int:
        """Return how many far objects make an outlier; of those farthest, the one flag."""
        if self.top is not None:
            return 1
        if self.p is None:
            # Fewer than k of the others are near.
            return objects - (self.neighbours or 0)
        share = Fraction(repr(float(self.p))) * (objects - (self.among == "others"))
        return ceil(share) if self.enough == "at least" else floor(share) + 1

    def words(self) -> str:
        """Return the rule for people."""
        kind = "" if self.order == 2 else f" (Minkowski of order {self.order})"
        if self.top is not None:
            return (f"the {self.top} objects whose neighbour number {self.neighbours} by "
                    f"distance{kind} is farthest")
        far = f"at a distance{kind} greater than {self.distance:g}"
        if self.p is None:
            return f"the neighbour that is number {self.neighbours} by distance lies {far}"
        others = "other objects" if self.among == "others" else "all objects"
        return f"{self.enough} {self.p:g} of the {others} {far}"


@dataclass(frozen=True, kw_only=True)
class OutlierSettings(TaskSettings, OutlierParams):
    """What a study says about its outliers."""

    columns: tuple[str, ...] = field(metadata=agreed(
        Words('a list of different columns; of several owners ["bank:amount"]'), "the columns"))


def rules_of(parameters: Mapping[str, Any]) -> OutlierParams:
    """Return what a study calls an outlier."""
    return OutlierSettings.of(parameters).part(OutlierParams)


def check_objects(objects: int, rules: OutlierParams) -> None:
    """Refuse to seek outliers among fewer than two objects, or fewer than have that neighbour."""
    if objects < 2:
        raise RefusedError(f"Outliers need two objects or more. There is {objects}.")
    if rules.neighbours is not None and objects <= rules.neighbours:
        raise RefusedError(f"Every object needs {rules.neighbours} neighbours. There are "
                           f"{objects} objects in all. Use fewer 'neighbours'.")
    if rules.top is not None and objects <= rules.top:
        raise RefusedError(f"There must be more than {rules.top} objects if the {rules.top} "
                           f"farthest are outliers. There are {objects} in all. Use a smaller "
                           "'top'.")
