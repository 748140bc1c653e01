"""A release of a part of the people: the others do not make its risks look smaller."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.people.facts import Attacked
from unspoken.audit.people.linking import person_risks
from unspoken.audit.people.read_columns import read_tables
from unspoken.disclosure.people_risk import LINKED
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.release.method import methods
from unspoken.risk import audit

ROWS = 1500


def people(seed, rows=None):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(18, 90, ROWS), "pay": np.round(rng.normal(3000, 500, ROWS), 0),
               "city": rng.choice([*"abcdefghij"], ROWS), "ill": rng.choice([*"uvwxyz"], ROWS)}
    some = slice(None) if rows is None else np.random.default_rng(seed).choice(ROWS, rows, False)
    return unspoken.read(pa.table({n: v[some] for n, v in columns.items()}), show=False,
                         quasi=["age", "pay", "city"], sensitive=["ill"])


@pytest.mark.slow
def test_a_small_sample_as_it_is_names_everybody_in_it():
    found = audit_table(people(0, rows=30), people(0), people(1), people=100, random_state=0)
    assert found.people.worst(LINKED).value > 0.9
    assert verdict_of(found).level == "high"


def test_a_single_record_is_read_as_it_is():
    reading = read_tables(people(0), people(0, rows=1), people(1))
    assert set(reading.how.values()) == {"as it is"}


@pytest.mark.slow
def test_a_sample_of_ours_is_measured_on_those_in_it():
    table = people(0)
    release, key = methods()["sample"].build({"share": 0.05}).protect(table)
    found = audit(table, release, key, trials=1, random_state=0)
    assert found.people.persons.marketer > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_small_table_of_nobody_names_nobody(seed):
    """Those of the original who are nearest to its records are no nearer than outsiders are."""
    reading = read_tables(people(seed), people(seed + 20, rows=300), people(seed + 10))
    attacked = Attacked(reading, ("age", "pay", "city"), reading.names, 0.02, bytes([seed] * 32),
                        300)
    assert person_risks(attacked).marketer < 0.1
