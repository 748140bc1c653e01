"""One small release of every method, made once."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.release.method import methods

COMPILES = ("private-synthetic",)
"""Methods whose first release compiles for some seconds."""
NUMBERS = ("age", "pay", "visits")
WHOLE = (*NUMBERS, "city", "ill")
_ROLES = {"quasi": ["age", "pay", "city"], "sensitive": ["ill"]}
CASES = {
    "piecewise": (NUMBERS, {}, {}), "rotation": (NUMBERS, {}, {"missing": "blank"}),
    "pairwise-rotation": (NUMBERS, {}, {"missing": "blank"}),
    "random-projection": (NUMBERS, {}, {"missing": "blank"}),
    "similarity-outsourcing": (NUMBERS, {}, {"missing": "blank"}),
    "noise": (NUMBERS, {}, {}), "multiplicative-noise": (NUMBERS, {}, {}),
    "discretize": (NUMBERS, {}, {}),
    "randomized-response": (("age", "city", "ill"), {}, {"columns": ["age", "city", "ill"]}),
    "baskets": ((), {}, {"rho": 0.1, "keep": 0.7}),
    "tree-preserving": (("age", "pay", "city", "ill"), _ROLES, {"k": 5}),
    "mondrian": (("age", "pay", "city", "ill"), _ROLES, {"k": 5}),
    "generalize": (("age", "pay", "city", "ill"), _ROLES,
                   {"widths": {"age": 20, "pay": 2000}, "k": 2, "suppression": 0.5}),
    "top-bottom": (("age", "pay", "ill"), {"sensitive": ["ill"]}, {"columns": ["age", "pay"]}),
    "suppress-cells": (("age", "pay", "city", "ill"), _ROLES, {"k": 2, "suppression": 0.9}),
    "swap": (("age", "pay", "city", "ill"), _ROLES, {"columns": ["age", "pay", "city"]}),
    "sample": (("age", "pay", "city", "ill"), _ROLES, {"share": 0.5}),
    "optimal-recoding": (("age", "pay", "city", "ill"), _ROLES, {"k": 5}),
    "microaggregation": (("age", "pay", "city", "ill"), _ROLES, {"k": 5}),
    "condensation": (("age", "pay", "city", "ill"), _ROLES, {"k": 5}),
    "isolation-guard": (("age", "pay", "ill"), {"quasi": ["age", "pay"], "sensitive": ["ill"]},
                        {}),
    "anatomy": (("age", "pay", "city", "ill"), _ROLES, {}),
    "post-randomization": (("age", "city", "ill"), {"quasi": ["age", "city"],
                                                    "sensitive": ["ill"]},
                           {"columns": ["age", "city"]}),
    "private-synthetic": (("age", "pay", "city", "ill"), _ROLES, {}),
}
"""By method: the columns of the original, their roles, and the parameters."""


@cache
def original(name, rows=300, seed=3):
    """Return the original of a method's release: people with a number that names them."""
    rng = np.random.default_rng(seed)
    if name == "baskets":
        return unspoken.Baskets.of(
            [[item for item in "abcdefgh" if rng.random() < 0.3] or ["a"] for _ in range(rows)],
            list("abcdefgh"))
    pay = rng.normal(4000, 900, rows).round(2)
    pay[rng.random(rows) < 0.1] = np.nan
    age = rng.integers(18, 90, rows)
    columns = {"age": age, "pay": pay, "visits": rng.integers(0, 4, rows),
               "city": rng.choice([*"abcd"], rows), "ill": rng.choice([*"uvwxy"], rows)}
    kept, roles, _ = CASES[name]
    table = {"number": [f"P{i:05d}" for i in range(rows)],
             **{one: pa.array(columns[one], from_pandas=True) for one in kept},
             "outcome": np.where(age + rng.normal(0, 15, rows) > 50, "yes", "no")}
    kinds = {"age": "ordinal"} if name in ("randomized-response", "post-randomization") else {}
    return unspoken.read(pa.table(table), target="outcome", identifiers=["number"], kinds=kinds,
                         show=False, **roles)


@cache
def protected(name):
    """Return (original, release, key) of a method."""
    table = original(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release, key = methods()[name].build(CASES[name][2]).protect(table)
    return table, release, key


def marked(names):
    """Return names for parametrize; methods that compile first are slow."""
    return [pytest.param(name, marks=pytest.mark.slow) if name in COMPILES else name
            for name in names]
