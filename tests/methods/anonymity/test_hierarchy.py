"""Hierarchies: what is read, how it is ordered, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.errors import DataError, InputError, UnseenValueError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.protect import Generalizer, MondrianAnonymizer, OptimalRecoder

TREE = {"left": ["a", "b"], "right": {"up": ["c", "d"], "down": ["e"]}}


def test_hierarchies_from_files_and_trees():
    tree = Hierarchy.from_tree(TREE)
    assert tree.levels == 3
    assert {label: set(below) for label, below in tree.leaves(2).items()} == {
        "left": {"a", "b"}, "right": {"c", "d", "e"}}
    assert tree.leaves(1) == {"a": ["a"], "b": ["b"], "down": ["e"], "up": ["c", "d"]}
    for rows, words in (([("a", "x"), ("a", "y")], "on two lines"),
                        ([("a", "x"), ("b",)], "entries"),
                        ([("a", "x", "1"), ("b", "x", "2")], "belongs to two labels"),
                        ([], "is empty")):
        with pytest.raises(DataError, match=words):
            Hierarchy.of(rows)
    with pytest.raises(UnseenValueError, match="is not in its hierarchy"):
        tree.places("job", ["a", "z"])
    with pytest.raises(DataError, match=r"'nothing\.csv' must be an existing file"):
        Hierarchy.from_csv("nothing.csv")


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "csv.gz", "parquet", "feather"])
def test_a_hierarchy_is_saved_and_read_in_every_format_of_tables(tmp_path, ending):
    tree, file = Hierarchy.from_tree(TREE), tmp_path / f"h.{ending}"
    tree.to_csv(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert Hierarchy.from_csv(file).rows == tree.rows
    if ending == "parquet":
        assert pq.read_table(file).column_names == ["value", "level 1", "level 2", "level 3"]


def test_hierarchies_of_other_endings_and_with_gaps_are_refused(tmp_path):
    for name in ("h.xlsx", "h", "h.dat", "h.basket"):
        (tmp_path / name).write_text("a;x\nb;x\n")
        with pytest.raises(DataError, match="must be a"):
            Hierarchy.from_csv(tmp_path / name)
    with pytest.raises(DataError, match="must be a"):
        Hierarchy.from_tree(TREE).to_csv(tmp_path / "new.xlsx")
    pq.write_table(pa.table({"value": ["a", "b"], "one": ["x", None]}), tmp_path / "h.parquet")
    with pytest.raises(DataError, match="must have all labels"):
        Hierarchy.from_csv(tmp_path / "h.parquet")
    with pytest.raises(InputError, match="'delimiter' is for text files"):
        Hierarchy.from_csv(tmp_path / "h.parquet", delimiter=";")


@pytest.mark.parametrize("mark", [";", ",", "\t"])
def test_a_file_of_any_separator(tmp_path, mark):
    file = tmp_path / "h.csv"
    lines = [("20", "[20, 30)", "*"), ("31", "[30, 40)", "*"), ("25", "[20, 30)", "*")]
    quoted = [mark.join(f'"{part}"' for part in line) for line in lines]
    file.write_text("\ufeff" + "\n".join(quoted) + "\n\n", encoding="utf-8")
    found = Hierarchy.from_csv(file)
    assert found.levels == 2
    assert found.leaves(1) == {"[20, 30)": ["20", "25"], "[30, 40)": ["31"]}
    assert found.ancestors.tolist() == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]


def test_a_line_without_a_label_is_refused(tmp_path):
    (tmp_path / "h.csv").write_text("a;;*\nb;x;*\n")
    with pytest.raises(DataError, match="Line 1 of the hierarchy lacks a label"):
        Hierarchy.from_csv(tmp_path / "h.csv")


def ages(labels):
    """Return a table of ages, and a hierarchy that calls them something."""
    table = unspoken.read(pa.table({"age": [*range(20, 60)] * 4}), quasi="age", show=False)
    return table, {"age": Hierarchy.of([str(at), labels(at), "*"] for at in range(20, 60))}


@pytest.mark.parametrize("method", [
    lambda trees: Generalizer(trees, 1), lambda trees: MondrianAnonymizer(20, hierarchies=trees),
    lambda trees: OptimalRecoder(20, hierarchies=trees)])
def test_a_band_that_does_not_hold_its_values_is_refused(method):
    for wrong in (lambda at: f"[{100 - at // 10 * 10}, {110 - at // 10 * 10})",
                  lambda at: f"[{at // 10 * 10 + 1}, {at // 10 * 10 + 9}]"):
        table, trees = ages(wrong)
        with pytest.raises(DataError, match="does not hold all values"):
            method(trees).protect(table)


def test_a_number_may_stand_for_others():
    table, trees = ages(lambda at: str(at // 10 * 10))
    release, key = Generalizer(trees, 1, k=20).protect(table)
    assert set(release.table.arrow()["age"].to_pylist()) == {"20", "30", "40", "50"}
    assert release.guarantee.verify(table, release, key)
    assert faults_of(table, release, key) == ()


def test_a_label_on_two_levels_stands_for_all_that_it_holds():
    rows = [("a", "low", "low", "*"), ("b", "low", "low", "*"), ("c", "top", "low", "*"),
            ("d", "top", "high", "*"), ("e", "top", "high", "*")]
    rows = [(value, first if value in "ab" else value, second, top)
            for value, first, second, top in rows]
    town = [*"ab"] * 5 + [*"abc"] * 7 + [*"de"] * 9
    table = unspoken.read(pa.table({"town": town, "n": [0] * 10 + [1] * 21 + [2] * 18}),
                          quasi=["town", "n"], show=False)
    for at in range(2):
        own = Hierarchy.of(rows[::1 - 2 * at])
        release, key = MondrianAnonymizer(8, hierarchies={"town": own}).protect(table)
        assert faults_of(table, release, key) == ()
