"""Utility of columns that are constant, very large or very small, and of scores nobody tested."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.methods.anonymity.utility.release_utility import release_utility
from unspoken.protect import MondrianAnonymizer
from unspoken.release.record_key import taken


def people(scale=1.0, **more):
    rng = np.random.default_rng(2)
    return unspoken.read(pa.table({"a": rng.integers(0, 50, 120), "b": rng.random(120) * scale,
                                   "y": rng.choice([*"uv"], 120), **more}),
                         target="y", quasi=["a", "b", *more], show=False)


def test_a_constant_that_stays_one_is_not_suppressed():
    table = people(const=[7] * 120)
    of = release_utility(table, MondrianAnonymizer(5).protect(table)[0])
    assert of.moments["const"] == (0.0, 1.0)
    assert not [line for line in of.warnings if "const" in line]


@pytest.mark.parametrize("scale", [2.0**990, 2.0**-990])
def test_figures_do_not_depend_on_the_unit(scale):
    figures = []
    for table in (people(), people(scale)):
        of = release_utility(table, MondrianAnonymizer(5).protect(table)[0])
        figures.append((of.pairs, of.propensity, *of.moments["b"]))
    assert figures[0] == pytest.approx(figures[1], abs=1e-9)


def test_a_score_without_held_back_records_is_not_stated():
    table = people()
    release, _ = MondrianAnonymizer(5).protect(table)
    of = release_utility(table, release, taken(table, np.arange(0)))
    assert of.score is of.score_of_original is None
    assert "Boosted trees were not tested" in of.summary()
