"""Records put into intervals by all of their reports together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from unspoken.methods.distortion.known_laws import Additive
from unspoken.methods.distortion.learners.distorted_column import Setting, column_of
from unspoken.methods.distortion.learners.posterior_refinement import (
    Boxes,
    Refiner,
    Reported,
    blurred,
    left_open,
)
from unspoken.methods.distortion.noise_laws import Noise, for_width
from unspoken.mine import ReconstructingTreeClassifier
from unspoken.models.tree import Tree


def tree_over(x, y, leaves=4):
    grown = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(x, y)
    return Tree.from_sklearn(grown)


def test_boxes_are_where_records_go():
    """Every pair of interval numbers lies in the box of its leaf, and in no other."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 6, (400, 2))
    tree = tree_over(x, (x[:, 0] > 2) ^ (x[:, 1] > 3), 6)
    boxes = Boxes.of(tree, [6, 6])
    every = np.array([[i, j] for i in range(6) for j in range(6)])
    inside = np.all((every[:, None] >= boxes.low) & (every[:, None] < boxes.high), axis=2)
    assert np.all(inside.sum(axis=1) == 1)
    np.testing.assert_array_equal(boxes.leaves[inside.argmax(axis=1)], tree.apply(every))


def test_a_report_is_weighed_by_bayes_rule():
    """Two intervals, chances .8 and .3 of a report, prior .25 and .75: likelier inside the first
    by .8 / (.25 x .8 + .75 x .3); draws follow the posterior."""
    class Two:
        table = np.array([[0.8, 0.3], [0.2, 0.7]])

    one = Reported.of(Two(), np.zeros(4000, int), np.array([0.25, 0.75]))
    ratio = one.ratios(np.array([0, 1]), np.array([1, 2]))[0]
    np.testing.assert_allclose(ratio, np.array([0.8, 0.3]) / (0.25 * 0.8 + 0.75 * 0.3), rtol=1e-5)
    rng = np.random.default_rng(0)
    zero, two = np.zeros(4000, int), np.full(4000, 2)
    share = (one.drawn(zero, two, rng) == 0).mean()
    assert share == pytest.approx(0.2 / 0.425, abs=4 * np.sqrt(0.25 / 4000))
    assert np.all(one.drawn(zero + 1, two, rng) == 1)


def test_exact_records_stay_where_they_are():
    """Without noise every round finds the same tree and the same counts."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 8, (600, 2)).astype(float)
    y = ((x[:, 0] > 3) & (x[:, 1] > 2)).astype(int)
    columns = [column_of(x[:, i], _identity(8), None, Setting("steps", 1)) for i in range(2)]
    shares = [np.array([c.distribution(np.flatnonzero(y == k)) for k in (0, 1)]) for c in columns]
    refiner = Refiner(columns, y, shares, lambda d: tree_over(np.concatenate(d),
                                                              np.tile(y, len(d))), 0)
    found = refiner.refined(x.astype(int), 3)
    plain = tree_over(x, y)
    np.testing.assert_array_equal(found.threshold, plain.threshold)
    np.testing.assert_allclose(found.value, plain.value, atol=1e-4)
    np.testing.assert_allclose(found.weighted_n_samples, plain.weighted_n_samples, atol=0.5)


def _identity(size):
    from unspoken.methods.distortion.known_laws import Answers

    return Answers(tuple(range(size)), np.eye(size))


@pytest.fixture(scope="module")
def bands():
    """Three bands of pay that depend on age (function 2 of as2000, two columns), 20,000 people."""
    def people(n, seed):
        rng = np.random.default_rng(seed)
        age, pay = rng.uniform(20, 80, n), rng.uniform(20, 150, n)
        low = np.select([age < 40, age < 60], [50, 75], 25)
        return np.column_stack([age, pay]), np.where((pay >= low) & (pay <= low + 50), "A", "B")

    return people(20_000, 0), people(4000, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "more"), [("uniform", 0.08), ("gaussian", 0.03)])
def test_combinations_are_learned(bands, family, more):
    """100% privacy: rounds win what order alone cannot, and the paper's ByClass is still there."""
    (x, y), (fresh, truth) = bands
    laws = [for_width(family, 60.0), for_width(family, 130.0)]
    rng = np.random.default_rng(2)
    w = x + np.column_stack([law.quantile(rng.random(20_000)) for law in laws])
    right = {}
    for strategy in ("byclass", "refined"):
        learner = ReconstructingTreeClassifier(laws, strategy,
                                               support=[(20.0, 80.0), (20.0, 150.0)])
        right[strategy] = (learner.fit(w, y).predict(fresh) == truth).mean()
    assert right["refined"] > right["byclass"] + more
    assert right["refined"] > 0.8


def test_rounds_are_repeatable(bands):
    (x, y), _ = bands
    noise = Noise("laplace", 10.0)
    w = x[:3000] + noise.quantile(np.random.default_rng(3).random((3000, 2)))
    first, again = (ReconstructingTreeClassifier(noise, rounds=2).fit(w, y[:3000]).tree_
                    for _ in range(2))
    assert first.same_as(again)
    assert first.value.min() >= 0
    np.testing.assert_allclose(first.value.sum(axis=1), 1.0)


@pytest.mark.parametrize("ratio", [0.2, 0.5, 1.0, 2.0])
def test_what_reports_leave_open(ratio):
    """Gaussian values, Gaussian noise `ratio` times as wide: r^2 / (1 + r^2) of the variance."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(50_000)
    noise = Noise("gaussian", ratio)
    column = column_of(x + noise.quantile(rng.random(x.size)), Additive(noise, -4.0, 4.0), 60,
                       Setting())
    assert left_open(column) == pytest.approx(ratio**2 / (1 + ratio**2), rel=0.12)
    assert blurred([column]) == (ratio >= 0.5)


def test_narrow_noise_is_left_to_order(bands):
    """10% privacy: the same tree as without rounds."""
    (x, y), _ = bands
    noise = for_width("gaussian", 6.0)
    w = x[:3000] + noise.quantile(np.random.default_rng(3).random((3000, 2)))
    first, again = (ReconstructingTreeClassifier(noise, how).fit(w, y[:3000]).tree_
                    for how in ("byclass", "refined"))
    assert first.same_as(again)
    assert not blurred([])


def test_the_law_of_a_column_is_kept():
    law = Additive(Noise("uniform", 1.0), 0.0, 4.0)
    column = column_of(np.linspace(-1, 5, 200), law, 4, Setting())
    np.testing.assert_allclose(column.table.sum(axis=0), 1.0)
    assert column.exact is None
