"""Hierarchies that are built: every label belongs to one above it, whatever the values are."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from unspoken.errors import InputError, UnspokenError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.hierarchy_builders import WAYS, build_hierarchy


def labels(tree, level):
    return {row[0]: row[level] for row in tree.rows}


def test_round_steps():
    tree = build_hierarchy([17, 20, 24, 26, 39, 90], steps=[5, 10, 40])
    assert labels(tree, 1)["24"] == "[20, 25)"
    assert labels(tree, 2)["39"] == "[30, 40)"
    assert set(labels(tree, tree.levels).values()) == {"*"}
    assert build_hierarchy(np.arange(17, 91).tolist()).rows[0][1] == "[15, 20)"
    with pytest.raises(InputError, match="multiple"):
        build_hierarchy([1, 2], steps=[2, 3])


def test_quantiles_hold_about_equally_many():
    values = np.repeat(np.arange(100), np.arange(1, 101)).tolist()
    tree = build_hierarchy(values, "quantiles", bands=8)
    held = {}
    for value in values:
        label = labels(tree, 1)[str(value)]
        held[label] = held.get(label, 0) + 1
    assert len(held) == 8
    assert max(held.values()) < 1.3 * min(held.values())


def test_prefixes_masks_and_dates():
    tree = build_hierarchy(["10115", "10117", "10245", "20095"], "prefixes")
    assert tree.rows[0] == ("10115", "1011*", "10***", "*")
    masked = build_hierarchy(["ab1", "ab2", "cd1"], "masked")
    assert labels(masked, 1)["ab1"] == "**1"
    days = build_hierarchy(pa.array([datetime.date(2024, 5, 3), datetime.date(2024, 5, 1),
                                     datetime.date(2024, 6, 1), datetime.date(2021, 1, 1),
                                     datetime.date(2019, 1, 1)]))
    assert days.rows[2][1:] == ("2024-05", "2024", "2020s", "*")


def test_clusters_by_target_put_alike_categories_together():
    city = ["a"] * 50 + ["b"] * 50 + ["c"] * 50 + ["d"] * 50
    sick = [0] * 50 + ([1] * 45 + [0] * 5) + ([0] * 48 + [1] * 2) + [1] * 50
    tree = build_hierarchy(city, "target", target=sick)
    pairs = labels(tree, 1)
    assert pairs["a"] == pairs["c"] == "a | c"
    assert pairs["b"] == pairs["d"]
    often = build_hierarchy(["x"] * 90 + ["y"] * 5 + ["z"] * 5, "frequency")
    assert labels(often, 1)["y"] == labels(often, 1)["z"] != labels(often, 1)["x"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("how", WAYS)
def test_every_way_gives_a_hierarchy_that_can_be_saved(how, seed, tmp_path):
    rng = np.random.default_rng(seed)
    values = {"steps": rng.normal(0, 100, 60).round(2).tolist(),
              "quantiles": rng.integers(0, 9, 60).tolist(),
              "dates": [f"20{y:02}-0{m}-11" for y, m in rng.integers(1, 9, (60, 2))],
              }.get(how, [f"{v:04}" for v in rng.integers(0, 40, 60)])
    column = pa.array([None if rng.random() < 0.1 else v for v in values])
    tree = build_hierarchy(column, how, target=rng.integers(0, 3, 60).tolist())
    assert len(set(row[-1] for row in tree.rows)) == 1
    assert tree.levels >= 1
    tree.to_csv(tmp_path / "h.csv")
    assert Hierarchy.from_csv(tmp_path / "h.csv").rows == tree.rows
    assert f"level {tree.levels}: *" in tree.summary()


@pytest.mark.parametrize("refused", [
    lambda: build_hierarchy(["a", "b"], "no such"),
    lambda: build_hierarchy(["a", "b"], "steps"),
    lambda: build_hierarchy(["a", "b"], "target"),
    lambda: build_hierarchy(["a", "b"], "target", target=[1]),
    lambda: build_hierarchy(["a", "b"], "dates"),
    lambda: build_hierarchy(["a" * 80, "b"], "prefixes"),
    lambda: build_hierarchy([None, None]),
    lambda: Hierarchy.of([["a;b", "*"]]).to_csv("never-written.csv"),
])
def test_what_cannot_be_built_is_refused(refused):
    with pytest.raises(UnspokenError):
        refused()
