"""Answers, prices, refusals, the log, and what a change behind the service's back does."""

import json

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.service_people import people, policy_data, service
from unspoken.errors import BudgetError, InputError, PolicyError, QueryLogError, UnspokenError
from unspoken.methods.queries.service.question import Question, read_json
from unspoken.methods.queries.service.question_service import QueryService
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.release.budget import Budget


def ask(one, text):
    return one.ask("alice", question_of(text))


def truth(table):
    return table.arrow().to_pandas()


@pytest.mark.slow
@pytest.mark.parametrize(("text", "true"), [
    ("select count() where age > 40", lambda t: (t.age > 40).sum()),
    ("select sum(income) where sex = 'F'", lambda t: t.income[t.sex == "F"].round().sum()),
    ("select mean(age) where ill = 'true' or age > 50",
     lambda t: t.age[t.ill | (t.age > 50)].mean()),
    ("select variance(income)", lambda t: t.income.var(ddof=0)),
    ("select count() where not (work = 'state') and income >= 2500.5",
     lambda t: ((t.work != "state") & (t.income >= 2500.5)).sum()),
])
def test_answers_lie_within_a_few_of_their_errors(tmp_path, text, true):
    table = people(4000)
    reply = ask(service(tmp_path, table, each=20.0), text.replace("ill = 'true'", "ill = true"))
    assert reply["answered"]
    assert reply["error"] > 0
    assert abs(reply["value"] - true(truth(table))) <= 8 * reply["error"] + 1
    assert reply["epsilon"] == 20.0


def test_quantiles_histograms_and_groups(tmp_path):
    table = people(4000)
    one = service(tmp_path, table, each=20.0)
    data = truth(table)
    middle = ask(one, "select quantile(age, 0.5)")
    assert abs(middle["value"] - data.age.median()) <= 2
    bins = ask(one, "select histogram(age, 20, 40, 60, 90)")["groups"]
    assert [one["group"][0] for one in bins] == ["below 20", "20 .. 40", "40 .. 60", "60 .. 90",
                                                 "above 90", None]
    assert abs(bins[1]["value"] - ((data.age >= 20) & (data.age < 40)).sum()) < 5
    assert abs(bins[3]["value"] - (data.age >= 60).sum()) < 5
    grouped = ask(one, "select mean(income) group by sex, work")["groups"]
    assert len(grouped) == 4 * 5
    women = next(g for g in grouped if g["group"] == ["F", "state"])
    true = data.income[(data.sex == "F") & (data.work == "state")].mean()
    assert abs(women["value"] - true) < 8 * women["error"] + 1
    assert len(ask(one, "select histogram(work)")["groups"]) == 5


def test_missing_and_undeclared_values_are_groups_of_their_own(tmp_path):
    work = pa.array(["state"] * 300 + [None] * 60 + ["spy"] * 40)
    one = service(tmp_path, people(work=work), each=30.0)
    groups = {g["group"][0]: g["value"] for g in ask(one, "select count() group by work")["groups"]}
    assert abs(groups[None] - 60) < 4
    assert abs(groups["(other)"] - 40) < 4
    assert abs(ask(one, "select count() where work is missing")["value"] - 60) < 4


def test_the_same_question_is_paid_for_once_whoever_asks_and_however_it_is_put(tmp_path):
    one = service(tmp_path)
    first = ask(one, "select count() where age > 40")
    again = one.ask("bob", question_of({"select": "count", "where": "(age > 40)"}))
    assert first["value"] == again["value"]
    assert one.budget.spent() == pytest.approx(0.1)
    later = service(tmp_path)
    assert ask(later, "select count() where age > 40")["value"] == first["value"]
    assert later.budget.spent() == pytest.approx(0.1)
    both = later.ask_each([_asked("select sum(age)"), _asked("select sum(age)")])
    assert both[0] == both[1]
    assert later.budget.spent() == pytest.approx(0.2)


