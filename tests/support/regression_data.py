"""Data for regressions, spread over owners in every way."""

from __future__ import annotations

import numpy as np


def boston(shared):
    """Return the Boston housing data by column; the response MEDV is the last."""
    import pyarrow.parquet as pq

    table = pq.read_table(shared("boston_housing.parquet"))
    return {name: table[name].to_numpy().astype(float) for name in table.column_names}


def made(rows, terms, seed, near=1.0, offset=0.0, noise=1.0):
    """Return columns x0, x1, ... of different scales and a response y; the last depends on x0."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, terms))
    if terms > 1:
        x[:, -1] = x[:, 0] + near * x[:, -1]
    x = (x + offset) * 10.0 ** rng.integers(-3, 4, terms)
    y = x @ (rng.normal(size=terms) / np.abs(x).mean(axis=0)) + noise * rng.normal(size=rows)
    return {**{f"x{i}": x[:, i] for i in range(terms)}, "y": y}


def by_rows(columns, owners):
    """Return the rows of each owner; `owners` says whose each row is."""
    return [{name: values[owners == i] for name, values in columns.items()}
            for i in range(int(owners.max()) + 1)]


def picked(columns, names):
    """Return some columns."""
    return {name: columns[name] for name in names}


def far(model, exact):
    """Return how far parameters are from exact ones, in units of |beta| and its error."""
    errors = exact.errors if exact.errors.size else 0.0
    return float((np.abs(model.parameters - exact.parameters)
                  / (np.abs(exact.parameters) + errors)).max())
