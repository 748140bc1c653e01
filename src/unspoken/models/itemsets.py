"""Itemsets: the pattern that frequent-itemset mining yields, counted or estimated.

Sets stand in one order: smaller ones first, then by their codes. On randomised baskets `supports`
are estimates; `deviations` are their standard errors and `low` and `high` the ends of a normal
confidence interval, whose level is in `facts`. What was asked for by name is unbiased and may lie
below zero or above one; what was searched for lies between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Model
from unspoken.models.tree import check_format
from unspoken.models.tree_text import join_lines, number

FORMAT = "unspoken-itemsets"
VERSION = 1
SHOWN = 10
_OPTIONAL = ("deviations", "low", "high")


@dataclass(frozen=True, eq=False)
class Itemsets(Model):
    """Sets of items with their supports.

    Attributes
    ----------
    items : tuple of str
        The names of all items.
    sets : tuple of tuples of int
        Every set as an increasing tuple of positions in `items`.
    supports : array of float
        The share of baskets that hold each set, exact or estimated.
    baskets : int
        The number of baskets.
    deviations : array of float or None
        The standard deviation of each estimated support; None if supports were counted.
    low, high : array of float or None
        The bounds of each estimated support.
    facts : mapping
        How the sets were mined, such as the smallest support.
    """

    format = FORMAT

    items: tuple[str, ...]
    sets: tuple[tuple[int, ...], ...]
    supports: Floats
    baskets: int
    deviations: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the sets in order and refuse what are no itemsets."""
        _check_sets(self.sets, len(self.items))
        if type(self.baskets) is not int or self.baskets < 0:
            raise InputError(explain("'baskets'", "a whole number", self.baskets))
        order = sorted(range(len(self.sets)), key=lambda i: (len(self.sets[i]), self.sets[i]))
        for name in ("supports", *_OPTIONAL):
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, _column(name, values, len(self.sets))[order])
        object.__setattr__(self, "sets", tuple(self.sets[i] for i in order))

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield every set by its names, with its support."""
        return ((self.names(one), float(s)) for one, s in zip(self.sets, self.supports,
                                                              strict=True))

    def __contains__(self, names: Iterable[str]) -> bool:
        return self._place(names) is not None

    @property
    def estimated(self) -> bool:
        """Return True if the supports were estimated from randomised baskets."""
        return self.deviations is not None

    @property
    def counts(self) -> Ints:
        """Return how many baskets hold each set (a rounded estimate where it was estimated)."""
        return np.rint(self.supports * self.baskets).astype(np.int64)

    @property
    def sizes(self) -> Ints:
        """Return how many items each set has."""
        return np.fromiter((len(one) for one in self.sets), np.int64, len(self.sets))

    @cached_property
    def places(self) -> dict[tuple[int, ...], int]:
        """Return where each set of codes stands."""
        return {one: place for place, one in enumerate(self.sets)}

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.items)}

    def _place(self, names: Iterable[str]) -> int | None:
        codes = [self._codes.get(str(name), -1) for name in names]
        return self.places.get(tuple(sorted(codes)))

    def names(self, codes: Sequence[int]) -> tuple[str, ...]:
        """Return the names of some codes."""
        return tuple(self.items[code] for code in codes)

    def support(self, *names: str) -> float:
        """Return the support of a set; one that is not here is refused."""
        place = self._place(names)
        if place is None:
            raise InputError(f"The set {', '.join(map(str, names))} was not mined. Mine with a "
                             "lower min_support.")
        return float(self.supports[place])

    def of_size(self, size: int) -> Itemsets:
        """Return the sets of one size."""
        return self.take([i for i, one in enumerate(self.sets) if len(one) == size])

    def take(self, places: Iterable[int]) -> Itemsets:
        """Return some of the sets."""
        kept = list(places)
        rest = {name: None if (v := getattr(self, name)) is None else v[kept]
                for name in _OPTIONAL}
        return Itemsets(self.items, tuple(self.sets[i] for i in kept), self.supports[kept],
                        self.baskets, facts=self.facts, **rest)

    def frame(self) -> Any:
        """Return an Arrow table: items, support, low, high (`.to_pandas()` makes it pandas).

        Counted supports have themselves as bounds.
        """
        import pyarrow as pa

        return pa.table({
            "items": pa.array([list(self.names(one)) for one in self.sets],
                              pa.list_(pa.string())),
            "support": self.supports,
            "low": self.supports if self.low is None else self.low,
            "high": self.supports if self.high is None else self.high,
        })

    def _compare(self, other: Itemsets) -> Comparison:
        mine, others = ([one.names(s) for s in one.sets] for one in (self, other))
        return first_difference(
            lambda: compare_scalars("baskets", self.baskets, other.baskets),
            lambda: compare_sequences("set", mine, others),
            lambda: compare_arrays("set", "support", self.supports, other.supports))

    def summary(self, most: int = SHOWN) -> str:
        """Return how many sets there are of each size, and the commonest larger ones.

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
        sizes = np.bincount(self.sizes, minlength=1)
        shown = ", ".join(f"{n:,} of {k}" for k, n in enumerate(sizes) if n)
        kind = "estimated" if self.estimated else "counted"
        head = (f"{len(self):,} itemsets, {kind} on {self.baskets:,} baskets"
                + (f": {shown}" if shown else ""))
        order = np.argsort(-self.supports, kind="stable").tolist()
        chosen = [i for i in order if full or len(self.sets[i]) > 1 or sizes.size < 3][:most]
        return [head, *(f"  {self._one(i, full)}" for i in chosen)]

    def _one(self, place: int, full: bool) -> str:
        show = (lambda v: number(v, True)) if full else "{:.4%}".format
        text = show(self.supports[place])
        if self.low is not None and self.high is not None:
            text += f" ({show(self.low[place])} to {show(self.high[place])})"
        return f"{text}  {', '.join(self.names(self.sets[place]))}"

    def to_json(self) -> dict[str, Any]:
        """Return the itemsets as plain data."""
        more = {name: v.tolist() for name in _OPTIONAL if (v := getattr(self, name)) is not None}
        return {"format": FORMAT, "version": VERSION, "items": list(self.items),
                "sizes": self.sizes.tolist(), "codes": [c for one in self.sets for c in one],
                "supports": self.supports.tolist(), "baskets": self.baskets, **more,
                "facts": dict(self.facts)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Itemsets:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        items = fields.texts("items", limits.max_features)
        sets = read_sets(fields, "sizes", "codes", len(items))
        more = {name: fields.floats(name, len(sets)) for name in _OPTIONAL if name in data}
        facts = data.get("facts")
        try:
            return cls(items, sets, fields.floats("supports", len(sets)),
                       fields.whole("baskets", 0, 2**53), **more,
                       facts=facts if isinstance(facts, dict) else {})
        except InputError as error:
            refuse("codes", "sets of items", str(error))


def read_sets(fields: Fields, sizes: str, codes: str, items: int) -> tuple[tuple[int, ...], ...]:
    """Read sets that were written as their sizes and, one after the other, their codes."""
    lengths = fields.ints(sizes, None, 0, items).tolist()
    flat = fields.ints(codes, sum(lengths), 0, max(items - 1, 0)).tolist()
    sets, start = [], 0
    for length in lengths:
        sets.append(tuple(flat[start:start + length]))
        start += length
    return tuple(sets)


def _check_sets(sets: Sequence[tuple[int, ...]], items: int) -> None:
    for one in sets:
        if any(a >= b for a, b in pairwise(one)) \
                or (one and not 0 <= one[0] <= one[-1] < items):
            raise InputError(explain("An itemset", f"increasing codes from 0 to {items - 1}", one))
    if len(set(sets)) != len(sets):
        raise InputError("An itemset occurs twice. Itemsets must be distinct.")


def _column(name: str, values: Any, size: int) -> Floats:
    numbers = np.asarray(values, np.float64)
    if numbers.shape != (size,) or not np.all(np.isfinite(numbers)):
        raise InputError(explain(f"'{name}'", f"{size} finite numbers", f"shape {numbers.shape}"))
    return numbers
