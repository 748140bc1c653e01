"""Times of day, durations and moments of a zone in bands: the audit reads what was released."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.methods.anonymity.adversaries.released_meaning import number_of
from unspoken.methods.anonymity.table_promise import broken_table
from unspoken.protect import Generalizer, MondrianAnonymizer
from unspoken.release.record_key import original_rows
from unspoken.table.arrow_arrays import to_numbers

ROWS = 240
SECONDS = np.random.default_rng(1).integers(0, 86_400, ROWS)
COLUMNS = {
    "time": pa.array(SECONDS * 10**6 + 250_000, pa.int64()).cast(pa.time64("us")),
    "duration": pa.array((SECONDS * 11 - 400_000) * 10**6, pa.int64()).cast(pa.duration("us")),
    "moment": pa.array(SECONDS * 10**6, pa.int64()).cast(pa.timestamp("us", "UTC")),
    "price": pa.array([Decimal(int(at)) / 100 for at in SECONDS % 10_000]),
}
METHODS = [MondrianAnonymizer(k=5), Generalizer(widths={"x": 7000}, k=2, suppression=0.5)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("method", METHODS, ids=["mondrian", "generalize"])
def test_everybody_is_in_the_band_that_is_released(kind, method):
    table = unspoken.read(pa.table({"x": COLUMNS[kind]}), quasi=["x"], keep=["x"], show=False)
    release, key = method.protect(table)
    rows = original_rows(key, release.table.rows)
    assert list(broken_table(table, release, key, rows)) == []


@pytest.mark.parametrize(("text", "number"), [
    ("23:59:59.100000", 86_399.1), ("5:00:00", 18_000.0), ("-1 day 23:00:00", -3600.0),
    ("2 days 0:00:01", 172_801.0), ("1970-01-02 01:00:00+01:00", 86_400.0),
    ("1970-01-01 00:00:00.100000", 0.1), ("1970-01-03", 2.0)])
def test_ends_are_the_numbers_that_the_table_has(text, number):
    assert number_of(text) == number


def test_decimals_are_the_nearest_numbers():
    cents = [Decimal(at) / 100 for at in range(10_000)]
    assert to_numbers(pa.array([*cents, None]))[:-1].tolist() == [float(cent) for cent in cents]
    assert number_of(str(dt.time(0, 0, 1))) == 1.0
