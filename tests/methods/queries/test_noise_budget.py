"""Noisy answers: what epsilon promises, tried by a distinguisher, and how the budget is spent."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import unspoken
from support.epsilon_distinguisher import least_epsilon
from unspoken.errors import InputError, QueryRefusedError
from unspoken.methods.queries import grid_columns, noise_budget
from unspoken.methods.queries.guard_settings import Settings
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.query import make_query, resolve
from unspoken.protect import QueryGuard

BOUNDS = {"hours": (0, 99), "income": (0, 100_000)}


def people(n=60, **more):
    rng = np.random.default_rng(4)
    data = {"unit": np.arange(n), "sex": np.where(np.arange(n) % 2, "F", "M"),
            "hours": rng.integers(0, 100, n), "income": np.round(rng.uniform(0, 90_000, n), 2),
            "sick": rng.random(n) < 0.3} | more
    return unspoken.read(data, keep="unit", show=False)


def guard(tmp_path, table=None, **limits):
    return QueryGuard(people() if table is None else table, tmp_path / "log",
                      **{"public": ["unit", "sex"], "bounds": BOUNDS} | limits)


def rule(ask, *args, **more):
    with pytest.raises(QueryRefusedError) as refused:
        ask(*args, **more)
    return refused.value.rule


def test_answers_carry_noise_and_say_how_much(tmp_path):
    ours = guard(tmp_path)
    found = ours.sum("hours", "unit < 30")
    truth = sum(people().arrow()["hours"].to_pylist()[:30])
    assert found.epsilon == 0.1
    assert found.error == pytest.approx(2**0.5 * 99 / 0.1, rel=0.01)
    # Beyond 40 scales once in e^40 times.
    assert abs(found.value - truth) < 40 * 990
    assert "epsilon of 0.1" in found.done[0]
    assert "clamped to 0 .. 99" in found.done[1]
    assert ours.left == pytest.approx(0.9)
    assert ours.sum("hours", "unit < 30", epsilon=0.5).error < found.error


def test_the_budget_is_spent_to_the_last_digit_and_then_nothing_new_is_told(tmp_path):
    ours = guard(tmp_path)
    told = [ours.count(f"hours > {k}") for k in range(10)]
    assert rule(ours.count, "hours > 10") == "budget"
    assert rule(ours.mean, "income") == "budget"
    assert ours.left == 0
    # The same question costs nothing, in this process or the next; what is public never did.
    assert [ours.count(f"hours > {k}") for k in range(10)] == told
    again = QueryGuard(people(), tmp_path / "log")
    assert [again.count(f"hours > {k}") for k in range(10)] == told
    assert again.count("unit < 30").value == 30
    assert again.sum("unit", "unit < 30").value == 435
    assert rule(again.count, "hours > 11") == "budget"


def test_every_column_is_protected_unless_it_is_declared_public(tmp_path):
    ours = QueryGuard(people(), tmp_path / "log", bounds=BOUNDS)
    for where in ("unit < 30", "sex = 'F'", "unit is missing"):
        assert ours.count(where).epsilon == 0.1
    assert ours.left == pytest.approx(0.7)


def test_bounds_are_declared_and_never_taken_from_the_data(tmp_path):
    ours = guard(tmp_path, bounds=None)
    with pytest.raises(InputError, match="never from the data"):
        ours.sum("hours", "unit < 30")
    assert ours.sum("sick", "unit < 30").error == pytest.approx(2**0.5 * 10, rel=0.01)
    assert len((tmp_path / "log").read_bytes().splitlines()) == 2


def test_no_value_decides_a_refusal_or_an_error(tmp_path):
    """Infinities, missing values and outliers are protected, too: nothing may fail over them."""
    wild = people(income=[np.inf, -np.inf, np.nan, 1e300] + [5.0] * 56)
    for name, table in (("tame", people()), ("wild", wild)):
        (tmp_path / name).mkdir()
        ours = guard(tmp_path / name, table)
        for ask, args in ((ours.sum, ("income", "unit < 30")), (ours.mean, ("income",)),
                          (ours.count, ("income is missing",)),
                          (ours.sum, ("hours", "income > 50 or sex = 'F'"))):
            assert abs(ask(*args).value) < 1e9
        assert rule(ours.sum, "income", "unit < 5") == "smallest"
        assert ours.left == pytest.approx(0.6)


def answers(table, kind, column, where, count, **limits):
    """Return the answers of so many guards with secrets of their own."""
    settings = Settings(**{"public": ("sex", "unit"), "bounds": BOUNDS, "smallest": 1} | limits)
    rows = Rows(table)
    book = noise_budget.NoiseBudget(rows, settings)
    asked = resolve(make_query(kind, column, where), rows, settings, b"\x03" * 32)
    draws = np.random.default_rng(5)
    return [book.reply(asked, draws.bytes(32)).value for _ in range(count)]


def changed(column, value):
    rows = people(n=12).arrow().to_pydict()
    rows[column] = [value, *rows[column][1:]]
    return unspoken.read(rows, show=False)


NEIGHBOURS = {
    "ends": ("sum", "hours", "unit < 12", ("hours", 0), ("hours", 99)),
    "outliers": ("sum", "income", "unit < 12", ("income", -1e9), ("income", 1e12)),
    "missing": ("sum", "hours", "unit < 12", ("hours", None), ("hours", 99)),
    "mean": ("mean", "hours", "unit < 12", ("hours", 0), ("hours", 99)),
    "mean of missing": ("mean", "hours", "unit < 12", ("hours", None), ("hours", 99)),
    "condition": ("count", None, "hours > 50", ("hours", 0), ("hours", 99)),
    "sum over a condition": ("sum", "hours", "hours > 50", ("hours", 0), ("hours", 99)),
    "grid": ("sum", "income", "unit < 12", ("income", 0.0), ("income", 99_999.999)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_no_distinguisher_gets_beyond_the_stated_epsilon(name):
    kind, column, where, one, two = NEIGHBOURS[name]
    told = [answers(changed(*side), kind, column, where, 4000, each=1.0)
            for side in (one, two)]
    assert least_epsilon(*told) <= 1.0


def _no_clamp(patch):
    real = grid_columns.np.clip
    patch.setattr(grid_columns.np, "clip", lambda x, low, high: real(x, -1e12, 1e12))


def _half_the_noise(patch):
    real = noise_budget.discrete_laplace
    patch.setattr(noise_budget, "discrete_laplace", lambda scale, rng: real(scale / 2, rng))


def _noise_without_secret(patch):
    real = noise_budget.generator
    patch.setattr(noise_budget, "generator", lambda secret, *rest: real(b"\x00" * 32, *rest))


def _noise_of_one_sign(patch):
    real = noise_budget.discrete_laplace
    patch.setattr(noise_budget, "discrete_laplace", lambda scale, rng: abs(real(scale, rng)))


def _reach_without_missing(patch):
    patch.setattr(grid_columns.GridColumn, "reach", property(lambda self: self.high // 3))


@pytest.mark.slow
@pytest.mark.parametrize(("mutant", "name"), [
    (_no_clamp, "outliers"), (_half_the_noise, "ends"), (_noise_without_secret, "ends"),
    (_noise_of_one_sign, "condition"), (_reach_without_missing, "missing")])
def test_the_distinguisher_sees_a_mechanism_that_breaks_its_promise(monkeypatch, mutant, name):
    kind, column, where, one, two = NEIGHBOURS[name]
    mutant(monkeypatch)
    told = [answers(changed(*side), kind, column, where, 4000, each=1.0) for side in (one, two)]
    assert least_epsilon(*told) > 1.0


def test_cells_that_were_fixed_beforehand_are_exact_and_others_are_not(tmp_path):
    table = people(n=120, floor=np.arange(120) % 3, rare=[7] + [0] * 119)
    ours = guard(tmp_path, table, public=["unit", "sex", "floor"], cells=["sex", "floor"],
                 bounds=BOUNDS | {"rare": (0, 9)})
    rows = table.arrow().to_pandas()
    truth = rows[(rows.sex == "F") & (rows.floor == 1)].hours
    found = ours.sum("hours", "sex = 'F' and floor = 1")
    assert (found.value, found.error, found.epsilon) == (truth.sum(), 0.0, None)
    assert ours.mean("hours", "sex = 'F' and floor = 1").value == pytest.approx(truth.mean())
    assert ours.sum("hours", "floor = 1").error == 0
    assert ours.left == 1
    # Half a cell, a cell chosen by a protected value, and a column where nearly all have 0.
    assert ours.sum("hours", "sex = 'F' and floor = 1 and unit < 60").epsilon == 0.1
    assert ours.sum("hours", "sex = 'F' and floor = 1 and hours > 3").epsilon == 0.1
    assert ours.sum("rare", "sex = 'M' and floor = 0").epsilon == 0.1
    # All of the table holds that cell.
    assert ours.sum("rare").epsilon == 0.1


@pytest.mark.parametrize(("without", "price"), [(0, None), (1, 0.1), (9, 0.1), (10, None)])
def test_a_cell_in_which_a_few_have_no_value_is_not_exact(tmp_path, without, price):
    wages = [None] * without + [float(k % 9) for k in range(60 - without)]
    table = people(n=60, floor=np.zeros(60, int), wage=wages)
    ours = guard(tmp_path, table, public=["unit", "sex", "floor"], cells=["floor"],
                 bounds=BOUNDS | {"wage": (0, 9)})
    assert ours.sum("wage", "floor = 0").epsilon == price
    assert ours.mean("wage", "floor = 0").epsilon == price


RACER = """
import sys
import unspoken
from unspoken.errors import QueryRefusedError
from unspoken.protect import QueryGuard
guard = QueryGuard(unspoken.read({table!r}, show=False), {log!r})
print("ready", flush=True)
sys.stdin.readline()
try:
    guard.count("hours > {number}")
    print("told", flush=True)
except QueryRefusedError as refusal:
    print(refusal.rule, flush=True)
"""


@pytest.mark.slow
def test_a_budget_of_one_query_is_granted_to_one_of_six_processes(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(people().arrow(), tmp_path / "t.parquet")
    log = tmp_path / "log"
    QueryGuard(unspoken.read(tmp_path / "t.parquet", keep="unit", show=False), log, public=["unit"],
               epsilon=0.1)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    racers = [subprocess.Popen([sys.executable, "-c", RACER.format(
        table=str(tmp_path / "t.parquet"), log=str(log), number=number)], env=env,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for number in range(6)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = sorted(racer.communicate(timeout=240)[0].strip() for racer in racers)
    assert told == ["budget"] * 5 + ["told"]
    entries = [json.loads(line)["entry"] for line in log.read_bytes().splitlines()]
    assert sum(entry.get("answered", False) for entry in entries) == 1
