"""A release whose columns were rounded for its learners is audited like any other."""

from __future__ import annotations

import numpy as np
import pytest

import unspoken
from unspoken.audit.run_audit import audit


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"mode": "max-mono", "monochromatic": "record"}])
def test_rounded_values_are_scored(options):
    rng = np.random.default_rng(0)
    close = 1.0 + rng.integers(0, 40, 300) * 3e-8
    table = unspoken.read({"close": close, "x": rng.normal(size=300),
                           "y": np.where(rng.random(300) < 0.5, "a", "b")},
                          target="y", kinds={"close": "numeric"}, show=False)
    release, key = unspoken.protect.PiecewiseEncoder(**options).protect(table)
    assert "close" in str(release.guarantee.to_json())
    assert np.unique(release.table.numbers(["close"])).size < np.unique(close).size
    audited = audit(table, release, key, trials=2, people=False)
    assert audited.faults == ()
    assert {row.column for row in audited.select(measure="records")} >= {"close", "x"}
