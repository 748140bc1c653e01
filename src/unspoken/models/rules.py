"""Rules: association rules "who buys the left side also buys the right side" (vcz2006 chapter 6).

With s(A) the support of A, a rule A -> B has support s(AB), confidence s(AB) / s(A), lift
s(AB) / (s(A) s(B)), leverage s(AB) - s(A) s(B) and conviction (1 - s(B)) / (1 - confidence).
Where supports were estimated, every measure has an interval: its extremes while the three
supports stay inside theirs. That is safe whatever their dependence and wider than need be: it
holds at least with confidence 1 - 3a where each support's interval has 1 - a.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.itemsets import read_sets
from unspoken.models.model import Model
from unspoken.models.tree import check_format
from unspoken.models.tree_text import join_lines, number

Sets = tuple[tuple[int, ...], ...]

FORMAT = "unspoken-rules"
VERSION = 1
SHOWN = 10
MEASURES = ("support", "confidence", "lift", "leverage", "conviction")
_SUPPORTS = ("support", "left_support", "right_support")
_BOUNDS = ("low", "high")


@dataclass(frozen=True, eq=False)
class Rules(Model):
    """Association rules with the supports from which all their measures follow.

    Attributes
    ----------
    items : tuple of str
        The names of all items.
    left, right : tuple of tuples of int
        The two sides of each rule as increasing positions in `items`.
    support, left_support, right_support : array of float
        The support of both sides together, of the left side and of the right side.
    baskets : int
        The number of baskets.
    low, high : array of float, (rules, 3), or None
        Where estimated, bounds of these three supports, one column each.
    facts : mapping
        How the rules were mined.
    """

    format = FORMAT

    items: tuple[str, ...]
    left: Sets
    right: Sets
    support: Floats
    left_support: Floats
    right_support: Floats
    baskets: int
    low: Floats | None = None
    high: Floats | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what are no rules."""
        size = len(self.left)
        for name in _SUPPORTS:
            object.__setattr__(self, name, _array(name, getattr(self, name), (size,)))
        for name in _BOUNDS:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _array(name, getattr(self, name), (size, 3)))
        if len(self.right) != size:
            raise InputError(explain("'right'", f"{size} sets", len(self.right)))
        for one, other in zip(self.left, self.right, strict=True):
            _check_sides(one, other, len(self.items))

    def __len__(self) -> int:
        return len(self.left)

    @property
    def confidence(self) -> Floats:
        """Return how many of those with the left side have the right one too."""
        return _ratio(self.support, self.left_support)

    @property
    def lift(self) -> Floats:
        """Return how much likelier the right side is with the left one than without knowing."""
        return _ratio(self.support, self.left_support * self.right_support)

    @property
    def leverage(self) -> Floats:
        """Return the support beyond what independent sides would have."""
        return self.support - self.left_support * self.right_support

    @property
    def conviction(self) -> Floats:
        """Return how much rarer the rule is wrong than if sides were independent; inf if never."""
        return _conviction(self.right_support, self.confidence)

    def interval(self, measure: str) -> tuple[Floats, Floats]:
        """Return the bounds of a measure; of counted supports both are the measure itself."""
        if measure not in MEASURES:
            raise InputError(explain("'measure'", f"one of {MEASURES}", measure))
        if self.low is None or self.high is None:
            value = np.asarray(getattr(self, measure))
            return value, value
        least, most = np.clip(self.low, 0, 1).T, np.clip(self.high, 0, 1).T
        return _extreme(measure, least, most), _extreme(measure, most, least)

    def names(self, codes: Sequence[int]) -> tuple[str, ...]:
        """Return the names of some codes."""
        return tuple(self.items[code] for code in codes)

    def take(self, places: Sequence[int]) -> Rules:
        """Return some of the rules, in the order given."""
        kept = [int(i) for i in places]
        bounds = {n: None if (v := getattr(self, n)) is None else v[kept] for n in _BOUNDS}
        return Rules(self.items, tuple(self.left[i] for i in kept),
                     tuple(self.right[i] for i in kept), self.support[kept],
                     self.left_support[kept], self.right_support[kept], self.baskets,
                     facts=self.facts, **bounds)

    def frame(self) -> Any:
        """Return an Arrow table: left, right, every measure, and its low and high."""
        import pyarrow as pa

        text = pa.list_(pa.string())
        columns = {"left": pa.array([list(self.names(one)) for one in self.left], text),
                   "right": pa.array([list(self.names(one)) for one in self.right], text)}
        for measure in MEASURES:
            low, high = self.interval(measure)
            columns |= {measure: pa.array(getattr(self, measure)), f"{measure}_low": pa.array(low),
                        f"{measure}_high": pa.array(high)}
        return pa.table(columns)

    def _compare(self, other: Rules) -> Comparison:
        mine, others = ([(one.names(a), one.names(b)) for a, b in zip(one.left, one.right,
                                                                     strict=True)]
                        for one in (self, other))
        return first_difference(
            lambda: compare_sequences("rule", mine, others),
            *(lambda n=name: compare_arrays("rule", n, getattr(self, n), getattr(other, n))
              for name in _SUPPORTS))

    def summary(self, most: int = SHOWN) -> str:
        """Return the rules of highest confidence.

        Parameters
        ----------
        most : int
            How many are listed.

        Returns
        -------
        str
            A few lines.
        """
        return join_lines(self._listed(most, full=False))

    def _lines(self, full: bool) -> list[str]:
        return self._listed(None if full else SHOWN, full)

    def _listed(self, most: int | None, full: bool) -> list[str]:
        order = np.argsort(-self.confidence, kind="stable")[:most].tolist()
        return [f"{len(self):,} rules on {self.baskets:,} baskets",
                *(f"  {self._one(i, full)}" for i in order)]

    def _one(self, i: int, full: bool) -> str:
        left, right = (", ".join(self.names(side[i])) for side in (self.left, self.right))
        if full:
            measures = ", ".join(f"{name} {number(getattr(self, name)[i], True)}"
                                 for name in MEASURES)
            return f"{left} -> {right}: {measures}"
        return (f"{left} -> {right}: confidence {self.confidence[i]:.1%}, "
                f"support {self.support[i]:.3%}, lift {self.lift[i]:.3g}")

    def to_json(self) -> dict[str, Any]:
        """Return the rules as plain data."""
        bounds = {n: v.ravel().tolist() for n in _BOUNDS if (v := getattr(self, n)) is not None}
        sides = {f"{name}_{part}": value for name in ("left", "right")
                 for part, value in (("sizes", [len(s) for s in getattr(self, name)]),
                                     ("codes", [c for s in getattr(self, name) for c in s]))}
        return {"format": FORMAT, "version": VERSION, "items": list(self.items), **sides,
                **{n: getattr(self, n).tolist() for n in _SUPPORTS}, "baskets": self.baskets,
                **bounds, "facts": dict(self.facts)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Rules:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        items = fields.texts("items", limits.max_features)
        left, right = (read_sets(fields, f"{side}_sizes", f"{side}_codes", len(items))
                       for side in ("left", "right"))
        size = len(left)
        bounds = {n: fields.floats(n, 3 * size).reshape(size, 3) for n in _BOUNDS if n in data}
        supports = [fields.floats(name, size) for name in _SUPPORTS]
        facts = data.get("facts")
        try:
            return cls(items, left, right, supports[0], supports[1], supports[2],
                       fields.whole("baskets", 0, 2**53), bounds.get("low"), bounds.get("high"),
                       facts if isinstance(facts, dict) else {})
        except InputError as error:
            refuse("rules", "two disjoint sides each", str(error))


def _extreme(measure: str, first: Floats, second: Floats) -> Floats:
    """Return a measure where the joint support is from `first` and what divides from `second`."""
    both: Floats = first[0]
    if measure == "support":
        return np.asarray(both)
    if measure == "confidence":
        return np.minimum(_ratio(both, second[1]), 1.0)
    if measure == "lift":
        return _ratio(both, second[1] * second[2])
    if measure == "leverage":
        return np.asarray(both - second[1] * second[2])
    return _conviction(second[2], np.minimum(_ratio(both, second[1]), 1.0))


def _ratio(over: Floats, under: Floats) -> Floats:
    """Divide; nothing out of nothing is 0, something out of nothing is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.asarray(over / under), nan=0.0, posinf=np.inf, neginf=-np.inf)


def _conviction(then: Floats, confidence: Floats) -> Floats:
    wrong = 1.0 - confidence
    return np.where(wrong <= 0, np.inf, (1.0 - then) / np.where(wrong <= 0, 1.0, wrong))


def _check_sides(left: tuple[int, ...], right: tuple[int, ...], items: int) -> None:
    for side in (left, right):
        if list(side) != sorted(set(side)) or not side or side[0] < 0 or side[-1] >= items:
            raise InputError(explain("A side of a rule", f"increasing codes below {items}", side))
    if set(left) & set(right):
        raise InputError(explain("The sides of a rule", "disjoint", (left, right)))


def _array(name: str, values: Any, shape: tuple[int, ...]) -> Floats:
    numbers = np.asarray(values, np.float64)
    if numbers.shape != shape or not np.all(np.isfinite(numbers)):
        raise InputError(explain(f"'{name}'", f"finite numbers of shape {shape}",
                                 f"shape {numbers.shape}"))
    return numbers
