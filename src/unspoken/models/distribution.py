"""The patterns Distribution, JointDistribution and Categories: what reconstruction yields.

A Distribution has equal or unequal intervals and is flat inside each. `low` and `high` hold, where
they were asked for, bounds of the true shares; each covers the share of its interval as often as
it says, given the noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.distribution_fields import build_read, check_shares, read_facts, spans
from unspoken.models.figures import draw
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Model
from unspoken.models.tree import check_format
from unspoken.models.tree_text import number

FORMAT = "unspoken-distribution"
JOINT = "unspoken-joint-distribution"
SHARES = "unspoken-categories"
VERSION = 1
_SHARES = ("probabilities", "unbiased", "deviations")


@dataclass(frozen=True, eq=False)
class Distribution(Model):
    """A distribution over intervals, estimated from what people reported."""

    format = FORMAT

    edges: Floats
    probabilities: Floats
    name: str = ""
    records: int = 0
    low: Floats | None = None
    high: Floats | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        check_shares(self.probabilities, "'probabilities'")
        if self.edges.shape != (self.probabilities.size + 1,) or np.any(np.diff(self.edges) <= 0):
            raise InputError(explain("'edges'", "increasing, one more than intervals",
                                     str(self.edges.shape)))

    @property
    def midpoints(self) -> Floats:
        """Return the middle of every interval."""
        return np.asarray((self.edges[1:] + self.edges[:-1]) / 2)

    @property
    def mean(self) -> float:
        """Return the mean."""
        return float(self.midpoints @ self.probabilities)

    @property
    def deviation(self) -> float:
        """Return the standard deviation, counting the width of the intervals."""
        inside = (self.midpoints - self.mean) ** 2 + np.diff(self.edges) ** 2 / 12
        return float(np.sqrt(inside @ self.probabilities))

    def density(self, at: npt.ArrayLike) -> Floats:
        """Return the density; zero outside the intervals."""
        points = np.asarray(at, np.float64)
        where = np.searchsorted(self.edges, points, side="right") - 1
        where = np.where(points == self.edges[-1], self.probabilities.size - 1, where)
        heights = np.r_[self.probabilities / np.diff(self.edges), 0.0]
        outside = (where < 0) | (where >= self.probabilities.size)
        return np.asarray(heights[np.where(outside, -1, where)])

    def cdf(self, at: npt.ArrayLike) -> Floats:
        """Return the share of values up to each point."""
        steps = np.r_[0.0, np.cumsum(self.probabilities)]
        return np.minimum(np.interp(np.asarray(at, np.float64), self.edges, steps), 1.0)

    def quantile(self, share: npt.ArrayLike) -> Floats:
        """Return the points below which shares of the values lie."""
        steps = np.r_[0.0, np.cumsum(self.probabilities)]
        return np.asarray(np.interp(np.asarray(share, np.float64), steps / steps[-1], self.edges))

    def sample(self, size: int, random_state: Any = None) -> Floats:
        """Draw values that nobody reported, for experiments: they protect nobody."""
        rng = np.random.default_rng(random_state)
        return self.quantile(rng.random(size))

    def plot(self, **options: Any) -> Any:
        """Draw the density with its error bars (a matplotlib figure, made by `unspoken.report`)."""
        return draw("distribution", self, **options)

    def _compare(self, other: Distribution) -> Comparison:
        if other.edges.size != self.edges.size:
            return Comparison(f"number of edges: {self.edges.size} and {other.edges.size}")
        return first_difference(
            lambda: compare_arrays("edge", "value", self.edges, other.edges),
            lambda: compare_arrays("interval", "probability", self.probabilities,
                                   other.probabilities))

    def _lines(self, full: bool) -> list[str]:
        title = f"distribution of {self.name or 'a column'}: {self.probabilities.size} intervals " \
                f"from {self.edges[0]:.6g} to {self.edges[-1]:.6g}, {self.records:,} records"
        quartiles = ", ".join(f"{q:.6g}" for q in self.quantile([0.25, 0.5, 0.75]))
        lines = [title, f"mean {self.mean:.6g}, deviation {self.deviation:.6g}, "
                        f"quartiles {quartiles}",
                 *(f"{name}: {value}" for name, value in self.facts.items())]
        return lines + [f"  {span}: {number(share, True)}" for span, share in zip(
            spans(self.edges), self.probabilities, strict=True)] * full

    def to_json(self) -> dict[str, Any]:
        """Return the distribution as plain data."""
        bars = {k: v.tolist() for k, v in (("low", self.low), ("high", self.high))
                if v is not None}
        return {"format": FORMAT, "version": VERSION, "name": self.name,
                "records": self.records, "edges": self.edges.tolist(),
                "probabilities": self.probabilities.tolist(), **bars, "facts": dict(self.facts)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Distribution:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        bars = {k: fields.floats(k, None) for k in ("low", "high") if k in data}
        return build_read(lambda: cls(
            fields.floats("edges", None), fields.floats("probabilities", None),
            fields.text("name"), fields.whole("records", 0, 2**62), **bars, facts=read_facts(data)))


@dataclass(frozen=True, eq=False)
class JointDistribution(Model):
    """A distribution over pairs of intervals of two columns."""

    format = JOINT

    names: tuple[str, str]
    edges: tuple[Floats, Floats]
    probabilities: Floats
    records: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        check_shares(self.probabilities, "'probabilities'")
        wanted = (self.edges[0].size - 1, self.edges[1].size - 1)
        if self.probabilities.shape != wanted:
            raise InputError(explain("'probabilities'", f"of shape {wanted}",
                                     str(self.probabilities.shape)))

    def marginal(self, which: int) -> Distribution:
        """Return the distribution of the first (0) or the second (1) column alone."""
        marginal = self.probabilities.sum(axis=1 - which)
        return Distribution(self.edges[which], marginal / marginal.sum(), self.names[which],
                            self.records)

    @property
    def correlation(self) -> float:
        """Return the correlation of the two columns."""
        first, second = self.marginal(0), self.marginal(1)
        product = first.midpoints @ self.probabilities @ second.midpoints
        return float((product - first.mean * second.mean) / (first.deviation * second.deviation))

    def plot(self, **options: Any) -> Any:
        """Draw the pairs as shades (a matplotlib figure, made by `unspoken.report`)."""
        return draw("joint distribution", self, **options)

    def _compare(self, other: JointDistribution) -> Comparison:
        return first_difference(
            lambda: compare_sequences("column", self.names, other.names),
            *(lambda n=n: compare_arrays(f"{self.names[n]}, edge", "value", self.edges[n],
                                         other.edges[n]) for n in (0, 1)),
            lambda: compare_arrays("interval", "probability", self.probabilities,
                                   other.probabilities))

    def _lines(self, full: bool) -> list[str]:
        lines = [f"distribution of {self.names[0]} and {self.names[1]}: "
                 f"{self.edges[0].size - 1} by {self.edges[1].size - 1} intervals, "
                 f"{self.records:,} records", f"correlation {self.correlation:.4f}",
                 *(f"{name}: {value}" for name, value in self.facts.items())]
        seconds = spans(self.edges[1]) * full
        return lines + [f"  {first}, {second}: {number(share, True)}" for first, row in zip(
            spans(self.edges[0]), self.probabilities, strict=True)
            for second, share in zip(seconds, row, strict=False)]

    def to_json(self) -> dict[str, Any]:
        """Return the distribution as plain data."""
        return {"format": JOINT, "version": VERSION, "names": list(self.names),
                "records": self.records, "first_edges": self.edges[0].tolist(),
                "second_edges": self.edges[1].tolist(),
                "probabilities": self.probabilities.ravel().tolist(), "facts": dict(self.facts)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS
                  ) -> JointDistribution:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, JOINT)
        names = fields.texts("names", 2)
        edges = fields.floats("first_edges", None), fields.floats("second_edges", None)
        if len(names) != 2 or min(edges[0].size, edges[1].size) < 2:
            refuse("names, edges", "two columns with two edges or more", "others")
        shape = edges[0].size - 1, edges[1].size - 1
        cells = fields.floats("probabilities", shape[0] * shape[1]).reshape(shape)
        return build_read(lambda: cls((names[0], names[1]), edges, cells,
                                 fields.whole("records", 0, 2**62), read_facts(data)))

    def sample(self, size: int, random_state: Any = None) -> Floats:
        """Draw pairs that nobody reported, for experiments."""
        rng = np.random.default_rng(random_state)
        flat = rng.choice(self.probabilities.size, size, p=self.probabilities.ravel())
        cells = np.unravel_index(flat, self.probabilities.shape)
        columns = [edges[cell] + rng.random(size) * np.diff(edges)[cell]
                   for edges, cell in zip(self.edges, cells, strict=True)]
        return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class Categories(Model):
    """Shares of categories: the likeliest ones, and the unbiased estimate with its errors."""

    format = SHARES

    values: tuple[Any, ...]
    probabilities: Floats
    unbiased: Floats
    deviations: Floats
    name: str = ""
    records: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        check_shares(self.probabilities, "'probabilities'")

    def sample(self, size: int, random_state: Any = None) -> list[Any]:
        """Draw categories, for experiments."""
        rng = np.random.default_rng(random_state)
        drawn = rng.choice(len(self.values), size, p=self.probabilities)
        return [self.values[index] for index in drawn.tolist()]

    def plot(self, **options: Any) -> Any:
        """Draw the shares with their errors (a matplotlib figure, made by `unspoken.report`)."""
        return draw("categories", self, **options)

    def _compare(self, other: Categories) -> Comparison:
        return first_difference(
            lambda: compare_scalars("column", self.name, other.name),
            lambda: compare_sequences("category", self.values, other.values),
            *(lambda n=name: compare_arrays("category", n, getattr(self, n), getattr(other, n))
              for name in _SHARES))

    def _lines(self, full: bool) -> list[str]:
        show = (lambda v: number(v, True)) if full else "{:.4f}".format
        return [f"shares of {self.name or 'a column'}, {self.records:,} records", *(
            f"{value}: {show(share)} (unbiased {show(raw)} +- {show(error)})"
            for value, share, raw, error in zip(self.values, self.probabilities, self.unbiased,
                                                self.deviations, strict=True))]

    def to_json(self) -> dict[str, Any]:
        """Return the shares as plain data."""
        return {"format": SHARES, "version": VERSION, "name": self.name, "records": self.records,
                "values": list(self.values),
                **{name: getattr(self, name).tolist() for name in _SHARES}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Categories:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, SHARES)
        values = tuple(fields.items("values", limits.max_classes))
        if any(type(value) not in (str, int, float, bool, type(None)) for value in values):
            refuse("values", "texts, numbers, booleans or null", "others")
        shares = [fields.floats(name, len(values)) for name in _SHARES]
        return build_read(lambda: cls(values, shares[0], shares[1], shares[2], fields.text("name"),
                                 fields.whole("records", 0, 2**62)))
