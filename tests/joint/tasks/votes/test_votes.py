"""Local models vote on another's records: the vote of scikit-learn's models, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from support.joint_commands import write
from support.replayed import real_run
from support.study_cases import study_case
from support.study_variants import varied
from support.tree_data import LAYOUT as QUESTIONS
from support.tree_data import WEATHER
from support.watching import opened_and_lengths
from unspoken.errors import DataError
from unspoken.joint import mine, run_local
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.classify.program_bayes import Sides
from unspoken.joint.tasks.common.aligned_records import ROWS
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, Numeric
from unspoken.joint.tasks.naive_bayes.pooled import pooled as learned
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.tasks.tree.params import Attribute, TreeParams
from unspoken.joint.tasks.tree.pooled import pooled as grown
from unspoken.joint.tasks.votes import program_rows
from unspoken.joint.tasks.votes.pooled import pooled
from unspoken.joint.tasks.votes.program_rows import (
    VOTED,
    VoteOverRows,
    local_table,
    vote_privately,
)

CLASSES = ("n", "p", "q")
SEX = ("f", "m")
LAYOUT = BayesLayout((Numeric("age", -10, 10), Attribute("sex", SEX)), CLASSES)
MODELS = ("south", "east", "west")


def table(rows, seed, classes=CLASSES, shift=0.0):
    """Return rows whose class shows in both columns, a little; `shift`: ages are higher."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(classes), rows)
    return {"age": np.clip(rng.normal(codes - 1.0 + shift, 1.2), -10, 10),
            "sex": np.array(SEX, object)[(rng.random(rows) < 0.3 + 0.2 * codes).astype(int)],
            "class": np.array(classes, object)[codes]}


def by_sklearn(part, new):
    """Return the classes that scikit-learn's naive Bayes of one owner gives new records."""
    age, sex = (lambda t: t["age"][:, None]), (lambda t: (t["sex"] == "m").astype(int)[:, None])
    numbers = GaussianNB(var_smoothing=0.0).fit(age(part), part["class"])
    words = CategoricalNB(min_categories=2).fit(sex(part), part["class"])
    scores = (numbers.predict_joint_log_proba(age(new)) + words.predict_joint_log_proba(sex(new))
              - np.log(numbers.class_prior_))
    return numbers.classes_[scores.argmax(axis=1)]


def most_votes(votes):
    """Return the class that most name, of equally many the first."""
    return [max(CLASSES, key=lambda name: (list(each).count(name), -CLASSES.index(name)))
            for each in zip(*votes, strict=True)]


def sides(asks="north", **more):
    return Sides(MODELS[0], asks, **more)


PARTS = [table(60, 1), table(40, 2, shift=2.5), table(50, 3, CLASSES[:2])]
NEW = table(80, 4)
RECORDS = LAYOUT.records({name: NEW[name] for name in ("age", "sex")})


def given():
    return {"north": RECORDS, **{name: local_table(LAYOUT, part)
                                 for name, part in zip(MODELS, PARTS, strict=True)}}


def test_only_the_vote_of_local_models_comes_out():
    names = ("north", *MODELS)
    program = VoteOverRows(LAYOUT, MODELS, sides(receivers=("north",)))
    real = real_run(program, given(), roles_for(names, "dealer"))
    votes = [by_sklearn(part, NEW) for part in PARTS]
    expected = most_votes(votes)
    assert real.outputs["north"].tolist() == expected
    assert all(real.outputs[name] is None for name in MODELS)
    assert any(expected != list(each) for each in votes), "no model decides alone"
    ties = [len(set(each)) == 3 for each in zip(*votes, strict=True)]
    assert any(ties), "and some votes are ties"
    for ledger in real.ledgers.values():
        assert {(row.because, row.to) for row in ledger.openings} <= {
            (VOTED, ("north",)), (ROWS, names)}


def test_models_that_were_learned_before_vote_alike():
    models = {name: learned(LAYOUT, part) for name, part in zip(MODELS, PARTS, strict=True)}
    classes, _ = vote_privately(models, NEW, LAYOUT)
    assert classes.tolist() == pooled(list(models.values()), NEW, CLASSES).tolist()
    assert classes.tolist() == most_votes([by_sklearn(part, NEW) for part in PARTS])


