"""What one owner counts by bin and class, and weights of evidence from the counts of all.

The weight of a bin is ln(share of the second class in it / share of the first): shares of a class
over all shown bins, with `smoothing` added to every count. The information value of a column is the
sum of (second share - first share) weight. A bin that came out empty has no weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.joint.tasks.column_bins.params import BinParams


@dataclass(frozen=True)
class OwnRows:
    """An owner's rows: columns by name, and the number of each row's class (0 without any)."""

    columns: Mapping[str, Any]
    labels: Ints

    def known(self, name: str) -> Floats:
        """Return the known values of a column of numbers."""
        values = np.asarray(self.columns[name], np.float64)
        return values[~np.isnan(values)]


def bin_of(values: Any, edges: Floats) -> Ints:
    """Return the bin of every number, one after the last where it is missing.

    A value at an edge belongs to the bin below it.
    """
    numbers = np.asarray(values, np.float64)
    places = np.searchsorted(edges, numbers, side="left").astype(np.int64)
    return np.where(np.isnan(numbers), edges.size + 1, places)


def category_of(name: str, values: Any, words: tuple[str, ...]) -> Ints:
    """Return the place of every category, one after the last where it is missing."""
    place = {word: at for at, word in enumerate(words)} | {"": len(words)}
    texts = ["" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)
             for value in np.asarray(values, object).tolist()]
    if any(text not in place for text in texts):
        raise DataError(f"Column '{name}' must hold the agreed categories only. Some rows have "
                        "another. Agree on it, or leave those rows out.")
    return np.array([place[text] for text in texts], np.int64)


def counted(own: OwnRows, params: BinParams, edges: Mapping[str, Floats]) -> Ints:
    """Return an owner's counts (bins of all columns, classes)."""
    tables = []
    for name in params.columns:
        codes = bin_of(own.columns[name], edges[name]) if name in edges else category_of(
            name, own.columns[name], params.categories[name])
        flat = np.bincount(codes * params.kinds + own.labels,
                           minlength=params.cells(name) * params.kinds)
        tables.append(flat.reshape(-1, params.kinds))
    return np.concatenate(tables)


def described(params: BinParams, edges: Mapping[str, Floats], counts: Any) -> dict[str, Any]:
    """Return the result from the counts of all owners (bins of all columns, classes)."""
    ends = np.cumsum([params.cells(name) for name in params.columns])
    tables = np.split(np.maximum(np.asarray(counts), 0), ends[:-1])
    return {"bins": {name: _column(params, name, edges.get(name), table)
                     for name, table in zip(params.columns, tables, strict=True)},
            **({"classes": list(params.classes)} if params.target else {})}


def _column(params: BinParams, name: str, edges: Floats | None, table: Any) -> dict[str, Any]:
    """Return one column's bins, in order, the missing values last."""
    if edges is None:
        shown: dict[str, Any] = {"categories": list(params.categories[name])}
    else:
        # Between equal edges, and above infinity, lies nothing.
        finite = edges[np.isfinite(edges)]
        kept = np.flatnonzero(np.diff(finite, prepend=-np.inf) > 0)
        shown = {"cuts": edges[kept].tolist()}
        table = table[[*kept.tolist(), finite.size, len(table) - 1]]
    if not params.target:
        return {**shown, "counts": _or_none(params, table, table[:, 0])}
    weights, information = evidence(table, params.smoothing)
    return {**shown, "counts": _or_none(params, table, table), "weights": weights,
            "information": information}


def _or_none(params: BinParams, table: Any, values: Any) -> list[Any]:
    """Return values as plain data, None where a bin came out empty because it has too few."""
    empty = table.sum(axis=1) == 0
    return [None if params.least and nothing else _plain(value)
            for value, nothing in zip(values, empty, strict=True)]


def _plain(value: Any) -> Any:
    return [round(float(one)) for one in value] if np.ndim(value) else round(float(value))


def evidence(table: Any, smoothing: float) -> tuple[list[float | None], float]:
    """Return the weight of every bin, and the information value of all."""
    shown = table.sum(axis=1) > 0
    added = table[shown] + smoothing
    shares = added / added.sum(axis=0)
    weights = np.log(shares[:, 1] / shares[:, 0])
    listed = iter(weights.tolist())
    return ([next(listed) if here else None for here in shown],
            float(((shares[:, 1] - shares[:, 0]) * weights).sum()))
