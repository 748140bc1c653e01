"""Discretizer: people report the class their value belongs to (as2000 section 2).

Who learns what. The collector learns the class of every value exactly, and so the value to within
its class; with confidence c nothing else than c times the width. Nothing is random: the class of
a person never changes, and a narrow class holds its people tightly. Quantile classes are drawn
from the data; their ends are rounded so that they are nobody's value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError
from unspoken.methods.distortion.choices import (
    check_choices,
    chosen_changes,
    limited,
    markers_of,
    sent,
)
from unspoken.methods.distortion.column_noise import ends_of, rounded_out
from unspoken.methods.distortion.declared_ranges import (
    CLAMP,
    MISSING,
    beyond,
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
from unspoken.release.release import Release
from unspoken.table.table import Table


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
    columns, others : as for NoiseAdder.
    outside : "clamp" puts values beyond the edges into the outermost classes, "refuse" raises.
    choices : as for NoiseAdder. A column with choices holds class numbers of those who distorted
        and values of those who reported; the column of choices says which is which.

    Attributes
    ----------
    edges_ : the edges of every column, by name.

    Examples
    --------
    >>> release, _ = Discretizer(classes=10).protect(table)  # doctest: +SKIP
    """

    def __init__(self, classes: Any = 10, strategy: str = "width", *, edges: Any = None,
                 ranges: Any = None, columns: Any = None, choices: Any = None,
                 others: str = "refuse", outside: str = CLAMP) -> None:
        self.classes = classes
        self.strategy = strategy
        self.edges = edges
        self.ranges = ranges
        self.columns = columns
        self.choices = choices
        self.others = others
        self.outside = outside

    def fit(self, X: Any, y: Any = None) -> Discretizer:
        """Cut every column of X into classes."""
        DISCRETIZE.check(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        names = feature_names(self)
        self.edges_ = {name: self._cut(name, data[:, i]) for i, name in enumerate(names)}
        return self

    def _cut(self, name: str, values: Floats) -> Floats:
        edges, count = of_column(self.edges, name), of_column(self.classes, name)
        if edges is not None:
            return np.asarray(edges, np.float64)
        if count is None:
            raise InputError("Discretizer: neither 'classes' nor 'edges' is set for column "
                             f"'{name}'.")
        known = values[~np.isnan(values)]
        declared = of_column(self.ranges, name)
        low, high = (float(e) for e in declared) if declared is not None \
            else rounded_out(name, *ends_of(known))
        cut = {"width": _equal_edges, "quantile": _quantile_edges}[self.strategy]
        return cut(name, known, low, high, int(count))

    def transform(self, X: Any) -> Any:
        """Return the class of every value as float64; NaN stays NaN."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        out = np.empty(data.shape, order="F")
        self._moved({name: data[:, index] for index, name in enumerate(self.edges_)})
        for index, edges in enumerate(self.edges_.values()):
            column = data[:, index]
            out[:, index] = np.where(np.isnan(column), np.nan, class_of(column, edges))
        return out

    def _declared(self, name: str) -> bool:
        return (of_column(self.edges, name) is not None
                or (of_column(self.ranges, name) is not None and self.strategy == "width"))

    def _moved(self, columns: Mapping[str, Floats]) -> dict[str, int]:
        """Count, or refuse, what lies beyond declared edges; learned ones hold all of the data."""
        return note_clamped(
            {name: beyond(values, (self.edges_[name][0], self.edges_[name][-1]))
             for name, values in columns.items() if self._declared(name)}, self.outside)

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
        self.edges_ = {name: self._cut(name, np.zeros(0)) for name in named}

    def protect(self, table: Table) -> tuple[Release, None]:
        """Return the release of a table; there is no key."""
        DISCRETIZE.check(self)
        names = chosen_columns("Discretizer", table.schema, ("numeric", "ordinal"), self.columns)
        names, markers = markers_of("Discretizer", table.schema, names, self.choices)
        columns = {name: _column(table, name) for name in names}
        self.edges_ = {name: self._cut(name, values) for name, values in columns.items()}
        self.outside_ = self._moved(columns)
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
        return make_release(table, plan, fresh_seed(), False), None

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


def _column(table: Table, name: str) -> Floats:
    values, _ = finite(name, table.arrow([name])[name])
    return values


def _equal_edges(name: str, known: Floats, low: float, high: float, count: int) -> Floats:
    return np.linspace(low, high, count + 1)


def _quantile_edges(name: str, known: Floats, low: float, high: float, count: int) -> Floats:
    """Return quantiles, rounded to a thousandth of the range, that are all different."""
    if known.size == 0:
        raise DataError(f"Column '{name}' has no values to take quantiles of.")
    step = 10.0 ** math.floor(math.log10((high - low) / 1000) + 1e-9)
    inner = np.quantile(known, np.arange(1, count) / count)
    ends = np.unique(np.r_[low, np.rint(inner / step) * step, high])
    return ends[(ends >= low) & (ends <= high)]