def test_an_answer_that_others_paid_for_counts_for_whoever_gets_it_too(tmp_path):
    one = service(tmp_path, terms={"recipients": {"bob": 0.15}})
    texts = [f"select count() where age > {k}" for k in (30, 40, 50)]
    paid = [ask(one, text) for text in texts]
    got = one.ask("bob", question_of(texts[0]))
    assert got["value"] == paid[0]["value"]
    assert one.ask("bob", question_of(texts[0]))["answered"]
    assert not one.ask("bob", question_of(texts[1]))["answered"]
    assert one.budget.spent() == pytest.approx(0.3)
    assert one.budget.spent("bob") == pytest.approx(0.1)
    later = service(tmp_path, terms={"recipients": {"bob": 0.15}})
    assert later.ask("bob", question_of(texts[0]))["value"] == paid[0]["value"]
    assert later.budget.spent("bob") == pytest.approx(0.1)
    assert not later.ask("bob", question_of(texts[2]))["answered"]
    assert ask(later, texts[2])["answered"]


def _asked(text):
    from unspoken.methods.queries.service.question_service import Asked

    return Asked("alice", question_of(text))


def test_when_the_budget_is_spent_nothing_new_is_answered(tmp_path):
    one = service(tmp_path, epsilon=0.25)
    replies = one.ask_each([_asked(f"select count() where age > {k}") for k in range(20, 30)])
    assert [r["answered"] for r in replies].count(True) == 2
    assert not ask(one, "select count()")["answered"]
    assert ask(one, "select count() where age > 20")["answered"]
    assert len(one._known) == 2


def test_an_own_epsilon_is_taken_from_budgets_without_delta_only(tmp_path):
    one = service(tmp_path)
    assert ask(one, "select count() epsilon 3")["epsilon"] == 3.0
    assert one.budget.spent() == pytest.approx(3.0)
    (tmp_path / "d").mkdir()
    other = service(tmp_path / "d", terms={"delta": 1e-6})
    with pytest.raises(InputError, match="one price"):
        ask(other, "select count() epsilon 3")


def test_exact_answers_come_from_fixed_cells_alone(tmp_path):
    data = policy_data(cells=["sex"], smallest=20)
    table = people(rows=400, sex=["F"] * 390 + ["M"] * 10)
    Budget.start(tmp_path / "b", table, epsilon=5.0)
    from unspoken.methods.queries.service.question_service import QueryService

    one = QueryService(table, ServicePolicy.parse(data, tmp_path))
    exact = ask(one, "select sum(age) where sex = 'F'")
    assert exact["error"] == 0.0
    assert exact["value"] == truth(table).age[:390].sum()
    assert one.budget.spent() == 0.0
    for text in ("select sum(age) where sex = 'M'", "select sum(age)",
                 "select sum(age) where sex = 'F' and age > 20", "select sum(ill) where sex = 'F' "
                 "and work = 'state'", "select count() group by sex"):
        assert ask(one, text)["epsilon"] == 0.1, text
    # Listed beside the budget, as what bounds nothing.
    assert "exact cells: sex" in one.budget.to_json()["without_epsilon"][0]["what"]


def test_a_sum_over_people_who_nearly_all_share_a_value_is_not_exact(tmp_path):
    table = people(income=np.r_[np.zeros(395), np.full(5, 9000.0)])
    one = service(tmp_path, table, cells=["sex"], smallest=10)
    assert ask(one, "select sum(income) where sex = 'F'")["epsilon"] == 0.1


