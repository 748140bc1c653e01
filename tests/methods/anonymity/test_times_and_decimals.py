"""Times of day, spans of time and decimals are released as what they are, and checked as such."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.errors import DataError
from unspoken.methods.anonymity.adversaries.released_meaning import meaning
from unspoken.protect import Condenser, Generalizer, MondrianAnonymizer
from unspoken.table.arrow_arrays import from_numbers, to_numbers

RNG = np.random.default_rng(0)
HOURS = RNG.integers(0, 24, 90).tolist()
COLUMNS = {
    "decimal": pa.array([Decimal(int(one)) / 10 for one in RNG.integers(0, 99, 90)]),
    "time": pa.array([dt.time(hour, hour % 7, 1, 5 * (hour % 2)) for hour in HOURS]),
    "seconds": pa.array([dt.time(hour) for hour in HOURS], pa.time32("s")),
    "span": pa.array([dt.timedelta(seconds=int(one)) for one in RNG.integers(-9e5, 9e5, 90)]),
    "nanoseconds": pa.array(1_577_836_800 * 10**9 + RNG.integers(0, 10**9, 90),
                            pa.timestamp("ns")),
}


def table_of(column):
    return unspoken.read(pa.table({"q": column, "w": RNG.integers(0, 4, len(column))}),
                         quasi=["q", "w"], show=False)


def test_a_decimal_is_the_number_that_its_text_is():
    tenths = pa.array([Decimal(one) / 10 for one in range(100)] + [None])
    assert to_numbers(tenths)[:100].tolist() == [float(f"{one / 10:.1f}") for one in range(100)]
    assert np.isnan(to_numbers(tenths)[-1])


@pytest.mark.parametrize("name", COLUMNS)
def test_released_bands_hold_their_people(name):
    table = table_of(COLUMNS[name])
    bands = [] if name == "nanoseconds" else [Generalizer(widths={"q": 3}, k=1)]
    for method in [MondrianAnonymizer(4), *bands]:
        release, key = method.protect(table)
        assert release.guarantee.verify(table, release, key)
        assert faults_of(table, release, key) == ()


def test_bands_of_spans_are_read_between_the_right_commas():
    shown = meaning(pa.array(["[-1 day, 23:59:50, 2 days, 0:00:01.000005]", "5 days, 1:00:00"]),
                    {"form": "interval"})
    assert shown.low[:2].tolist() == [435_600.0, -10.0]
    assert shown.high[:2].tolist() == [435_600.0, 172_801.000005]


def test_a_draw_beyond_midnight_is_refused():
    with pytest.raises(DataError, match="midnight"):
        from_numbers(np.array([-1.0]), pa.time64("us"))
    with pytest.raises(DataError, match="midnight"):
        from_numbers(np.array([86_400.0]), pa.time32("s"))
    late = pa.array([dt.time(0)] * 80 + [dt.time(23)] * 10, pa.time32("s"))
    with pytest.raises(DataError, match="midnight"):
        Condenser(40, random_state=1).protect(table_of(late))
