"""Trees on the command line: studies are written, planned and run by processes."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from test_cli_joint import free_ports, tacit_joint
from tree_data import LAYOUT, NAMES, WEATHER

from tacit.core.mixed_tree import MixedTree
from tacit.core.tree_part import TreePart, join_parts
from tacit.joint.protocols.trees.central import central

OWNERS = ("north", "south", "east")


@pytest.fixture
def folder(tmp_path):
    for name in (*OWNERS, "dora"):
        assert tacit_joint("identity", name, "--folder", tmp_path) == 0
    return tmp_path


def write(path, columns):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))


def tried(folder, task, settings, capsys, **files):
    """Write a study, plan it, run it here, and return the results by name; tables are NAME.csv."""
    ports = free_ports(4)
    parties = [w for name, port in zip(OWNERS, ports, strict=False)
               for w in ("--party", f"{folder / name}.crt=127.0.0.1:{port}")]
    words = [w for each in settings for w in ("--set", each)]
    assert tacit_joint("new", folder / "study.toml", "--name", "weather", "--task", task, *parties,
                       "--dealer", f"{folder / 'dora'}.crt=127.0.0.1:{ports[3]}", *words) == 0
    capsys.readouterr()
    assert tacit_joint("plan", folder / "study.toml", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["learns"]["dora"]
    data = [w for name in OWNERS
            for w in ("--data", f"{name}={folder / files.get(name, name + '.csv')}")]
    assert tacit_joint("local", folder / "study.toml", "--json", "--out", folder / "out.json",
                       *data) == 0
    return json.loads(capsys.readouterr().out)["results"]


def test_a_tree_over_rows(folder, capsys):
    for place, name in enumerate(OWNERS):
        write(folder / f"{name}.csv", {n: c[place::3] for n, c in WEATHER.items()})
    settings = ["target=play", 'classes=["no", "yes"]', "most=64",
                f"attributes={json.dumps(NAMES[:-1])}",
                *(f"categories.{a.name}={json.dumps(a.categories)}" for a in LAYOUT.attributes)]
    results = tried(folder, "tree", settings, capsys)
    expected = central(LAYOUT, WEATHER)
    for name in OWNERS:
        tree = MixedTree.from_json(results[name])
        assert tree.same_as(expected)
    assert MixedTree.from_json(json.loads((folder / "out.json").read_text()))


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
        "ids=id", "least=5"], capsys)
    parts = [TreePart.from_json(results[name]) for name in OWNERS]
    assert join_parts(parts, NAMES[:-1]).same_as(central(LAYOUT, WEATHER))
    assert "humidity" not in json.dumps(results["north"])
