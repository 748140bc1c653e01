"""Trees over randomised categories know their categories, and divide them into the right sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unspoken
from unspoken.methods.distortion.known_laws import Answers
from unspoken.methods.distortion.learners.category_order import category_names, in_order_of_classes
from unspoken.methods.distortion.learners.learner_inputs import Records
from unspoken.mine import noisy_tree
from unspoken.models.tree import Tree
from unspoken.protect import RandomizedResponse

RICH = ("Married", "Widowed")
NAMES = ["Divorced", "Married", "Never", "Separated", "Widowed"]


def people(rows=8000):
    rng = np.random.default_rng(0)
    status = rng.choice(NAMES, rows, p=[0.2, 0.4, 0.25, 0.05, 0.1])
    sex = rng.choice(["f", "m"], rows)
    chance = np.where(np.isin(status, RICH), 0.85, 0.15)
    return pd.DataFrame({"marital-status": status, "sex": sex,
                         "income": np.where(rng.random(rows) < chance, "rich", "poor")})


@pytest.fixture(scope="module")
def mined():
    table = unspoken.read(people(), target="income", show=False)
    release, _ = RandomizedResponse(truth=0.7, random_state=1).protect(table)
    return noisy_tree(release)


def test_the_first_question_names_the_right_set(mined):
    first = mined.summary()
    assert "marital-status in {" in first
    below = set(np.concatenate([group for number, group
                                in enumerate(mined.categories["marital-status"])
                                if number <= mined.threshold[0]]))
    assert below in (set(RICH), set(NAMES) - set(RICH))


def test_original_records_are_predicted_by_name_in_any_order_of_columns(mined, tmp_path):
    frame = people()
    mined.save(tmp_path / "tree.json")
    loaded = Tree.load(tmp_path / "tree.json")
    right = np.where(frame["marital-status"].isin(RICH), "rich", "poor")
    assert (loaded.predict(frame[["sex", "marital-status"]]) == right).mean() > 0.99
    assert loaded.same_as(mined)


def records(order):
    """Return answers that were all given truly, with categories listed in some order."""
    rng = np.random.default_rng(1)
    true = rng.integers(0, 3, 900)
    labels = np.where(rng.random(900) < np.array([0.9, 0.1, 0.5])[true], "a", "b")
    place = np.argsort(order)
    law = Answers(tuple("xyz"[i] for i in order), np.eye(3))
    return Records(("c",), {"c": law}, place[true][:, None].astype(float), None, labels)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_categories_stand_in_the_order_of_their_share_of_a_class(order):
    ordered = in_order_of_classes(records(order))
    assert ordered.laws["c"].values == ("y", "z", "x")
    before = np.array(records(order).laws["c"].values)[records(order).data[:, 0].astype(int)]
    after = np.array(ordered.laws["c"].values)[ordered.data[:, 0].astype(int)]
    np.testing.assert_array_equal(before, after)


def test_a_missing_answer_stays_missing_and_a_missing_value_has_no_name():
    case = records((0, 1, 2))
    case.data[5, 0] = np.nan
    ordered = in_order_of_classes(case)
    assert np.isnan(ordered.data[5, 0])
    assert np.isnan(ordered.data).sum() == 1
    law = Answers(("x", None), np.eye(2))
    assert category_names(Records(("c",), {"c": law}, case.data, None, case.labels)) == \
        {"c": (("x",), ())}


def test_a_small_table_is_divided_too():
    rng = np.random.default_rng(3)
    group = rng.choice(["1", "2", "3"], 240)
    frame = pd.DataFrame({"grp": group, "buy": np.where(group == "2", "yes", "no")})
    table = unspoken.read(frame, target="buy", show=False)
    release, _ = RandomizedResponse(truth=0.8, random_state=1).protect(table)
    assert (noisy_tree(release).predict(frame) == frame["buy"]).mean() > 0.9
