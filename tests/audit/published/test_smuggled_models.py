"""A model file is published as a whole: values of people in any part of it are found or fail."""

from __future__ import annotations

import json
import re
from functools import cache

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.tree import DecisionTreeClassifier

import unspoken
from support.model_cases import CASES
from unspoken.audit.published.audit_model import audit_model
from unspoken.audit.published.model_contents import model_contents
from unspoken.audit.published.unread_parts import unread_parts
from unspoken.disclosure.people_risk import MEMBER
from unspoken.disclosure.release_verdict import may_leave, verdict_of
from unspoken.models.load_model import load_model
from unspoken.models.tree import Tree
from unspoken.risk import Policy

ROWS, INPUTS = 300, ["age", "height"]


def people(seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"age": rng.integers(18, 90, ROWS).astype(float),
                         "height": rng.normal(170, 9, ROWS).round(1),
                         "wage": np.round(rng.lognormal(8, 0.5, ROWS), 2),
                         "name": [f"Person {seed} {i:04d}" for i in rng.permutation(ROWS)]})
    rare = [f"hamlet {seed} {i}" for i in range(ROWS)]
    data["city"] = np.where(rng.random(ROWS) < 0.05, rare, rng.choice(["rome", "oslo"], ROWS))
    data["ill"] = np.where(data["age"] + rng.normal(0, 25, ROWS) > 50, "yes", "no")
    return data


PEOPLE = people()
GOAL = (PEOPLE["ill"] == "yes").astype(int)
TABLE = unspoken.read(PEOPLE, target="ill", identifiers=["name"], show=False)
CONTROL = unspoken.read(people(1), target="ill", identifiers=["name"], show=False)


def grown(data):
    model = lightgbm.LGBMClassifier(n_estimators=6, max_depth=2, min_child_samples=40, n_jobs=1,
                                    verbose=-1)
    return model.fit(data, GOAL).booster_.model_to_string()


@cache
def plain_text():
    return grown(PEOPLE[INPUTS])


@cache
def cities_text():
    return grown(PEOPLE[INPUTS].assign(city=pd.Categorical(PEOPLE["city"])))


@cache
def written_document():
    model = xgboost.XGBClassifier(n_estimators=6, max_depth=2, min_child_weight=10, n_jobs=1)
    return bytes(model.fit(PEOPLE[INPUTS], GOAL).get_booster().save_raw("json"))


def document_of():
    return json.loads(written_document())


def contents(source):
    content = source.encode() if isinstance(source, str) else json.dumps(source).encode()
    return model_contents(load_model(content), content, TABLE, 5)


def trees_of(document):
    return document["learner"]["gradient_booster"]["model"]["trees"]


def changed(name):
    document = document_of()
    values = iter(PEOPLE["wage"].tolist())
    for tree in trees_of(document):
        tree[name] = [next(values) for _ in tree[name]]
    return document


def with_attribute(name, text):
    document = document_of()
    document["learner"]["attributes"][name] = text
    return document


@pytest.mark.parametrize("source", [plain_text, document_of], ids=["lightgbm", "xgboost"])
def test_honest_files_hide_nothing(source):
    found = contents(source())
    assert found.faults == ()
    assert found.unscored == {}


UNREAD = {
    "line": lambda: plain_text().replace(
        "\nversion", "\nnote=" + ",".join(PEOPLE["name"]) + "\nversion", 1),
    "tail": lambda: plain_text() + "\n" + ",".join(PEOPLE["name"]),
    "digits": lambda: re.sub(r"leaf_value=([0-9.\-]*)", r"leaf_value=\g<1>00000047114711",
                             plain_text(), count=1),
    "attribute": lambda: with_attribute("note", "Anna"),
    "estimator": lambda: with_attribute("scikit_learn",
                                        '{"_estimator_type": "classifier", "a": 4711}'),
    "field": lambda: {**document_of(), "more": PEOPLE["wage"].tolist()},
}


@pytest.mark.parametrize("name", UNREAD)
def test_parts_that_nothing_reads_are_not_assessed(name):
    assert list(contents(UNREAD[name]()).unscored) == ["(file)"]


@pytest.mark.slow
def test_a_file_with_unread_parts_may_not_leave(tmp_path):
    (tmp_path / "m.txt").write_text(UNREAD["line"]())
    audit = audit_model(tmp_path / "m.txt", TABLE, CONTROL, random_state=0)
    assert verdict_of(audit).level == "unknown"
    assert not may_leave(audit, verdict_of(audit))
    assert not Policy.parse("[people]\nmax_member = 1.0\n").judge(audit)
    # What load_model writes again is the model alone.
    load_model(tmp_path / "m.txt").save(tmp_path / "again.txt")
    assert "Person" not in (tmp_path / "again.txt").read_text()
    assert contents((tmp_path / "again.txt").read_text()).unscored == {}


