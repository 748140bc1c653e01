"""The third party of section 7.3.7 finds the points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from unspoken.errors import InputError
from unspoken.joint.museum.distance_attack import (
    anchored,
    baseline,
    place,
    seen_distances,
    unfold,
)
from unspoken.joint.museum.outliers_third_party import ACCEPT, ThirdPartyOutliers
from unspoken.joint.session.recorded_run import run_recorded
from unspoken.joint.tasks.outliers.params import OutlierParams
from unspoken.joint.tasks.outliers.program_rows import OutliersOverRows

RULES = OutlierParams(0.9, 3.0, scale=8)


def people(seed=0, count=60):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(0, 1, (4, 4))
    return np.clip(np.rint(rng.normal(0, 1, (count, 4)) @ mixing * 256) / 256, -7.9, 7.9)


def recorded(data, block=1 << 20):
    parts = [data[:20], data[20:35], data[35:]]
    program = ThirdPartyOutliers(RULES, 4, ["p0", "p1", "p2"], "p3", block=block, accept=ACCEPT)
    outcomes, views = run_recorded(program, [*parts, None])
    assert [outcome.error for outcome in outcomes] == [None] * len(outcomes)
    return views


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_distances_between_two_groups_give_both_up_to_a_motion(seed, columns):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 1, (30, columns)), rng.normal(1, 2, (columns + 4, columns))
    a, b = unfold(cdist(x, y, "sqeuclidean"), columns)
    # Distances within the groups were never given, and must come out.
    assert np.allclose(cdist(a, a), cdist(x, x), atol=1e-5)
    assert np.allclose(cdist(b, b), cdist(y, y), atol=1e-5)
    assert np.allclose(cdist(a, b), cdist(x, y), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("block", [1 << 20, 37])
def test_the_view_of_the_third_party_is_the_data_up_to_a_motion(block):
    data = people()
    seen = seen_distances(recorded(data, block)["p3"], RULES.scale)
    assert np.allclose(seen[0, 2], cdist(data[:20], data[35:], "sqeuclidean"), atol=0)
    found = place(seen, 4)
    assert found.success(data) == 1.0
    assert baseline(data) < 0.1


def test_five_known_records_give_every_value_of_four_columns():
    data = people(1)
    found = place(seen_distances(recorded(data)["p3"], RULES.scale), 4)
    fixed = anchored(found, [0, 3, 21, 40, 41], data[[0, 3, 21, 40, 41]])
    assert fixed.success(data, 1e-6) == 1.0
    # Without the motion the coordinates themselves are wrong.
    wrong = np.abs(found.together - data) > 0.01
    assert wrong.mean() > 0.5


def test_nobody_sees_distances_without_a_third_party():
    program = OutliersOverRows(RULES, 4, ["p0", "p1", "p2"])
    data = people()
    _, views = run_recorded(program, [data[:20], data[20:35], data[35:]])
    for view in views.values():
        assert sum(one.array.size for one in view.labelled("reveal")) <= 2 * (3 + 25)


def test_too_little_is_refused():
    with pytest.raises(InputError, match="at least 15 points"):
        unfold(np.ones((14, 9)), 4)
    found = place({(0, 1): cdist(people()[:30], people()[30:], "sqeuclidean")}, 4)
    with pytest.raises(InputError, match="At least 5 known records"):
        anchored(found, [0, 1], people()[:2])


def test_the_baseline_is_the_best_single_guess():
    data = np.array([[0.0], [0.0], [0.0], [1.0]])
    assert baseline(data) == 0.75
