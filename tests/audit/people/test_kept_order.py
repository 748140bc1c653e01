"""A person's place names the record: the order is known again when rows were moved or left out."""

import numpy as np
import pyarrow as pa
import pytest

from support.population import population
from unspoken.audit.people.kept_order import kept_order
from unspoken.audit.people.read_columns import read_tables
from unspoken.table.read import read


def blurred(table, seed=3):
    """Return people with much noise on every number, in their order; two columns are shuffled."""
    rng = np.random.default_rng(seed)
    for place, name in enumerate(table.column_names):
        column = table[name]
        if name in ("age", "zip", "income"):
            values = column.to_numpy().astype(float)
            column = pa.array(values + rng.normal(0, 0.5 * values.std(), values.size))
        elif name != "ill":
            column = column.take(rng.permutation(table.num_rows))
        table = table.set_column(place, name, column)
    return table


def faults(release, original):
    reading = read_tables(read(original, show=False), read(release, show=False), None)
    return kept_order(reading, np.random.default_rng(0))


def moved(table, how):
    rows = np.arange(table.num_rows)
    half = rows.size // 2
    kept = np.random.default_rng(5).random(rows.size) < 0.9
    places = {"as it was": rows, "one less": rows[1:], "one in the middle": np.delete(rows, half),
              "halves exchanged": np.r_[rows[half:], rows[:half]], "every second": rows[::2],
              "a tenth left out": rows[kept], "backwards, one less": rows[::-1][1:],
              "shuffled": np.random.default_rng(6).permutation(rows)}
    return table.take(places[how])


WAYS = ("as it was", "one less", "one in the middle", "halves exchanged", "every second",
        "a tenth left out", "backwards, one less")


@pytest.mark.slow
@pytest.mark.parametrize("rows", [100, 300])
@pytest.mark.parametrize("how", WAYS)
def test_the_order_is_known_again(how, rows):
    original = population(rows, seed=4)
    way = "reverse order" if how.startswith("backwards") else "the order"
    assert any(way in line for line in faults(moved(blurred(original), how), original))


def test_rows_in_front_do_not_hide_it():
    original = population(300, seed=4)
    release = pa.concat_tables([population(50, seed=9).cast(blurred(original).schema),
                                blurred(original)])
    assert faults(release, original)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [20, 120])
def test_another_order_and_other_people_are_no_fault(seed, rows):
    original = population(rows, seed=seed)
    assert faults(moved(blurred(original), "shuffled"), original) == ()
    assert faults(population(rows, seed=100 + seed), original) == ()


@pytest.mark.slow
@pytest.mark.parametrize("by", [["age"], ["school", "age"], ["zip", "income"]])
def test_two_tables_sorted_alike_are_no_fault_and_a_kept_order_in_them_is(by):
    keys = [(name, "ascending") for name in by]
    original, others = (population(150, seed=seed).sort_by(keys) for seed in (1, 2))
    assert faults(others, original) == ()
    assert faults(moved(blurred(original), "one less"), original)


def test_what_repeats_every_week_is_no_fault():
    def days(seed):
        rng = np.random.default_rng(seed)
        names = np.array(["mo", "tu", "we", "th", "fr", "sa", "su"])
        return pa.table({"day": names[np.arange(140) % 7], "rain": rng.gamma(1.0, 5.0, 140),
                         "heat": np.cumsum(rng.normal(size=140)) + 20})

    assert faults(days(1), days(2)) == ()
