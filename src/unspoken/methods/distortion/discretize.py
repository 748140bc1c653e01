"""Discretizer: people report the class their value belongs to (as2000 section 2).

Who learns what. The collector learns the class of every value exactly, and so the value to within
its class; with confidence c nothing else than c times the width. Nothing is random: the class of
a person never changes, and a narrow class holds its people tightly. Quantile classes are drawn
from the data; their ends are rounded so that they are nobody's value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError
from unspoken.methods.distortion.choices import (
    check_choices,
    chosen_changes,
    limited,
    markers_of,
    sent,
)
from unspoken.methods.distortion.column_noise import ends_of, rounded_out
from unspoken.methods.distortion.column_sums import beyond, table_beyond, table_ends
from unspoken.methods.distortion.declared_ranges import (
    CLAMP,
    MISSING,
    note_clamped,
    within,
)
from unspoken.methods.distortion.method import DISCRETIZE
from unspoken.models.sklearn_fields import feature_names
from unspoken.numerics.random import fresh_seed
from unspoken.release.distorted import (
    Distorted,
    Plan,
    chosen_columns,
    finite,
    make_release,
    of_column,
)
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.table import Table

Quantiles = Callable[[Floats], Floats]
"""Returns the quantiles of a column at some shares."""


@dataclass(frozen=True)
class _Classing:
    """The change of one column: the number of the class, null where the value is missing."""

    name: str
    edges: Floats
    kind: Any

    def __call__(self, batch: Any, start: int) -> Any:
        values, missing = finite(self.name, batch.column(self.name))
        return pa.array(class_of(np.where(missing, self.edges[0], values), self.edges),
                        self.kind, mask=missing)


def class_of(values: Floats, edges: Floats) -> Any:
    """Return the class of each value; values beyond the ends belong to the outermost classes."""
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, edges.size - 2)


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace values by the number of their class; the manifest holds the classes' edges.

    Parameters
    ----------
    classes : number of classes; one for all, or a mapping by column.
    strategy : classes of equal "width", or of about equally many records ("quantile").
    edges : mapping from column to given edges, in place of `classes`.
    ranges : mapping from column to (low, high) for equal widths, public knowledge.
    columns, others, shuffle_rows : as for NoiseAdder.
    outside : "clamp" puts values beyond the edges into the outermost classes, "refuse" raises.
    choices : as for NoiseAdder. A column with choices holds class numbers of those who distorted
        and values of those who reported; the column of choices says which is which.

    Attributes
    ----------
    edges_ : the edges of every column, by name.

    Examples
    --------
    >>> release, key = Discretizer(classes=10).protect(table)  # doctest: +SKIP
    """

    def __init__(self, classes: Any = 10, strategy: str = "width", *,  # noqa: PLR0913
                 edges: Any = None,
                 ranges: Any = None, columns: Any = None, choices: Any = None,
                 others: str = "refuse", outside: str = CLAMP, shuffle_rows: bool = True) -> None:
        self.classes = classes
        self.strategy = strategy
        self.edges = edges
        self.ranges = ranges
        self.columns = columns
        self.choices = choices
        self.others = others
        self.outside = outside
        self.shuffle_rows = shuffle_rows

    def fit(self, X: Any, y: Any = None) -> Discretizer:
        """Cut every column of X into classes."""
        DISCRETIZE.check(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        names = feature_names(self)
        DISCRETIZE.check_columns(self, names)
        self.edges_ = {name: self._cut(name, *_facts(name, data[:, i]))
                       for i, name in enumerate(names)}
        return self

    def _cut(self, name: str, ends: tuple[float, float], quantiles: Quantiles) -> Floats:
        edges, count = of_column(self.edges, name), of_column(self.classes, name)
        if edges is not None:
            return np.asarray(edges, np.float64)
        if count is None:
            raise InputError("Discretizer: neither 'classes' nor 'edges' is set for column "
                             f"'{name}'.")
        declared = of_column(self.ranges, name)
        low, high = (float(e) for e in declared) if declared is not None \
            else rounded_out(name, *ends)
        if self.strategy == "width":
            return np.linspace(low, high, int(count) + 1)
        return _quantile_edges(quantiles(np.arange(1, int(count)) / int(count)), low, high)

    def transform(self, X: Any) -> Any:
        """Return the class of every value as float64; NaN stays NaN."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        out = np.empty(data.shape, order="F")
        note_clamped({name: beyond(data[:, index], self._range(name)) for index, name
                      in enumerate(self.edges_) if self._declared(name)}, self.outside)
        for index, edges in enumerate(self.edges_.values()):
            column = data[:, index]
            out[:, index] = np.where(np.isnan(column), np.nan, class_of(column, edges))
        return out

    def _declared(self, name: str) -> bool:
        return (of_column(self.edges, name) is not None
                or (of_column(self.ranges, name) is not None and self.strategy == "width"))

    def _range(self, name: str) -> tuple[float, float]:
        """Return the outermost edges; learned ones hold all of the data."""
        return float(self.edges_[name][0]), float(self.edges_[name][-1])

    def distort(self, record: Mapping[str, Any],
                choices: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the classes of one record, or what the person chose, like NoiseAdder's.

        Attributes that have no classes are not sent.
        """
        if not hasattr(self, "edges_"):
            DISCRETIZE.check(self)
            self._from_parameters()
        check_choices(choices, self.edges_)
        out: dict[str, int | None] = {}
        for name, edges in self.edges_.items():
            value = np.array([np.nan if record.get(name) is None else float(record[name])])
            kept = within(name, value, (edges[0], edges[-1]), self.outside)
            out[name] = None if np.isnan(value[0]) else int(class_of(kept, edges)[0])
        return sent(record, out, choices)

    def _from_parameters(self) -> None:
        named = {**(self.ranges or {}), **(self.edges or {})}
        if not named or (self.strategy == "quantile" and set(named) - set(self.edges or {})):
            raise InputError("Discretizer: 'edges' is required where there is no table to "
                             "fit; 'ranges' is enough for classes of equal width.")
        DISCRETIZE.check_columns(self, list(named))
        self.edges_ = {name: self._cut(name, *_facts(name, np.zeros(0))) for name in named}

    @from_any_table
    @of_floats
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        DISCRETIZE.check(self, table)
        names = chosen_columns("Discretizer", table.schema, ("numeric", "ordinal"), self.columns)
        names, markers = markers_of("Discretizer", table.schema, names, self.choices)
        ends = table_ends(table, names)
        self.edges_ = {name: self._cut(name, ends[name], _TableQuantiles(table, name))
                       for name in names}
        declared = {name: self._range(name) for name in names if self._declared(name)}
        self.outside_ = note_clamped(table_beyond(table, declared), self.outside)
        types = {name: pa.float64() if name in markers else pa.int32() for name in names}
        changes = {name: _Classing(name, cut, types[name]) for name, cut in self.edges_.items()}
        laws = {name: {"edges": edges.tolist()} for name, edges in self.edges_.items()}
        plan = Plan("Discretizer", chosen_changes(changes, markers), types,
                    {"name": DISCRETIZE.name, "columns": laws, "choices": markers},
                    limited(promise(self.edges_, {n: self._declared(n) for n in names}), markers),
                    self.others, tuple(markers.values()),
                    {name: "numeric" if name in markers else "ordinal" for name in names})
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        seed = fresh_seed()
        return keyed(make_release(table, plan, seed, False), table, seed, self.shuffle_rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def promise(edges: Mapping[str, Floats], declared: Mapping[str, bool]) -> Distorted:
    """Return the guarantee of one release: the narrowest class is what counts."""
    learned = () if all(declared.values()) else (
        "edges that were not declared were taken from the data and disclose how it is spread",)
    facts = {"columns": {name: {"width": 0.95 * float(np.diff(cut).min()), "gamma": None,
                                "epsilon": None, "declared": declared[name]}
                         for name, cut in edges.items()},
             "confidence": 0.95, "epsilon_total": None}
    return Distorted("Every value was replaced by the class it belongs to. Inside its class a "
                     "value is hidden from an adversary who knows nothing else.",
                     ("the adversary does not know how values are spread inside a class",
                      "the class itself is disclosed: no odds are bounded, no epsilon holds",
                      MISSING, *learned), facts)


def _facts(name: str, values: Floats) -> tuple[tuple[float, float], Quantiles]:
    """Return the ends of an array, and what gives its quantiles."""
    known = values[~np.isnan(values)]
    return ends_of(known), lambda shares: np.quantile(_not_empty(name, known), shares)


def _not_empty(name: str, values: Floats) -> Floats:
    if values.size == 0:
        raise DataError(f"Column '{name}' has no values to take quantiles of.")
    return values


@dataclass(frozen=True)
class _TableQuantiles:
    """Quantiles of a column, from how often each value occurs: the rows stay where they are."""

    table: Table
    name: str

    def __call__(self, shares: Floats) -> Floats:
        counted = self.table.counts([self.name])[self.name]
        return counted_quantiles(_not_empty(self.name, counted.values), counted.by_value, shares)


def counted_quantiles(values: Floats, counts: Ints, shares: Floats) -> Floats:
    """Return what `np.quantile` gives for sorted values that occur several times each."""
    ends = np.cumsum(counts)
    place = (ends[-1] - 1) * shares
    below = np.floor(place).astype(np.int64)
    share = place - below
    low, high = (values[np.searchsorted(ends, rank, "right")]
                 for rank in (below, np.minimum(below + 1, ends[-1] - 1)))
    # From the nearer end, as numpy does, so that both give the same bits.
    return np.asarray(np.where(share < 0.5, low + (high - low) * share,
                               high - (high - low) * (1 - share)))


def _quantile_edges(inner: Floats, low: float, high: float) -> Floats:
    """Return quantiles, rounded to a thousandth of the range, that are all different."""
    step = 10.0 ** math.floor(math.log10((high - low) / 1000) + 1e-9)
    ends = np.unique(np.r_[low, np.rint(inner / step) * step, high])
    return ends[(ends >= low) & (ends <= high)]