@pytest.mark.parametrize(("ages", "rows"), [
    ([90] * 13 + [None] * 12, 1),  # Everybody who has a value has the same.
    ([90] * 12 + [20, 30, 40] + [None] * 10, 1),
    ([*range(20, 40), *range(50, 70)], 5),  # Perhaps eight people.
])
def test_an_exact_mean_needs_enough_people_with_different_values(tmp_path, ages, rows):
    table = people(rows=50, sex=["F"] * 25 + ["M"] * 25, age=pa.array(ages * 2)) if rows == 1 \
        else unspoken.read(pa.table({"who": [k // 5 for k in range(40)], "age": ages,
                                     "sex": ["F"] * 40}), identifiers=["who"], keep=["age", "sex"],
                           show=False)
    Budget.start(tmp_path / "b", table, epsilon=5.0, rows=rows, unit="row" if rows == 1 else "who")
    from unspoken.methods.queries.service.question_service import QueryService

    data = policy_data(cells=["sex"], smallest=8)
    columns = {name: data["columns"][name] for name in ("age", "sex")}
    one = QueryService(table, ServicePolicy.parse({**data, "columns": columns}, tmp_path))
    assert ask(one, "select count() where sex = 'F'")["epsilon"] is None
    assert ask(one, "select mean(age) where sex = 'F'")["epsilon"] == 0.1


@pytest.mark.parametrize(("without", "price"), [(0, None), (1, 0.1), (9, 0.1), (10, None)])
def test_a_cell_in_which_a_few_have_no_value_is_not_exact(tmp_path, without, price):
    ages = [None] * without + [20 + k % 50 for k in range(200 - without)]
    table = people(rows=200, sex=["F"] * 200, age=pa.array(ages))
    one = service(tmp_path, table, cells=["sex"], smallest=10)
    assert ask(one, "select sum(age) where sex = 'F'")["epsilon"] == price
    assert ask(one, "select mean(age) where sex = 'F'")["epsilon"] == price
    assert ask(one, "select count() where sex = 'F'")["epsilon"] is None


def test_a_person_with_many_rows_counts_as_one(tmp_path, monkeypatch):
    # A budget of an earlier version, which did not check the rows of persons.
    monkeypatch.setattr("unspoken.release.budget.check_persons", lambda *_: None)
    table = unspoken.read(pa.table({"who": [0] * 300 + list(range(1, 101)),
                                    "age": [50] * 400}), keep=["who", "age"], show=False)
    Budget.start(tmp_path / "b", table, epsilon=100.0, unit="who", rows=2)
    from unspoken.methods.queries.service.question_service import QueryService

    data = policy_data(each=20.0) | {"columns": {"age": {"bounds": [18, 90]}}}
    one = QueryService(table, ServicePolicy.parse(data, tmp_path))
    assert one.records.count == 102
    assert one.about()["rows"] == 400  # Those left out depend on who is in the table.
    assert abs(ask(one, "select count()")["value"] - 102) < 5
    assert one.budget.spent() == pytest.approx(20.0)
    with pytest.raises(InputError, match="identifier"):
        ask(one, "select count() where who = 0")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["tail", "second", "backup", "edit", "other budget"])
def test_a_log_that_was_tampered_with_is_noticed(tmp_path, what):
    one = service(tmp_path)
    ask(one, "select count()")
    log, old = tmp_path / "log", (tmp_path / "log").read_bytes()
    ask(one, "select sum(age)")
    if what == "tail":
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    elif what == "backup":
        log.write_bytes(old)
    elif what == "edit":
        log.write_bytes(log.read_bytes().replace(b"alice", b"carol"))
    elif what == "second":
        for name in ("log", "log.key", "head"):
            (tmp_path / name).unlink()
    else:
        for name in ("b", "b.key", "b.head"):
            (tmp_path / name).unlink()
    with pytest.raises(UnspokenError):
        service(tmp_path)


@pytest.mark.parametrize("kept", ["nothing", "the price", "the recipient"])
def test_a_budget_that_is_an_older_copy_than_the_log_is_noticed(tmp_path, kept):
    """Restored with its own head beside it, it would pay twice for what the log remembers."""
    one = service(tmp_path)
    ask(one, "select count()")
    files = {name: (tmp_path / name).read_bytes() for name in ("b", "b.head")}
    if kept == "the recipient":
        one.ask("bob", question_of("select count()"))
    else:
        ask(one, f"select count() where age > 20 epsilon {0.1 if kept == 'nothing' else 0.2}")
    service(tmp_path)
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(BudgetError, match="older copy"):
        service(tmp_path)


