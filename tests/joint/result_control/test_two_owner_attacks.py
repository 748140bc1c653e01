"""Two owners: what one works out of the other from a result is what the plan announced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.brute_force import World, study_in
from support.result_attacks import (
    coded_moments,
    coded_moments_of_other,
    counts_of_other,
    counts_of_yes,
    moments_of_other,
)
from unspoken.joint import run_local
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.result_control.verdict import Certainty
from unspoken.joint.tasks.common.controlled_results import verdicts_of
from unspoken.joint.tasks.kmeans.params import KMeansParams
from unspoken.joint.tasks.kmeans.program_rows import kmeans_rows
from unspoken.joint.tasks.logistic.program_rows import mine_logistic_rows
from unspoken.joint.tasks.naive_bayes import program_rows as bayes
from unspoken.joint.tasks.naive_bayes.class_tallies import class_counts
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.regression.program_rows import mine_regression_rows
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.tasks.tree.params import Attribute

pytestmark = pytest.mark.slow

SIZES = (3, 4, 2, 5)
WORDS = tuple("abcde")
LAYOUT = BayesLayout(tuple(Attribute(f"c{i}", WORDS[:size]) for i, size in enumerate(SIZES)),
                     ("n", "y"))
BAYES = {"target": "class", "classes": ["n", "y"], "columns": [f"c{i}" for i in range(4)],
         **{f"categories.c{i}": list(WORDS[:size]) for i, size in enumerate(SIZES)}}


def study_of(task, parameters, owners=("north", "south")):
    """Return a study whose owners all learn the result."""
    return study_in(World(task, parameters, (), (), lambda a, b: None, {}, owners))


def announced(task, parameters, owners=("north", "south")):
    """Return what the plan says that north can work out of south, always or usually."""
    study = study_of(task, parameters, owners)
    return {v.quantity for v in verdicts_of(task_of(study), study, "north")
            if v.certainty >= Certainty.USUALLY and v.about == ("south",)}


def rows(count, seed):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(count) < 0.3, "y", "n").astype(object)
    columns = {f"c{i}": np.array(WORDS, object)[np.minimum(
        rng.geometric(0.45 + 0.1 * (labels == "y")) - 1, size - 1)] for i, size in enumerate(SIZES)}
    return {**columns, "class": labels}


def attacked(monkeypatch, rules, count=1500):
    """Return the counts of p1 that p0 recovers, and the true ones."""
    seen, real = [], bayes._opened

    async def watched(party, *rest):
        opened = await real(party, *rest)
        if party.name == "p0":
            seen.append(opened)
        return opened

    monkeypatch.setattr(bayes, "_opened", watched)
    parts = [rows(count, seed) for seed in (1, 2)]
    bayes.mine_bayes_rows(parts, LAYOUT, rules)
    [(values, bits)] = seen
    own, other = (class_counts(LAYOUT.rows(part), LAYOUT) for part in parts)
    return counts_of_other(values, bits.astype(float), own, SIZES, 1 << 13,
                           floored=not rules.bits), other


def test_naive_bayes_gives_no_counts_away(monkeypatch):
    """At its defaults no cell of the other's table follows; with 20 bits nearly all do."""
    recovered, _ = attacked(monkeypatch, BayesParams(most=1 << 13))
    assert (recovered == None).all()  # noqa: E711
    assert announced("bayes", BAYES) == set()
    recovered, other = attacked(monkeypatch, BayesParams(most=1 << 13, bits=20))
    known = recovered != None  # noqa: E711
    assert known.mean() > 0.9
    assert (recovered[known] == other[known]).all()
    assert announced("bayes", {**BAYES, "bits": 20}) == {"the counts of classes and categories"}


def test_chosen_precision_is_enough_to_predict(monkeypatch):
    parts = [rows(1500, seed) for seed in (1, 2)]
    models, _ = bayes.mine_bayes_rows(parts, LAYOUT, BayesParams(most=1 << 13))
    fine, _ = bayes.mine_bayes_rows(parts, LAYOUT, BayesParams(most=1 << 13, bits=28))
    new = rows(2000, 3)
    assert (models[0].predict(new) == fine[0].predict(new)).mean() > 0.99


