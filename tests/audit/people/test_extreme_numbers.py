"""Numbers that single precision cannot hold are attacked like others: scales do not matter."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import unspoken
from unspoken.audit.people.comparable import Numbers, Scale
from unspoken.audit.people.exchanged_names import _Column


@pytest.mark.parametrize("factor", [1e-300, 1e-35, 1e35, 1e300])
def test_distances_do_not_depend_on_the_unit(factor):
    mine, low = np.array([0.0, 1.0, 3.0, np.nan]), np.array([3.0, 0.5, 0.0, np.nan])
    wide = np.array([3.5, 1.0, 0.0, np.nan])
    for high in (low, wide):
        plain = Scale(3.0).apart(Numbers(mine, mine), slice(None), Numbers(low, high))
        there = low * factor
        other = Numbers(there, there if high is low else high * factor)
        scaled = Scale(3.0 * factor).apart(Numbers(mine * factor, mine * factor), slice(None),
                                           other)
        np.testing.assert_allclose(scaled, plain, rtol=1e-5, atol=1e-6)


def test_infinities_of_one_side_agree():
    values = np.array([np.inf, -np.inf, 1.0, np.nan])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Scale(2.0).apart(Numbers(values, values), slice(None), Numbers(values, values))
    np.testing.assert_array_equal(found, 1.0 - np.eye(4, dtype=np.float32))


def test_integers_that_fall_together_as_numbers_are_counted_together():
    wide = unspoken.read({"x": [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 4]}, show=False)
    column = _Column.of(wide, "x")
    assert column.values.size == np.unique(column.values).size == column.shares.size
    assert column.shares.sum() == pytest.approx(1.0)
    assert column.off(column) == pytest.approx(0.0)
