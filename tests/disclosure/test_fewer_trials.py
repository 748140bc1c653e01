"""Columns of very many values are attacked in fewer trials, and every row says in how many."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.disclosure.knowledge_levels import LEAST_TRIALS, MOST_GUESSES, Setting
from unspoken.methods.encoding.adversaries.curve_shapes import natural_splines, polylines
from unspoken.protect import PiecewiseEncoder
from unspoken.risk import audit


def test_few_values_have_all_trials_and_many_the_least():
    setting = Setting(trials=100)
    assert setting.bounded(MOST_GUESSES // 100) is setting
    assert setting.bounded(MOST_GUESSES).trials == LEAST_TRIALS
    assert Setting(trials=5).bounded(MOST_GUESSES).trials == 5
    assert Setting(trials=100, every_trial=True).bounded(MOST_GUESSES).trials == 100


@pytest.mark.slow
def test_rows_and_limits_say_so():
    values = np.random.default_rng(0).permutation(60_000) / 7
    table = unspoken.read(pa.table({"a": values, "b": np.round(values) % 50,
                                    "y": values > 4000}), target="y", show=False)
    release, key = PiecewiseEncoder(conditioning="none").protect(table)
    found = audit(table, release, key, trials=50, random_state=0, people=False, subspaces=1)
    drawn = {name: max(row.trials for row in found.select(column=name, measure="domain"))
             for name in ("a", "b")}
    assert drawn == {"a": MOST_GUESSES // 60_000, "b": 50}
    assert any("'--precision' makes more" in line and line.startswith("a ")
               for line in found.limits)
    assert "pairs of columns were counted on 50,000 records drawn at random" in found.limits


@pytest.mark.parametrize("curve", [polylines, natural_splines])
def test_long_columns_are_evaluated_as_short_ones_are(curve):
    rng = np.random.default_rng(1)
    x = np.sort(rng.normal(size=5000))
    known = np.sort(rng.choice(x, (7, 4), replace=False), axis=1)
    curves = curve(known, rng.normal(size=known.shape))
    assert np.array_equal(curves.at(x), curves.at(np.broadcast_to(x, (7, x.size))))
