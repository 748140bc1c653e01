"""Baskets: the noun, its readers and writers, and how it travels in a release."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from unspoken.errors import DataError, ReleaseError, SchemaError, UnseenValueError
from unspoken.release.guarantee import Guarantee
from unspoken.table.basket_tables import from_table, to_table

LISTS = [["b", "a"], [], ["c", "a", "d"]]
sets = st.lists(st.sets(st.integers(0, 200)).map(sorted), max_size=80)


def test_items_are_sorted_and_baskets_are_sets():
    baskets = unspoken.Baskets.of(LISTS)
    assert baskets.items == ("a", "b", "c", "d")
    assert baskets.lists() == [["a", "b"], [], ["a", "c", "d"]]
    assert baskets.sizes.tolist() == [2, 0, 3]
    assert baskets.frequencies().tolist() == [2, 1, 1, 1]
    assert unspoken.Baskets.of([[10, 9], [100]]).items == ("9", "10", "100")


@pytest.mark.slow
@given(sets)
def test_views_by_item_say_the_same_as_the_lists(lists):
    baskets = unspoken.Baskets.of(lists, items=range(201))
    starts, rows = baskets.columns
    words = baskets.bitmaps()
    for item in range(0, 201, 7):
        true = [i for i, basket in enumerate(lists) if item in basket]
        assert rows[starts[item]:starts[item + 1]].tolist() == true
        bits = np.unpackbits(words[item].view(np.uint8), bitorder="little")
        assert np.flatnonzero(bits).tolist() == true


@pytest.mark.slow
@given(sets, st.data())
def test_take_chooses_baskets(lists, data):
    baskets = unspoken.Baskets.of(lists, items=range(201))
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=20)) if lists else []
    assert baskets.take(np.array(rows, np.int64)).lists() == [[str(x) for x in lists[i]]
                                                              for i in rows]


def test_an_item_twice_is_an_error_or_kept_once_as_asked():
    with pytest.raises(DataError, match=r"Basket 2 holds 'a' twice. Use repeats='drop'"):
        unspoken.Baskets.of([["b"], ["a", "a"]])
    assert unspoken.Baskets.of([["b"], ["a", "a"]], repeats="drop").lists() == [["b"], ["a"]]


def test_an_unknown_item_is_named():
    with pytest.raises(UnseenValueError, match="Got z"):
        unspoken.Baskets.of([["a"], ["z"]], items=["a", "b"])
    with pytest.raises(UnseenValueError, match="Got z"):
        unspoken.Baskets.of([["a"]]).code_of("z")


@pytest.mark.parametrize(("offsets", "codes"), [
    ([0, 2], [1, 0]), ([0, 2], [0, 0]), ([0, 1], [5]), ([0, 1], [-1]), ([0, 3], [0, 1]),
    ([1, 2], [0, 1]), ([], []), ([0, 2, 1], [0, 1]), ([0, 1], [0.5])])
def test_arrays_that_are_no_baskets_are_refused(offsets, codes):
    with pytest.raises((DataError, UnseenValueError)):
        unspoken.Baskets(np.array(offsets), np.array(codes), ("a", "b", "c"))


def test_increasing_codes_are_only_asked_for_inside_a_basket():
    found = unspoken.Baskets(np.array([0, 2, 2, 4]), np.array([1, 2, 0, 1]), ("a", "b", "c"))
    assert found.lists() == [["b", "c"], [], ["a", "b"]]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["dat", "dat.gz", "csv", "csv.gz", "parquet"])
@settings(max_examples=25)
@given(lists=sets)
def test_what_is_written_is_read_again(tmp_path_factory, ending, lists):
    path = tmp_path_factory.mktemp("b") / f"x.{ending}"
    if not lists:
        return
    baskets = unspoken.Baskets.of(lists)
    baskets.save(path)
    assert unspoken.read_baskets(path).lists() == baskets.lists()


def test_fimi_lines_may_have_blanks_carriage_returns_and_no_last_line_break(tmp_path):
    path = tmp_path / "x.dat"
    path.write_bytes(b" 3  1 \r\n\r\n7\t3")
    assert unspoken.read_baskets(path).lists() == [["1", "3"], [], ["3", "7"]]
    path.write_text("b a\nc")
    assert unspoken.read_baskets(path).lists() == [["a", "b"], ["c"]]


def test_comma_separated_lines_keep_blanks_and_quotes(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('milk,roll products \n"a, b",milk\n')
    assert unspoken.read_baskets(path).lists() == [["milk", "roll products "], ["a, b", "milk"]]


@pytest.mark.slow
def test_long_tables_and_list_columns(tmp_path):
    text = tmp_path / "long.csv"
    text.write_text("who,what\n7,a\n3,b\n7,c\n")
    assert unspoken.read_baskets(text, transaction="who", item="what").lists() == [["a", "c"],
                                                                                   ["b"]]
    table = pa.table({"who": [7, 3, 7], "what": ["a", "b", "c"], "n": [[1], [2, 1], []]})
    pq.write_table(table, tmp_path / "long.parquet")
    found = unspoken.read_baskets(tmp_path / "long.parquet", transaction="who", item="what")
    assert found.lists() == [["a", "c"], ["b"]]
    assert unspoken.read_baskets(tmp_path / "long.parquet").lists() == [["1"], ["1", "2"], []]
    with pytest.raises(SchemaError, match="nobody"):
        unspoken.read_baskets(text, transaction="nobody", item="what")
    with pytest.raises(SchemaError, match="item="):
        unspoken.read_baskets(text, transaction="who")


@pytest.mark.parametrize(("name", "content", "says"), [
    ("x.dat", b"", "at least one line"), ("x.xyz", b"1", "ending"),
    ("x.csv", b"\xff\xfe,a\n", "UTF-8"), ("x.dat", b"1 1\n", "twice"),
    ("x.dat", b"1" * 30, "10\\^18"), ("x.dat.gz", b"not gzip", "cannot be read"),
    ("x.dat.gz", gzip.compress(b"1 2\n" * 99, mtime=0)[:-9], "cannot be read")])
def test_files_that_cannot_be_used_are_refused_in_words(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=says):
        unspoken.read_baskets(path)


def test_items_named_at_reading_are_all_there_and_no_others(tmp_path):
    path = tmp_path / "x.dat"
    path.write_text("1 2\n")
    assert unspoken.read_baskets(path, items=[1, 2, 3]).items == ("1", "2", "3")
    with pytest.raises(UnseenValueError, match="Got 2"):
        unspoken.read_baskets(path, items=[1, 3])


def test_names_that_a_text_file_cannot_hold_are_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "x.csv"
    with pytest.raises(DataError, match="parquet"):
        unspoken.Baskets.of([["a,b"]]).save(path)
    assert not path.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rows", "items", "entries"), [
    ("retail.dat.gz", 88162, 16470, 908576), ("T10I4D100K.dat.gz", 100000, 870, 1010228),
    ("groceries.csv.gz", 9835, 169, 43367)])
def test_public_files_have_their_known_sizes(shared, name, rows, items, entries):
    baskets = unspoken.read_baskets(shared(name))
    assert (len(baskets), len(baskets.items), baskets.codes.size) == (rows, items, entries)


def test_a_release_carries_baskets_and_refuses_foreign_codes(tmp_path):
    baskets = unspoken.Baskets.of(LISTS)
    release = unspoken.Release(to_table(baskets, baskets.sizes), {"items": list(baskets.items)},
                            Guarantee("none"), "id")
    loaded = release.save(tmp_path / "r")
    assert unspoken.Release.load(tmp_path / "r").baskets.same_as(baskets)
    assert loaded.schema.of_kind("basket") == ("basket",)
    with pytest.raises(ReleaseError, match="manifest"):
        from_table(loaded.table, {"items": ["a", "b"]})
    with pytest.raises(ReleaseError, match="not a release of baskets"):
        from_table(unspoken.read({"x": [1, 2]}, show=False), {"name": "noise"})
