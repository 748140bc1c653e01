"""Values far from all others hide nobody: not released ones, not original ones, not an offset."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.coded_tables import farms
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.people.comparable import Numbers, scale_of
from unspoken.audit.people.facts import entropy
from unspoken.disclosure.people_risk import LINKED

ROWS, KNOWN = 300, ["area", "cows", "tons"]


def linked(inside, outside, far=()):
    """Return who is linked in a release with hardly any noise; `far`: values of one row more."""
    rng = np.random.default_rng(1)
    order = rng.permutation(len(inside["area"]))
    noisy = {name: np.append(inside[name] + rng.normal(0, 1e-2, order.size), far)[
        np.append(order, [order.size][:len(far)]).astype(int)] for name in KNOWN}
    tables = [unspoken.read(pa.table({name: one[name] for name in KNOWN}), show=False)
              for one in (noisy, inside, outside)]
    return audit_table(*tables, known=KNOWN, people=60, random_state=0).people.worst(LINKED).value


@pytest.fixture(scope="module")
def groups():
    return [{name: one[name].astype(float) for name in KNOWN}
            for one in (farms(ROWS, 1), farms(ROWS, 2))]


def test_a_row_far_away_in_the_release_hides_nobody(groups):
    assert linked(*groups) > 0.9
    assert linked(*groups, far=[1e12]) > 0.9


def test_a_person_far_from_all_others_hides_nobody(groups):
    inside, outside = groups
    assert linked({name: np.append(inside[name][1:], 1e12) for name in KNOWN}, outside) > 0.9


def test_a_large_number_in_common_hides_nobody(groups):
    assert linked(*({n: one[n] + 1.7e12 for n in KNOWN} for one in groups)) > 0.9


def test_a_range_is_the_originals_but_for_what_lies_far_out():
    values = np.arange(1000.0)
    assert scale_of(values).width == 999
    assert scale_of(np.append(values, 9000)).width == 9000
    assert scale_of(np.append(values, 1e9)).width == pytest.approx(9800, rel=0.01)
    assert scale_of(np.append(np.zeros(1000), 1e9)).width == 1e9
    assert scale_of(np.full(5, np.nan)).width == scale_of(np.zeros(5)).width == 1
    far = np.append(values, [np.nan, 1e12])
    assert entropy(Numbers(far, far)) > 1


def test_the_largest_numbers_have_a_range():
    values = np.array([-1.7e308, 0.0, 1.7e308])
    assert np.isfinite(scale_of(values).shares(values)).all()
