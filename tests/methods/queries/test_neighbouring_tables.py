"""What one row says moves no other row: pre-noise answers of neighbours are within the sensitivity.

Two tables differ in one cell. Whatever it is (missing, a word, a fraction, a number beyond float64
or beyond 64 bits), every other row must be read, compared, counted and refused as before.
"""

import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import unspoken
from unspoken.errors import DataError, InputError
from unspoken.methods.private.declared_columns import Coded, cells_of
from unspoken.methods.queries.grid_columns import GridColumn, grid_column
from unspoken.methods.queries.guard_settings import Settings
from unspoken.methods.queries.guarded_columns import guarded_columns
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.parse_conditions import parse
from unspoken.methods.queries.service.noisy_answers import aggregates
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.methods.queries.service.service_records import ServiceRecords

BIG = 2**53
POLICY = {"service": {"budget": "b", "log": "l"}, "analysts": {}}
CONDITIONS = [f"x > {BIG}", f"x = {BIG + 1}", f"x <= {BIG}", "x != 5", "x = '5'", "x in (5, 'a')",
              "x = 'inf'", "x is missing", "x = true", "x < '2021-01-01'", "x = 'a'", "x < 'a'",
              "x = '007'"]
DECLARED = [{}, {"bounds": [0, 2**54], "step": 2**30}, {"values": [5, BIG + 1]},
            {"values": ["5", "a", "2020-02-03", "true"]}]
QUESTIONS = ["select sum(x)", "select mean(x)", "select variance(x)", "select quantile(x, 0.5)",
             f"select histogram(x, 0, 5, {BIG})", "select count() group by x"]
NUMBERS = [0, 1, 5, BIG, BIG + 1, 2**62 + 1]
TYPED = {
    "int64": (pa.int64(), [*NUMBERS, -5, -BIG - 1]),
    "uint64": (pa.uint64(), [*NUMBERS, 2**63 + 5, 2**64 - 1]),
    "float64": (pa.float64(), [0.0, -0.0, 5.0, 0.1, float(BIG), 1e300, float("inf"), float("nan")]),
    "decimal": (None, [Decimal("5"), Decimal("0.1"), Decimal(BIG + 1), Decimal("1.00000000001")]),
    "text": (pa.string(), ["5", "a", "A", "inf", "5.0", str(BIG + 1), "2020-02-03", "", "true"]),
    "date": (pa.date32(), [datetime.date(2020, 2, 3), datetime.date(9999, 1, 1)]),
    "bool": (pa.bool_(), [True, False]),
}
WRITTEN = ["5", "5.0", "0x5", "0b101", "a", "inf", "-inf", "nan", "-nan", "1e999", "?", "NA", "",
           " 5", str(BIG + 1), str(2**64), "2020-02-03", "03/02/2020", "true", "0.1", "007",
           "False", "1,234", "1,234.5", "31/01/2020", "2020-02-03T10:00Z", str(10**16 + 1)]