@pytest.mark.parametrize("field", ["loss_changes", "sum_hessian", "base_weights"])
def test_values_in_fields_that_no_prediction_needs_are_faults(field):
    faults = contents(changed(field)).faults
    assert any("'wage' where none belong" in line for line in faults)


def test_values_in_gains_are_faults():
    values = iter(PEOPLE["wage"].tolist())
    text = re.sub(r"split_gain=([^\n]*)", lambda line: "split_gain=" + " ".join(
        str(next(values)) for _ in line[1].split()), plain_text())
    assert any("'wage' where none belong" in line for line in contents(text).faults)


def test_leaves_that_nobody_reaches_are_read():
    document, inner = document_of(), 15
    size, tree = 2 * inner + 1, dict(trees_of(document)[0])
    left, right = [-1] * size, [-1] * size
    above, cuts = [2**31 - 1] * size, PEOPLE["wage"].tolist()[:size]
    for place in range(inner):
        node = max(2 * place - 1, 0)
        left[node], right[node], cuts[node] = 2 * place + 1, 2 * place + 2, -5.0 - place
        above[2 * place + 1] = above[2 * place + 2] = node
    zeros = [0] * size
    tree |= {"left_children": left, "right_children": right, "parents": above,
             "split_conditions": cuts, "split_indices": zeros, "base_weights": zeros,
             "sum_hessian": zeros, "loss_changes": zeros, "default_left": zeros,
             "split_type": zeros, "id": len(trees_of(document)),
             "tree_param": {**tree["tree_param"], "num_deleted": "0", "num_nodes": str(size)}}
    trees_of(document).append(tree)
    model = document["learner"]["gradient_booster"]["model"]
    model["gbtree_model_param"]["num_trees"] = str(len(model["trees"]))
    model["iteration_indptr"].append(len(model["trees"]))
    model["tree_info"].append(0)
    assert any("'wage' where none belong" in line for line in contents(document).faults)


@pytest.mark.parametrize("place", ["parameters", "categories"])
def test_names_where_none_belong_are_faults(place):
    names = PEOPLE["name"].tolist()[:20]
    plain = plain_text()
    text = plain.replace("[metric: ", f"[metric: {';'.join(names)};", 1) if place == "parameters" \
        else re.sub("pandas_categorical:.*", f"pandas_categorical:{json.dumps([names])}", plain)
    assert text != plain
    assert any("'name', which it has nothing to do with" in line for line in contents(text).faults)


@pytest.mark.slow
def test_rare_categories_are_memorised_and_name_members(tmp_path):
    (tmp_path / "m.txt").write_text(cities_text())
    audit = audit_model(tmp_path / "m.txt", TABLE, CONTROL, random_state=0)
    rare = (PEOPLE["city"].str.startswith("hamlet")).sum()
    row = audit.select(adversary="rare categories", column="city")[0]
    assert row.value == pytest.approx(rare / (rare + 2))
    risk = next(one for one in audit.people.risks if one.adversary == "rare categories")
    assert (risk.kind, risk.hits, risk.people, risk.control_hits) == (MEMBER, rare, ROWS, 0)
    assert not Policy.parse("[people]\nmax_memorised = 0.5\n").judge(audit)


def test_categories_that_the_original_does_not_have_are_not_assessed():
    text = cities_text().replace('"oslo"', '"T2xhIDQ3MTEgMTIzNC41Ng=="')
    assert list(contents(text).unscored) == ["city (categories)"]


def test_common_categories_are_nobodys():
    data = PEOPLE[INPUTS].assign(city=pd.Categorical(
        np.where(PEOPLE["city"] == "rome", "rome", "oslo")))
    rows = contents(grown(data)).rows
    assert [row.value for row in rows if row.column == "city"] == [0.0]


@pytest.mark.slow
def test_ends_of_columns_are_values_of_few(tmp_path):
    """LightGBM's text states the smallest and the largest value of each column."""
    (tmp_path / "m.txt").write_text(plain_text())
    rows = audit_model(tmp_path / "m.txt", TABLE, CONTROL, random_state=0).rows
    assert next(row.value for row in rows
                if (row.adversary, row.column) == ("thresholds", "height")) > 0


def test_our_own_files_are_read_whole():
    fitted = DecisionTreeClassifier(max_depth=2).fit(PEOPLE[INPUTS], PEOPLE["ill"])
    document = Tree.from_sklearn(fitted).to_json()
    assert contents(document).unscored == {}
    assert list(contents({**document, "note": "Anna"}).unscored) == ["(file)"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(CASES))
def test_every_kind_of_model_is_read_whole(kind, tmp_path):
    model = CASES[kind].build("a")
    for name in ("m.txt",) if kind == "lightgbm-text" else ("m.json", "m.unspoken"):
        model.save(tmp_path / name)
        content = (tmp_path / name).read_bytes()
        assert unread_parts(content, load_model(content)) == []
