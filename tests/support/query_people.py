"""People with an income, for a guard of queries that several processes ask."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import unspoken
from unspoken.errors import LeakWarning
from unspoken.protect import QueryGuard


def people(n=200):
    income = np.random.default_rng(5).integers(1000, 10**6, n).astype(float)
    return unspoken.read({"unit": np.arange(n), "income": income}, sensitive="income", keep="unit",
                         show=False)


def public_of(table):
    """Return the columns that are neither sensitive nor names."""
    hidden = {*table.schema.with_role("sensitive"), *table.schema.with_role("identifier")}
    return tuple(name for name in table.schema.names if name not in hidden)


def linear_guard(table, log, **limits):
    """Return a guard that audits exact sums of any real numbers, which it warns of elsewhere."""
    if not Path(log).exists():
        limits = {"audit": "linear", "public": public_of(table)} | limits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)
        return QueryGuard(table, log, **limits)
