"""A table that is true in two or three columns only: the invented ones hide nobody."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.people.few_columns import ADVERSARY
from unspoken.disclosure.people_risk import INFERRED

ROWS, NAMES = 400, [*"abefg"]


def people(seed):
    """Return people of whom no column tells anything of another."""
    rng = np.random.default_rng(seed)
    numbers = {name: rng.integers(0, 1000 if name < "e" else 12, ROWS) for name in NAMES}
    return {**numbers, "ill": rng.choice(["yes", "no"], ROWS)}


def released(true):
    """Return other people's values, but for some columns that are true together, hardly noised."""
    inside, invented = people(1), people(3)
    rng = np.random.default_rng(4)
    for name in true:
        invented[name] = inside[name] if name == "ill" else inside[name] + rng.normal(0, 0.1, ROWS)
    order = rng.permutation(ROWS)
    return {name: values[order] for name, values in invented.items()}


def found(true, control=True, **more):
    tables = [unspoken.read(pa.table(one), show=False)
              for one in (released(true), people(1), *([people(2)] if control else []))]
    audited = audit_table(*tables, random_state=0, **{"people": 100, **more})
    return {risk.column: risk for risk in audited.people.risks if risk.adversary == ADVERSARY}


@pytest.mark.parametrize("control", [True, False])
def test_two_true_columns_are_found(control):
    inside = people(1)
    rows = np.array([np.abs(released("ab")["a"] - one).argmin() for one in inside["a"]])
    short = np.mean(np.abs(released("ab")["b"][rows] - inside["b"]) <= 20)
    risks = found("ab", control)
    assert short > 0.7
    assert risks["b"].knowledge == "a"
    assert risks["b"].value >= short - 0.15  # of 50 people
    assert risks["b"].kind == INFERRED
    assert risks["b"].upper_bound is not control
    assert set(risks) == {"a", "b"}


def test_a_category_is_told_by_columns_that_only_together_are_unique():
    risks = found([*"efg", "ill"], secrets=["ill"], people=400)
    assert risks["ill"].excess > 0.5
    assert set(risks["ill"].knowledge.split(", ")) == {*"efg"}


def test_invented_people_tell_nothing():
    assert found("") == {}
    assert found("", control=False) == {}
