"""Class names that were exchanged or renamed turn predictions around: they are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from support.encoding_walk import table_of
from unspoken.errors import DecodeError
from unspoken.models.readers import as_pattern
from unspoken.protect import PiecewiseEncoder, decode

RNG = np.random.default_rng(6)
DATA = RNG.integers(0, 200, (120, 2)) / 4.0
LABELS = np.where(DATA[:, 0] > DATA[:, 1] + RNG.normal(size=120), "yes", "no")
BOOSTED = (GradientBoostingClassifier(n_estimators=3, random_state=0),
           HistGradientBoostingClassifier(max_iter=3, random_state=0))


def setting(labels=LABELS, **options):
    table = table_of(DATA, labels)
    release, key = PiecewiseEncoder(keep_zero=True, random_state=0, **options).protect(table)
    return table, key, release.table.numbers(), release.table.labels()


@pytest.mark.parametrize("neutral", [False, True])
@pytest.mark.parametrize("estimator", BOOSTED, ids=lambda one: type(one).__name__)
def test_exchanged_class_names_are_refused(estimator, neutral):
    table, key, codes, labels = setting(neutral_names=neutral)
    document = as_pattern(estimator.fit(codes, labels)).to_json()
    assert set(decode(json.dumps(document), key, table).predict(DATA)) == {"no", "yes"}
    document["classes"] = document["classes"][::-1]
    for options in ({}, {"trust_leaves": True}):
        with pytest.raises(DecodeError, match="field 'classes'"):
            decode(json.dumps(document), key, table, **options)


@pytest.mark.parametrize("estimator", [*BOOSTED, DecisionTreeClassifier(random_state=0),
                                       RandomForestClassifier(3, random_state=0)],
                         ids=lambda one: type(one).__name__)
def test_names_that_overlap_the_labels_are_refused(estimator):
    """'yes' and 'yes?' in sorted order would make every 'no' a 'yes'."""
    table, key, codes, labels = setting()
    document = as_pattern(estimator.fit(codes, labels)).to_json()
    document["classes"] = ["yes", "yes?"]
    with pytest.raises(DecodeError, match="labels have 2 that are not the same"):
        decode(json.dumps(document), key, table)


@pytest.mark.parametrize("estimator", BOOSTED, ids=lambda one: type(one).__name__)
def test_classes_that_the_miner_numbered_are_taken(estimator):
    table, key, codes, labels = setting()
    numbers = np.searchsorted(np.unique(labels), labels)
    named = decode(as_pattern(estimator.fit(codes, labels)), key, table).predict(DATA)
    numbered = decode(as_pattern(estimator.fit(codes, numbers)), key, table).predict(DATA)
    assert np.array_equal(np.array(["no", "yes"])[numbered], named)


def test_a_model_of_several_outputs_is_refused_by_name():
    table, key, codes, labels = setting()
    model = DecisionTreeClassifier().fit(codes, np.column_stack([labels, labels]))
    with pytest.raises(DecodeError, match=r"number of outputs of the model must be 1\. Got 2"):
        decode(model, key, table)
