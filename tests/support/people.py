"""A small table for attacks: whole numbers, numbers with gaps, fractions, and a class."""

from __future__ import annotations

import numpy as np

import unspoken


def people(rows: int = 600, seed: int = 0, missing: bool = False):
    """Return a table whose class leaves monochromatic runs in every column."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    salary = (rng.pareto(2.0, rows) * 1000).astype(int) * 7 + 500
    weight = rng.normal(70, 12, rows)
    group = np.where(age < 40, "young", np.where(salary > 9000, "rich", "old"))
    columns = {"age": age.astype(float), "salary": salary, "weight": weight, "group": group}
    if missing:
        columns["age"][:: 7] = np.nan
    return unspoken.read(columns, target="group", show=False)


def release_of(table, **options):
    """Return release and key of an encoded table."""
    options.setdefault("random_state", 1)
    return unspoken.protect.PiecewiseEncoder(**options).protect(table)
