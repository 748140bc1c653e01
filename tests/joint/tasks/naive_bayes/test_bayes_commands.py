"""Naive Bayes, private classification and networks on the command line, run by processes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.bayes_data import CLASSES, LAYOUT, apart, table
from support.joint_commands import OWNERS, tried, write
from unspoken.joint.tasks.classify.program_bayes import PREDICTED
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.network.params import Node, Order, site_of
from unspoken.joint.tasks.network.pooled import pooled as pooled_network
from unspoken.models.bayes_net import BayesNet
from unspoken.models.mixed_bayes import MixedBayes

pytestmark = pytest.mark.slow

SHARED = ["target=class", f"classes={json.dumps(CLASSES)}"]
COLUMNS = ['columns=["a", "h", "b", "w"]', 'categories.a=["x", "y", "z"]',
           'categories.b=["u", "v"]', "range.h=[-20, 30]", "range.w=[0, 100]"]


def again(folder):
    """Make room for another study."""
    for name in ("study.toml", "out.json"):
        (folder / name).unlink()


def test_a_model_over_rows_classifies_another_owners_records(folder, capsys):
    columns, new = table(90, 1), table(20, 2)
    for place, name in enumerate(OWNERS):
        write(folder / f"{name}.csv", {n: c[place::3] for n, c in columns.items()})
    found = tried(folder, "bayes", [*SHARED, *COLUMNS, "most=4096", "bits=20"], capsys)
    model = MixedBayes.from_json(found["south"])
    assert apart(model, pooled(LAYOUT, columns)) < 2.0**-18
    again(folder)
    (folder / "model.json").write_text(json.dumps(found["north"]))
    write(folder / "south.csv", new)
    found = tried(folder, "classify", [*SHARED, *COLUMNS, "model=north", "asks=south"], capsys,
                  north="model.json", east="south.csv")
    logs = np.sort(model.log_joint(new), axis=1)
    sure = logs[:, -1] - logs[:, -2] > 1e-3
    assert sure.any()
    assert (np.array(found["south"][PREDICTED]) == model.predict(new))[sure].all()


def test_columns_of_several_sites(folder, capsys):
    pytest.importorskip("rbcl")
    columns, ids = table(60, 3), np.array([f"r{i}" for i in range(60)], object)
    labels = np.where(np.arange(60) < 50, columns["class"], "")
    own = {"north": {"a": columns["a"]}, "south": {"b": columns["b"], "class": labels},
           "east": {"h": columns["h"]}}
    for name, given in own.items():
        write(folder / f"{name}.csv", {"id": ids} | given)
    found = tried(folder, "bayes-columns", [*SHARED, "class_site=south", "north=[3]", "south=[2]",
                                            'east=["number"]', "ids=id"], capsys)
    for name in OWNERS:
        assert set(found[name]["rows"]) == set(ids[50:])
        assert set(found[name][PREDICTED]) <= set(CLASSES)
    again(folder)
    for name, given in own.items():
        write(folder / f"{name}.csv", {"id": ids} | {n: c for n, c in given.items() if n != "h"} | (
            {"hot": np.where(columns["h"] > 3, "yes", "no")} if name == "east" else {}))
    settings = ['order=["a", "b", "hot"]', "site.a=north", "site.b=south", "site.hot=east",
                "values.a=3", "values.b=2", "values.hot=2", "ids=id"]
    found = tried(folder, "network", settings, capsys)
    order = Order((Node("a", "north", 3), Node("b", "south", 2), Node("hot", "east", 2)))
    every = columns | {"hot": np.where(columns["h"] > 3, "yes", "no")}
    sites = {name: site_of(order, name, every) for name in OWNERS}
    assert BayesNet.from_json(found["east"]) == pooled_network(sites, order)
