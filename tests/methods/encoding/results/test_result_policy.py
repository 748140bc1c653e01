"""The policy for results: what breaks it does not go back, and nothing is written."""

from __future__ import annotations

import json

import numpy as np
import pytest

import unspoken
from support.shown_people import shown_people
from unspoken.cli.main import main
from unspoken.errors import InputError, PolicyError
from unspoken.methods.encoding.results.result_forms import Form, cut, round_step, rounded
from unspoken.methods.encoding.results.result_options import Result, options_text
from unspoken.methods.encoding.results.result_policy import depth_of, smallest_leaf
from unspoken.mine import fit
from unspoken.protect import PiecewiseEncoder
from unspoken.risk import ResultPolicy, result_options

POLICY = """
forms = ["predictions", "rules"]
max_depth = 3
min_rounding = 0.05
min_leaf = 5
max_recovered = 0.6
"""


@pytest.fixture(scope="module")
def result():
    table = shown_people()
    release, key = PiecewiseEncoder(random_state=1).protect(table)
    return Result.of(fit(release, "tree").model, key, table, release)


def test_steps_are_round_numbers_within_the_share():
    assert round_step(72.0, 0.05) == 2.0
    assert round_step(1.0, 0.1) == 0.1
    assert round_step(9_000.0, 0.1) == 500.0
    assert round_step(0.0, 0.1) == 0.0


@pytest.mark.parametrize("width", [72.0, 99.0, 199.0, 1.0, 0.3, 1e-7, 4e12])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.4, 1.0])
def test_steps_are_not_finer_than_the_least_share(width, share):
    step = round_step(width, share, share)
    assert share * (1 - 1e-9) <= step / width < 2.51 * share
    assert round_step(width, share, share / 3) == round_step(width, share)
    assert f"{step:e}"[:8] in ("1.000000", "2.000000", "5.000000")


def test_a_policy_rounds_no_finer_than_it_says(result):
    model = result.checked(Form("rules", 3, 0.05), ResultPolicy.parse("min_rounding = 0.05"))
    place = model.features.index("age")
    ages = model.threshold[~model.shape.leaves & (model.feature == place)]
    span = np.ptp(result.table.numbers()[:, 0])
    assert ages.size
    assert 2.0 < 0.05 * span < 5.0
    assert np.array_equal(ages % 5.0, np.zeros(ages.size))


@pytest.mark.parametrize("wrong", [{"name": "all"}, {"name": "rules"}, {"name": "full", "depth": 2},
                                   {"name": "rules", "depth": 0},
                                   {"name": "rules", "rounding": 1.5}])
def test_forms_are_checked(wrong):
    with pytest.raises(InputError):
        Form(**wrong)


def test_a_cut_tree_predicts_as_the_nodes_it_ends_in(result):
    small = cut(result.decoded, 2)
    assert small.depth == 2
    assert small.nodes <= 7
    full, table = result.decoded, result.table
    leaf, shape = full.apply(table), full.shape
    while (deep := shape.depth[leaf] > 2).any():
        leaf = np.where(deep, shape.parent[leaf], leaf)
    assert np.array_equal(small.predict_proba(table), full.value[leaf])


def test_rounded_thresholds_are_multiples_and_bounded(result):
    steps = {"age": 5.0, "wage": 1000.0}
    coarse = rounded(result.decoded, steps)
    inner = ~coarse.shape.leaves
    for place, name in enumerate(coarse.features):
        if name in steps:
            chosen = inner & (coarse.feature == place)
            moved = coarse.threshold[chosen]
            assert np.array_equal(moved % steps[name], np.zeros(moved.size))
            assert np.abs(moved - result.decoded.threshold[chosen]).max() <= steps[name] / 2


@pytest.mark.parametrize(("form", "words"), [
    (Form("full"), "the form 'full' is not one of"),
    (Form("rules", 6, 0.1), "levels deep"),
    (Form("rules", 2), "rounded to 0 of the range"),
    (Form("rules", 3, 0.05), "training records|can be read"),
])
def test_what_breaks_the_policy_is_refused(result, form, words):
    with pytest.raises(PolicyError, match=words):
        result.checked(form, ResultPolicy.parse(POLICY))


def test_limits_on_people_are_enforced_by_themselves(result):
    strict = ResultPolicy.parse("max_recovered = 0.2")
    with pytest.raises(PolicyError, match="of the people can be read in column"):
        result.checked(Form("full"), strict)
    with pytest.raises(PolicyError, match="read exactly"):
        result.checked(Form("full"), ResultPolicy.parse("max_exact = 0.2"))
    assert result.checked(Form("predictions"), strict) is None


