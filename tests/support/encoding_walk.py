"""The whole walk in one function: protect, mine, decode, and the original to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

import unspoken
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.protect import PiecewiseEncoder, decode


@dataclass
class Walk:
    release: Any
    key: Any
    mined: Any
    original: Any
    decoded: Any
    columns: np.ndarray

    @property
    def identical(self):
        return unspoken.verify(self.original, self.decoded)


def table_of(data: np.ndarray, labels: Any) -> unspoken.Table:
    columns = {f"c{i}": data[:, i] for i in range(data.shape[1])}
    return unspoken.read(pa.table({**columns, "y": labels}), target="y", show=False)


def walk(data, labels, estimator, weight=None, fit=None, **encoder) -> Walk:
    """Run the walk; `fit` makes a fitted model from (estimator, X, y, weight)."""
    fit = fit or _fit
    table = table_of(data, labels)
    release, key = PiecewiseEncoder(**encoder).protect(table)
    book = PiecewiseBook.from_key(key)
    order = book.order(len(labels))
    order = np.arange(len(labels)) if order is None else order
    moved = None if weight is None else weight[order]
    codes, released = release.table.numbers(), release.table.labels()
    mined = fit(clone(estimator), codes, released, moved)
    # What is promised is the model of the columns as they were rounded, if they were.
    columns = [column.rounded(np.asarray(data[:, i], float))
               for i, column in enumerate(book.columns)]
    values = np.column_stack(columns)[order]
    # A number in secret units is promised in those units, bit for bit.
    target = labels if book.units is None else book.units.encode(labels)
    original = fit(clone(estimator), values, target[order], moved)
    units = {} if book.units is None else {"units": "released"}
    decoded = decode(mined, key, table, sample_weight=weight, **units)
    return Walk(release, key, mined, original, decoded, values)


def _fit(estimator, data, labels, weight):
    return estimator.fit(data, labels) if weight is None else estimator.fit(
        data, labels, sample_weight=weight
    )
