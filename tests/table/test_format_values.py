"""Whatever a table holds, every format gives the same values back."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.table.formats.file_formats import write_rows
from unspoken.table.formats.read_options import DELIMITERS, ReadOptions

pytestmark = pytest.mark.slow
LETTERS = "abcXYZ äöß é,;|\t\"'"
# A letter first: digits alone are numbers in a text file, and some words mean missing values.
words = st.text(LETTERS, min_size=0, max_size=6).map(lambda tail: f"w{tail}").map(str.rstrip)
numbers = st.floats(-1e12, 1e12, allow_nan=False, allow_subnormal=False)
whole = st.integers(-2**40, 2**40)


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 12))
    names = draw(st.lists(words, min_size=3, max_size=3, unique_by=lambda name: name.casefold()))
    text = draw(st.lists(words | st.none(), min_size=rows, max_size=rows))
    count = draw(st.lists(whole | st.none(), min_size=rows, max_size=rows))
    size = draw(st.lists(numbers, min_size=rows, max_size=rows))
    return dict(zip(names, ([text[0] or "w", *text[1:]], [count[0] or 0, *count[1:]], size),
                    strict=True))


def back(columns, path, options, **reading):
    write_rows(pa.table(columns), path, options)
    table = unspoken.read(path, show=False, **reading)
    assert table.schema.names == tuple(columns)
    return {name: table.arrow([name])[name].to_pylist() for name in columns}


def same(one, other):
    return one == other or (isinstance(one, float) and math.isclose(one, other, rel_tol=1e-15))


def check(columns, found):
    for name, values in columns.items():
        assert all(same(a, b) for a, b in zip(values, found[name], strict=True)), name


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "csv.gz", "csv.zst"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=tables(), mark=st.sampled_from(DELIMITERS), lazy=st.booleans(),
       encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"]),
       comma=st.booleans())
def test_text_files_with_options(tmp_path, ending, columns, mark, lazy, encoding, comma):
    decimal = "," if comma and mark != "," else "."
    options = ReadOptions(mark, encoding, None, decimal)
    found = back(columns, tmp_path / f"t.{ending}", options, delimiter=mark, encoding=encoding,
                 decimal=decimal, lazy=lazy)
    check(columns, found)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(whole, st.from_regex("[a-z]{1,5}", fullmatch=True), numbers),
                     min_size=1, max_size=8),
       mark=st.sampled_from(DELIMITERS),
       encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_text_files_without_a_word(tmp_path, rows, mark, encoding):
    columns = dict(zip(("n", "größe", "x"), map(list, zip(*rows, strict=True)), strict=True))
    columns["größe"] = [f"w{word}" for word in columns["größe"]]
    check(columns, back(columns, tmp_path / "t.csv.gz", ReadOptions(mark, encoding)))


@pytest.mark.parametrize("ending", ["parquet", "pq", "arrow", "feather", "ipc"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=tables())
def test_typed_files(tmp_path, ending, columns):
    check(columns, back(columns, tmp_path / f"t.{ending}", ReadOptions()))


@pytest.mark.parametrize("ending", ["dat", "csv", "tsv", "txt", "basket", "dat.gz", "csv.zst",
                                    "parquet", "arrow"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lists=st.lists(st.sets(st.from_regex("[a-z;|]{1,4}", fullmatch=True)), min_size=1,
                      max_size=9))
def test_baskets(tmp_path, ending, lists):
    baskets = unspoken.Baskets.of(lists)
    baskets.save(tmp_path / f"b.{ending}")
    assert unspoken.read_baskets(tmp_path / f"b.{ending}").same_as(baskets)


@pytest.mark.parametrize("ending", ["csv", "txt", "basket"])
def test_signs_between_quotes_are_no_delimiters(tmp_path, ending):
    baskets = unspoken.Baskets.of([{";", ";;"}, {"|;|"}])
    baskets.save(tmp_path / f"b.{ending}")
    assert unspoken.read_baskets(tmp_path / f"b.{ending}").same_as(baskets)
