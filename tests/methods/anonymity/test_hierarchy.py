"""Hierarchies: what is read, how it is ordered, and what is refused."""

from __future__ import annotations

import pytest

from unspoken.errors import DataError, UnseenValueError
from unspoken.methods.anonymity.hierarchy import Hierarchy

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
    with pytest.raises(DataError, match="CSV"):
        Hierarchy.from_csv("nothing.csv")


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
