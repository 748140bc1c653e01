"""People with an income, for a guard of queries that several processes ask."""

from __future__ import annotations

import numpy as np

import unspoken


def people(n=200):
    income = np.random.default_rng(5).integers(1000, 10**6, n).astype(float)
    return unspoken.read({"unit": np.arange(n), "income": income}, sensitive="income", keep="unit",
                         show=False)
