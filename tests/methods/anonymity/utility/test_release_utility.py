"""Utility beside risk: figures that are known, warnings that must come, and the frontier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from unspoken.audit.kept_promises import faults_of
from unspoken.errors import InputError
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.utility.release_features import Features
from unspoken.methods.anonymity.utility.release_utility import release_utility
from unspoken.methods.anonymity.utility.risk_utility_frontier import _order, frontier
from unspoken.protect import DataSwapper, Microaggregator, MondrianAnonymizer, OptimalRecoder
from unspoken.table.engines.local import MemoryFrame


def people(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    gain = np.where(rng.random(rows) < 0.03, 50_000, rng.integers(0, 40, rows))
    return unspoken.read(pa.table({
        "age": age, "gain": gain, "city": rng.choice(["A", "B", "C"], rows),
        "ill": rng.choice(["flu", "cold", "none"], rows),
        "y": np.where(age + rng.normal(0, 6, rows) > 50, "old", "young")}),
        target="y", quasi=["age", "gain", "city"], sensitive="ill", show=False)


def test_features_of_a_release_are_those_of_what_it_stands_for():
    table = people()
    features = Features.of(table, ["age", "city"])
    plain = features.original(table)
    assert plain.shape == (400, 5)
    assert np.array_equal(plain[:, 0], table.arrow()["age"].to_numpy())
    method = OptimalRecoder(5, columns=["age", "city"], others="keep", shuffle_rows=False)
    release, _ = method.protect(table)
    shown = features.released(release)
    kept = plain[method.rows_]
    assert np.nanmax(np.abs(shown[:, 0] - kept[:, 0])) <= 40
    assert np.allclose(shown[:, 1:].sum(axis=1), 1)


def test_swapping_keeps_marginals_and_breaks_pairs():
    table = people()
    release = DataSwapper(share=0.9).protect(table)[0]
    of = release_utility(table, release)
    assert of.marginals < 1e-9
    assert of.warnings == ()
    assert of.propensity < 0.01


@pytest.mark.slow
def test_misuse_is_warned_of():
    table = people()
    release = MondrianAnonymizer(20).protect(table)[0]
    of = release_utility(table, release, people(150, seed=1))
    assert any("'gain' are not usable" in line for line in of.warnings)
    assert of.k >= 20
    assert 0.5 < of.score <= of.score_of_original + 0.05
    assert "Boosted trees reach" in of.summary()
    assert sum(size * many for size, many in of.class_sizes) == release.table.rows
    near = release_utility(table, Microaggregator(3).protect(table)[0])
    assert not any("Means" in line for line in near.warnings)


@pytest.mark.slow
def test_the_frontier_recommends_what_keeps_most():
    tried = frontier(people(240), {"k": 5, "l": 1.2, "diversity": "strong"}, random_state=1)
    best = tried.best
    scores = [one.utility.score for one in tried.tried if one.utility is not None]
    assert best.utility.score == max(scores)
    assert all(one.utility.k >= 5 for one in tried.tried if one.utility is not None)
    assert all(one.utility.strong_l > 1.2 for one in tried.tried
               if one.utility is not None)
    assert any(one.refusal for one in tried.tried if one.method == "microaggregation")
    assert best in tried.frontier
    assert "*" in tried.summary()


@pytest.mark.slow
def test_of_equally_useful_releases_the_one_of_less_risk_is_recommended():
    tried = frontier(people(240), {"k": 5}, random_state=1).tried
    known = [one for one in tried if one.utility is not None]
    equal = [replace(one, utility=replace(one.utility, score=0.5)) for one in known]
    ordered = sorted(equal, key=lambda one: _order(one, "prediction"))
    risks = [one.utility.average_risk for one in equal]
    assert ordered[0].utility.average_risk == min(risks) < max(risks)


def awkward():
    """Return tables that once broke the test on held-back records, by name."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 160)
    base = {"age": age, "job": rng.choice([*"abc"], 160)}
    old = np.where(age > 50, "o", "n").tolist()
    return {
        "classes of one record": {**base, "y": ["z", "q", *old[2:]]},
        "numbers with gaps": {**base, "y": pa.array([None if i % 9 == 0 else 3.0 * v + i % 7
                                                     for i, v in enumerate(age.tolist())])},
        "one class": {**base, "y": ["a"] * 160},
        "infinite": {**base, "age": [float("inf"), *map(float, age[1:])], "y": old},
        "nothing known": {**base, "job": pa.array([None] * 160, pa.string()), "y": old},
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", awkward())
def test_awkward_targets_are_scored(name):
    # An infinite quasi-identifier is refused; beside them the column is released as it is.
    method = MondrianAnonymizer(60, columns=["job"], others="keep") if name == "infinite" \
        else MondrianAnonymizer(4)
    rows = pa.table(awkward()[name])
    whole = [unspoken.read(rows.slice(*part), target="y", quasi=["age", "job"], show=False)
             for part in ((0, 120), (120, 40))]
    of = release_utility(whole[0], method.protect(whole[0])[0], whole[1])
    assert np.isfinite([of.score, of.score_of_original, of.propensity, of.pairs]).all()
    if name == "one class":
        assert of.score == 0.5


@pytest.mark.slow
def test_what_nobody_reaches_is_refused():
    with pytest.raises(InputError, match="No method reaches"):
        _ = frontier(people(80), {"k": 5, "l": 9.0, "diversity": "strong"}).best
    with pytest.raises(InputError, match="A task"):
        frontier(people(80), {"k": 5}, "nothing")


@pytest.mark.parametrize("local", [False, True])
def test_a_suppressed_category_is_reported_as_a_suppressed_number_is(local):
    table = unspoken.read(pa.table({
        "name": [f"person {at}" for at in range(40)], "age": [20, 30] * 20}),
        quasi=["name", "age"], show=False)
    flat = Hierarchy.of([f"person {at}", "*"] for at in range(40))
    release, key = OptimalRecoder(k=5, hierarchies={"name": flat}, local=local).protect(table)
    assert set(release.table.arrow(["name"])["name"].to_pylist()) == {"*"}
    assert "'name' is suppressed: it tells nothing about single records." in release_utility(
        table, release).warnings
    if not local:
        assert release.mechanism["columns"]["name"]["form"] == "suppressed"
    assert faults_of(table, release, key) == ()


def shown_as(column, values):
    """Return a table, and its release in which one column holds other values."""
    table = unspoken.read(pa.table({"age": list(range(40)) * 2, "city": [*"ABBB"] * 20}),
                          quasi=["age", "city"], show=False)
    release = DataSwapper(share=0.5).protect(table)[0]
    rows = release.table.arrow()
    at = rows.column_names.index(column)
    rows = rows.set_column(at, column, pa.array(values, rows.schema.field(column).type))
    return table, replace(release, table=replace(release.table, frame=MemoryFrame(rows)))


def test_a_column_that_tells_nothing_has_moved_wholly():
    for column in ("age", "city"):
        assert release_utility(*shown_as(column, [None] * 80)).marginals == 1.0
    half = release_utility(*shown_as("age", [None, *range(1, 40, 2), *[None] * 19] * 2))
    assert half.marginals >= 0.5


def test_frequencies_that_moved_are_warned_of():
    moved = release_utility(*shown_as("city", [*"AAAB"] * 20)).warnings
    assert moved == ("Frequencies of 'city' are not usable: 50% of the records have moved to other "
                     "values, or to none.",)
    assert release_utility(*shown_as("city", [*"BABB"] * 20)).warnings == ()
