"""What the toolkit knows about releases that keep distances (liu2006, vcz2006 section 7.1)."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from unspoken.release.lazy_imports import at
from unspoken.release.method import Method
from unspoken.release.parameters import (
    SHUFFLE,
    YES_NO,
    KeyIn,
    NotNegative,
    OneOf,
    OrNone,
    Parameter,
    Real,
    Rule,
    Whole,
)
from unspoken.release.uses import Use

_HERE = "unspoken.methods.rotation"


@dataclass(frozen=True)
class Thresholds:
    """One positive number for all, or one (first, second) for each pair."""

    rule: ClassVar[Rule] = Real(0.0)
    """What one number for all may be."""
    none: ClassVar[bool] = False

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "a number > 0, or a list of (first, second) with both > 0, one for each pair"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        if positive(value):
            return True
        return _listed(value) and all(_listed(both) and len(both) == 2
                                      and all(positive(one) for one in both) for both in value)


@dataclass(frozen=True)
class Pairs:
    """None, or a list of two different columns each."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "None, or a list of pairs of different columns (names or positions)"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return value is None or (_listed(value) and all(
            _listed(pair) and len(pair) == 2 and pair[0] != pair[1] for pair in value))


@dataclass(frozen=True)
class RowNumbers:
    """None, or a list of numbers of rows."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return "None, or a list of numbers of rows, the first row being 0"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return value is None or (_listed(value) and all(Whole(0).admits(row) for row in value))


def positive(value: Any) -> bool:
    """Return True if the value is a finite number above zero."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and 0 < float(value) < float("inf")


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0


_COMMON: Mapping[str, Parameter] = {
    "standardise": Parameter(YES_NO, "bring columns to mean 0 and deviation 1 first"),
    "missing": Parameter(OneOf(("refuse", "blank", "mean")),
                         "what happens to records with missing values",
                         "Use 'blank' to release records with missing values blank."),
    "categorical": Parameter(OneOf(("refuse", "drop")), "what happens to columns of text",
                             flag="--categorical"),
    "shuffle_rows": SHUFFLE,
}
_WHOLE: Mapping[str, Parameter] = {
    "proper": Parameter(YES_NO, "draw among rotations alone, without reflections"),
    "translation": Parameter(YES_NO, "also move all records by a secret vector"),
    **_COMMON,
    "categorical": Parameter(OneOf(("refuse", "drop", "embed")), "what happens to columns of text; "
                             "embed: each category is a place, all equally far from each other",
                             flag="--categorical"),
    "category_weight": Parameter(Real(0.0), "how far apart two different categories are, where "
                                 "they are embedded"),
    "known_rows": Parameter(RowNumbers(), "rows that an attacker may know in full"),
    "withhold": Parameter(OrNone(Real(0.0, 1.0)), "leave out records that an attacker who knows "
                          "these rows finds with a greater chance"),
}
ROTATION = Method(
    name="rotation",
    streams=True,
    summary="Rotates all records by one secret orthogonal map.",
    promise="All Euclidean distances stay as they are, up to rounding.",
    transformer_at=f"{_HERE}.whole_rotation:Rotation",
    uses=(Use(("miner",), ("clusters",), "nothing", "exactly",
              "A handful of known records, or a sample of similar data, turn all records back."),),
    needs=("numbers",),
    advised={"categorical": "drop", "missing": "blank"},
    parameters=_WHOLE,
    guarantees_at=at(f"{_HERE}.guarantee", "DistancesPreserved"),
    adversaries_in=f"{_HERE}.adversaries",
    decode_at=f"{_HERE}.mine_clusters:decode_clusters",
    audit_at=f"{_HERE}.audit:audit_rotated",
    promise_at=f"{_HERE}.rotation_promise:broken_rotation",
    keyed="always",
    partial=True,
    released_names_at=f"{_HERE}.secret_motion:released_names",
)
PAIRWISE_ROTATION = replace(
    ROTATION,
    name="pairwise-rotation",
    partial=False,
    summary="Rotates columns two at a time, by angles that change each column enough.",
    transformer_at=f"{_HERE}.pairwise_rotation:PairwiseRotation",
    uses=(),
    parameters={
        "pairs": Parameter(Pairs(), "the pairs of columns, in the order in which they are rotated"),
        "thresholds": Parameter(Thresholds(), "the least variance of what a column is changed by, "
                                "for all or for each pair"),
        **_COMMON,
    },
)
RANDOM_PROJECTION = replace(
    ROTATION,
    name="random-projection",
    partial=False,
    summary="Multiplies all records by one secret random matrix.",
    promise="Euclidean distances stay as they are on average; a bound says how far they are off.",
    transformer_at=f"{_HERE}.random_projection:RandomProjection",
    decode_at="",
    uses=(Use(("miner",), ("clusters",), "nothing", "nearly",
              "As many known records as there are columns turn all records back."),),
    parameters={
        "columns": Parameter(OrNone(Whole(1)), "the number of released columns",
                             "Leave it out for as many as there are."),
        "entries": Parameter(KeyIn(f"{_HERE}.jl_distortion:LAWS"),
                             "the law of the entries of the matrix"),
        "keep_key": Parameter(YES_NO, "keep the matrix as a key; else it is forgotten"),
        "noise": Parameter(NotNegative(), "standard deviation of noise on every released number",
                           "Use 0 for none."),
        **_COMMON,
    },
    guarantees_at=at(f"{_HERE}.guarantee", "DistancesInExpectation"),
)
SIMILARITY_OUTSOURCING = replace(
    ROTATION,
    name="similarity-outsourcing",
    summary="A rotation for a similarity search on another party's machine.",
    transformer_at=f"{_HERE}.similarity_outsourcing:SimilarityOutsourcing",
    uses=(),
)
METHODS = (ROTATION, PAIRWISE_ROTATION, RANDOM_PROJECTION, SIMILARITY_OUTSOURCING)
NAMES = tuple(method.name for method in METHODS)
