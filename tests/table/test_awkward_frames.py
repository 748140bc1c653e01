"""Awkward tables from pandas, polars, CSV and Parquet: read as they mean, or refused in our words.

`bench/awkward_matrix.py` tries every frame with every method; here every frame is read, and some
methods are tried on each.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import unspoken
from support.awkward_cells import meaning, read_cell, source_of, walk
from support.awkward_frames import FRAMES, SOURCES, of
from unspoken.errors import DataError, InputError, SchemaError
from unspoken.release.method import methods

BY_NAME = {frame.name: frame for frame in FRAMES}


def sampled(place):
    """Two methods per frame: all of them are tried, over the frames."""
    names = [name for name in methods() if name != "private-synthetic"]
    return names[2 * place % len(names)], names[(2 * place + 1) % len(names)]


def test_there_are_at_least_sixty():
    assert len(BY_NAME) == len(FRAMES) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_sampled_cells(name, tmp_path):
    place = sorted(BY_NAME).index(name)
    wrong = [cell for cell in walk(BY_NAME[name], tmp_path, sampled(place)) if cell[2]]
    assert wrong == []


def test_the_matrix_can_fail(tmp_path):
    frame = of("wrong", ["1", "2"], "str", means=[3] * 24)
    assert "means another thing" in read_cell(frame, "pandas", frame.pandas())[1]
    listed = BY_NAME["lists"]
    assert "refused" in read_cell(of("fine", [[1], [2]], object, refused=frozenset()), "pandas",
                                  listed.pandas())[1]


def test_meanings_are_told_apart():
    assert meaning("007") != meaning(7) == meaning("7") == meaning(7.0) == meaning(Decimal("7.00"))
    assert meaning(2**53 + 1) != meaning(2**53)
    assert meaning(dt.datetime(2020, 1, 1)) == meaning(dt.date(2020, 1, 1)) == "2020-01-01"
    assert meaning(True) != meaning(1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("lazy", [False, True])
def test_wide_integers_are_exact_or_refused(kind, lazy, tmp_path):
    source = source_of(BY_NAME["int64 beyond 2**53"], kind, tmp_path)
    table = unspoken.read(source, target="outcome", show=False, lazy=lazy)
    assert sorted(set(table.arrow()["x"].to_pylist())) == [2**53 + i for i in range(3)]
    with pytest.raises(SchemaError, match="column 'x' must hold numbers that float64 can hold"):
        unspoken.protect.PiecewiseEncoder().protect(table)
    labels = unspoken.read(source, target="outcome", kinds={"x": "categorical"}, show=False)
    release, _ = unspoken.protect.PiecewiseEncoder().protect(labels)
    assert len(set(release.to_pandas()["x"])) == 3


def csv(tmp_path, cells):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells)))
    return path


@pytest.mark.slow
def test_what_texts_mean_is_noted(tmp_path):
    zeros = unspoken.read(csv(tmp_path, ["01234", "1234"]), show=False)
    assert zeros.arrow()["x"].to_pylist() == ["01234", "1234"]
    parted = csv(tmp_path, ['"1,234"', '"12"'])
    assert "thousands=','" in repr(unspoken.read(parted, show=False))
    assert unspoken.read(parted, thousands=",", show=False).numbers(["x"]).ravel().tolist() == [
        1234.0, 12.0]
    days = unspoken.read(csv(tmp_path, ["01/02/2020", "31/01/2020"]), show=False)
    assert days.arrow()["x"].to_pylist() == [dt.date(2020, 2, 1), dt.date(2020, 1, 31)]
    assert "day first" in repr(days)
    unclear = unspoken.read(csv(tmp_path, ["01/02/2020", "03/04/2020"]), show=False)
    assert unclear.arrow()["x"].to_pylist() == ["01/02/2020", "03/04/2020"]
    assert "day or month first" in repr(unclear)


@pytest.mark.parametrize("sign", [",,", ".", "a"])
def test_signs_between_thousands_are_checked(sign, tmp_path):
    with pytest.raises(InputError, match="thousands"):
        unspoken.read(csv(tmp_path, ["1"]), thousands=sign)


@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
def test_records_without_a_target_are_left_out_if_asked(lazy, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,day,y\n1,2020-01-01,a\n2,2020-01-02,\n3,2020-01-03,b\n")
    table = unspoken.read(path, target="y", drop_missing_target=True, lazy=lazy, show=False)
    assert table.rows == 2
    assert table.arrow()["x"].to_pylist() == [1, 3]
    assert table.as_written()["day"].to_pylist() == ["2020-01-01", "2020-01-03"]
    assert "1 of 3 records were left out" in repr(table)
    with pytest.raises(SchemaError, match="only where a target is named"):
        unspoken.read(path, drop_missing_target=True, show=False)
    with pytest.raises(DataError, match="must have a value in some row"):
        unspoken.read({"x": [1, 2], "y": [None, None]}, target="y", drop_missing_target=True)


def test_files_are_read_in_a_notebook_that_has_no_bars():
    from unspoken.table.engines.duckdb_files import without_bar

    class Notebook:
        def execute(self, sql):
            raise duckdb.InvalidInputException("required package 'ipywidgets' is missing")

    without_bar(Notebook())
    with pytest.raises(ZeroDivisionError):
        without_bar(type("Broken", (), {"execute": lambda self, sql: 1 / 0})())


def test_an_index_is_not_dropped_in_silence():
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 8], name="visit"))
    assert "the index (visit) is not read" in repr(unspoken.read(frame, show=False))


def test_frames_in_frames_out():
    frame = pd.DataFrame({"age": [30, 40, 50] * 8, "town": ["Ulm", "Bonn", "Kiel"] * 8,
                          "ill": [True, False, True] * 8})
    release, _ = unspoken.protect.SampleReleaser(0.5).protect(frame, target="ill")
    assert list(release.to_pandas().columns) == list(frame.columns)
    assert release.to_polars().shape == (12, 3)
    assert unspoken.read(release, show=False).rows == 12
    table = unspoken.read(frame, target="ill", show=False)
    assert table.to_pandas()[["age", "ill"]].equals(frame[["age", "ill"]])
    assert table.to_polars()["town"].to_list() == frame["town"].tolist()
    with pytest.raises(InputError, match="says already what its columns are"):
        unspoken.protect.SampleReleaser(0.5).protect(table, target="ill")


@pytest.mark.parametrize(("form", "note"), [
    ("%d.%m.%Y %H:%M", "day first"), ("%m/%d/%Y %H:%M:%S", "month first"),
    ("%m/%d/%Y %I:%M %p", "month first"), ("%d-%b-%Y", None), ("%B %d, %Y", None),
    ("%Y.%m.%d", None), ("%m/%d/%y", "month first")])
def test_dates_are_read_however_they_are_written(form, note, tmp_path):
    moments = [dt.datetime(2020, 1, 1, 9, 5) + dt.timedelta(hours=31 * at) for at in range(40)]
    timed = "%H" in form or "%I" in form
    table = unspoken.read(csv(tmp_path, [f'"{one.strftime(form)}"' for one in moments]), show=False)
    assert table.arrow()["x"].to_pylist() == [one if timed else one.date() for one in moments]
    assert list(table.notes) == ([f"'x' is read as dates, {note}"] if note else [])


@pytest.mark.parametrize(("cells", "why"), [
    (["28.03.20", "01.04.21"], ("whose year may stand first or last", "years with four digits")),
    (["20-03-28", "21-04-01"], ("whose year may stand first or last", "years with four digits")),
    (["01/02/2020 10:00", "03/04/2020 11:30"], ("may be day or month first", "as 2020-01-31"))])
def test_dates_that_can_be_read_in_two_ways_stay_text(cells, why, tmp_path):
    table = unspoken.read(csv(tmp_path, cells), show=False)
    assert table.arrow()["x"].to_pylist() == cells
    assert all(words in table.notes[0] for words in why)


@pytest.mark.parametrize(("cells", "days"), [
    (["28.03.98", "01.04.21"], [dt.date(1998, 3, 28), dt.date(2021, 4, 1)]),
    (["98-03-28", "21-04-01"], [dt.date(1998, 3, 28), dt.date(2021, 4, 1)])])
def test_years_of_two_digits_are_read_where_one_cell_says_which_they_are(cells, days, tmp_path):
    assert unspoken.read(csv(tmp_path, cells), show=False).arrow()["x"].to_pylist() == days


@pytest.mark.parametrize(("column", "first"), [
    (pd.cut(pd.Series(range(12)), [-1, 5, 20]), "(-1, 5]"),
    (pd.qcut(pd.Series(range(12)), 2), "(-0.001, 5.5]"),
    (pd.Series(pd.period_range("2020-01", periods=12, freq="M")).astype("category"), "2020-01"),
    (pd.Series(pd.Categorical.from_codes([0, 1, 0] * 4, pd.Index([("a", 1), ("b", 2)],
                                                                tupleize_cols=False))),
     "('a', 1)"),
    (pd.Series([(1, 2), (3, 4)] * 6).astype("category"), "(1, 2)")])
def test_categories_that_are_intervals_or_periods_keep_their_texts(column, first):
    table = unspoken.read(pd.DataFrame({"x": column, "y": range(12)}), keep=["x"], show=False)
    assert table.arrow()["x"].to_pylist() == [str(one) for one in column]
    assert table.arrow()["x"][0].as_py() == first


def test_categories_that_are_no_single_values_are_refused_by_name():
    kind = pa.uuid()
    values = pa.ExtensionArray.from_storage(kind, pa.array([bytes(16)] * 2, pa.binary(16)))
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1]), values)
    with pytest.raises(DataError, match=r"'x'.*arrow\.uuid"):
        unspoken.read(pa.table({"x": coded}), show=False)
