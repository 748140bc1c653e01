"""Published models: what an overgrown tree remembers, and that a careful one does not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import unspoken
from support.population import population
from unspoken.audit.published.audit_model import audit_model
from unspoken.audit.published.memorised_values import thresholds_of
from unspoken.disclosure.people_risk import INFERRED, MEMBER
from unspoken.disclosure.release_verdict import verdict_of
from unspoken.errors import ModelError, SchemaError
from unspoken.models.tree import Tree

NAMES = ["age", "zip", "income"]
ORIGINAL, OTHERS = population(800, seed=0), population(800, seed=1)
TABLE = unspoken.read(ORIGINAL, target="ill", show=False)
CONTROL = unspoken.read(OTHERS, target="ill", show=False)


def inputs(table=ORIGINAL):
    return pd.DataFrame({n: table[n].to_numpy().astype(float) for n in NAMES})


def labels():
    return np.array(ORIGINAL["ill"].to_pylist())


def audited(model, control=CONTROL, table=TABLE):
    return audit_model(model, table, control, random_state=0)


@pytest.mark.slow
def test_an_overgrown_tree_knows_its_people():
    found = audited(DecisionTreeClassifier(random_state=0).fit(inputs(), labels()))
    assert found.people.worst(MEMBER).beyond[1] > 0.5
    assert found.select(measure="small leaves")[0].value > 0.3
    assert verdict_of(found).level == "high"


@pytest.mark.slow
def test_a_careful_tree_does_not():
    found = audited(DecisionTreeClassifier(max_depth=3, min_samples_leaf=40, random_state=0)
                    .fit(inputs(), labels()))
    assert found.people.worst(MEMBER).beyond[1] < 0.05
    assert found.select(measure="small leaves")[0].value == 0.0
    assert all(risk.beyond[1] < 0.1 for risk in found.people.risks)


@pytest.mark.slow
def test_a_forest_gives_inputs_away():
    found = audited(RandomForestClassifier(30, random_state=0).fit(inputs(), labels()))
    worst = found.people.worst(INFERRED)
    assert worst.beyond[1] > 0.05
    assert worst.control == pytest.approx(0.1, abs=0.05)


@pytest.mark.slow
def test_files_of_three_libraries(tmp_path):
    import lightgbm
    import xgboost

    target = (labels() == "yes").astype(int)
    xgboost.XGBClassifier(n_estimators=40, max_depth=6).fit(inputs(), target).save_model(
        tmp_path / "x.json")
    booster = lightgbm.LGBMClassifier(n_estimators=40, verbose=-1).fit(inputs(), target).booster_
    booster.save_model(tmp_path / "l.txt")
    Tree.from_sklearn(DecisionTreeClassifier(random_state=0).fit(inputs(), labels())).save(
        tmp_path / "t.json")
    for name in ("x.json", "l.txt", "t.json"):
        found = audited(tmp_path / name)
        assert found.people.worst(MEMBER).beyond[1] > 0.1, name
        assert found.select(measure="small leaves"), name


def test_thresholds_that_are_values_are_counted():
    """One split half way between two values is nobody's; one on a value is that person's."""
    income = ORIGINAL["income"].to_numpy().astype(float)
    tree = Tree.from_sklearn(DecisionTreeRegressor(max_depth=1).fit(
        income[:, None], income))
    renamed = Tree(**{**{n: getattr(tree, n) for n in tree.__dataclass_fields__},
                      "features": ("income",)})
    value = float(np.sort(income)[10])
    shown = Tree(**{**{n: getattr(renamed, n) for n in tree.__dataclass_fields__},
                    "threshold": np.where(tree.feature >= 0, value, 0.0)})
    table = unspoken.read(ORIGINAL, target="income", show=False)
    table = unspoken.read(ORIGINAL.append_column("y", ORIGINAL["income"]), target="y", show=False)
    assert thresholds_of(shown)[1].tolist() == [value]
    assert audited(shown, None, table).select(measure="memorised")[0].value == 1.0
    assert audited(renamed, None, table).select(measure="memorised")[0].value == 0.0


@pytest.mark.slow
def test_regressions_are_audited_too():
    data, target = inputs()[["age", "zip"]], ORIGINAL["income"].to_numpy()
    table = unspoken.read(ORIGINAL, target="income", show=False)
    control = unspoken.read(OTHERS, target="income", show=False)
    deep = audited(DecisionTreeRegressor(random_state=0).fit(data, target), control, table)
    assert deep.people.worst(MEMBER).beyond[1] > 0.5


def test_without_control_it_is_an_upper_bound():
    found = audited(DecisionTreeClassifier(max_depth=2).fit(inputs(), labels()), None)
    assert all(risk.upper_bound for risk in found.people.risks)
    assert any("no control group" in line for line in found.limits)


def test_pickles_are_refused(tmp_path):
    import pickle

    (tmp_path / "m.json").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelError, match="Pickles are never read"):
        audited(tmp_path / "m.json")


def test_a_model_of_other_columns_is_refused():
    model = DecisionTreeClassifier(max_depth=2).fit(
        inputs().rename(columns={"age": "shoe"}), labels())
    with pytest.raises(SchemaError, match="takes 'shoe'"):
        audited(model)
