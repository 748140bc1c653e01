"""Associations: frequent itemsets and the rules among them, with or without their counts.

What several owners mine together (vcz2006 section 6.2) may be just this: which sets are frequent
and which rules are sure enough, with both thresholds and nothing else. Where the counts were
disclosed too, `.itemsets` and `.rules` are the patterns that mining in one place yields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.models.comparison import (
    SAME,
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.itemsets import Itemsets, read_sets
from unspoken.models.model import Model
from unspoken.models.rules import Rules
from unspoken.models.tree import check_format
from unspoken.models.tree_text import join_lines

Sets = tuple[tuple[int, ...], ...]

FORMAT = "unspoken-associations"
VERSION = 1
SHOWN = 10


@dataclass(frozen=True, eq=False)
class Associations(Model):
    """Frequent sets of items and confident rules, without supports unless those were disclosed.

    Attributes
    ----------
    items : tuple of str
        The names of all items.
    sets : tuple of tuples of int
        Every frequent set as an increasing tuple of positions in `items`.
    left, right : tuple of tuples of int
        The two sides of every rule; together they are one of the sets.
    min_support, min_confidence : float
        The thresholds that all of them reach.
    counts : array of int or None
        In how many baskets each set is, if that was disclosed.
    baskets : int or None
        The number of baskets, if that was disclosed.
    """

    format = FORMAT

    items: tuple[str, ...]
    sets: Sets
    left: Sets
    right: Sets
    min_support: float
    min_confidence: float
    counts: Ints | None = None
    baskets: int | None = None

    def __post_init__(self) -> None:
        """Put sets and rules in order, and refuse what are none."""
        plain = Itemsets(self.items, self.sets, np.zeros(len(self.sets)), 0)
        if self.counts is not None:
            order = sorted(range(len(self.sets)), key=lambda i: _order(self.sets[i]))
            object.__setattr__(self, "counts", _counts(self.counts, len(self.sets))[order])
        object.__setattr__(self, "sets", plain.sets)
        _check_rules(self, set(plain.sets))
        both = sorted(zip(self.left, self.right, strict=True),
                      key=lambda rule: (_order(_whole(rule)), _order(rule[0])))
        object.__setattr__(self, "left", tuple(left for left, _ in both))
        object.__setattr__(self, "right", tuple(right for _, right in both))

    def __len__(self) -> int:
        return len(self.sets)

    def names(self, codes: Sequence[int]) -> tuple[str, ...]:
        """Return the names of some codes."""
        return tuple(self.items[code] for code in codes)

    @cached_property
    def itemsets(self) -> Itemsets:
        """Return the sets with their supports; refused if these were not disclosed."""
        counts, baskets = self._known()
        return Itemsets(self.items, self.sets, counts / max(baskets, 1), baskets,
                        facts={"min_support": self.min_support})

    @cached_property
    def rules(self) -> Rules:
        """Return the rules with their measures, the surest first; refused without counts."""
        counts, baskets = self._known()
        place = self.itemsets.places
        both = zip(self.left, self.right, strict=True)
        at = np.array([[place[_whole(rule)], place[rule[0]], place[rule[1]]] for rule in both],
                      np.int64).reshape(-1, 3)
        size = counts[at]
        order = sorted(range(len(at)), key=lambda i: (
            -size[i, 0] / size[i, 1], -size[i, 0], tuple(at[i].tolist())))
        supports = self.itemsets.supports[at[order]].reshape(-1, 3)
        return Rules(self.items, tuple(self.left[i] for i in order),
                     tuple(self.right[i] for i in order), supports[:, 0], supports[:, 1],
                     supports[:, 2], baskets, facts={"min_confidence": self.min_confidence})

    def _known(self) -> tuple[Ints, int]:
        if self.counts is None or self.baskets is None:
            raise InputError("Supports must have been disclosed for this. They were not: only that "
                             "they reach the thresholds is known. Agree on supports='shown'.")
        return self.counts, self.baskets

    def _compare(self, other: Associations) -> Comparison:
        mine, others = (([one.names(s) for s in one.sets],
                         [(one.names(a), one.names(b)) for a, b in zip(one.left, one.right,
                                                                       strict=True)])
                        for one in (self, other))
        return first_difference(
            lambda: compare_scalars("baskets", self.baskets, other.baskets),
            lambda: compare_sequences("set", mine[0], others[0]),
            lambda: compare_sequences("rule", mine[1], others[1]),
            lambda: _compare_counts(self.counts, other.counts))

    def summary(self, most: int = SHOWN) -> str:
        """Return how many sets and rules there are, and some of the rules.

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
        sizes = np.bincount([len(one) for one in self.sets], minlength=1)
        shown = ", ".join(f"{n:,} of {k}" for k, n in enumerate(sizes) if n)
        sets = [f"{len(self.sets):,} itemsets of support {self.min_support:.4g} or more"
                + (f": {shown}" if shown else "")]
        rules = f"{len(self.left):,} rules of confidence {self.min_confidence:.4g} or more"
        return [*sets, *(self._all_sets() if full else ()), rules, *self._rules(most, full)]

    def _all_sets(self) -> list[str]:
        if self.counts is not None:
            return self.itemsets._listed(None, full=True)[1:]
        return [f"  {', '.join(self.names(codes))}" for codes in self.sets]

    def _rules(self, most: int | None, full: bool) -> list[str]:
        if self.counts is not None:
            return self.rules._listed(most, full)[1:]
        return [f"  {', '.join(self.names(a))} -> {', '.join(self.names(b))}"
                for a, b in list(zip(self.left, self.right, strict=True))[:most]]

    def to_json(self) -> dict[str, Any]:
        """Return the associations as plain data."""
        parts = {f"{name}_{part}": value for name in ("sets", "left", "right")
                 for part, value in (("sizes", [len(s) for s in getattr(self, name)]),
                                     ("codes", [c for s in getattr(self, name) for c in s]))}
        more = {} if self.counts is None else {"counts": self.counts.tolist(),
                                               "baskets": self.baskets}
        return {"format": FORMAT, "version": VERSION, "items": list(self.items), **parts,
                "min_support": self.min_support, "min_confidence": self.min_confidence, **more}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Associations:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        items = fields.texts("items", limits.max_features)
        sets, left, right = (read_sets(fields, f"{part}_sizes", f"{part}_codes", len(items))
                             for part in ("sets", "left", "right"))
        counts = fields.ints("counts", len(sets), 0, 2**53) if "counts" in data else None
        baskets = fields.whole("baskets", 0, 2**53) if "counts" in data else None
        try:
            return cls(items, sets, left, right, _share(fields, "min_support"),
                       _share(fields, "min_confidence"), counts, baskets)
        except InputError as error:
            refuse("sets", "sets of items, and rules that part them", str(error))


