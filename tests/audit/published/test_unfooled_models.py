"""What an audit of a model does not measure never makes its verdict better."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import unspoken
from unspoken.audit.published.audit_model import audit_model
from unspoken.audit.published.model_attributes import MOST_LABELS
from unspoken.disclosure.people_risk import MEMBER
from unspoken.disclosure.release_verdict import may_leave, verdict_of
from unspoken.risk import Policy

ROWS = 200


def people(seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({f"f{i}": rng.normal(size=ROWS).round(2) for i in range(11)})
    data["place"] = rng.permutation(90_000)[:ROWS] + 10_000.0
    data["secret"] = rng.integers(0, 2, ROWS).astype(float)
    data["income"] = np.round(rng.lognormal(10, 0.5, ROWS))
    data["score"] = np.round(10 * data["secret"] + rng.normal(0, 0.5, ROWS), 2)
    return data


def table(target, data=None):
    data = people() if data is None else data
    return unspoken.read(data, target=target, keep=["place"], show=False)


def test_a_model_that_knows_everybody_is_no_low_risk_without_outsiders():
    data = people()
    model = DecisionTreeRegressor(random_state=0).fit(data[["place"]], data["income"])
    audit = audit_model(model, table("income"), random_state=0)
    assert audit.people.worst(MEMBER).value == 1.0
    assert verdict_of(audit).level == "high"
    assert not Policy.parse("[people]\nmax_member = 0.9\n").judge(audit)


@pytest.mark.parametrize("first", [True, False])
def test_every_input_is_guessed_wherever_it_stands(first):
    data, others = people(), [f"f{i}" for i in range(11)]
    names = ["secret", *others] if first else [*others, "secret"]
    model = DecisionTreeRegressor(max_depth=1).fit(data[names], data["score"])
    audit = audit_model(model, table("score"), random_state=0)
    assert {risk.column for risk in audit.people.risks} >= set(names)
    assert verdict_of(audit).level == "high"
    assert not may_leave(audit, verdict_of(audit))


def test_an_input_that_cannot_be_guessed_is_not_scored():
    data = people()
    data["word"] = [f"w{i}" for i in range(ROWS)]
    wide = pd.concat([data] * 2, ignore_index=True)
    wide["word"] = [f"w{i}" for i in range(len(wide))]
    assert len(wide) > MOST_LABELS
    from unspoken.audit.published.model_attributes import attacked_inputs

    guessed, why = attacked_inputs(["f0", "word"], unspoken.read(wide, keep=["word", "place"],
                                                                 show=False))
    assert guessed == ["f0"]
    assert list(why) == ["word"]


def test_leaves_of_few_people_count_and_can_be_limited():
    data = people()
    model = DecisionTreeRegressor(random_state=0).fit(data[["place"]], data["income"])
    audit = audit_model(model, table("income"), table("income", people(1)), random_state=0)
    assert verdict_of(audit).inferring.share == 1.0
    for limit in ("max_small_leaves", "max_memorised"):
        judged = Policy.parse(f"[people]\n{limit} = 1.0\n").judge(audit)
        assert judged.checked
    assert not Policy.parse("[people]\nmax_small_leaves = 0.99\n").judge(audit)
