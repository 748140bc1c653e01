"""Naive Bayes over rows of several owners: the model of pooled rows, whoever has which."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from support.bayes_data import CLASSES, LAYOUT, apart, parts_of, spread_rows, table
from unspoken.errors import DataError, InputError
from unspoken.joint import run_outcomes
from unspoken.joint.joint_errors import PartyError, RefusedError
from unspoken.joint.tasks.naive_bayes.opened_precision import POWERS
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams, Given, Numeric
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.naive_bayes.program_rows import (
    RATIOS,
    BayesOverRows,
    mine_bayes_rows,
)
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.joint.tasks.tree.program_rows import TOO_MANY
from unspoken.models.mixed_bayes import MixedBayes

pytestmark = pytest.mark.slow

ANY = {"least": 0, "most": 4096}


def test_pooled_rows_give_what_scikit_learn_gives():
    columns = table(200, 1)
    model = pooled(LAYOUT, columns)
    label = np.array([CLASSES.index(c) for c in columns["class"]])
    numbers = np.column_stack([columns["h"], columns["w"]])
    gauss = GaussianNB().fit(numbers, label)
    for place, at in enumerate((1, 3)):
        np.testing.assert_allclose(model.columns[at].means, gauss.theta_[:, place], rtol=1e-12)
        np.testing.assert_allclose(model.columns[at].variances, gauss.var_[:, place], rtol=1e-9)
    codes = np.column_stack([[("x", "y", "z").index(v) for v in columns["a"]],
                             [("u", "v").index(v) for v in columns["b"]]])
    nominal = CategoricalNB(alpha=1.0).fit(codes, label)
    for place, at in enumerate((0, 2)):
        np.testing.assert_allclose(model.columns[at].shares,
                                   np.exp(nominal.feature_log_prob_[place]), rtol=1e-12)
    # Posteriors multiply once the prior, which both of theirs have, is taken off once.
    ours = model.log_joint(columns)
    theirs = gauss.predict_joint_log_proba(numbers) + nominal.predict_joint_log_proba(codes)
    np.testing.assert_allclose(ours, theirs - np.log(gauss.class_prior_), rtol=1e-9)


@settings(max_examples=15)
@given(spread_rows())
def test_opened_ratios_are_those_of_pooled_rows(rows):
    columns, owner, owners = rows
    models, _ = mine_bayes_rows(parts_of(columns, owner, owners), LAYOUT,
                                      BayesParams(bits=28, **ANY))
    expected = pooled(LAYOUT, columns, BayesParams(**ANY))
    for model in models:
        assert apart(model, expected) < 2.0**-26
        assert model.records == 0
        assert model.same_as(MixedBayes.from_json(model.to_json()))


@settings(max_examples=10)
@given(spread_rows())
def test_opened_sums_are_those_of_pooled_rows(rows):
    columns, owner, owners = rows
    owners = max(3, owners)
    models, _ = mine_bayes_rows(parts_of(columns, owner, owners), LAYOUT,
                                      BayesParams(reveal="sums", **ANY), "sums")
    expected = pooled(LAYOUT, columns, BayesParams(**ANY))
    for model in models:
        assert apart(model, expected) < 2.0**-34
        assert model.prior.tolist() == expected.prior.tolist()
        assert model.records == len(columns["class"])


@pytest.mark.parametrize(("mode", "owners"), [("three-party", 3), ("two-party", 2)])
def test_modes_agree(mode, owners):
    if mode == "two-party":
        pytest.importorskip("rbcl")
    columns = table(60, 2)
    models, ledgers = mine_bayes_rows(parts_of(columns, np.arange(60) % owners, owners),
                                            LAYOUT, BayesParams(bits=20, **ANY), mode)
    for model, ledger in zip(models, ledgers, strict=True):
        assert apart(model, pooled(LAYOUT, columns)) < 2.0**-18
        assert {row.because for row in ledger.openings} == {RATIOS, TOO_MANY}


@pytest.mark.parametrize("size", [60, 900])
def test_by_default_ratios_are_opened_as_finely_as_classes_are_large(size):
    columns = table(size, 2)
    models, ledgers = mine_bayes_rows(parts_of(columns, np.arange(size) % 2, 2), LAYOUT,
                                      BayesParams(**ANY))
    expected = pooled(LAYOUT, columns)
    smallest = min(np.unique(columns["class"], return_counts=True)[1])
    # Half a step of up to four records, and what makes shares add up to 1 again.
    assert apart(models[0], expected) <= 4 / smallest
    assert {row.because for row in ledgers[0].openings} == {RATIOS, TOO_MANY, POWERS}
    assert (models[0].predict(columns) == expected.predict(columns)).mean() > 0.98


def test_one_alone_can_learn_the_model():
    parts = parts_of(table(60, 3), np.arange(60) % 3, 3)
    for reveal in ("ratios", "sums"):
        rules = BayesParams(receivers=("p1",), reveal=reveal)
        models, _ = mine_bayes_rows(parts, LAYOUT, rules)
        assert [model is None for model in models] == [True, False, True]


def test_sums_of_two_are_refused():
    parts = parts_of(table(60, 3), np.arange(60) % 2, 2)
    with pytest.raises(RefusedError, match="two"):
        mine_bayes_rows(parts, LAYOUT, BayesParams(reveal="sums"))


def test_smoothing_is_what_was_asked_for():
    columns, rules = table(40, 4), BayesParams(alpha=0.25, var_smoothing=0.1, bits=28, least=0)
    models, _ = mine_bayes_rows(parts_of(columns, np.arange(40) % 2, 2), LAYOUT, rules)
    assert apart(models[0], pooled(LAYOUT, columns, rules)) < 2.0**-26
    assert apart(models[0], pooled(LAYOUT, columns)) > 1e-3
    label = np.array([CLASSES.index(c) for c in columns["class"]])
    numbers = np.column_stack([columns["h"], columns["w"]])
    wide = GaussianNB(var_smoothing=0.1).fit(numbers, label)
    np.testing.assert_allclose(models[0].columns[1].variances, wide.var_[:, 0], rtol=1e-4)


def test_a_range_that_is_too_wide_for_its_bits_is_warned_of():
    columns = table(60, 4)
    wide = BayesLayout((LAYOUT.columns[0], Numeric("h", -1e5, 1e5)), CLASSES)
    parts = parts_of(columns, np.arange(60) % 2, 2)
    with pytest.warns(UserWarning, match="Variances of 'h'"):
        mine_bayes_rows(parts, wide, BayesParams(**ANY))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine_bayes_rows(parts, LAYOUT, BayesParams(**ANY))


def test_an_empty_owner_and_a_class_that_one_has_alone_are_no_matter():
    columns = table(60, 5)
    for owner in (np.zeros(60), columns["class"] == "c1"):
        models, _ = mine_bayes_rows(parts_of(columns, owner, 2), LAYOUT, BayesParams(bits=28))
        assert apart(models[0], pooled(LAYOUT, columns)) < 2.0**-26


def test_a_class_that_nobody_has_is_never_predicted():
    columns = table(60, 6, CLASSES[:2])
    models, _ = mine_bayes_rows(parts_of(columns, np.arange(60) % 2, 2), LAYOUT, BayesParams())
    assert models[0].prior[2] == 0
    assert "c2" not in models[0].predict(columns)


def test_nothing_but_empty_owners_is_refused():
    with pytest.raises(DataError, match="must be records"):
        mine_bayes_rows(parts_of(table(4, 1), np.full(4, 9), 2), LAYOUT)


def test_two_records_of_a_class_are_not_given_away():
    columns = table(60, 7)
    owner = np.zeros(60, int)
    owner[np.flatnonzero(columns["class"] == "c2")[:2]] = 1
    with pytest.raises(RefusedError, match="at least 3 records of every class"):
        mine_bayes_rows(parts_of(columns, owner, 2), LAYOUT)
    nominal = BayesLayout((LAYOUT.columns[0],), CLASSES)
    mine_bayes_rows(parts_of(columns, owner, 2), nominal)


def test_more_records_than_agreed_are_refused():
    parts = parts_of(table(40, 8), np.arange(40) % 2, 2)
    with pytest.raises(RefusedError, match="This owner alone has more"):
        mine_bayes_rows(parts, LAYOUT, BayesParams(most=19))
    with pytest.raises(RefusedError, match="All owners together have more"):
        mine_bayes_rows(parts, LAYOUT, BayesParams(most=39))


BAD = {
    "a column is missing": (lambda p: p.pop("w"), "'w' is there"),
    "the class is missing": (lambda p: p.pop("class"), "the class 'class' is there"),
    "another category": (lambda p: p.update(a=np.array(["?"] * 20, object)), "agreed categories"),
    "another class": (lambda p: p.update({"class": np.array(["?"] * 20, object)}), "agreed"),
    "another length": (lambda p: p.update(h=p["h"][:3]), "of one length"),
    "out of range": (lambda p: p.update(h=p["h"] + 1e6), "agreed range"),
    "a value that is missing": (lambda p: p.update(h=np.full(20, np.nan)), "in every row"),
    "text for numbers": (lambda p: p.update(h=np.array(["?"] * 20, object)), "hold numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_refused_before_anything_is_sent(name):
    spoil, words = BAD[name]
    parts = parts_of(table(40, 9), np.arange(40) % 2, 2)
    spoil(parts[1])
    with pytest.raises(DataError, match=words):
        mine_bayes_rows(parts, LAYOUT)


def test_a_party_that_fails_is_named_to_the_others():
    good = LAYOUT.rows(table(30, 1))
    bad = Given(good.codes[:1], good.numbers, good.labels)
    first, second, *_ = run_outcomes(BayesOverRows(LAYOUT), [good, bad])
    assert isinstance(second.error, DataError)
    assert isinstance(first.error, PartyError)
    assert first.error.party == "p1"
    assert {row.label for row in second.ledger.rows if row.direction == "sent"} == {"agree",
                                                                                   "abort"}


@pytest.mark.parametrize("given_", [{"alpha": 0}, {"alpha": 1e-5}, {"most": 1 << 21}, {"bits": 40},
                                    {"reveal": "all"}, {"least": -1}, {"var_smoothing": 2}])
def test_rules_that_cannot_be_kept_are_refused(given_):
    with pytest.raises(InputError):
        BayesParams(**given_)


def test_layouts_that_make_no_model_are_refused():
    for columns, classes in (((), CLASSES), (LAYOUT.columns * 2, CLASSES),
                             (LAYOUT.columns, ("c0",)), ((Attribute("n", cuts=(1.0,)),), CLASSES)):
        with pytest.raises(InputError):
            BayesLayout(columns, classes)
    with pytest.raises(InputError, match="lower first"):
        Numeric("h", 3, 3)
