"""A tree-preserving release that merges values outside the quasi-identifiers keeps its promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.protect import TreePreservingAnonymizer


def people():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 400)
    return unspoken.read(pd.DataFrame({
        "age": age, "income": rng.integers(900, 90_000, 400), "sex": rng.choice(["f", "m"], 400),
        "ill": np.where(rng.random(400) < 1 / (1 + np.exp(-(age - 60) / 6)), "yes", "no")}),
        target="ill", quasi=["age", "sex"], show=False)


@pytest.mark.slow
def test_merged_incomes_are_no_fault_and_changed_classes_are():
    table = people()
    release, key = TreePreservingAnonymizer(k=5, random_state=0).protect(table)
    assert "income" in release.mechanism["blocks"]
    assert faults_of(table, release, key) == ()
    rows = release.table.arrow()
    place = rows.column_names.index("ill")
    turned = pa.array(["no" if label == "yes" else "yes" for label in rows["ill"].to_pylist()])
    changed = unspoken.read(rows.set_column(place, "ill", turned), target="ill",
                            quasi=["age", "sex"], show=False)
    assert any("'ill'" in fault for fault in
               faults_of(table, replace(release, table=changed), key))
