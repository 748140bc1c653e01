"""What the toolkit knows about values distorted by a public law (as2000, liu2006 section 5)."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from unspoken.release.lazy_imports import at
from unspoken.release.method import Method
from unspoken.release.parameters import (
    OTHERS,
    SHUFFLE,
    KeyIn,
    Names,
    OneOf,
    Parameter,
    PerColumn,
    Range,
    Real,
    Text,
    Whole,
)
from unspoken.release.uses import Use

_HERE = "unspoken.methods.distortion"


@dataclass(frozen=True)
class Edges:
    """At least two increasing finite numbers."""

    def allowed(self) -> str:
        """Return what is allowed."""
        return "a list of increasing finite numbers"

    def admits(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        try:
            ends = [float(end) for end in value]
        except (TypeError, ValueError):
            return False
        return (not isinstance(value, str) and len(ends) >= 2
                and all(math.isfinite(end) for end in ends)
                and all(low < high for low, high in pairwise(ends)))


@dataclass(frozen=True)
class Matrix:
    """A square table of probabilities; its rows are checked when the values are known."""

    def allowed(self) -> str:
        """Return what is allowed."""
        return "a square table of probabilities whose rows sum to one"

    def admits(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        return isinstance(value, list | tuple) or hasattr(value, "__array__")


@dataclass(frozen=True)
class Listed:
    """A list of different values."""

    def allowed(self) -> str:
        """Return what is allowed."""
        return "a list of two or more different values"

    def admits(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        listed = isinstance(value, list | tuple) and all(isinstance(one, Hashable) for one in value)
        return listed and len(set(value)) == len(value) >= 2


@dataclass(frozen=True)
class Label:
    """A text or a number."""

    def allowed(self) -> str:
        """Return what is allowed."""
        return "a text or a number"

    def admits(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        return isinstance(value, str | int | float)


def _shared(columns: str, choices: str) -> dict[str, Parameter]:
    return {
        "columns": Parameter(Names(), "the columns that are distorted",
                             f"Leave it out for all {columns} features."),
        "choices": Parameter(PerColumn(Text(), none=True, single=False),
                             "for columns where everybody chose: the column that holds the "
                             "choices", f"Leave it out{choices}"),
        "others": Parameter(OTHERS, "what happens to other features"),
        "shuffle_rows": SHUFFLE,
    }


_RANGES = Parameter(PerColumn(Range(), none=True, single=False), "the public range of a column",
                    "Leave it out to take the data's.")
_OUTSIDE = Parameter(OneOf(("clamp", "refuse")), "what happens to values outside the range",
                     "Use 'clamp'.")
NOISE = Method(
    name="noise",
    streams=True,
    summary="Adds random noise of a public law to every number.",
    promise="One report places a value no closer than a stated width, at a stated confidence.",
    transformer_at=f"{_HERE}.additive_noise:NoiseAdder",
    uses=(Use(("collector",), ("statistics", "prediction"), "population", "roughly",
              "Reports that repeat, and columns that depend on each other: both are averaged to "
              "filter the noise out."),),
    needs=("numbers",),
    advised={"others": "drop"},
    parameters={
        "family": Parameter(PerColumn(KeyIn(f"{_HERE}.noise_laws:LAWS")), "the law of the noise",
                            "Use 'gaussian', or 'laplace' to bound the odds."),
        "privacy": Parameter(PerColumn(Real(0.0, 1e6)), "the width within which a value can be "
                             "placed, as a share of the range",
                             "Use 1.0 for the whole range of the column."),
        "confidence": Parameter(Real(0.0, 1.0), "the confidence of that width", "Use 0.95."),
        "scale": Parameter(PerColumn(Real(0.0), none=True), "the scale of the noise, in place of "
                           "'privacy'", "Leave it out to follow 'privacy'."),
        "ranges": _RANGES,
        "outside": _OUTSIDE,
        "reports": Parameter(Whole(1), "how often everybody reports; the stated total counts all",
                             "Use 1: a device reports once."),
        **_shared("numeric", " to distort everything."),
    },
    guarantees_at=at("unspoken.release.distorted", "Distorted"),
    adversaries_in=f"{_HERE}.adversaries",
    audit_at=f"{_HERE}.audit:audit_distorted",
    promise_at=f"{_HERE}.distortion_promise:broken_law",
    truths_at=f"{_HERE}.audit:row_truths",
    law_at=f"{_HERE}.known_laws:additive_law",
)
MULTIPLICATIVE_NOISE = replace(
    NOISE,
    name="multiplicative-noise",
    streams=False,
    summary="Multiplies every number by a random factor of a public law.",
    promise="Every value was multiplied by a factor of its own; no odds are bounded.",
    transformer_at=f"{_HERE}.multiplicative_noise:MultiplicativeNoise",
    uses=(),
    parameters={
        "form": Parameter(KeyIn(f"{_HERE}.random_factors:FORMS"), "the law of the factors"),
        "deviation": Parameter(Real(0.0, 1.0), "standard deviation of truncated factors",
                               "Use 0.15."),
        "cut": Parameter(Real(0.0, 10.0), "where truncated factors are cut off, in deviations",
                         "Use 2."),
        "variance": Parameter(Real(0.0, 100.0), "variance of the noise on logarithms", "Use 0.1."),
        "ranges": _RANGES,
        "outside": _OUTSIDE,
        **_shared("numeric", " to distort everything."),
    },
    law_at=f"{_HERE}.known_laws:product_law",
)
DISCRETIZE = replace(
    NOISE,
    name="discretize",
    summary="Replaces every number by the number of the class it falls into.",
    promise="Only the class of every value is disclosed; nothing is drawn at random.",
    transformer_at=f"{_HERE}.discretize:Discretizer",
    uses=(),
    parameters={
        "classes": Parameter(PerColumn(Whole(1)), "the number of classes", "Use 10."),
        "strategy": Parameter(OneOf(("width", "quantile")), "classes of equal width, or of "
                              "equally many records"),
        "edges": Parameter(PerColumn(Edges(), none=True, single=False), "the limits of the "
                           "classes", "Leave it out to cut 'classes' pieces."),
        "ranges": _RANGES,
        "outside": _OUTSIDE,
        **_shared("numeric", " to class everything."),
    },
    law_at=f"{_HERE}.known_laws:class_law",
)
RANDOMIZED_RESPONSE = replace(
    NOISE,
    name="randomized-response",
    summary="Replaces every category by a random one, with public probabilities.",
    promise="One answer changes the odds of any two categories by at most a stated factor.",
    transformer_at=f"{_HERE}.randomized_response:RandomizedResponse",
    uses=(Use(("collector",), ("statistics", "prediction"), "anything", "roughly",
              "The same question asked again and again: every further answer tells more."),),
    needs=("categories",),
    parameters={
        "truth": Parameter(PerColumn(Real(-1e-9, 1 + 1e-9), none=True),
                           "the probability of the true answer", "Use 0.75, or use gamma."),
        "gamma": Parameter(PerColumn(Real(1.0), none=True), "the most by which an answer may "
                           "change odds", "Use 19 to exclude a breach from 5% to 50%."),
        "matrix": Parameter(PerColumn(Matrix(), none=True), "the probability of every answer "
                            "(column) for every category (row)",
                            "Leave it out for truth or gamma."),
        "values": Parameter(PerColumn(Listed(), none=True, single=False), "the categories of a "
                            "column", "Leave it out to take the data's."),
        "other": Parameter(PerColumn(Label(), none=True), "the declared category that stands for "
                           "undeclared ones", "Name a declared value, or leave it out to refuse."),
        "reports": Parameter(Whole(1), "how often everybody answers; the stated total counts all",
                             "Use 1: every question is answered once."),
        **_shared("categorical and ordinal", ": all answer at random."),
    },
    audit_at=f"{_HERE}.response_audit:audit_answers",
    truths_at="",
    law_at=f"{_HERE}.known_laws:answer_law",
)
METHODS = (NOISE, MULTIPLICATIVE_NOISE, DISCRETIZE, RANDOMIZED_RESPONSE)
NAMES = tuple(method.name for method in METHODS)
