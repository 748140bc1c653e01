"""Columns that are neither quasi-identifiers nor sensitive are kept or left out of everything."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.errors import SchemaError
from unspoken.methods.anonymity.tree_preserving import grow_tree
from unspoken.methods.anonymity.utility.risk_utility_frontier import frontier
from unspoken.protect import TreePreservingAnonymizer


def people(rows=160):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, rows)
    return unspoken.read(pa.table({
        "age": age, "city": rng.choice([*"ABC"], rows), "ill": rng.choice([*"fhc"], rows),
        "wide": 2**60 + rng.permutation(rows), "note": rng.choice([*"pqrs"], rows),
        "y": np.where(age + rng.normal(0, 5, rows) > 40, "o", "n")}), target="y",
        quasi=["age", "city"], sensitive="ill", kinds={"wide": "numeric"}, keep=["wide"],
        show=False)


def test_what_is_dropped_is_in_no_file_of_the_release(tmp_path):
    table = people()
    release, key = TreePreservingAnonymizer(8, others="drop").protect(table)
    assert set(release.schema.names) == {"age", "city", "ill", "y"}
    release.save(tmp_path / "r")
    told = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert told["guarantee"]["facts"]["predictors"] == ["age", "city"]
    assert grow_tree.main(tmp_path / "r") == 0
    assert '"note"' not in "".join(part.read_text() for part in (tmp_path / "r").glob("*.json"))
    assert faults_of(table, release, key) == ()
    assert release.guarantee.verify(table, release)


def test_others_are_refused_where_that_is_asked_for():
    with pytest.raises(SchemaError, match="'wide' is neither"):
        TreePreservingAnonymizer(8, others="refuse").protect(people())


@pytest.mark.slow
def test_the_frontier_tries_trees_where_other_columns_are_left_out():
    tried = frontier(people(), {"k": 5, "others": "drop"}, random_state=1).tried
    trees = [one for one in tried if one.method == "tree-preserving"]
    assert all(one.utility is not None and one.parameters["others"] == "drop" for one in trees)