def read(column):
    # Values of no declared type: the type of a decimal follows from all of them.
    return unspoken.read(pa.table({"x": column, "y": ["p", "q"] * (len(column) // 2)}),
                         keep=["x", "y"], show=False)


def reply(work):
    try:
        return work()
    except InputError as error:
        return str(error)


def same_but(one, two, place):
    """Assert that two refusals are the same, or that no other row has changed."""
    if isinstance(one, str) or isinstance(two, str):
        assert one == two
        return
    assert np.array_equal(np.delete(one, place), np.delete(two, place))


def check_service(pair, place, declared):
    policy = ServicePolicy.parse({**POLICY, "columns": {"x": declared} if declared else {}},
                                 Path("."))
    one, two = (ServiceRecords(table, policy, None, 1) for table in pair)
    for text in CONDITIONS:
        same_but(*(reply(lambda at=at, text=text: at.meet(parse(text))) for at in (one, two)),
                 place)
    for text in QUESTIONS:
        check_sums(*(reply(lambda at=at, text=text: aggregates(at, question_of(text)))
                     for at in (one, two)))


def check_sums(one, two):
    """Assert that one row has moved the numbers that get noise by at most what the noise covers."""
    if isinstance(one, str) or isinstance(two, str):
        assert one == two
        return
    if one.question.select == "quantile":
        assert np.abs(one.counts - two.counts).max() <= 1
        return
    assert np.abs(one.counts - two.counts).sum() <= 2
    if one.question.select == "sum":
        assert np.abs(one.sums - two.sums).sum() <= one.column.reach


def check_guard(pair, place, bounds):
    chosen = Settings(bounds=bounds and {"x": bounds})
    one, two = (Rows(*guarded_columns(table, chosen)) for table in pair)
    for text in CONDITIONS:
        same_but(*(reply(lambda at=at, text=text: at.meet(parse(text))) for at in (one, two)),
                 place)
    same_but(*(reply(lambda at=at: grid_column(at, chosen, "x").values) for at in (one, two)),
             place)


def check_private(pair, place):
    for edges, values in ((None, ("5", "a", "2020-02-03")), ((0.0, 5.0, float(BIG)), None)):
        codes = [Coded(table, cells_of(table, ["x"], edges and {"x": edges},
                                       values and {"x": values}, 4))["x"] for table in pair]
        same_but(*codes, place)


def check_all(pair, place):
    for declared in DECLARED:
        check_service(pair, place, declared)
    check_guard(pair, place, None)
    check_guard(pair, place, (0, 2**54))
    check_private(pair, place)


@pytest.mark.parametrize("kind", TYPED)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
@pytest.mark.slow
def test_a_value_moves_no_other_row(kind, data):
    arrow, values = TYPED[kind]
    cell = st.sampled_from([*values, None])
    cells = data.draw(st.lists(cell, min_size=6, max_size=6))
    place = data.draw(st.integers(0, 5))
    other = [*cells[:place], data.draw(cell), *cells[place + 1:]]
    if arrow is None:
        cells, other = ([Decimal(1), *rows, None] for rows in (cells, other))
        place += 1
    check_all([read(pa.array(rows, arrow)) for rows in (cells, other)], place)


def test_a_missing_value_rounds_no_whole_number():
    whole = [BIG + 1] * 200
    check_all([read(pa.array(rows, pa.int64())) for rows in (whole, [None, *whole[1:]])], 0)


def written(folder, name, cells, thousands=None):
    path = folder / f"{name}.csv"
    path.write_text("x,y\n" + "".join(f'"{cell}",{"pq"[at % 2]}\n'
                                      for at, cell in enumerate(cells)))
    try:
        return unspoken.read(path, keep=["x", "y"], thousands=thousands, show=False)
    except DataError:
        # Nothing is answered about a file that cannot be read.
        return reject()


@pytest.mark.slow
@pytest.mark.parametrize(("said", "other"), [
    ("1e999", "a"), ("007", "7.5"), ("5", "0.1"), ("true", "maybe"), ("False", ""), ("1,234", "a"),
    ("31/01/2020", "01/31/2020"), ("03/02/2020", "31/01/2020"), ("2020-02-03T10:00Z", "a"),
    (str(10**16 + 1), "0.5")])
@pytest.mark.parametrize("thousands", [None, ","])
def test_a_word_or_a_fraction_changes_no_other_cell(tmp_path, said, other, thousands):
    check_all([written(tmp_path, "one", [said] * 6, thousands),
               written(tmp_path, "two", [other, *[said] * 5], thousands)], 0)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_cell_of_a_text_file_moves_no_other_row(tmp_path_factory, data):
    # Mostly cells of one type, so that one other cell changes the type of the column.
    few = data.draw(st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=2))
    cells = data.draw(st.lists(st.sampled_from(few), min_size=6, max_size=6))
    place = data.draw(st.integers(0, 5))
    other = [*cells[:place], data.draw(st.sampled_from(WRITTEN)), *cells[place + 1:]]
    folder = tmp_path_factory.mktemp("pair")
    check_all([written(folder, "one", cells), written(folder, "two", other)], place)


@pytest.mark.parametrize(("low", "high"), [(-5, 5), (-7, 3), (2, 9), (-9, -2), (0, 4), (-4, 0)])
def test_the_reach_of_a_sum_is_the_farthest_that_one_record_moves_it(low, high):
    """From any value to any other, also across zero; 0 stands for a record that is not in it."""
    column = GridColumn(low, high, Fraction(1), np.zeros(0, np.int64), np.zeros(0, np.bool_))
    sums = [0, *range(low, high + 1)]
    assert column.reach == max(a - b for a in sums for b in sums)
