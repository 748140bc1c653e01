"""A codebook for tests: strictly increasing random whole codes, made without any method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class ToyBook:
    """Random codes for the distinct float32 values of each column; NaN stays NaN."""

    features: tuple[str, ...]
    released_features: tuple[str, ...]
    tables: list
    permutation: np.ndarray | None = None
    classes: dict | None = None
    increasing: bool = True
    float64_values: bool = True

    def column(self, index):
        return self.tables[index]

    def encode(self, data):
        out = np.full(data.shape, np.nan)
        for index, (values, codes) in enumerate(self.tables):
            column = data[:, index]
            known = ~np.isnan(column)
            keys = values.astype(np.float32)
            at = np.searchsorted(keys, column[known].astype(np.float32))
            assert np.array_equal(keys[at], column[known].astype(np.float32))
            out[known, index] = codes[at]
        return out

    def order(self, rows):
        order = self.permutation
        return None if order is None else order[order < rows]


def draw_codes(values, rng, limit=1 << 23, sign=True):
    """Strictly increasing whole codes; sign and zero kept, as LightGBM needs."""
    if not sign:
        return np.sort(rng.choice(limit, values.size, replace=False)).astype(np.int64)
    codes = np.zeros(values.size, np.int64)
    for side in (values > 0, values < 0):
        count = int(side.sum())
        steps = np.cumsum(rng.integers(1, rng.choice([3, 50, max(4, limit // (count + 1))]),
                                       count))
        codes[side] = steps if values[side].sum() > 0 or (values[side] > 0).any() else -steps[::-1]
    return codes


def make_book(data, rng, shuffle=True, sign=True, increasing=True, classes=None, rename=False):
    """Fit a ToyBook on the float32 distinct values of each column."""
    tables = []
    for column in np.asarray(data, dtype=np.float64).T:
        known = column[~np.isnan(column)]
        _, first = np.unique(known.astype(np.float32), return_index=True)
        values = known[first]
        codes = draw_codes(values, rng, sign=sign)
        tables.append((values, codes if increasing else codes[::-1].copy()))
    names = tuple(f"x{i}" for i in range(len(tables)))
    released = tuple(f"c{i}" for i in range(len(tables))) if rename else names
    order = rng.permutation(len(data)) if shuffle else None
    book = ToyBook(names, released, tables, order, classes, increasing)
    book.float64_values = all(
        np.unique(column[~np.isnan(column)]).size == values.size
        for column, (values, _) in zip(np.asarray(data, float).T, tables, strict=True)
    )
    return book


def random_table(rng, rows=None, features=None, missing=True):
    """A table of mixed columns: many ties, whole numbers, floats, huge and tiny scales."""
    rows = int(rng.integers(5, 120)) if rows is None else rows
    features = int(rng.integers(1, 6)) if features is None else features
    columns = [_column(rng, rows) for _ in range(features)]
    data = np.column_stack(columns)
    if missing and rng.random() < 0.3:
        data[rng.random(data.shape) < 0.15] = np.nan
        data[0] = [np.nanmin(np.r_[c, 0.0]) for c in data.T]
    return data


def _column(rng, rows):
    kind = rng.integers(6)
    if kind == 0:
        return rng.integers(0, 4, rows).astype(float)
    if kind == 1:
        return rng.integers(-50, 50, rows).astype(float)
    if kind == 2:
        return np.round(rng.normal(size=rows), 2)
    if kind == 3:
        return np.round(rng.normal(size=rows), 3) * 1e20
    if kind == 4:
        return rng.integers(-30, 30, rows) * 1e-3
    return np.float64(np.float32(rng.exponential(size=rows) * 1e4))