@pytest.mark.parametrize("learner", ["tree", "forest", "xgboost", "lightgbm"])
def test_rounding_alone_leaves_out_categories_that_no_node_asks_about(learner):
    table = shown_people(100)
    release, key = PiecewiseEncoder(random_state=1, keep_zero=True).protect(table)
    more = {} if learner == "tree" else {"n_estimators": 1}
    more |= {"max_features": None} if learner == "forest" else {}
    small = Result.of(fit(release, learner, max_depth=1, **more).model, key, table, release)
    assert small.in_form(Form("full")).categories["sex"]
    coarse = small.in_form(Form("rules", None, 0.1))
    assert coarse.categories["sex"] == ()
    again = coarse.text if learner == "lightgbm" else json.dumps(coarse.to_json())
    assert unspoken.load_model(again.encode()).categories["sex"] == ()
    assert coarse.predict(table).shape == (100,)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["gradient", "histogram", "adaboost", "bagging", "lightgbm"])
def test_ensembles_tell_their_smallest_leaf(learner):
    size = "max_iter" if learner == "histogram" else "n_estimators"
    release, _ = PiecewiseEncoder(keep_zero=True).protect(shown_people(100))
    mined = fit(release, learner, **{size: 2})
    assert 0 < smallest_leaf(mined.model) < 50


@pytest.mark.parametrize("form", [Form("predictions"), Form("rules", 1), Form("full")])
def test_new_names_of_classes_count_as_read(form):
    table = shown_people(100)
    release, key = PiecewiseEncoder(neutral_names=True, categorical="drop").protect(table)
    named = Result.of(fit(release, "tree", max_depth=1).model, key, table, release)
    with pytest.raises(PolicyError, match="read exactly in column 'sick'"):
        named.checked(form, ResultPolicy.parse("max_recovered = 0.9\nmax_exact = 0.9"))


def test_what_keeps_the_policy_goes_back(result):
    model = result.checked(Form("rules", 2, 0.1), ResultPolicy.parse(
        'forms = ["rules"]\nmax_depth = 2\nmin_rounding = 0.1'))
    assert depth_of(model) == 2
    assert smallest_leaf(model) > 0


@pytest.mark.parametrize("text", ["", "radius = 0.1", "forms = []", 'forms = ["all"]',
                                  "max_dept = 3", "max_depth = 0", "max_recovered = 2", "= 1"])
def test_policies_are_checked(text):
    with pytest.raises(PolicyError):
        ResultPolicy.parse(text)


def test_coarser_forms_give_less_away_and_cost_accuracy(result):
    options = result_options(result.mined, result.key, result.table, result.release,
                             ResultPolicy.parse(POLICY))
    by_form = {one.form: one for one in options}
    full, coarse = by_form["full"], by_form["rules, depth 2, rounded to 0.1"]
    none = by_form["predictions"]
    assert full.mean_recovered > coarse.mean_recovered > none.mean_recovered
    assert full.accuracy >= coarse.accuracy
    assert full.agreement == 1.0
    assert none.recovered == none.guess
    assert none.accuracy == full.accuracy
    assert not none.refused
    assert full.refused
    assert "full" in options_text(options)


@pytest.fixture
def sent(tmp_path):
    table = shown_people()
    source = tmp_path / "people.csv"
    import pyarrow.csv as pacsv

    pacsv.write_csv(table.arrow(), source)
    where = {name: tmp_path / name for name in ("release", "key", "model.json", "out.json")}
    assert main(["protect", str(source), "--target", "sick", "--out", str(where["release"]),
                 "--key", str(where["key"])]) == 0
    assert main(["mine", str(where["release"]), "--out", str(where["model.json"])]) == 0
    policy = tmp_path / "results.toml"
    policy.write_text(POLICY.replace("min_leaf = 5\n", "").replace("0.6", "1.0"))
    base = ["decode", str(where["model.json"]), "--key", str(where["key"]), "--data", str(source),
            "--release", str(where["release"]), "--out", str(where["out.json"])]
    return base, policy, where["out.json"], source


@pytest.mark.slow
def test_the_command_writes_nothing_that_breaks_the_policy(sent, capsys):
    base, policy, out, _ = sent
    assert main([*base, "--result-policy", str(policy)]) != 0
    assert not out.exists()
    assert "not let this result go back" in capsys.readouterr().err
    assert main([*base, "--result-policy", str(policy), "--depth", "3", "--round", "0.1"]) == 0
    assert depth_of_file(out) <= 3


def depth_of_file(path):
    from unspoken.models.tree import Tree

    return Tree.load(path).depth


@pytest.mark.slow
def test_the_command_compares_forms_and_writes_predictions(sent, capsys):
    base, policy, out, source = sent
    assert main([*base, "--compare-forms", "--result-policy", str(policy)]) == 0
    table = json.loads(out.read_text())
    assert {"form", "accuracy", "recovered", "exact", "guess", "refused"} <= set(table[0])
    assert "no model was written" in capsys.readouterr().out
    out.unlink()
    assert main([*base, "--form", "predictions", "--predict", str(source), "--result-policy",
                 str(policy)]) == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "prediction"
    assert set(lines[1:]) == {"a", "b"}
    assert len(lines) == 401


@pytest.mark.slow
def test_a_form_needs_the_release_and_the_data(sent, capsys):
    base, _, _, _ = sent
    bare = [word for word in base[:4]] + base[-2:]
    assert main([*bare, "--depth", "3"]) != 0
    assert "needs --data and --release" in capsys.readouterr().err
