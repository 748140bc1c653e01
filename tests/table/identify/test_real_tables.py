"""On tables that people use: what must be noticed, and above all what must not."""

from __future__ import annotations

import pytest

import unspoken
from unspoken.table.identify import identify


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), [
    ("adult_data.parquet", ()), ("wdbc.parquet", ()), ("boston_housing.parquet", ()),
    ("seer_breast.parquet", ()), ("support2.parquet", ("sno",)),
    ("rotterdam.parquet", ("rownames", "pid"))])
def test_only_row_numbers_are_withheld(shared, name, expected):
    assert unspoken.read(shared(name), show=False).schema.with_role("identifier") == expected


@pytest.mark.slow
def test_nothing_of_covertype_is_flagged(shared):
    table = unspoken.read(shared("covtype.parquet"), show=False)
    assert table.schema.with_role("identifier") == ()
    assert identify(table) == ()


def test_nothing_of_wdbc_is_flagged(shared):
    assert identify(unspoken.read(shared("wdbc.parquet"), show=False)) == ()


@pytest.mark.slow
def test_what_singles_people_out_in_adult(shared):
    findings = identify(unspoken.read(shared("adult_data.parquet"), show=False))
    assert {f.column: f.role for f in findings} == {
        "age": "quasi", "marital-status": "quasi", "occupation": "quasi", "race": "sensitive",
        "sex": "quasi", "native-country": "quasi"}


@pytest.mark.slow
def test_diagnoses_of_support2_are_health_data(shared):
    findings = identify(unspoken.read(shared("support2.parquet"), show=False))
    health = {f.column for f in findings if f.gdpr == "data concerning health"}
    assert {"dzgroup", "dzclass", "diabetes", "dementia"} <= health
