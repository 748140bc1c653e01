"""Codes of other tools: falling ones are turned around, relabelled columns matched in company."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from unspoken.audit.people import read_codes, read_columns
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.people.read_columns import read_tables
from unspoken.disclosure.people_risk import INFERRED
from unspoken.table.read import read


def staff(rows=900, seed=0):
    """Return people whose wage and grade rise with their years, in a town and a trade.

    Towns differ in size; trades are equally common, and each town has its own mix of them.
    """
    rng = np.random.default_rng(seed)
    years = rng.integers(0, 45, rows)
    town = rng.choice(list("abcd"), rows, p=[0.45, 0.28, 0.17, 0.1])
    place = np.searchsorted(list("abcd"), town)
    mix = (place + np.minimum(rng.geometric(0.6, rows) - 1, 3)) % 4
    swap = rng.random(rows) < 0.15
    trade = np.array(["smith", "baker", "mason", "tailor"])[np.where(
        swap, rng.integers(0, 4, rows), mix)]
    return {"years": years, "wage": 1500 + 40 * years + rng.integers(0, 300, rows),
            "grade": np.clip(years // 5 + rng.integers(-1, 2, rows), 0, 9), "town": town,
            "trade": trade}


def table_of(columns, seed=None):
    rows = pa.table(columns)
    if seed is not None:
        rows = rows.take(np.random.default_rng(seed).permutation(rows.num_rows))
    return read(rows, show=False)


def relabelled(values, seed):
    names = np.unique(values)
    codes = np.random.default_rng(seed).permutation(names.size)
    return np.array([f"L{code}" for code in codes])[np.searchsorted(names, values)]


def inferred(audit, column):
    return max(one.value for one in audit.people.risks
               if one.kind == INFERRED and one.column == column)


@pytest.mark.slow
@pytest.mark.parametrize("control", [False, True])
def test_falling_codes_are_turned_around(control):
    plain = staff()
    release = plain | {"wage": 9e5 - 7.0 * plain["wage"], "grade": -3 * plain["grade"] - 100}
    others = table_of(staff(seed=1)) if control else None
    reading = read_tables(table_of(plain), table_of(release, seed=5), others)
    assert reading.how["wage"] == reading.how["grade"] == "by rank, falling"
    assert reading.how["years"] == "as it is"
    audit = audit_table(table_of(release, seed=5), table_of(plain), others, random_state=0,
                        people=200)
    assert inferred(audit, "wage") > 0.5


def test_a_column_turned_around_within_its_own_range_is_noticed():
    plain = staff()
    release = plain | {"years": plain["years"].max() - plain["years"]}
    reading = read_tables(table_of(plain), table_of(release, seed=5), None)
    assert reading.how["years"] == "by rank, falling"


@pytest.mark.slow
def test_rising_codes_and_plain_columns_are_left_as_they_are():
    plain = staff()
    release = plain | {"wage": 7.0 * plain["wage"] + 9e5}
    for seed in range(5):
        reading = read_tables(table_of(plain), table_of(release, seed=5),
                              table_of(staff(seed=seed + 10)))
        assert reading.how["wage"] == "by rank"
        assert reading.how["years"] == reading.how["grade"] == "as it is"


def test_codes_on_a_grid_are_read_exactly_with_outsiders():
    plain = staff(2000)
    release = plain | {"years": 1000.0 - plain["years"] ** 1.5}
    reading = read_tables(table_of(plain), table_of(release), table_of(staff(800, seed=1)))
    read_as = reading.release.columns["years"].low
    assert np.mean(read_as == plain["years"]) > 0.9
    assert np.mean(read_codes.by_rank(-release["years"], staff(400, seed=1)["years"])
                   == plain["years"]) < 0.8


def trades_right():
    plain = staff()
    release = {"town": relabelled(plain["town"], 3), "trade": relabelled(plain["trade"], 4)}
    reading = read_tables(table_of(plain), table_of(release), table_of(staff(seed=1)))
    assert reading.how["trade"].startswith("by frequency")
    reads = reading.scales["trade"].reads[reading.release.columns["trade"].codes]
    return float(np.mean(reads == reading.original.columns["trade"].codes))


def test_pairs_of_relabelled_columns_are_attacked(monkeypatch):
    assert trades_right() == 1.0
    # Without the company a label keeps, equally common trades are confused.
    by_frequency = read_codes.CategoryPairs
    monkeypatch.setattr(by_frequency, "match", lambda self, seen, known, columns: {
        column: np.argsort(np.argsort(-seen.counts(column))) for column in columns})
    # The whole control group would tell them apart by their frequencies, in this draw.
    monkeypatch.setattr(read_columns, "better_reads", lambda released, reads, *_: reads)
    assert trades_right() < 1.0


@pytest.mark.slow
def test_joint_frequencies_count_in_the_verdict():
    plain = staff()
    release = plain | {"town": relabelled(plain["town"], 3), "trade": relabelled(plain["trade"], 4)}
    audit = audit_table(table_of(release, seed=2), table_of(plain), table_of(staff(seed=1)),
                        random_state=0, people=200)
    assert inferred(audit, "trade") > 0.9
