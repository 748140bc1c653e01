"""Programs of regressions with inputs, run and watched: what they open and how much they send."""

from __future__ import annotations

import numpy as np

from support.regression_data import by_rows, made, picked
from support.watching import opened_and_lengths
from unspoken.joint.tasks.logistic.program_columns import LogisticOverColumns
from unspoken.joint.tasks.logistic.program_rows import LogisticOverRows
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms, Selection
from unspoken.joint.tasks.regression.pooled import pooled
from unspoken.joint.tasks.regression.program_rows import RegressionOverRows
from unspoken.joint.tasks.residuals.program_rows import ResidualsOverColumns
from unspoken.numerics.logistic_fit import probabilities

PAIR = OwnedColumns({"p0": ("x0",), "p1": ("x1",), "p2": ()}, "y", "p2")
ONE, BOTH = RegressionTerms("y", ("x0",)), RegressionTerms("y", ("x0", "x1"))


def parts_of(columns, data):
    return [Given(picked(data, columns.needed(owner))) for owner in columns.owners]


def yes_and_no(rows, terms):
    """Return columns, and a response that they make likelier but not certain."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, terms))
    likely = probabilities(x @ np.arange(1, terms + 1) / 2 - 0.3)
    return {**{f"x{i}": x[:, i] for i in range(terms)},
            "y": (rng.uniform(size=rows) < likely).astype(float)}


def logistic_run(data=None):
    data = yes_and_no(130, 1) if data is None else data
    return LogisticOverRows(ONE, RegressionParams(condition=4.0)), [
        ONE.table(part) for part in by_rows(data, np.arange(130) % 3)]


def logistic_columns_run(data=None):
    data = yes_and_no(130, 2) if data is None else data
    return LogisticOverColumns(PAIR, RegressionParams(condition=64.0)), parts_of(PAIR, data)


def crossing_run(data=None):
    data = yes_and_no(160, 2) if data is None else data
    columns = OwnedColumns(PAIR.owners, "y", "p2", (("x0", "x1"),))
    return LogisticOverColumns(columns, RegressionParams(condition=64.0)), parts_of(columns, data)


def selecting_run(data=None):
    data = made(90, 2, 1) if data is None else data
    return RegressionOverRows(
        BOTH, RegressionParams(condition=16.0), Selection("forward", "bic")
    ), [BOTH.table(part) for part in by_rows(data, np.arange(90) % 3)]


def groups_run(data=None):
    data = made(120, 2, 1) if data is None else data
    program = ResidualsOverColumns(PAIR, pooled(PAIR.terms, data), 3, 10)
    return program, [picked(data, PAIR.needed(owner)) for owner in PAIR.owners]


def opened_for(run, because, me="p0"):
    """Return what a party saw opened for one reason, one list a step."""
    opened, _ = opened_and_lengths(*run())
    return [np.ravel(value) for name, _, reason, value in opened
            if name == me and reason == because]


def turned(data, columns):
    """Return records in another order: the same sums, other vectors."""
    order = np.random.default_rng(5).permutation(len(data["y"]))
    return {name: data[name][order] for name in columns}


def lengths_of(run, data):
    return opened_and_lengths(*run(data))[1]
