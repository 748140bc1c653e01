"""Measured anonymity against pycanon, brute force and examples worked out by hand."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.methods.anonymity import measures as an

ROWS = {"zip": ["476", "476", "476", "479", "479", "479"], "age": [20, 20, 20, 40, 40, 40],
        "ill": ["gastritis", "ulcer", "cancer", "flu", "flu", "flu"],
        "salary": [3, 4, 5, 6, 11, 8]}


def people(**roles):
    return unspoken.read(pa.table(ROWS), show=False, **roles)


def test_a_small_table_by_hand():
    found = an.measure(people(quasi=["zip", "age"], sensitive=["ill", "salary"]))
    assert (found.k, found.classes, found.rows, found.discernibility) == (3, 2, 6, 18)
    assert (found.l, found["salary"].distinct, found["ill"].distinct) == (1, 3, 1)
    assert found["ill"].strong == 1.0
    assert found["ill"].homogeneous == 0.5
    assert found["ill"].baseline_strong == 2.0
    assert found["ill"].t == pytest.approx(0.5)
    assert found.risk.prosecutor == pytest.approx(1 / 3)
    assert found.risk.marketer == pytest.approx(1 / 3)
    assert found.uniqueness.sample == 0
    assert found.histogram == ((3, 2),)
    assert "K = 3" in str(found)
    json.dumps(found.to_json(), allow_nan=False)


def test_names_replace_roles_and_missing_is_a_value():
    rows = {"a": ["x", None, None, "x"], "b": [1.0, float("nan"), None, 1.0]}
    found = an.measure(unspoken.read(pa.table(rows), show=False), quasi=["a", "b"])
    assert found.k == 2
    assert found.l is None
    assert found.t is None


def test_what_is_refused():
    table = people(quasi=["zip"])
    with pytest.raises(SchemaError, match="Name them"):
        an.measure(people())
    with pytest.raises(SchemaError, match="both as a quasi-identifier and as sensitive"):
        an.measure(table, sensitive="zip")
    with pytest.raises(SchemaError, match="Did you mean 'zip'"):
        an.measure(table, quasi=["zi"])
    with pytest.raises(InputError, match="at least the 6 records"):
        an.measure(table, population=5)


def test_a_population_makes_it_harder_to_name_somebody():
    table = people(quasi=["zip"])
    crowd = unspoken.read(pa.table({"zip": ["476"] * 30 + ["479"] * 12 + ["1"] * 58}), show=False)
    found = an.measure(table, population=crowd)
    assert found.risk.prosecutor == pytest.approx(1 / 3)
    assert found.risk.journalist == pytest.approx(1 / 12)
    assert found.risk.marketer == pytest.approx((3 / 30 + 3 / 12) / 6)
    guessed = an.measure(table, population=100)
    assert guessed.risk.journalist < found.risk.prosecutor
    assert guessed.uniqueness.people == 100


@pytest.mark.slow
def test_adult_agrees_with_pycanon(shared):
    pycanon = pytest.importorskip("pycanon.anonymity")
    import pandas as pd

    data = pd.read_parquet(shared("adult_data.parquet")).head(700)
    quasi = ["sex", "race", "marital-status"]
    found = an.measure(unspoken.read(data, show=False), quasi, ["occupation", "age"])
    assert found.k == pycanon.k_anonymity(data, quasi)
    assert found.l == pycanon.l_diversity(data, quasi, ["occupation", "age"])
    assert found.t == pytest.approx(pycanon.t_closeness(data, quasi, ["occupation", "age"]))


def test_adult_of_fu2010(shared):
    """Cells of the trees of fu2010 section 5: K = 154 and 120; strong L of 2.26 and 7.42."""
    import pandas as pd

    data = pd.read_parquet(shared("adult_data.parquet"))
    data = data[data["occupation"] != "?"]
    cells = pd.DataFrame({"pair": data["relationship"].isin(["Husband", "Wife"]),
                          "school": data["education-num"] > 12.5, "occupation": data["occupation"]})
    found = {}
    for cut in (5095.5, 7073.5):
        cells["gain"] = data["capital-gain"] > cut
        found[cut] = an.measure(unspoken.read(cells, show=False), ["pair", "school", "gain"],
                                "occupation")
    assert found[5095.5].rows == 30718
    assert (found[5095.5].k, found[7073.5].k) == (154, 120)
    assert found[7073.5].strong_l == pytest.approx(2.26, abs=0.005)
    assert found[7073.5]["occupation"].baseline_strong == pytest.approx(7.42, abs=0.005)


@pytest.mark.slow
def test_the_figure_is_drawn():
    figure = an.measure(people(quasi=["zip"], sensitive=["ill"])).figure()
    assert figure.axes[0].get_title() == "K = 3"
    bars = [bar.get_height() for bar in figure.axes[0].patches]
    assert bars == [0, 0, 1]
    names = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert names == ["1", "2", "3+"]


# Isolation and indistinguishability.


def test_isolation_is_the_definition():
    rng = np.random.default_rng(1)
    points, guesses = rng.normal(size=(60, 2)), rng.normal(size=(60, 2))
    from unspoken.methods.anonymity.measures.isolation import isolated

    found = isolated(points, guesses, 1.5, 4)
    for place in range(60):
        reach = 1.5 * np.linalg.norm(guesses[place] - points[place])
        inside = (np.linalg.norm(points - guesses[place], axis=1) <= reach).sum()
        assert found[place] == (inside < 4)


def test_an_exact_guess_isolates_who_has_no_twin():
    points = np.array([[0.0, 0], [0, 0], [5, 5]])
    found = an.isolation(points, c=0.0, t=2, guesses={"exact": points}, random_state=0)
    assert found["exact"] == pytest.approx(1 / 3)
    assert set(found) == {"centre", "other", "near", "exact"}


def test_isolation_refuses_what_has_no_distance():
    with pytest.raises(DataError, match="without missing"):
        an.isolation(np.array([[np.nan], [1.0]]))
    with pytest.raises(InputError, match="'t' from 1 to 2"):
        an.isolation(np.zeros((2, 1)), t=3)


@pytest.mark.slow
def test_functions_tell_people_apart_only_where_values_depend_on_them():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 2, 600)
    rows = {"age": age, "dice": rng.integers(0, 2, 600), "ill": np.where(age == 1, "yes", "no")}
    table = unspoken.read(pa.table(rows), show=False)
    sure = {one.function: one for one in an.indistinguishability(table, "ill", ["age"])
            if one.value == "yes"}
    none = {one.function: one for one in an.indistinguishability(table, "ill", ["dice"])
            if one.value == "yes"}
    assert sure["class share"].largest == 1.0
    assert sure["tree"].largest == pytest.approx(1.0)
    share = (age == 1).mean()
    # Two people differ by 1 exactly if one is ill and the other is not.
    assert sure["class share"].mean == pytest.approx(2 * share * (1 - share) * 600 / 599)
    assert none["class share"].largest < 0.15


# Contingency tables.


def all_tables(shape, rows, cols):
    """Every table of whole numbers with these totals, by brute force."""
    most = int(max(*rows, *cols))
    for cells in itertools.product(range(most + 1), repeat=shape[0] * shape[1]):
        table = np.array(cells).reshape(shape)
        if (table.sum(axis=1) == rows).all() and (table.sum(axis=0) == cols).all():
            yield table


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_bounds_are_the_extremes_of_all_tables_with_these_totals(cells):
    table = np.array(cells).reshape(2, 2)
    found = an.bounds((2, 2), [((0,), table.sum(axis=1)), ((1,), table.sum(axis=0))])
    every = np.array(list(all_tables((2, 2), table.sum(axis=1), table.sum(axis=0))))
    assert (found.low == every.min(axis=0)).all()
    assert (found.high == every.max(axis=0)).all()


def test_three_tables_tell_one_salary():
    """vcz2006 section 2.1: household, race and salary in three tables give one person away."""
    full = np.zeros((2, 2, 2))
    full[0, 0, 1] = 1  # the one multiracial owner-occupied two-person household: over 40,000
    full[0, 1, 1], full[1, 0, 0], full[1, 1, 0], full[1, 1, 1] = 3, 8, 20, 12
    pairs = [(0, 1), (0, 2), (1, 2)]
    tables = [(axes, full.sum(axis=({0, 1, 2} - set(axes)).pop())) for axes in pairs]
    found = an.bounds(full.shape, tables)
    assert found.disclosed[0, 0, 1]
    assert found.low[0, 0, 1] == 1
    alone = an.bounds(full.shape, tables[2:])
    assert not alone.disclosed[0, 0, 1]


def test_tables_that_disagree_are_refused():
    with pytest.raises(DataError, match="contradict each other"):
        an.bounds((2, 2), [((0,), [3, 1]), ((1,), [2, 3])])
    with pytest.raises(DataError, match="shape"):
        an.bounds((2, 2), [((0,), [3, 1, 1])])
    with pytest.raises(InputError, match="at most"):
        an.bounds((200, 200), [])


def test_small_cells_stay_wide_open_after_suppression():
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 30, (5, 6))
    counts[1, 2], counts[3, 4] = 1, 2
    made = an.suppress(counts, threshold=3)
    assert (made.primary == an.small_cells(counts, 3)).all()
    assert np.isnan(made.published[made.primary | made.complementary]).all()
    shown = [((0, 1), made.published), ((0,), counts.sum(axis=1)), ((1,), counts.sum(axis=0))]
    found = an.bounds(counts.shape, shown, cells=made.primary)
    assert (found.low[made.primary] == 0).all()
    assert (found.high[made.primary] >= counts[made.primary] + 2).all()
    # Leaving only the small cells out gives them away.
    bare = np.where(made.primary, np.nan, counts)
    told = an.bounds(counts.shape, [((0, 1), bare), *shown[1:]], cells=made.primary)
    assert told.disclosed[made.primary].any()


TABLES = [np.random.default_rng(seed).integers(0, 7, (4, 4)) for seed in range(1, 5)]
# The cheapest way up leads through the empty cell, which cannot go down.
TABLES.append(np.array([[3, 9, 50], [9, 0, 50], [50, 50, 50]]))


@pytest.mark.slow
@pytest.mark.parametrize("counts", TABLES, ids=lambda counts: str(counts.sum()))
def test_suppressed_cells_can_move_both_ways(counts):
    made = an.suppress(counts, threshold=4, protection=2)
    shown = [((0, 1), made.published), ((0,), counts.sum(axis=1)), ((1,), counts.sum(axis=0))]
    found = an.bounds(counts.shape, shown, cells=made.primary)
    assert (found.high[made.primary] >= counts[made.primary] + 2).all()
    assert (found.low[made.primary] <= np.maximum(counts[made.primary] - 2, 0)).all()


def test_a_cell_that_stands_alone_cannot_be_hidden():
    with pytest.raises(DataError, match="alone in a total"):
        an.suppress(np.array([[1.0], [7.0]]), totals=[(0,)])


# Utility.


def test_losses_by_hand():
    before = unspoken.read(pa.table({"age": [0, 10, 20, 40], "job": ["a", "b", "c", "c"]}),
                           show=False)
    after = unspoken.read(pa.table({"age": ["[0, 10]", "[0, 10]", "[20, 40]", None],
                                 "job": ["x", "x", "c", "c"]}), show=False)
    found = an.utility(before, after)
    age, job = found.columns
    # Widths 10, 10, 0 (only the 20 became it) of 40, and one value gone.
    assert age.ncp == pytest.approx((0.25 + 0.25 + 0 + 1) / 4)
    assert job.ncp == pytest.approx((2 / 3 + 2 / 3) / 4)
    assert job.lm == pytest.approx((1 / 2 + 1 / 2) / 4)
    assert found.gcp == pytest.approx((age.ncp + job.ncp) / 2)
    assert job.frequencies is None


def test_a_copy_loses_nothing():
    table = people()
    found = an.utility(table, table)
    assert (found.gcp, found.lm, found.correlation) == (0, 0, 0)
    assert all(one.frequencies in (None, 0) for one in found.columns)
    assert all(one.spread in (None, 1) for one in found.columns)


def test_left_out_records_need_their_rows():
    table = people()
    some = unspoken.read(table.arrow().slice(0, 3), show=False)
    with pytest.raises(DataError, match="'rows'"):
        an.utility(table, some)
    assert an.utility(table, some, rows=[0, 1, 2]).gcp == 0.5
