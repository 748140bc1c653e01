"""Trees from distorted records: better than the reports as they are, and good estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import unspoken
from unspoken.errors import DataError, InputError
from unspoken.methods.distortion.learners.interval_assignment import (
    by_order,
    by_posterior,
    split_scores,
    whole_counts,
)
from unspoken.methods.distortion.learners.length_pruning import description_length, prune
from unspoken.methods.distortion.noise_laws import for_width
from unspoken.mine import Noise, ReconstructingTreeClassifier, noisy_tree
from unspoken.models.tree import Tree
from unspoken.protect import NoiseAdder, RandomizedResponse
from unspoken_experiments.as2000.quest import COLUMNS, RANGES, group, matrix, people

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study():
    """20,000 people with Gaussian noise at 100% privacy, and 3,000 to test on."""
    train, test = people(20_000, 1), people(3000, 2)
    rng = np.random.default_rng(3)
    laws = [for_width("gaussian", RANGES[c][1] - RANGES[c][0]) for c in COLUMNS]
    clean = matrix(train)
    noisy = clean + np.column_stack([law.quantile(rng.random(20_000)) for law in laws])
    return train, test, clean, noisy, laws


def accuracy(study, function, strategy, **options):
    train, test, clean, noisy, laws = study
    learner = ReconstructingTreeClassifier(laws, strategy, support=[RANGES[c] for c in COLUMNS],
                                           **options)
    learner.fit(clean if strategy == "original" else noisy, group(train, function))
    assert isinstance(learner.tree_, Tree)
    return float((learner.predict(matrix(test)) == group(test, function)).mean())


@pytest.mark.parametrize("strategy", ["refined", "local"])
def test_function_1_is_within_5_points_of_the_original(study, strategy):
    assert accuracy(study, 1, "original") > 0.99
    assert accuracy(study, 1, "randomized") < 0.75
    assert accuracy(study, 1, "global") < 0.75
    assert accuracy(study, 1, strategy) > 0.94


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_function_3_is_within_15_points_of_the_original(study, criterion):
    original = accuracy(study, 3, "original", criterion=criterion)
    assert accuracy(study, 3, "refined", criterion=criterion) > original - 0.15


def test_pruning_takes_back_what_does_not_pay(study):
    train, _, _, noisy, laws = study
    ranges = [RANGES[c] for c in COLUMNS]
    grown, pruned = (ReconstructingTreeClassifier(laws, "byclass", support=ranges, prune=how).fit(
        noisy, group(train, 2)).tree_ for how in (None, "mdl"))
    assert pruned.nodes < grown.nodes / 5
    assert pruned.same_as(prune(grown, [100] * 9))
    pure = np.array([[100.0, 0.0], [50.0, 50.0]])
    assert description_length(pure)[0] < description_length(pure)[1] - 90


def test_a_release_says_all_that_is_needed():
    train = people(6000, 4)
    y = group(train, 1)
    table = unspoken.read({"age": train["age"], "loan": train["loan"], "group": y}, target="group",
                       show=False)
    release, _ = NoiseAdder(privacy=0.5, random_state=0).protect(table)
    found = noisy_tree(release)
    assert found.features == ("age", "loan")
    test = people(2000, 5)
    right = found.predict(np.column_stack([test["age"], test["loan"]])) == group(test, 1)
    assert right.mean() > 0.9


@pytest.mark.parametrize("strategy", ["refined", "local"])
def test_randomised_answers_as_columns(strategy):
    """Truth .7 on one of three answers that decides the class: found again."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, 12_000)
    y = np.where((true == 2) ^ (rng.random(12_000) < 0.05), "b", "a")
    table = unspoken.read({"q": true, "y": y}, target="y", kinds={"q": "ordinal"}, show=False)
    release, _ = RandomizedResponse(0.7, shuffle_rows=False, random_state=1).protect(table)
    law = release.mechanism["columns"]["q"]
    said = np.array(release.table.arrow()["q"].to_pylist(), float)
    found = ReconstructingTreeClassifier([np.array(law["matrix"])], strategy).fit(said[:, None], y)
    assert found.predict([[0.0], [1.0], [2.0]]).tolist() == ["a", "a", "b"]
    share = found.predict_proba([[2.0]])[0, 1]
    plain = (y[said == 2] == "b").mean()
    assert share > plain + 0.1
    assert noisy_tree(release, strategy).predict([[2.0]]).tolist() == ["b"]


def test_counts_are_whole_and_records_keep_their_order():
    assert whole_counts(np.array([0.5, 0.25, 0.25]), 5).tolist() == [3, 1, 1]
    values = np.array([5.0, 1.0, 3.0, 2.0])
    assert by_order(values, np.array([0.5, 0.0, 0.5])).tolist() == [2, 0, 2, 0]
    kernel = np.array([[0.8, 0.2], [0.2, 0.8]])
    found = by_posterior(np.r_[np.zeros(50, int), np.ones(50, int)], np.array([0.5, 0.5]), kernel,
                         np.random.default_rng(0))
    assert np.bincount(found[:50]).tolist() == [40, 10]
    assert np.bincount(found[50:]).tolist() == [10, 40]


def test_gini_of_a_split_by_hand():
    """(2,0 | 1,3): 2 x 0 + 4 x (1 - 1/16 - 9/16) = 1.5."""
    table = np.array([[2.0, 0.0], [1.0, 3.0], [0.0, 0.0]])
    assert split_scores(table, "gini")[0] == pytest.approx(1.5)
    assert split_scores(table, "gini")[1] == np.inf
    assert split_scores(np.array([[2.0, 2.0], [0.0, 4.0]]), "entropy")[0] == pytest.approx(4.0)


def test_what_cannot_be_learned_is_refused_by_name():
    x, y = np.arange(40.0).reshape(-1, 1), np.array(["a", "b"] * 20)
    with pytest.raises(DataError, match="one class"):
        ReconstructingTreeClassifier().fit(x, ["a"] * 40)
    with pytest.raises(DataError, match=r"than intervals \(60\)"):
        ReconstructingTreeClassifier(Noise("gaussian", 1.0), bins=60).fit(x, y)
    with pytest.raises(InputError, match="'strategy'"):
        ReconstructingTreeClassifier(strategy="best").fit(x, y)
    with pytest.raises(InputError, match=r"'noise'.*sequence of 1"):
        ReconstructingTreeClassifier([None, None]).fit(x, y)
    with pytest.raises(InputError, match="sums to one"):
        ReconstructingTreeClassifier([[[0.9, 0.2], [0.1, 0.9]]]).fit(x, y)
    with pytest.raises(InputError, match="'function'"):
        group(people(3), 6)


def checks():
    for strategy in ("refined", "local"):
        learner = ReconstructingTreeClassifier(strategy=strategy)
        for estimator, check in estimator_checks_generator(learner, legacy=True):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            yield pytest.param(estimator, check, id=f"{strategy}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)
