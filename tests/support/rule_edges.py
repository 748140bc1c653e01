"""Values at the edges of what a parameter may be: just inside, and just outside."""

from __future__ import annotations

import math
from typing import Any

from unspoken.methods.anonymity.anonymity_parameters import (
    ForSensitive,
    HierarchyRule,
    TableRule,
    Trees,
)
from unspoken.methods.baskets.method import Items, SizeShares
from unspoken.methods.distortion.method import Edges, Label, Listed, Matrix
from unspoken.methods.encoding.formulas import Formula
from unspoken.methods.private.method import Categories, Limits
from unspoken.methods.rotation.method import Pairs, RowNumbers, Thresholds
from unspoken.release.parameters import (
    KeyIn,
    KeysIn,
    Names,
    NotNegative,
    OneOf,
    OrNone,
    PerColumn,
    Range,
    Real,
    Share,
    Some,
    Text,
    Whole,
)

Both = tuple[list[Any], list[Any]]

FIXED: dict[type, Both] = {
    NotNegative: ([0, 1.5], [-1e-9, "x"]),
    Share: ([0, 0.999], [1, -0.1]),
    Names: ([None, ["a"]], [[], "a", [1]]),
    Text: (["x"], [3]),
    Formula: (["0.9*x + 10", "log1p(x)"], ["__import__('os')", "y + 1", 3]),
    Range: ([[0, 1]], [[1, 0], [0], "x"]),
    HierarchyRule: (["h.csv"], [3]),
    TableRule: ([None, "everybody.csv"], [3]),
    Trees: ([None, {"max_leaves": 3}, [{"max_leaves": 3}]], ["x", []]),
    Edges: ([[0, 1, 2]], [[1], [2, 1]]),
    Matrix: ([[[0.5, 0.5], [0.5, 0.5]]], [3]),
    Label: (["x", 3], [["x"]]),
    Listed: ([["a", "b"]], [["a"], ["a", "a"]]),
    Thresholds: ([0.1, [[0.1, 0.2]]], [0, [[0.1]]]),
    RowNumbers: ([None, [0], [0, 3]], [[], "x", [-1], [0.5], 3]),
    Pairs: ([None, [["a", "b"]]], [[["a", "a"]], "x"]),
    SizeShares: ([None, [0.5, 0.5], {"1": [0.5, 0.5]}], ["x", {"2": "x"}]),
    Items: ([None, ["a"]], [[], "a"]),
    Limits: ([[0, 1, 2]], [[1], [2, 1], "x"]),
    Categories: ([["a", "b"]], [["a", "a"], [], "a"]),
}


def _real(rule: Real) -> Both:
    low = -1e300 if math.isinf(rule.above) else math.nextafter(rule.above, math.inf)
    high = 1e300 if math.isinf(rule.below) else math.nextafter(rule.below, -math.inf)
    ends = [end for end in (rule.above, rule.below) if math.isfinite(end)]
    return [low, high], [*ends, "x", True]


def _by_column(rule: PerColumn | ForSensitive) -> Both:
    inside, outside = edges(rule.rule)
    single = getattr(rule, "single", True)
    accepted = [*([None] if rule.none else []), *(inside if single else []),
                {"age": inside[0]}]
    refused = [{"age": outside[0]}, *(outside if single else [inside[0]]),
               *([] if rule.none else [None])]
    return accepted, refused


def edges(rule: Any) -> Both:
    """Return values that a rule must admit, and values that it must refuse."""
    if isinstance(rule, KeysIn):
        return edges(Some(rule.values))
    if isinstance(rule, OneOf | KeyIn):
        return list(rule.values), ["no such value"]
    if isinstance(rule, Whole):
        return [rule.least, rule.least + 1], [rule.least - 1, rule.least + 0.5, "x"]
    if isinstance(rule, Real):
        return _real(rule)
    if isinstance(rule, Some):
        return [list(rule.values), [rule.values[0]]], [[], ["nothing"]]
    if isinstance(rule, OrNone):
        parts = [edges(inner) for inner in rule.rules]
        return [None, *(v for part in parts for v in part[0])], parts[0][1]
    if isinstance(rule, PerColumn | ForSensitive):
        return _by_column(rule)
    return FIXED[type(rule)]
