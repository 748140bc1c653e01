"""A made-up population: released people, others, and what tools make of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def population(rows: int = 600, seed: int = 0) -> pa.Table:
    """Return people of one population; another seed gives other people of the same one."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    income = (rng.lognormal(10, 0.5, rows) + age * 100).round()
    ill = np.where(rng.random(rows) < age / 150, "yes", "no")
    return pa.table({"age": age, "sex": rng.choice(["f", "m"], rows),
                     "zip": rng.integers(0, 200, rows), "income": income,
                     "school": rng.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.15, 0.05]),
                     "ill": ill})


def shuffled(table: pa.Table, seed: int = 9) -> pa.Table:
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def noised(table: pa.Table, share: float, seed: int = 8) -> pa.Table:
    """Return the people with noise of a share of its spread on every number, in another order."""
    rng = np.random.default_rng(seed)
    for name in ("age", "zip", "income"):
        values = table[name].to_numpy().astype(float)
        noise = rng.normal(0, share * values.std(), values.size)
        table = table.set_column(table.column_names.index(name), name, pa.array(values + noise))
    return shuffled(table)


def coarsened(table: pa.Table) -> pa.Table:
    """Return the people as another tool would group them: intervals, joined labels, stars."""
    age = table["age"].to_numpy() // 10 * 10
    school = ["a|b" if v in "ab" else "*" for v in table["school"].to_pylist()]
    return shuffled(pa.table({"age": [f"{a}-{a + 9}" for a in age], "sex": table["sex"],
                              "zip": ["*"] * table.num_rows, "school": school,
                              "ill": table["ill"]}))


def encoded(table: pa.Table) -> pa.Table:
    """Return the people under codes: other names, increasing codes, other labels."""
    return shuffled(pa.table({
        "x1": np.exp(table["age"].to_numpy() / 30.0),
        "sex": ["A" if v == "f" else "B" for v in table["sex"].to_pylist()],
        "zip": table["zip"], "income": np.sqrt(table["income"].to_numpy()),
        "school": table["school"], "ill": table["ill"]}))
