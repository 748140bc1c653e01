"""What is published is what was counted: blanks at the ends of values divide no class unseen."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pyarrow as pa
import pytest

import unspoken
from unspoken.errors import DataError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.hierarchy_builders import build_hierarchy
from unspoken.methods.anonymity.recoding import optimal_recoding
from unspoken.protect import Generalizer, OptimalRecoder
from unspoken.risk import audit

TREES = {"q": Hierarchy.of([["a", "*"], ["b", "*"]]),
         "o": Hierarchy.of([[str(value), "*"] for value in range(1, 5)])}
ROWS = {"q": ["a", "a", "a", " a", "b", "b", "b", "b"], "o": [1, 2, 3, 4] * 2,
        "s": [*"uvwuvwuv"]}


def blanks():
    return unspoken.read(pa.table(ROWS), quasi=["q", "o"], sensitive="s", show=False)


def recoder():
    return OptimalRecoder(4, l=3, hierarchies=TREES, suppression=0.0, loss="discernibility")


@pytest.mark.slow
def test_a_value_with_a_blank_is_released_as_its_line_in_the_hierarchy_says():
    table = blanks()
    release, key = recoder().protect(table)
    rows = release.table.arrow(["q", "o"]).to_pylist()
    assert min(Counter(tuple(row.values()) for row in rows).values()) >= 4
    assert {row["q"] for row in rows} == {"a", "b"}
    assert audit(table, release, key, trials=2, random_state=0).select(measure="k")[0].value == 4


def test_what_would_break_the_promise_is_not_released(monkeypatch):
    monkeypatch.setattr(optimal_recoding, "own_labels", lambda column, tree: column)
    with pytest.raises(DataError, match=r"released: k = 4 .* the smallest class holds 1"):
        recoder().protect(blanks())


def test_too_few_sensitive_values_in_what_is_published_are_not_released(monkeypatch):
    class Blind(optimal_recoding.Demand):
        def __call__(self, rows, owner):
            return super().__call__(rows, owner) | True

        def allows(self, one, counted):
            return super().allows(one, counted) | True

    def blind(method, table, roles):
        return Blind(4, 3.0, secrets=honest(method, table, roles).secrets)

    honest = optimal_recoding.demand_of
    monkeypatch.setattr(optimal_recoding, "demand_of", blind)
    rows = {"q": [*"aaaabbbb"], "o": [1, 2, 3, 4] * 2, "s": [*"uuuuvwuv"]}
    with pytest.raises(DataError, match="too alike in its values of 's'"):
        recoder().protect(unspoken.read(pa.table(rows), quasi=["q", "o"], sensitive="s",
                                        show=False))


def test_transformers_give_the_lines_of_the_hierarchy_too():
    X = pd.DataFrame({"q": ["a", "a", "a", " a", "b", "b", "b", "b"], "o": [1, 2, 3, 4] * 2})
    for method in (OptimalRecoder(4, hierarchies=TREES, suppression=0.0, loss="discernibility"),
                   Generalizer(TREES, {"q": 0, "o": 1}, k=4)):
        shown = method.fit_transform(X)
        assert min(Counter(map(tuple, shown.tolist())).values()) >= 4
        assert method.transform(pd.DataFrame({"q": [" b"], "o": [3]})).tolist() == [["b", "*"]]


def test_values_that_differ_by_a_blank_have_a_hierarchy_of_their_own():
    column = ["a", "a ", "b", "b", "c", ""]
    for how in ("frequency", "flat", "prefixes", "masked"):
        assert [row[0] for row in build_hierarchy(column, how).rows] == sorted(set(column))
    assert {row[0] for row in build_hierarchy(["", " "], "masked").rows} == {"", " "}
    table = unspoken.read(pa.table({"q": ["a", "a "] * 8, "o": list(range(16))}),
                          quasi=["q", "o"], show=False)
    release, _ = OptimalRecoder(4).protect(table)
    assert release.table.rows == 16


def test_a_hierarchy_that_a_file_could_not_tell_apart_is_not_saved(tmp_path):
    with pytest.raises(DataError, match="differ only by blanks"):
        build_hierarchy(["a", "a "], "flat").to_csv(tmp_path / "tree.csv")
    build_hierarchy([" a", "b"], "flat").to_csv(tmp_path / "tree.csv")
    assert Hierarchy.from_csv(tmp_path / "tree.csv").places("q", [" a", "b"]).tolist() == [0, 1]
