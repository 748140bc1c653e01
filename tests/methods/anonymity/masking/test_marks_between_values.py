"""Values that hold the mark between joined values are read, and checked, in one way only."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.protect import MondrianAnonymizer


@pytest.mark.parametrize("jobs", [["a |", "b", "a", "| b"], ["a|", "|b", "a", "b"],
                                  ["a | b", "a || b", "a", "b"]])
def test_joined_values_are_told_apart(jobs):
    table = unspoken.read(pa.table({"job": jobs * 10, "n": [i // 4 for i in range(40)]}),
                          show=False)
    release, key = MondrianAnonymizer(4).protect(table)
    mark = release.mechanism["columns"]["job"]["separator"]
    assert not any(mark.strip() in job for job in jobs)
    assert faults_of(table, release, key) == ()


def test_a_description_with_another_mark_names_nobody():
    # Each value is held by fewer than ten; the mark is longer because one holds the usual one.
    rng = np.random.default_rng(0)
    table = unspoken.read(pa.table({"job": rng.choice(["a | b", *"abcde"], 40).tolist(),
                                    "n": rng.integers(0, 30, 40)}), show=False)
    release, key = MondrianAnonymizer(10).protect(table)
    assert "*" not in release.table.arrow()["job"].to_pylist()
    assert release.guarantee.verify(table, release, key)
    assert faults_of(table, release, key) == ()
