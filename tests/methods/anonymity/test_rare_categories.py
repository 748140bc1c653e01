"""Microaggregation publishes no category that fewer than k people hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.methods.anonymity.perturbing.microaggregation import _published
from unspoken.protect import Microaggregator
from unspoken.table.category_codes import coded


def test_a_category_of_few_people_wins_nowhere():
    owner = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    jobs = coded(pa.array(["mayor", "mayor", "cook", "cook", "cook", "smith", "a", "b", "c"]))
    shown = _published(jobs, owner, 3).to_pylist()
    assert shown == ["cook"] * 6 + [None] * 3


def test_a_release_of_rare_categories_keeps_its_promise():
    rng = np.random.default_rng(1)
    jobs = [f"job{at}" for at in range(30)] + [*rng.choice(["cook", "smith"], 60)]
    table = unspoken.read(pa.table({"age": rng.integers(20, 60, 90), "job": jobs,
                                    "ill": [*"xyz"] * 30}), quasi=["age", "job"],
                          sensitive="ill", show=False)
    release, key = Microaggregator(5).protect(table)
    assert set(release.table.arrow()["job"].to_pylist()) <= {"cook", "smith", None}
    assert faults_of(table, release, key) == ()
    assert release.guarantee.verify(table, release)
