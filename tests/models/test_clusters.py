"""Clusters as a pattern: files, prediction, comparison."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unspoken.errors import InputError, ModelError
from unspoken.models.clusters import Clusters

CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.1, -7.25]])
FOUND = Clusters(("a", "b"), CENTRES, np.array([2, 0, 0, 1]))


@pytest.mark.slow
@given(arrays(np.float64, (3, 2), elements=st.floats(-1e300, 1e300)))
def test_files_keep_every_bit(centres):
    first = Clusters(("a", "b"), centres, np.array([0, 2]))
    again = Clusters.from_json(first.to_json())
    assert again.same_as(first).identical


def test_saved_and_loaded(tmp_path):
    FOUND.save(tmp_path / "clusters.json")
    assert Clusters.load(tmp_path / "clusters.json").same_as(FOUND).identical


def test_the_nearest_centre_and_the_first_among_equals():
    assert FOUND.predict([[3.0, 0.0], [2.0, 0.0], [0.0, -5.0]]).tolist() == [1, 0, 2]
    with pytest.raises(InputError, match=r"of shape \(records, 2\)"):
        FOUND.predict([[1.0, 2.0, 3.0]])


def test_differences_are_named():
    other = Clusters(("a", "b"), CENTRES + np.array([[0, 0], [0, 0], [0, 1e-9]]), FOUND.assigned)
    assert "centre 2" in str(FOUND.same_as(other))
    moved = Clusters(("a", "b"), CENTRES, np.array([2, 0, 1, 1]))
    assert "record 2" in str(FOUND.same_as(moved))
    assert not FOUND.same_as(Clusters(("a", "c"), CENTRES, FOUND.assigned))
    assert not FOUND.same_as(Clusters(("a", "b"), CENTRES))


def test_a_summary_has_sizes_where_assignments_are_known():
    assert "(2 records)" in FOUND.summary()
    assert "records" not in Clusters(("a", "b"), CENTRES).summary()


@pytest.mark.parametrize("change", [
    {"clusters": 2}, {"centres": [1.0]}, {"centres": [float("nan")] * 6}, {"assigned": [3]},
    {"assigned": [-2]}, {"features": ["a"]}, {"format": "unspoken-tree"}, {"clusters": 10**9},
    {"assigned": [0.5]}, {"features": "ab"}])
def test_what_is_wrong_with_a_file_is_refused(change):
    with pytest.raises(ModelError):
        Clusters.from_json({**FOUND.to_json(), **change})
