"""Training that goes on differently on the original: decoding fits what only the original has."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import unspoken
from support.encoding_walk import table_of, walk
from unspoken.errors import DecodeError
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.protect import PiecewiseEncoder, decode


def heavy_tails(seed, rows=200):
    """Return values whose codes and originals have other middles, and noisy classes."""
    rng = np.random.default_rng(seed)
    data = np.exp(rng.normal(size=(rows, 2)) * 3).round(3)
    noise = np.exp(rng.normal(size=rows) * 2)
    return data, np.where(data[:, 0] * noise > 1, "b", "a")


def stopping(seed, **params):
    return HistGradientBoostingClassifier(
        early_stopping=True, n_iter_no_change=1, max_iter=50, validation_fraction=0.3,
        random_state=seed, min_samples_leaf=3, learning_rate=0.5, **params)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [14, 23, 6])
def test_early_stopping_ends_where_the_original_ends(seed):
    went = walk(*heavy_tails(seed), stopping(seed), random_state=seed, breakpoints=20)
    assert went.release.guarantee.covers(stopping(seed))
    assert len(went.mined._predictors) != len(went.original._predictors)
    assert went.identical
    assert np.array_equal(went.decoded.validation_score_, went.original.validation_score_)


@pytest.mark.slow
def test_rounds_that_follow_need_the_models_own_parameters():
    went = walk(*heavy_tails(14), stopping(14), random_state=14, breakpoints=20)
    other = copy.deepcopy(went.mined).set_params(min_samples_leaf=8)
    with pytest.raises(DecodeError, match="not those that its training rows and parameters"):
        decode(other, went.key, table_of(*heavy_tails(14)))
    other = copy.deepcopy(went.mined).set_params(max_iter=10**9)
    with pytest.raises(DecodeError, match="at most 2000 rounds"):
        decode(other, went.key, table_of(*heavy_tails(14)))


@pytest.mark.parametrize("params", [
    {"scoring": "accuracy"}, {"monotonic_cst": [1, 0]}, {"interaction_cst": "no_interactions"},
    {"max_iter": 5000}, {"max_features": 0.5, "random_state": None},
], ids=str)
def test_early_stopping_that_cannot_be_replayed_is_not_covered(params):
    release, _ = PiecewiseEncoder().protect(table_of(*heavy_tails(0)))
    verdict = release.guarantee.covers(stopping(0).set_params(**params))
    assert not verdict
    assert "early stopping" in verdict.reason


@pytest.mark.slow
def test_a_seed_that_was_drawn_is_drawn_again():
    went = walk(*heavy_tails(14), stopping(14), random_state=14, breakpoints=20)
    drawn = copy.deepcopy(went.mined).set_params(random_state=None)
    assert unspoken.verify(went.original, decode(drawn, went.key, table_of(*heavy_tails(14))))


BOOSTING = [{"subsample": 0.7, "n_estimators": 4}, {"subsample": 0.5, "max_features": 1},
            {"n_iter_no_change": 2, "validation_fraction": 0.3, "n_estimators": 30}]


@pytest.mark.slow
@pytest.mark.parametrize("params", BOOSTING, ids=str)
@pytest.mark.parametrize("seed", [4, 9, 11])
def test_rows_outside_a_draw_may_lie_between_two_values(params, seed):
    learner = GradientBoostingClassifier(**{"n_estimators": 8, "random_state": seed, **params})
    went = walk(*heavy_tails(seed), learner, random_state=seed)
    assert went.release.guarantee.covers(learner)
    assert went.identical


@pytest.mark.slow
def test_a_file_goes_on_too():
    table = table_of(*heavy_tails(9))
    release, key = PiecewiseEncoder(random_state=9).protect(table)
    for learner, params in (("gradient", {"subsample": 0.6, "n_estimators": 6}),
                            ("histogram", stopping(9).get_params())):
        known = {name: value for name, value in params.items() if name in (
            "subsample", "n_estimators", "early_stopping", "n_iter_no_change", "max_iter",
            "validation_fraction", "min_samples_leaf", "learning_rate")}
        mined = unspoken.mine.fit(release, learner, random_state=9, **known)
        assert mined.verdict
        decoded = decode(mined.to_bytes(), key, table)
        ordered = unspoken.release.method.method_of(key.mechanism).in_released_order(key, table)
        original = unspoken.mine.fit(ordered, learner, random_state=9, **known)
        assert unspoken.verify(original.to_bytes(), decoded)


def test_draws_need_a_seed_to_be_covered():
    release, _ = PiecewiseEncoder().protect(table_of(*heavy_tails(0)))
    assert not release.guarantee.covers(GradientBoostingClassifier(subsample=0.5))
    many = GradientBoostingClassifier(subsample=0.5, random_state=0, n_estimators=5000)
    assert not release.guarantee.covers(many)


def test_other_parameters_than_the_models_own_are_refused():
    learner = GradientBoostingClassifier(n_estimators=8, subsample=0.7, random_state=11)
    went = walk(*heavy_tails(11), learner, random_state=11)
    other = copy.deepcopy(went.mined).set_params(max_depth=1)
    with pytest.raises(DecodeError, match="first stages are not those"):
        decode(other, went.key, table_of(*heavy_tails(11)))


@pytest.mark.parametrize("seed", [2, 4, 24])
def test_a_tree_of_noise_on_a_part_of_the_rows_decodes(seed):
    """On the other rows it may go up the loss by chance, which is no sign of a changed model."""
    rng = np.random.default_rng(seed)
    data, labels = rng.integers(0, 8, (220, 1)).astype(float), rng.choice(["a", "b"], 220)
    table = table_of(data, labels)
    release, key = PiecewiseEncoder(random_state=seed).protect(table)
    learner = XGBClassifier(n_estimators=1, max_depth=2, subsample=0.3, random_state=seed,
                            n_jobs=1, min_child_weight=0)
    assert release.guarantee.covers(learner)
    numbers = (release.table.labels() == "b").astype(int)
    decoded = decode(learner.fit(release.table.numbers(), numbers), key, table)
    assert decoded.trees[0].nodes > 1


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, None])
def test_rows_that_were_passed_apart_to_stop_by_are_refused(share):
    """Nothing says which they were, so that nobody can tell where the original stops."""
    table = table_of(*heavy_tails(1))
    release, key = PiecewiseEncoder(random_state=1).protect(table)
    codes, labels = release.table.numbers(), release.table.labels()
    mined = stopping(1).set_params(validation_fraction=share)
    mined.fit(codes[:150], labels[:150], X_val=codes[150:], y_val=labels[150:])
    with pytest.raises(DecodeError, match="X_val"):
        decode(mined, key, table, rows=np.arange(150))


@pytest.mark.slow
def test_class_weights_are_looked_up_by_number_as_scikit_learn_does():
    learner = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5, random_state=0,
                                             class_weight={0: 1.0, 1: 5.0})
    for names in (False, True):
        data, labels = heavy_tails(2)
        table = table_of(data, labels)
        release, key = PiecewiseEncoder(random_state=2, neutral_names=names).protect(table)
        assert release.guarantee.covers(learner)
        mined = clone(learner).fit(release.table.numbers(), release.table.labels())
        order = PiecewiseBook.from_key(key).order(len(labels))
        original = clone(learner).fit(data[order], labels[order])
        assert unspoken.verify(original, decode(mined, key, table))


def test_weights_of_numbered_classes_are_found():
    """XGBoost wants numbers for classes, and who has made them may use them everywhere."""
    data, labels = heavy_tails(3)
    table = table_of(data, labels)
    release, key = PiecewiseEncoder(random_state=3).protect(table)
    numbers = (release.table.labels() == "b").astype(int)
    learner = DecisionTreeClassifier(random_state=0, max_depth=3, class_weight={0: 1.0, 1: 4.0})
    decoded = decode(learner.fit(release.table.numbers(), numbers), key, table)
    order = PiecewiseBook.from_key(key).order(len(labels))
    original = clone(learner).fit(data[order], (labels[order] == "b").astype(int))
    assert np.array_equal(decoded.tree_.threshold, original.tree_.threshold)
