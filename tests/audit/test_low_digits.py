"""A mean near a value hides nothing; digits below or above other ones do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import unspoken
from unspoken.audit.hidden_values import hidden_values
from unspoken.protect import Microaggregator

ROWS = np.arange(600)


def whole_numbers():
    values = np.random.default_rng(4).integers(1, 100, ROWS.size)
    return values, unspoken.read(pa.table({"b": values}), show=False)


def test_the_mean_of_near_values_is_no_hidden_value():
    values, table = whole_numbers()
    near = unspoken.read(pa.table({"b": values + np.random.default_rng(5).uniform(
        -0.4, 0.4, ROWS.size)}), show=False)
    release, _ = Microaggregator(8, form="univariate", shuffle_rows=False).protect(table)
    assert hidden_values(table, near, ROWS, ROWS) == ()
    assert hidden_values(table, release.table, ROWS, ROWS) == ()


def test_low_digits_before_and_behind_the_point_are_noticed():
    values, table = whole_numbers()
    others = np.random.default_rng(6).integers(1, 99, ROWS.size)
    for hiding in (others * 100 + values, values + others / 100 + values / 1e6, -values):
        release = unspoken.read(pa.table({"b": hiding.astype(float)}), show=False)
        assert hidden_values(table, release, ROWS, ROWS) == (
            "'b' holds the values of 'b' in its low digits",)
