"""Trees on the command line: studies are written, planned and run by processes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.joint_commands import OWNERS, tried, write
from support.tree_data import LAYOUT, NAMES, WEATHER
from unspoken.joint.tasks.tree.pooled import pooled
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.site_tree_part import TreePart, join_parts

pytestmark = pytest.mark.slow


def test_a_tree_over_rows(folder, capsys):
    for place, name in enumerate(OWNERS):
        write(folder / f"{name}.csv", {n: c[place::3] for n, c in WEATHER.items()})
    settings = ["target=play", 'classes=["no", "yes"]', "most=64",
                f"attributes={json.dumps(NAMES[:-1])}",
                *(f"categories.{a.name}={json.dumps(a.categories)}" for a in LAYOUT.attributes)]
    results = tried(folder, "tree", settings, capsys, processes=True)
    expected = pooled(LAYOUT, WEATHER)
    for name in OWNERS:
        tree = CategoricalTree.from_json(results[name])
        assert tree.same_as(expected)
    assert CategoricalTree.from_json(json.loads((folder / "out.json").read_text()))


def test_a_tree_over_columns(folder, capsys):
    pytest.importorskip("rbcl")
    ids = np.array([f"r{i}" for i in range(14)], object)
    own = {"north": ["outlook"], "south": ["temperature", "humidity", "play"], "east": ["windy"]}
    order = np.random.default_rng(2).permutation(14)
    for name, columns in own.items():
        rows = order if name == "east" else np.arange(14)
        write(folder / f"{name}.csv", {"id": ids[rows]} | {n: WEATHER[n][rows] for n in columns})
    results = tried(folder, "tree-columns", [
        "target=play", 'classes=["no", "yes"]', "class_site=south", "slots=2", "branches=3",
        "ids=id", "least=5"], capsys, processes=True)
    parts = [TreePart.from_json(results[name]) for name in OWNERS]
    assert join_parts(parts, NAMES[:-1]).same_as(pooled(LAYOUT, WEATHER))
    assert "humidity" not in json.dumps(results["north"])