def test_a_log_that_cannot_be_written_answers_nothing(tmp_path, monkeypatch):
    one = service(tmp_path)
    real = one._log.write_head
    monkeypatch.setattr(one._log, "write_head", lambda: (_ for _ in ()).throw(
        QueryLogError("no head")))
    with pytest.raises(QueryLogError):
        ask(one, "select count()")
    monkeypatch.setattr(one._log, "write_head", real)
    # What was booked stays booked.
    assert Budget(tmp_path / "b").spent() == pytest.approx(0.1)


def test_another_table_is_refused(tmp_path):
    service(tmp_path)
    with pytest.raises(BudgetError, match="another table"):
        service(tmp_path, people(seed=2))


@pytest.mark.slow
@pytest.mark.parametrize("text", [
    "select", "select count", "select count(", "select mean()", "select count(age)",
    "select mean(age) where", "select mean(age) group", "select mean(age); drop table x",
    "select mean(nobody)", "select quantile(age)", "select quantile(age, 2)",
    "select quantile(age, 0.5) group by sex", "select histogram(age, 3, 2)",
    "select sum(work)", "select sum(age) where work > 3", "select count() epsilon 0",
    "select count() epsilon -1", "select count() group by age", "select count() group by sex, sex",
    "select count() where age > 'x'", "select count() where age > 1e999", "select eval(age)",
    "select count() where " + "not " * 500 + "age = 1",
    "select count() where " + " or ".join(["age = 1"] * 61), "select count() " + " " * 20_000])
def test_strange_questions_are_refused_and_cost_nothing(tmp_path, text):
    one = service(tmp_path)
    with pytest.raises(InputError):
        ask(one, text)
    assert one.budget.spent() == 0.0


@pytest.mark.parametrize("data", [
    1, None, [], {}, {"select": 1}, {"select": "count", "x": 1}, {"select": "count", "where": 3},
    {"select": "sum", "column": ["age"]}, {"select": "count", "group": "sex"},
    {"select": "quantile", "column": "age", "at": "x"}, {"select": "count", "epsilon": True},
    {"select": "count", "epsilon": 10**400}, {"select": "quantile", "column": "a", "at": 10**400},
    {"select": "histogram", "column": "a", "edges": [1, 10**400]},
    {"select": "count", "epsilon": "1"}, {"select": "histogram", "column": "age",
                                          "edges": [1, "2"]}])
def test_strange_json_is_refused(data):
    with pytest.raises(InputError):
        question_of(data)


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":1,"a":2}', b"[NaN]", b"[" * 10_000,
                                  b"x" * 20_000, b"\xff\xfe"])
def test_strange_bytes_are_refused(body):
    with pytest.raises(InputError):
        read_json(body)


@pytest.mark.parametrize(("change", "words"), [
    (lambda d: d["service"].pop("log"), "has no 'log'"),
    (lambda d: d["service"].update(eech=1), "Did you mean 'each'"),
    (lambda d: d["service"].update(each=0), "'each'"),
    (lambda d: d["columns"]["age"].update(bounds=[3, 1]), "'bounds'"),
    (lambda d: d["columns"]["age"].update(bounds=[0, 1e200]), "'bounds'"),
    (lambda d: d["columns"]["age"].update(public="yes"), "'public'"),
    (lambda d: d["columns"]["work"].update(values=["a", "a"]), "'values'"),
    (lambda d: d["analysts"].update(bob="secret"), "--new-token"),
    (lambda d: d.update(extra={}), "A section"),
    (lambda d: d["service"].update(cells="sex"), "'cells'"),
])
def test_a_policy_that_cannot_be_read(tmp_path, change, words):
    data = policy_data()
    change(data)
    with pytest.raises(PolicyError, match=words):
        ServicePolicy.parse(data, tmp_path)


def test_cells_must_be_public(tmp_path):
    with pytest.raises(PolicyError, match="not public"):
        service(tmp_path, cells=["work"])


