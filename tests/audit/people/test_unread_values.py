"""What cannot be read is not suppressed, and what honest tools write is no disguise."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.population import population
from unspoken.audit.hidden_values import hidden_values
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.people.comparable import Labels
from unspoken.audit.people.match_columns import match_columns
from unspoken.audit.people.read_columns import read_tables
from unspoken.audit.people.spelt_dates import days_of
from unspoken.audit.people.spelt_numbers import intervals
from unspoken.audit.turned_values import turned_columns
from unspoken.audit.value_spellings import _hash

ROWS = 400
NOBODY = np.empty(0, np.int64)


def staff(seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    return {"age": 18 + rng.poisson(20, rows), "pay": np.round(rng.normal(3000, 700, rows), 2),
            "size": np.round(rng.normal(170, 9, rows), 1),
            "town": rng.choice([f"t{i}" for i in range(30)], rows, p=np.arange(1, 31) / 465)}


def table_of(columns):
    return unspoken.read(pa.table(columns), show=False)


ORIGINAL = table_of(staff())


@pytest.mark.parametrize(("label", "value"), [
    ("EUR 1,234.50", 1234.5), ("1.234,50 €", 1234.5), ("34 units", 34), ("12%", 12), ("12,5", 12.5),
    ("1.2E+03", 1200), ("1.5×10^3", 1500), ("1'234.5", 1234.5), ("0x1f", 31), ("-7 °C", -7),
    ("1.2k", 1200), ("٣٤", 34)])
def test_one_number_in_many_spellings(label, value):
    low, high, known = intervals([label])
    assert (low[0], high[0], known[0]) == (value, value, True)


@pytest.mark.parametrize("label", ["thirty", "b1c2d3e4", "2001-02-03", "1 of 2 of 3"])
def test_what_is_not_read_does_not_stand_for_everything(label):
    assert not intervals([label])[2][0]


def test_words_that_are_as_many_as_values_do_not_hide_them():
    assert intervals(["*", "**", "?"])[2].all()
    assert not intervals(["*" * count for count in range(1, 40)])[2].any()


def test_texts_around_numbers_that_all_differ_are_names():
    assert not intervals([f"{name} street 5" for name in "abcdefghijklmnop"])[2].any()


@pytest.mark.parametrize(("text", "day"), [
    ("01 May 1980", 3773), ("1980/05/01", 3773), ("May 1st, 1980", 3773), ("19800501", 3773),
    ("1. Mai 1980", 3773), ("1980-05-01T13:45:00Z", 3773), ("13.05.80", 3785), ("5/13/1980", 3785)])
def test_days_in_many_spellings(text, day):
    assert days_of([text], np.array([3773.0, 3785.0])).tolist() == [day]


@pytest.mark.slow
def test_spans_of_dates_are_spans():
    days = np.datetime64("1950-01-01") + np.arange(ROWS) * 30
    original = table_of({"born": days, "town": staff()["town"]})
    years = [f"{year // 10 * 10}-{year // 10 * 10 + 9}" for year in
             days.astype("datetime64[Y]").astype(int) + 1970]
    spans = [f"[{day}, {day + 9}]" for day in days]
    for shown in (years, spans):
        reading = read_tables(original, table_of({"born": shown}), None)
        column, held = reading.release.columns["born"], reading.original.columns["born"].low
        assert (column.low <= held).all()
        assert (held <= column.high).all()
        assert (column.high - column.low).max() < 4100


@pytest.mark.slow
def test_unread_numbers_are_left_out_of_the_reading():
    odd = [hashlib.sha256(b"secret" + str(v).encode()).hexdigest() for v in staff()["pay"]]
    reading = read_tables(ORIGINAL, table_of({**staff(), "pay": odd}), None)
    assert set(reading.names) == {"age", "size", "town"}


def test_several_columns_in_one_are_left_out_of_the_reading():
    columns = staff()
    packed = [f"{town}|{age}|{pay}" for town, age, pay in
              zip(columns["town"], columns["age"], columns["pay"], strict=True)]
    reading = read_tables(ORIGINAL, table_of({"age": columns["age"], "town": packed}), None)
    assert reading.names == ("age",)


@pytest.mark.parametrize("column", ["age", "town"])
@pytest.mark.parametrize("inside", [True, False])
def test_values_exchanged_for_one_another_are_read_by_frequency(column, inside):
    values = staff()[column]
    held, where = np.unique(values, return_inverse=True)
    order = np.random.default_rng(1).permutation(held.size)
    shown = held[order][where] if inside else 1000 + order[where]
    reading = read_tables(ORIGINAL, table_of({**staff(), column: shown}), None)
    assert reading.how[column] == "by frequency"
    read = reading.scales[column].reads[reading.release.columns[column].codes]
    assert isinstance(reading.original.columns[column], Labels)
    # Values that are as frequent as others cannot be told apart by this alone.
    assert (read == reading.original.columns[column].codes).mean() > 0.15


def test_order_is_still_believed_where_it_was_kept():
    for shown in (7 * staff()["age"] + 3, 1000 - staff()["age"], staff()["age"] + 1):
        how = read_tables(ORIGINAL, table_of({**staff(), "age": shown}), None).how["age"]
        assert how.startswith(("by rank", "as it is"))


def test_exchanged_names_are_seen_through():
    columns = staff()
    release = table_of({"age": columns["pay"], "pay": columns["size"], "size": columns["age"],
                        "town": columns["town"]})
    matched = match_columns(ORIGINAL, release, ORIGINAL.schema.names)
    assert {name: there for name, (there, _) in matched.items()} == {
        "pay": "age", "size": "pay", "age": "size", "town": "town"}


def test_noise_and_codes_do_not_change_names():
    rng = np.random.default_rng(2)
    columns = staff()
    release = table_of({"age": columns["age"] + rng.normal(0, 9, ROWS), "pay": columns["pay"] * 7,
                        "size": np.argsort(np.argsort(columns["size"])),
                        "town": np.unique(columns["town"], return_inverse=True)[1]})
    matched = match_columns(ORIGINAL, release, ORIGINAL.schema.names)
    assert all(name == there for name, (there, _) in matched.items())


@pytest.mark.slow
@pytest.mark.parametrize("release", [
    staff(5), staff(), {**staff(), "age": [f"{v // 10 * 10}-{v // 10 * 10 + 9}"
                                           for v in staff()["age"]]},
    {**staff(6), "pay": np.arange(ROWS) + 10_000}])
def test_plain_values_are_no_disguise(release):
    assert hidden_values(ORIGINAL, table_of(release), NOBODY, NOBODY) == ()


@pytest.mark.slow
@pytest.mark.parametrize("form", [
    lambda text: hashlib.sha256(text.encode()).hexdigest(),
    lambda text: "id_" + hashlib.md5(text.encode()).hexdigest()[:8].upper(),
    lambda text: hashlib.sha1(text.encode()).hexdigest()[-10:]])
def test_digests_are_looked_up_without_pairs_of_records(form):
    shown = np.random.default_rng(3).permutation(staff()["pay"])[:300]
    release = table_of({"x": [form(str(value)) for value in shown]})
    assert hidden_values(ORIGINAL, release, NOBODY, NOBODY)[0].startswith(
        "'x' holds the values of 'pay' as ")
    assert turned_columns(ORIGINAL, release)["x"].values.to_pylist() == shown.tolist()


def test_few_labels_are_not_looked_up_among_very_many_numbers():
    """Five labels cannot be the digests of 20,000 different incomes: nothing is hashed for that."""
    rng = np.random.default_rng(0)
    original = table_of({"income": rng.permutation(20_000) * 1.0})
    labels = np.array(["ab12cd", "0f3e11", "77aa10", "c0ffee", "12ab9f"])
    release = table_of({"region": labels[rng.integers(0, 5, 20_000)]})
    _hash.cache_clear()
    assert turned_columns(original, release) == {}
    assert _hash.cache_info().misses == 0


def test_labels_with_a_number_are_no_digits_in_letters():
    """"c1" to "c6", as our own codes are called, would be 21 to 26: someone's breaths a minute."""
    rng = np.random.default_rng(4)
    breaths = rng.integers(20, 28, ROWS)
    original = table_of({"sex": rng.choice(["m", "f", "x"], ROWS), "resp": breaths})
    assert turned_columns(original, table_of({"sex": [f"c{at - 20}" for at in breaths]})) == {}
    spelt = ["abcdefghij"[at // 10] + "abcdefghij"[at % 10] for at in breaths]
    assert turned_columns(original, table_of({"sex": spelt}))["sex"].name == "resp"


@pytest.mark.parametrize("name", ["age", "school"])
def test_a_few_cells_of_free_text_are_not_assessed(name):
    """A remark about a person in the place of a number or a category is published, too."""
    original, invented = population(200, 1), population(200, 2)
    cells = [str(value) for value in invented[name].to_pylist()]
    for said, assessed in (("suppressed", True), ("Ann Abel is ill", False)):
        at = invented.column_names.index(name)
        release = invented.set_column(at, name, pa.array([said, *cells[1:]]))
        audited = audit_table(release, original, population(200, 3), people=20, random_state=0)
        assert (name not in audited.unscored) is assessed
        assert audited.assessed is assessed
