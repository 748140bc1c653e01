"""Answers of a query log and results of studies, attacked together with a released table."""

from __future__ import annotations

import json
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from sklearn.tree import DecisionTreeClassifier

import unspoken
from support.service_people import service
from unspoken.audit import answers_beside
from unspoken.audit.answers_beside import lay_sums
from unspoken.audit.file_overlap import with_earlier_files
from unspoken.audit.people.audit_people import audit_table
from unspoken.audit.studies_beside import joint_sums
from unspoken.cli import joint_steps
from unspoken.methods.queries.disclosed_sums import DisclosedSum
from unspoken.methods.queries.predicates import column, conjuncts
from unspoken.methods.queries.service.logged_answers import logged_sums
from unspoken.methods.queries.service.question_text import question_of
from unspoken.models.tree import Tree
from unspoken.protect import NoiseAdder, QueryGuard
from unspoken.release.automatic_entries import file_words
from unspoken.risk import Policy, Register, audit

ROWS = 600


def people(rows=ROWS, seed=3):
    """Return people in households of three, with a debt in whole numbers."""
    rng = np.random.default_rng(seed)
    return {"age": rng.integers(18, 95, rows), "house": rng.permutation(np.arange(rows) // 3),
            "plot": rng.permutation(rows), "debt": rng.integers(0, 200, rows),
            "ill": rng.choice(["no", "yes"], rows, p=[0.7, 0.3])}


def as_table(data, **roles):
    return unspoken.read(pa.table(data), show=False, keep=["plot"] if "plot" in data else None,
                         **roles)


TABLE = as_table(people())
SEED = b"s" * 32


def sample(*names, share=0.5):
    """Return a table that another tool made: some columns of some of the people."""
    rows = np.random.default_rng(5).permutation(ROWS)[:int(share * ROWS)]
    return as_table({name: np.asarray(people()[name])[rows] for name in names})


def exact_log(folder, houses=ROWS // 3, register=None):
    """Return the log of a guard that summed debts over households, and its register."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        guard = QueryGuard(TABLE, folder / "log", register=register, to="press", audit="linear",
                           public=["house"], smallest=2, bounds={"debt": (0, 200)})
        for house in range(houses):
            guard.sum("debt", f"house = {house}")
    return folder / "log"


def joined(sums, released, name="debt", table=TABLE):
    laid = lay_sums(sums, table, released, 0.02, SEED)
    return {one.column: one for one in laid.joined}[name]


@pytest.mark.slow
def test_exact_sums_and_a_sample_of_the_people_give_the_others(tmp_path, monkeypatch):
    """Of a household the sample shows two; the sum of the household gives the third."""
    sums = logged_sums(exact_log(tmp_path), TABLE)
    shown = sample("age", "plot", "debt")
    both = joined(sums, shown)
    data, inside = people(), np.zeros(ROWS, np.bool_)
    inside[np.random.default_rng(5).permutation(ROWS)[:ROWS // 2]] = True
    third = ~inside & (np.bincount(data["house"], inside)[data["house"]] == 2)
    assert both.first < 0.15
    assert both.gain > 0.7 * third.mean() > 0.05
    # Without the sums nothing is gained.
    monkeypatch.setattr(answers_beside, "likelihoods", lambda s, d, p, b: np.ones_like(b))
    monkeypatch.setattr(answers_beside, "tried_out", lambda *_: None)
    assert joined(sums, shown).gain == 0.0


@pytest.mark.slow
def test_two_sums_that_differ_in_two_people_and_one_of_them_in_the_table():
    """Large sets pin down whoever is in their difference, once the table shows the other."""
    data = people()
    everybody = float(data["debt"].sum())
    sums = [DisclosedSum((), "debt", everybody, 0.0)]
    for start in range(0, 120, 2):
        less = ~np.isin(data["plot"], [start, start + 1])
        where = conjuncts(~column("plot").isin([start, start + 1]))
        sums.append(DisclosedSum(where, "debt", float(data["debt"][less].sum()), 0.0,
                                 public=frozenset({"plot"})))
    even = np.flatnonzero(data["plot"] % 2 == 0)
    shown = as_table({n: data[n][even] for n in ("age", "plot", "debt")})
    both = joined(sums, shown)
    assert both.gain > 0.03
    noisy = [DisclosedSum(one.where, "debt", one.total + 500, 500.0, public=one.public)
             for one in sums]
    assert joined(noisy, shown).gain < 0.02


@pytest.mark.slow
def test_counts_of_a_yes_or_no_beside_a_table_of_groups():
    """The table says of whom one in a group of three is ill, counts of other sets tell who."""
    data = people()
    shown = as_table({"plot": data["plot"], "ill": data["ill"]})
    sums = []
    for house in range(ROWS // 3):
        inside = data["house"] == house
        where = conjuncts((column("house") == house) & (column("ill") == "yes"))
        sums.append(DisclosedSum(where, None, float((data["ill"][inside] == "yes").sum()), 0.0,
                                 public=frozenset({"house"})))
    alone = joined(sums, as_table({"plot": data["plot"], "age": data["age"]}), "ill")
    assert alone.first > 0.75
    assert alone.gain == 0.0
    flipped = np.where(np.random.default_rng(2).random(ROWS) < 0.15,
                       np.where(data["ill"] == "yes", "no", "yes"), data["ill"])
    noisy = as_table({"plot": data["plot"], "age": data["age"], "ill": flipped})
    assert joined(sums, noisy, "ill").gain > 0.0
    assert joined(sums, shown, "ill").together == 1.0


def test_one_person_who_is_certain_from_both_counts():
    """Of 24 people the table shows 23, and the sum of all gives the last."""
    data = people(24)
    table = as_table(data)
    shown = as_table({n: data[n][1:] for n in ("age", "plot", "debt")})
    sums = joint_sums(json.dumps({"debt": 1}).encode(), table)
    both = joined(sums, shown, table=table)
    assert both.gain == pytest.approx(1 / 24)
    assert joint_sums(b'{"height": 1}', table) is None


def test_answers_with_noise_of_an_epsilon_add_nothing(tmp_path):
    guard = QueryGuard(TABLE, tmp_path / "log", epsilon=5, each=0.5, bounds={"debt": (0, 200)},
                       public=["house"], smallest=2)
    for house in range(5):
        guard.sum("debt", f"house = {house}")
        guard.mean("debt", f"house = {house} and ill = 'yes'")
    sums = logged_sums(tmp_path / "log", TABLE)
    assert len(sums) == 10
    assert all(one.deviation > 100 for one in sums)
    assert joined(sums, sample("age", "plot", "debt")).gain == 0.0


def test_the_noise_of_a_mean_is_that_of_its_sum_however_the_noise_of_its_people_fell(tmp_path):
    """A household of three may be told to be thirty, which takes nothing of the sum's noise away.

    Sums of distances from 100 over 0.25: a discrete Laplace of scale 400 deviates by 565.7.
    """
    guard = QueryGuard(TABLE, tmp_path / "log", epsilon=50, each=0.5, bounds={"debt": (0, 200)},
                       public=["house"], smallest=2)
    for house in range(100):
        guard.mean("debt", f"house = {house}")
    sums = logged_sums(tmp_path / "log", TABLE)
    assert [one.deviation for one in sums] == pytest.approx([math.sqrt(2) * 400] * 100, rel=1e-3)


@pytest.mark.slow
def test_the_sum_behind_a_mean_is_as_near_as_stated(tmp_path):
    """Distances of up to 100 over an epsilon of 0.12: the sums deviate by 1,178."""
    guard = QueryGuard(TABLE, tmp_path / "log", epsilon=99, each=0.24, bounds={"debt": (0, 200)},
                       public=["plot"], smallest=2)
    ends = range(200, 600, 2)
    for end in ends:
        guard.mean("debt", f"plot < {end}")
    data = people()
    off = [one.total - float(data["debt"][data["plot"] < end].sum())
           for one, end in zip(logged_sums(tmp_path / "log", TABLE), ends, strict=True)]
    assert 830 < np.sqrt(np.mean(np.square(off))) < 1660


def test_the_log_of_a_service_is_read(tmp_path):
    """Every kind of answer is a sum over people; a quantile counts who is below it."""
    opened = service(tmp_path, epsilon=100.0, cells=["sex"], each=1.0)
    for text in ("select mean(age) where sex = 'F'", "select count() group by work",
                 "select quantile(age, 0.5)", "select variance(age)",
                 "select histogram(age, 20, 40, 60)"):
        opened.ask("alice", question_of(text))
    from support.service_people import people as asked

    table = asked()
    sums = logged_sums(tmp_path / "log", table)
    assert len(sums) == 1 + 5 + 1 + 1 + 5
    age = table.numbers(["age"])[:, 0]
    sex = np.array(table.arrow(["sex"])["sex"].to_pylist())
    mean = next(one for one in sums if one.column == "age" and one.power == 1)
    assert mean.deviation == 0.0
    assert mean.total == pytest.approx(age[sex == "F"].sum())
    assert mean.touches == {"age"}
    spread = next(one for one in sums if one.power == 2)
    assert spread.total == pytest.approx(((age - age.mean()) ** 2).sum(), rel=0.2)
    assert {one.touches for one in sums} == {frozenset({"age"}), frozenset({"work"})}


@pytest.mark.slow
def test_the_register_attacks_answers_together_with_a_file_and_with_a_release(tmp_path):
    exact_log(tmp_path, register=tmp_path / "r")
    register = Register.load(tmp_path / "r")
    audited = audit_table(sample("age", "plot", "debt"), TABLE, random_state=0)
    audited.release["data_sha256"] = "0" * 64
    beside = with_earlier_files(audited, register, TABLE, sample("age", "plot", "debt"), 0)
    assert "(register)" not in beside.unscored
    rows = [one for one in beside.select(measure="together") if one.column == "debt"]
    assert rows[0].value > rows[0].baseline + 0.05
    assert beside.failed
    strict = Policy.parse("[register]\nmax_added = 0.0\n")
    assert any("query" in line for line in strict.judge(beside).reasons)
    release, key = NoiseAdder(columns=["debt"], others="keep", random_state=1).protect(TABLE)
    both = audit(TABLE, release, key, trials=1, random_state=0, register=register)
    assert "(register)" not in both.unscored
    assert any("query log" in line for line in both.added)
    (tmp_path / "log").unlink()
    gone = audit(TABLE, release, key, trials=1, random_state=0, register=register)
    assert "query log" in gone.unscored["(register)"]
    assert gone.verdict == "not assessed"


def entered_study(folder, content):
    path = folder / "result.json"
    path.write_text(content)
    register = Register.load(folder / "r")
    register = register.add_other("study", TABLE, "study s (tree) ab12", "north")
    words = file_words("study s (tree) ab12 about ill result", path, path.read_bytes())
    return register.add_other("study", TABLE, words, "north"), path


@pytest.mark.slow
def test_the_model_of_a_study_is_asked_beside_a_table(tmp_path):
    data = people()
    ill = np.where((data["age"] > 50) & (data["plot"] > ROWS // 2), "yes", "no")
    inputs = np.column_stack([data["age"], data["plot"]]).astype(float)
    tree = Tree.from_sklearn(DecisionTreeClassifier(max_depth=4).fit(inputs, ill))
    named = {**tree.to_json(), "features": ["age", "plot"], "target": "ill"}
    register, path = entered_study(tmp_path, json.dumps(named))
    table = as_table({**data, "ill": ill}, quasi=["debt", "house"])
    shown = as_table({n: data[n] for n in ("age", "plot", "debt", "house")})

    def beside():
        audited = audit_table(shown, table, random_state=0)
        audited.release["data_sha256"] = "0" * 64
        return with_earlier_files(audited, register, table, shown, 0)

    found = beside()
    assert max(one.value - one.baseline for one in found.select(measure="together")) > 0.1
    assert "(register)" not in found.unscored
    path.write_text("{}")
    assert "study" in beside().unscored["(register)"]


@pytest.mark.slow
def test_a_result_that_no_attack_reads_is_not_assessed(tmp_path):
    register, _ = entered_study(tmp_path, '["a", "b"]')
    release, key = NoiseAdder(columns=["debt"], others="keep", random_state=1).protect(TABLE)
    found = audit(TABLE, release, key, trials=1, random_state=0, register=register)
    assert "study" in found.unscored["(register)"]
    assert found.verdict == "not assessed"
    assert not Policy.parse("[register]\nmax_added = 0.0\n").judge(found).passed


def test_counts_by_interval_of_a_study_are_read():
    data = people(40)
    sums = joint_sums(json.dumps({"age 18 .. 40": 1, "age 40 .. 95": 2, "debt": 3}).encode(),
                      as_table(data))
    assert [one.total for one in sums] == [(data["age"] < 40).sum(), (data["age"] >= 40).sum(),
                                           data["debt"].sum()]


@pytest.mark.slow
def test_the_result_of_a_study_is_entered_by_its_content(tmp_path):
    study = SimpleNamespace(name="s", task="sum", hash=lambda: "ab" * 32,
                            having=lambda role: ("north", "south"), parameters={"target": "ill"})
    pyarrow.csv.write_csv(TABLE.arrow(), tmp_path / "t.csv")
    (tmp_path / "out.json").write_text("{}")
    args = SimpleNamespace(register=tmp_path / "r", to="", out=tmp_path / "out.json")
    joint_steps._enter(args, study, tmp_path / "t.csv")
    joint_steps._enter_result(args, study, tmp_path / "t.csv")
    first, second = Register.load(tmp_path / "r").entries
    assert second.what.startswith(f"{first.what} about ill result /")