def test_what_anybody_may_know(tmp_path):
    told = json.loads(json.dumps(service(tmp_path).about()))
    assert told["columns"]["age"]["bounds"] == [18, 90]
    assert told["left"] == 100.0


def test_text_and_json_say_the_same():
    text = question_of("select histogram(\"age\", 1, 2) where sex = 'F' epsilon 0.5")
    assert text == Question("histogram", "age", "sex = 'F'", (), None, (1.0, 2.0), 0.5)
    assert question_of(text.to_json()) == text


def test_exact_cells_stay_as_they_were_at_the_first_question(tmp_path):
    table = people(400)
    first = service(tmp_path, table, cells=["sex"], columns={"sex": {"public": True},
                                                             "work": {"public": True}})
    ask(first, "select count()")
    first.close()
    for data, named in (({"cells": ["work"]}, "cells"), ({"cells": []}, "cells"),
                        ({"cells": ["sex"], "smallest": 3}, "smallest")):
        with pytest.raises(QueryLogError, match=f"'{named}' of the policy"):
            service(tmp_path, table, columns={"sex": {"public": True}, "work": {"public": True}},
                    **data)
    with pytest.raises(QueryLogError, match="'columns' of the policy"):
        service(tmp_path, table, cells=["sex"], columns={"sex": {"public": True}})


def test_of_two_logs_that_begin_at_once_one_is_refused(tmp_path, monkeypatch):
    table = people(400)
    service(tmp_path, table).close()
    policy = ServicePolicy.parse(policy_data() | {
        "service": {**policy_data()["service"], "log": "second.log"}}, tmp_path)
    # The second looked before the first was booked.
    earlier = Budget.refresh
    looked = []

    def refresh(self):
        looked.append(True)
        found = earlier(self)
        if len(looked) == 1:
            found._draws.clear()
        return found

    monkeypatch.setattr(Budget, "refresh", refresh)
    with pytest.raises(QueryLogError):
        QueryService(table, policy)


def far_table(value, rows=1000):
    return unspoken.read(pa.table({"x": [value] * rows, "y": list(range(rows))}), show=False,
                         keep=["x", "y"])


def test_sums_that_would_wrap_round_are_refused_by_what_is_declared(tmp_path):
    one = service(tmp_path, far_table(1e15), columns={"x": {"bounds": [1e15, 1e15 + 100],
                                                            "step": 0.01}})
    for what in ("sum", "mean"):
        with pytest.raises(InputError, match="too many steps from zero"):
            ask(one, f"select {what}(x)")


def test_a_quantile_among_equal_values_is_their_value(tmp_path):
    values = [20] * 600 + [40] * 400
    table = unspoken.read(pa.table({"x": values, "y": list(range(1000))}), show=False,
                          keep=["x", "y"])
    one = service(tmp_path, table, epsilon=1000.0, each=20.0,
                  columns={"x": {"bounds": [0, 100], "step": 1}})
    for at, value in ((0.5, 20), (0.1, 20), (0.7, 40)):
        assert ask(one, f"select quantile(x, {at})")["value"] == value
    for at in (0.00001, 0.99999):
        assert ask(one, f"select quantile(x, {at})")["answered"]
    with pytest.raises(InputError, match="millionths"):
        ask(one, "select quantile(x, 0.00000001)")


def test_ends_of_bins_are_compared_in_steps(tmp_path):
    table = unspoken.read(pa.table({"x": [0.3] * 900 + [0.1] * 100, "y": list(range(1000))}),
                          show=False, keep=["x", "y"])
    one = service(tmp_path, table, epsilon=1000.0, each=50.0,
                  columns={"x": {"bounds": [0, 0.3], "step": 0.1}})
    bins = {g["group"][0]: g["value"] for g in
            ask(one, "select histogram(x, 0, 0.1, 0.2, 0.3)")["groups"]}
    assert bins["above 0.3"] == 0
    assert bins["0.2 .. 0.3"] == 900
    assert bins["0.1 .. 0.2"] == 100
