"""What plans of regressions forecast, and what runs take: within a factor of two, mostly closer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from support.regression_data import by_rows, made, picked
from support.replayed import real_run
from support.study_people import stated
from unspoken.joint.session.run_roles import roles_of
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.record_order import Records
from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member

pytestmark = pytest.mark.slow

GUESSED, KNOWN = 2.0, 1.2


def study(task, owners, **parameters):
    """Return a study of so many owners, two of whom hold shares."""
    members = [Member(name, f"{name}.example:7700", ("owner", *(["holder"] if i < 2 else [])),
                      name * 8, name.encode()) for i, name in enumerate(owners)]
    members.append(Member("dealer", "d.example:7700", ("dealer",), "d" * 8, b"d"))
    draft = Study("care", task, "dealer", tuple(members), stated(task, parameters))
    return replace(draft, disclosures=task_of(draft).disclosures(draft))


def apart(made_, inputs):
    """Return by which factors a run differs from its plan, rounds and bytes."""
    task = task_of(made_)
    plan = task.plan(made_)
    real = real_run(task.program(made_), dict(zip(made_.having("owner"), inputs, strict=True)),
                    roles_of(made_))
    return [max(a / b, b / a) for a, b in ((plan.rounds, real.rounds), (plan.bytes, real.bytes))]


def binary(data):
    """Return the data with a response of yes and no that is not certain."""
    likely = 1 / (1 + np.exp(-(data["y"] - data["y"].mean()) / data["y"].std()))
    yes = np.random.default_rng(1).uniform(size=likely.size) < likely
    return {**data, "y": yes.astype(float)}


@pytest.mark.parametrize(("task", "terms", "owners", "parameters", "factor"), [
    ("regression", 2, 5, {"condition": 256}, KNOWN),
    ("regression", 8, 2, {"condition": 4096}, KNOWN),
    ("regression", 3, 2, {"condition": 256, "smaller": ["x0", "x1+x2"]}, KNOWN),
    ("regression", 4, 2, {"condition": 1024, "select": "stepwise"}, GUESSED),
    ("regression", 4, 2, {"condition": 1024, "select": "backward"}, GUESSED),
    ("regression", 5, 2, {"condition": 1024, "select": "best"}, GUESSED),
    ("logistic", 2, 3, {"condition": 256}, GUESSED),
    ("residuals", 2, 2, {"condition": 256, "synthetic": 50}, KNOWN)])
def test_plans_over_rows(task, terms, owners, parameters, factor):
    names = RegressionTerms("y", tuple(f"x{i}" for i in range(terms)))
    data = made(600, terms, 1)
    data = binary(data) if task == "logistic" else data
    tables = [names.table(part) for part in by_rows(data, np.arange(600) % owners)]
    planned = study(task, [f"o{i}" for i in range(owners)], response="y",
                    columns=list(names.columns), **parameters)
    assert max(apart(planned, tables)) <= factor


@pytest.mark.parametrize(("task", "terms", "owners", "rows", "parameters", "factor"), [
    ("regression-columns", 3, 2, 400, {}, KNOWN),
    ("regression-columns", 3, 3, 400, {"ids": "id"}, KNOWN),
    ("regression-columns", 6, 3, 2000, {"held": "all"}, KNOWN),
    ("regression-columns", 5, 5, 300, {}, KNOWN),
    ("regression-columns", 3, 3, 1000, {"products": ["x0*x1"]}, KNOWN),
    ("regression-columns", 3, 3, 1000, {"held": "split"}, KNOWN),
    ("regression-columns", 4, 2, 400, {"select": "forward"}, GUESSED),
    ("logistic-columns", 2, 2, 400, {}, GUESSED),
    ("logistic-columns", 2, 2, 400, {"products": ["x0*x1"]}, GUESSED),
    ("logistic-columns", 4, 3, 800, {"ridge": 1e-6}, GUESSED),
    ("residuals-columns", 4, 2, 1000, {"groups": 5}, KNOWN),
    ("residuals-columns", 2, 2, 600, {"groups": 5, "products": ["x0*x1"]}, KNOWN),
    ("residuals-columns", 6, 3, 400, {"show": "each"}, KNOWN)])
def test_plans_over_columns(task, terms, owners, rows, parameters, factor):
    names = [f"o{i}" for i in range(owners)]
    parameters = {"held": names[-1], "condition": 256, **parameters}
    columns = OwnedColumns({name: tuple(f"x{j}" for j in range(terms) if j % owners == i)
                       for i, name in enumerate(names)}, "y", parameters["held"])
    data = made(rows, terms, 1)
    data = binary(data) if task == "logistic-columns" else data
    parts = [picked(data, columns.needed(name)) for name in names]
    if columns.held == "split":
        for part in parts[1:]:
            part["y"] = np.zeros(rows)
    told = [f"{owner}:{column}" for owner, own in columns.owners.items() for column in own]
    planned = study(task, names, response="y", columns=told, expected=rows, **parameters)
    ids = None
    if "ids" in parameters:
        pytest.importorskip("rbcl")
        ids = np.arange(rows)
    assert max(apart(planned, [Records(Given(part), ids) for part in parts])) <= factor


def sent(made_):
    """Return the bytes of a study's plan by label."""
    rows = [row for ledger in task_of(made_).dry_run(made_).ledgers.values()
            for row in ledger.rows if row.direction == "sent"]
    sums = Counter()
    for row in rows:
        sums[row.label] += row.bytes
    return sums


def factor_of_three_holders(label):
    """Return how many times more is sent under a label if three of three owners hold shares."""
    if ".open" in label or ".level" in label:
        return 3  # Each holder sends to each other one: m (m - 1), that is 6 in place of 2.
    if label in ("reveal", "deal.seed"):
        return 1.5  # Each holder sends to every other owner, and the dealer to each holder.
    # An owner that holds shares draws the others' from common seeds, and sends nothing; and only
    # one holder asks the dealer and is sent corrections, however many there are.
    return 0 if label == "share" else 1


def test_holders_beyond_two_cost_more():
    two = study("regression", ["o0", "o1", "o2"], response="y", columns=["x0"])
    third = replace(two.members[2], roles=("owner", "holder"))
    three = replace(two, members=(*two.members[:2], third, two.members[3]))
    expected = Counter({label: count * factor_of_three_holders(label)
                        for label, count in sent(two).items()})
    assert sent(three) == expected
    assert task_of(two).plan(two).bytes == sent(two).total()
    assert task_of(three).plan(three).bytes == expected.total()
    assert expected.total() > 1.5 * sent(two).total()