@pytest.mark.slow
def test_trees_vote():
    layout = BayesLayout(QUESTIONS.attributes, QUESTIONS.classes, QUESTIONS.target)
    halves = [{name: column[place::3] for name, column in WEATHER.items()} for place in range(3)]
    trees = {f"m{place}": grown(QUESTIONS, half, TreeParams(most=64, max_depth=1))
             for place, half in enumerate(halves)}
    classes, ledgers = vote_privately(trees, WEATHER, layout, 4)
    votes = np.array([tree.predict(WEATHER) for tree in trees.values()])
    expected = np.where((votes == "yes").sum(axis=0) >= 2, "yes", "no")
    assert classes.tolist() == expected.tolist()
    assert len(set(classes.tolist())) == 2
    assert {row.because for row in ledgers[0].openings} == {VOTED, ROWS}


@pytest.mark.slow
def test_what_single_models_vote_for_shows_nowhere_and_a_mutant_is_caught(monkeypatch):
    """The same vote by two models of three, or by all of them."""
    program = VoteOverRows(LAYOUT, ("p1", "p2", "p3"), Sides("p1", "p0"))
    sure = local_table(LAYOUT, PARTS[0])
    other = replace(sure, start=sure.start + np.array([25.0, 0, 0]))
    inputs = [[RECORDS, sure, sure, last] for last in (sure, other)]
    one, two = (opened_and_lengths(program, each) for each in inputs)
    assert one == two
    real = program_rows.equal

    async def leaking(party, votes, to):
        await program_rows.reveal(party, votes[0], because=VOTED)
        return await real(party, votes, to)

    monkeypatch.setattr(program_rows, "equal", leaking)
    one, two = (opened_and_lengths(program, each) for each in inputs)
    assert one != two


def test_who_asks_too_much_is_refused_before_a_model_is_shared():
    program = VoteOverRows(LAYOUT, MODELS, sides(most=79))
    with pytest.raises(RefusedError, match="At most 79 records"):
        run_local(program, list(given().values()), names=["north", *MODELS])


@pytest.mark.parametrize(("wrong", "why"), [
    ({"north": local_table(LAYOUT, PARTS[0])}, "without the class"),
    ({"east": RECORDS}, "must give a model")])
def test_who_gives_the_wrong_kind_of_file_is_named(wrong, why):
    program = VoteOverRows(LAYOUT, MODELS, sides())
    with pytest.raises(DataError, match=why):
        run_local(program, list({**given(), **wrong}.values()), names=["north", *MODELS])


def test_a_vote_needs_two_models_and_somebody_who_asks():
    study, _ = varied("vote", "dealer", "two owners")
    with pytest.raises(StudyError, match="two or more that have models"):
        task_of(study).outlook(study)
    stranger, task, _ = study_case("vote", "dealer", asks="nobody")
    with pytest.raises(StudyError, match="'nobody' asking"):
        task.outlook(stranger)


@pytest.mark.slow
def test_a_table_with_the_class_is_no_tree(tmp_path):
    study, task, _ = study_case("vote", "dealer", depth=3)
    (tmp_path / "a.csv").write_text("age,sex,class\n0.5,f,no\n")
    with pytest.raises(DataError, match="trees, which are given as JSON files"):
        task.load(tmp_path / "a.csv", study)


@pytest.mark.slow
def test_from_files_to_results(tmp_path):
    """One owner brings rows with the class, one a model; classes and categories are found here."""
    write(tmp_path / "north.csv", {name: NEW[name] for name in ("age", "sex")})
    write(tmp_path / "south.csv", PARTS[0])
    learned(LAYOUT, PARTS[1]).save(tmp_path / "east.json")
    found = mine("vote", {"north": tmp_path / "north.csv", "south": tmp_path / "south.csv",
                         "east": tmp_path / "east.json"}, asks="north", target="class",
                 columns=["age", "sex"], range={"age": [-10, 10]})
    assert found == {VOTED: most_votes([by_sklearn(part, NEW) for part in PARTS[:2]])}
