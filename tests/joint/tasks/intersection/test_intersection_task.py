"""The task `intersection` from files to results, and the budget of queries."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("rbcl")

from support.joint_commands import joint_command
from support.set_programs import counting, names
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.sets.answer_budget import QueryBudget
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.session.run import run_local
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.intersection.pooled import pooled
from unspoken.joint.tasks.intersection.program_rows import COMMON
from unspoken.joint.tasks.task_list import all_tasks
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.ledger import Ledger

pytestmark = pytest.mark.slow

TASK = all_tasks()["intersection"]


def ids(*numbers):
    return [b"%d" % number for number in numbers]


def test_a_budget_counts_and_then_refuses():
    budget = QueryBudget("flu", 2)
    budget.spend(ids(1, 2))
    assert budget.left == 1
    budget.spend(ids(3, 4))
    with pytest.raises(RefusedError, match="2 queries about these records are allowed"):
        budget.spend(ids(5, 6))


def test_the_same_query_under_another_name_counts():
    budget = QueryBudget("flu", 2)
    budget.spend(ids(1, 2))
    budget.study = "other"
    budget.spend(ids(1, 2))
    with pytest.raises(RefusedError, match="2 queries about these records are allowed"):
        budget.spend(ids(1, 2))


def test_queries_that_differ_in_few_records_are_refused_and_not_counted():
    budget = QueryBudget("flu", 9, differ=3)
    budget.spend(ids(*range(10)))
    budget.spend(ids(*range(10)))
    for close in (range(9), range(11), [*range(9), 99]):
        with pytest.raises(RefusedError, match="in 3 records or in none"):
            budget.spend(ids(*close))
    budget.spend(ids(*range(13)))
    assert budget.left == 6
    # Far from the last one, close to the first.
    with pytest.raises(RefusedError, match="in 3 records"):
        budget.spend(ids(*range(1, 10)))


def test_a_budget_outlives_the_process(tmp_path):
    path = tmp_path / "a.queries"
    QueryBudget("flu", 2, 3, path).spend(ids(71829, 2, 3, 4))
    again = QueryBudget("flu", 2, 3, path)
    assert again.left == 1
    with pytest.raises(RefusedError, match="in 3 records"):
        again.spend(ids(71829, 2, 3))
    # The budget follows the records: another name for the study changes nothing.
    assert QueryBudget("other", 2, 3, path).left == 1
    with pytest.raises(RefusedError, match="in 3 records"):
        QueryBudget("other", 2, 3, path).spend(ids(71829, 2, 3))
    QueryBudget("other", 2, 3, path).spend(ids(71829, 7, 8, 9))
    with pytest.raises(RefusedError, match="2 queries about these records are allowed"):
        QueryBudget("third", 2, 3, path).spend(ids(71829, 11, 12, 13))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "71829" not in path.read_text()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "unspoken-queries", "version": 9}',
                                  '{"format": "unspoken-queries", "version": 1, "studies": []}'])
def test_a_damaged_record_is_refused(tmp_path, text):
    path = tmp_path / "a.queries"
    path.write_text(text)
    with pytest.raises(StudyError, match="not known how many"):
        QueryBudget("flu", 2, 1, path).spend(ids(1))
    assert path.read_text() == text


@pytest.mark.parametrize("wrong", [{"most": 0}, {"most": True}, {"most": 1, "differ": 0}])
def test_wrong_budgets_are_refused(wrong):
    with pytest.raises(StudyError, match="an int >= 1"):
        QueryBudget("flu", **wrong)


def test_a_spent_budget_stops_a_run_before_anything_is_sent():
    budget = QueryBudget("flu", 1)
    budget.spend(ids(1))
    with pytest.raises(RefusedError, match="1 queries about these records are allowed"):
        run_local(counting(names(2), rules=SetRules(least=0, budget=budget)), [[1], [1]], "sums")


def member(name, *roles):
    return Member(name, f"{name}.example:7700", roles, name * 8, name.encode())


def study(**parameters):
    both = ("owner", "receiver")
    return Study("flu", "intersection", "sums", (member("a", *both), member("b", *both)),
                 {"column": "id", "least": 1, **parameters})


@pytest.mark.parametrize(("parameters", "why"), [
    ({"column": ""}, "a column's name"), ({"rows": 3}, "has no parameter 'rows'"),
    ({"least": -1}, "'least'"), ({"duplicates": "keep"}, "refuse, drop"),
    ({"queries": 0}, "an int >= 1"), ({"differ": 2}, "needs 'queries'")])
def test_wrong_parameters_are_named(parameters, why):
    with pytest.raises(StudyError, match=why):
        TASK.check(study(**parameters).parameters)


def test_the_plan_says_who_learns_what():
    plan = TASK.plan(study())
    assert plan.learns == {name: [COMMON, f"{COMMON}: how many ids each owner has"]
                           for name in ("a", "b")}
    assert any("make up ids" in note for note in plan.notes)
    three = replace(study(), members=(*study().members, member("c", "owner")))
    assert "overlaps" in TASK.plan(three).learns["a"][2]
    assert not any("overlaps" in told for told in TASK.plan(three).learns["b"])
    assert TASK.plan(study(pad_to=50)).learns["a"] == [COMMON]
    with pytest.raises(StudyError, match="Hidden overlaps"):
        TASK.plan(replace(three, parameters={"column": "id", "subsets": "hidden"}))
    with pytest.raises(StudyError, match="needs no shares"):
        TASK.plan(replace(study(), mode="two-party"))


def test_ids_are_read_as_they_are_written(tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n007,1\n8,2\n")
    assert TASK.load(tmp_path / "a.csv", study())[0] == [b"007", b"8"]
    pq.write_table(pa.table({"id": [7, 8], "x": ["a", "b"]}), tmp_path / "a.parquet")
    assert TASK.load(tmp_path / "a.parquet", study())[0] == [b"7", b"8"]


@pytest.mark.parametrize(("text", "parameters", "why"), [
    ("x\n1\n", {}, "'column'"), ("id,x\n1,2\n,3\n", {}, "Some have none"),
    ("id\n1\n1\n", {}, "stand twice"), ("id\n1\n2\n", {"least": 3}, "at least 3")])
def test_files_that_do_not_fit_are_refused(tmp_path, text, parameters, why):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises((StudyError, RefusedError), match=why):
        TASK.load(tmp_path / "a.csv", study(**parameters))


def test_from_identities_to_a_result(tmp_path, capsys):
    people = {"north": ["p1", "p2", "p3", "p4"], "south": ["p4", "p3", "p9"],
              "east": ["p3", "p8", "p4"]}
    for i, (name, rows) in enumerate(people.items()):
        joint_command("identity", name, "--folder", tmp_path)
        lines = "".join(f"{row},{i}\n" for row in rows)
        (tmp_path / f"{name}.csv").write_text("patient,site\n" + lines)
    parties = [word for i, name in enumerate(people)
               for word in ("--party", f"{tmp_path / name}.crt=host{i}.example:7700")]
    joint_command("new", tmp_path / "study.toml", "--name", "patients", "--task", "intersection",
                "--set", "column=patient", "--set", "least=3", "--set", "queries=1",
                "--receivers", "south", *parties)
    assert "counts the queries" not in capsys.readouterr().out
    files = [word for name in people for word in ("--data", f"{name}={tmp_path / name}.csv")]
    (tmp_path / "ledgers").mkdir()
    run = ["local", tmp_path / "study.toml", *files, "--ledgers", tmp_path / "ledgers"]
    assert joint_command("--json", *run) == 0
    assert json.loads(capsys.readouterr().out)["results"] == {
        "north": None, "south": {COMMON: pooled(people)}, "east": None}
    ledger = Ledger.load(tmp_path / "ledgers" / "south.ledger")
    assert ledger.learned()[0].because == COMMON
    assert Path(tmp_path / "south.csv.queries").exists()
    (tmp_path / "again").mkdir()
    with pytest.raises(RefusedError, match="All were made"):
        joint_command(*run[:-1], tmp_path / "again")