def _share(fields: Fields, name: str) -> float:
    value = fields.raw(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        refuse(name, "a number from 0 to 1", value)
    return float(value)


def _order(codes: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return len(codes), codes


def _whole(rule: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({*rule[0], *rule[1]}))


def _counts(values: Any, size: int) -> Ints:
    counts = np.asarray(values, np.int64)
    if counts.shape != (size,) or np.any(counts < 0):
        raise InputError(explain("'counts'", f"{size} whole numbers", f"shape {counts.shape}"))
    return counts


def _check_rules(one: Associations, known: set[tuple[int, ...]]) -> None:
    if len(one.left) != len(one.right):
        raise InputError(explain("'right'", f"{len(one.left)} sets", len(one.right)))
    for rule in zip(one.left, one.right, strict=True):
        if set(rule[0]) & set(rule[1]) or not {rule[0], rule[1], _whole(rule)} <= known:
            raise InputError(explain("A rule", "two disjoint frequent sets whose union is one",
                                     rule))
    if len(set(zip(one.left, one.right, strict=True))) != len(one.left):
        raise InputError("A rule occurs twice. Rules must be distinct.")


def _compare_counts(one: Ints | None, other: Ints | None) -> Comparison:
    if one is None or other is None:
        return SAME if one is other else Comparison("counts: known and not disclosed")
    return compare_arrays("set", "count", one, other)