def test_a_regression_on_one_feature_gives_what_is_announced():
    rng = np.random.default_rng(7)
    parts = [{"x": rng.normal(5, 2, size), "y": rng.normal(3, 1, size)} for size in (80, 130)]
    models, _ = mine_regression_rows(parts, RegressionTerms("y", ("x",)))
    own, other = (np.column_stack([part["x"], part["y"]]) for part in parts)
    recovered = moments_of_other(models[0], own)
    assert recovered["number of records"] == 130
    np.testing.assert_allclose(recovered["means"], other.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(recovered["deviations"], other.std(axis=0), rtol=1e-3)
    np.testing.assert_allclose(recovered["correlations"], np.corrcoef(other.T)[0, 1], rtol=1e-2)
    assert set(recovered) == announced("regression", {"response": "y", "columns": ["x"]})
    assert announced("regression", {"response": "y", "columns": ["x"], "inference": False}) == {
        "number of records"}


def test_a_regression_on_columns_of_0_and_1_gives_what_is_announced():
    """Two terms have too many moments to be solved for, but not if they are 0 and 1."""
    rng, parts = np.random.default_rng(3), []
    for size in (80, 130):
        x = (rng.random(size) < 0.3).astype(float)
        z = (rng.random(size) < 0.2 + 0.3 * x).astype(float)
        y = np.round(2 + 1.5 * x - 0.7 * z + rng.normal(size=size), 2)
        parts.append({"x": x, "z": z, "y": y})
    models, _ = mine_regression_rows(parts, RegressionTerms("y", ("x", "z")))
    own, other = (np.column_stack([part["x"], part["z"], part["y"]]) for part in parts)
    np.testing.assert_allclose(coded_moments_of_other(models[0], own),
                               coded_moments(other), rtol=1e-4)
    assert announced("regression", {"response": "y", "columns": ["x", "z"]}) == {
        "number of records", "means", "deviations", "correlations"}
    assert announced("regression", {"response": "y", "columns": list("wxyz"[:2] + "vuts")}) == {
        "number of records"}


def test_a_logistic_model_on_a_column_of_0_and_1_gives_what_is_announced():
    """Standard errors are sums of reciprocals of counts: of a hundred thousand records, too."""
    tables = np.array([[21_000, 9_000, 14_000, 6_000], [31_007, 8_012, 4_444, 6_543]])
    parts = [{"x": np.repeat([0.0, 0, 1, 1], table), "y": np.repeat([0.0, 1, 0, 1], table)}
             for table in tables]
    models, _ = mine_logistic_rows(parts, RegressionTerms("y", ("x",)))
    np.testing.assert_allclose(counts_of_yes(models[0]) - tables[0], tables[1], atol=0.1)
    assert "counts of values of columns and of their pairs" in announced(
        "logistic", {"response": "y", "columns": ["x"]})


def test_the_deviation_of_a_response_is_announced_to_every_owner():
    """Its total sum of squares is opened; what else follows of six columns is another matter."""
    study = study_of("regression-columns", {
        "response": "y", "held": "east", "same_order": True, "columns": [
            *(f"north:a{i}" for i in range(3)), *(f"south:b{i}" for i in range(3))]},
        ("north", "south", "east"))
    sure = [v for v in verdicts_of(task_of(study), study, "north")
            if v.certainty >= Certainty.USUALLY]
    assert {(v.quantity, v.certainty, v.about) for v in sure} == {
        ("deviation of the response", Certainty.ALWAYS, ("east",)),
        ("mean of the response", Certainty.USUALLY, ("east",))}


def test_k_means_with_one_cluster_gives_what_is_announced():
    rng = np.random.default_rng(3)
    parts = [np.round(rng.normal(size=(size, 2)), 2) for size in (20, 30)]
    found, _ = kmeans_rows(parts, KMeansParams(k=1, iterations=2))
    rest = (50 * found[0].centres[0] - parts[0].sum(axis=0)) / 30
    np.testing.assert_allclose(rest, parts[1].mean(axis=0), atol=0.01)
    assert announced("kmeans", {"columns": ["x", "y"], "k": 1}) == {"the mean of each column"}


@pytest.mark.parametrize(("task", "parameters", "words"), [
    ("sum", {"columns": ["x"]}, "the sum of each column of south"),
    ("bayes", {**BAYES, "bits": 20}, "the counts of classes and categories of south"),
    ("regression", {"response": "y", "columns": ["x"]}, "number of records of south"),
    ("kmeans", {"columns": ["x"], "k": 1}, "the mean of each column of south")])
def test_a_study_that_gives_more_away_than_it_accepts_is_refused(task, parameters, words):
    study = study_of(task, {**parameters, "result_control": "refuse"})
    for step in (task_of(study).outlook, task_of(study).plan, task_of(study).program):
        with pytest.raises(StudyError, match=words):
            step(study)
    accepted = [v.name for party in study.having("owner")
                for v in verdicts_of(task_of(study), study, party)
                if v.certainty >= Certainty.USUALLY]
    study = replace(study, parameters={**study.parameters, "accepts": accepted})
    task_of(study).plan(study)
    task_of(study).program(study)


def test_what_is_announced_is_in_the_words_of_the_plan():
    study = study_of("kmeans", {"columns": ["x"], "k": 1})
    plan = task_of(study).plan(study)
    assert "north can work out: the mean of each column of south (the result less its own part)" \
        in plan.text()
    assert "can work out" in plan.to_json()["determined"]["south"][0]
    three = study_of("kmeans", {"columns": ["x"], "k": 1}, ("north", "south", "east"))
    assert "north can work out" not in task_of(three).plan(three).text()
    with pytest.raises(StudyError, match="result_control=refuse"):
        task_of(replace(study, parameters={**study.parameters, "accepts": ["x"]}))


def test_a_file_that_differs_from_an_earlier_run_by_few_records_is_refused(tmp_path):
    study = study_of("sum", {"columns": ["x"], "least_changes": 3}, ("north", "south", "east"))
    task, path = task_of(study), tmp_path / "north.csv"

    def load(values):
        path.write_text("x\n" + "\n".join(map(str, values)) + "\n")
        return task.load(path, study)

    load(range(10))
    assert (tmp_path / "north.csv.results").exists()
    load(range(10))
    with pytest.raises(RefusedError, match="differ"):
        load(range(9))
    with pytest.raises(RefusedError, match="differ"):
        load([*range(10), 9, 9])
    load(range(7))
    plain = study_of("sum", {"columns": ["x"]}, ("north", "south", "east"))
    task_of(plain).load(path, plain)


def test_control_is_no_matter_of_the_program():
    study = study_of("sum", {"columns": ["x"], "result_control": "announce"},
                     ("north", "south", "east"))
    task = task_of(study)
    study = replace(study, disclosures=task.disclosures(study))
    outputs = run_local(task.program(study), [np.array([1.0]), np.array([2.0]), np.array([4.0])],
                        names=["north", "south", "east"])
    assert outputs[0][0] == {"x": 7}
