"""Brute force over small tables: refused exactly if needed, and never because of the answer."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unspoken
from support.query_people import linear_guard
from unspoken.errors import QueryRefusedError
from unspoken.protect import column


def people(seed=3, **more):
    rng = np.random.default_rng(seed)
    data = {"unit": np.arange(30), "income": np.round(rng.lognormal(10, 1, 30), 2),
            "sick": rng.random(30) < 0.3} | more
    return unspoken.read(data, sensitive=["income", "sick"], show=False)


def rule(ask, *args):
    with pytest.raises(QueryRefusedError) as refused:
        ask(*args)
    return refused.value.rule


def rank(rows):
    left, found = [list(map(Fraction, row)) for row in rows], 0
    for at in range(len(left[0]) if left else 0):
        pivot = next((k for k in range(found, len(left)) if left[k][at]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for row in left[found + 1:]:
            factor = row[at] / left[found][at]
            row[:] = [a - factor * b for a, b in zip(row, left[found], strict=True)]
        found += 1
    return found


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=9), st.data())
def test_the_guard_refuses_exactly_what_discloses(tmp_path_factory, asked, data):
    """Brute force over eight records: nobody determined, nothing refused without need."""
    income = data.draw(st.lists(st.integers(0, 10**6), min_size=8, max_size=8, unique=True))
    table = unspoken.read({"unit": list(range(8)), "income": income}, sensitive="income",
                          show=False)
    guard = linear_guard(table, tmp_path_factory.mktemp("q") / "log", smallest=1, largest=8, few=2)
    unit, kept = np.eye(8, dtype=int).tolist(), []
    for chosen in asked:
        row = [int(i in chosen) for i in range(8)]
        trial = [*kept, row]
        discloses = any(rank([*trial, e]) == rank(trial) for e in unit)
        where = column("unit").isin(sorted(chosen))
        if discloses:
            assert rule(guard.sum, "income", where) == "audit"
        else:
            assert guard.sum("income", where).value == sum(income[i] for i in chosen)
            kept.append(row)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=9))
def test_noisy_answers_keep_exactly_the_promised_error(tmp_path_factory, asked):
    table = unspoken.read({"unit": list(range(6)), "income": [3.5 * i for i in range(6)]},
                       sensitive="income", show=False)
    guard = linear_guard(table, tmp_path_factory.mktemp("q") / "log", smallest=1, largest=6, few=2,
                       noise=10.0, least_error=12.5)
    unit, kept = np.eye(6, dtype=int).tolist(), []
    for chosen in asked:
        row = [int(i in chosen) for i in range(6)]
        trial = kept if row in kept else [*kept, row]
        told = [i for i in range(6) if rank([*trial, unit[i]]) == rank(trial)]
        cover = np.linalg.pinv(np.array(trial).T @ np.array(trial))
        where = column("unit").isin(sorted(chosen))
        if row not in kept and any(10 * cover[i, i] ** 0.5 < 12.5 for i in told):
            assert rule(guard.sum, "income", where) == "partial"
        else:
            assert guard.sum("income", where).error == 10
            kept = trial


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(st.tuples(st.sampled_from(["sum", "mean", "sick", "rich"]),
                          st.integers(0, 30), st.integers(0, 30)), max_size=12),
       st.integers(0, 99))
def test_a_refusal_does_not_depend_on_the_answer(tmp_path_factory, asked, seed):
    """Tables with other protected values refuse the same queries: a refusal tells nothing."""
    outcomes = []
    for table in (people(), people(seed=seed, sick=np.arange(30) % 30 == seed % 30)):
        guard = linear_guard(table, tmp_path_factory.mktemp("q") / "log", smallest=3, count_noise=2)
        outcomes.append([outcome(guard, *one) for one in asked])
    assert outcomes[0] == outcomes[1]


def outcome(guard, kind, low, high):
    where = f"unit >= {min(low, high)} and unit < {max(low, high)}"
    try:
        if kind in ("sick", "rich"):
            guard.count(where + {"sick": " and sick = true", "rich": " and income > 30000"}[kind])
        else:
            getattr(guard, kind)("income", where)
    except QueryRefusedError as refused:
        return refused.rule
    return "answered"
