"""Reconstruction from sums over sets that the adversary chooses: nothing beyond the stated error.

People are found by public columns; their values are whole numbers in a known range. Sums over
random subsets of 30 of them are solved by least squares, by integer programming and by sparse
recovery. Against exact answers that only linear algebra audits this finds everybody.
"""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

import unspoken
from support.query_people import linear_guard
from unspoken.errors import QueryRefusedError
from unspoken.methods.queries import noise_budget
from unspoken.protect import QueryGuard

PEOPLE = 30
HIGH = 99


def population(values):
    return unspoken.read({"unit": np.arange(len(values)), "value": values}, sensitive="value",
                         keep="unit",
                         show=False)


def asked_sums(guard, size, most, seed=1, refusals=20):
    """Ask for sums over random halves until enough are answered or too many refused."""
    rng = np.random.default_rng(seed)
    rows, answers = [], []
    while len(rows) < most and refusals:
        chosen = rng.random(size) < 0.5
        if chosen.sum() < 10:
            continue
        where = "unit in (" + ", ".join(map(str, np.flatnonzero(chosen))) + ")"
        try:
            answers.append(float(guard.sum("value", where)))
            rows.append(chosen)
        except QueryRefusedError:
            refusals -= 1
    return np.array(rows, float).reshape(-1, size), np.array(answers)


def by_least_squares(rows, answers, high):
    if not len(rows):
        return np.full(rows.shape[1], high / 2)
    return np.clip(np.rint(np.linalg.lstsq(rows, answers, rcond=None)[0]), 0, high)


def by_integer_programming(rows, answers, high):
    """Minimise the sum of deviations over whole numbers in the range."""
    queries, people = rows.shape
    if not queries:
        return np.zeros(people)
    goal = np.r_[np.zeros(people), np.ones(2 * queries)]
    whole = np.hstack([rows, np.eye(queries), -np.eye(queries)])
    found = milp(goal, integrality=np.r_[np.ones(people), np.zeros(2 * queries)],
                 constraints=LinearConstraint(whole, answers, answers),
                 bounds=Bounds(0, np.r_[np.full(people, high), np.full(2 * queries, np.inf)]),
                 options={"time_limit": 10})
    return np.zeros(people) if found.x is None else np.rint(found.x[:people])


def by_sparse_recovery(rows, answers, high):
    """Find the values of least sum that explain the answers as well as possible."""
    queries, people = rows.shape
    if not queries:
        return np.zeros(people)
    goal = np.r_[np.full(people, 1e-3), np.ones(2 * queries)]
    found = linprog(goal, A_eq=np.hstack([rows, np.eye(queries), -np.eye(queries)]), b_eq=answers,
                    bounds=[(0, high)] * people + [(0, None)] * 2 * queries)
    return np.zeros(people) if found.x is None else np.rint(found.x[:people])


ATTACKS = [by_least_squares, by_integer_programming, by_sparse_recovery]


def uniform_values():
    return np.random.default_rng(9).integers(0, HIGH + 1, 60)


def sparse_values():
    amounts = np.random.default_rng(10).integers(1000, 99_999, 60)
    return np.where(np.arange(60) % 9 == 4, amounts, 0)


def recovered(guard, truth, attack, high, most):
    rows, answers = asked_sums(guard, PEOPLE, most)
    return int(np.sum(attack(rows, answers, high) == truth[:PEOPLE]))


def test_the_attack_finds_everybody_behind_a_linear_audit(tmp_path):
    truth = uniform_values()
    guard = linear_guard(population(truth), tmp_path / "log", few=2)
    assert recovered(guard, truth, by_integer_programming, HIGH, 29) == PEOPLE


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("epsilon", [1.0, 2.9])
def test_random_subset_sums_of_noisy_answers_find_nobody(tmp_path, attack, epsilon):
    truth = uniform_values()
    guard = QueryGuard(population(truth), tmp_path / "log", public=["unit"],
                       bounds={"value": (0, HIGH)}, epsilon=epsilon)
    # A blind guess is right for 1 of 100; seven of thirty by chance: once in 100 million times.
    assert recovered(guard, truth, attack, HIGH, 29) < 7
    assert guard.left == 0


def test_without_the_noise_the_same_attack_finds_everybody(tmp_path, monkeypatch):
    truth = uniform_values()
    monkeypatch.setattr(noise_budget, "discrete_laplace", lambda scale, rng: 0)
    guard = QueryGuard(population(truth), tmp_path / "log", public=["unit"],
                       bounds={"value": (0, HIGH)}, epsilon=2.9)
    assert recovered(guard, truth, by_integer_programming, HIGH, 29) == PEOPLE


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_sparse_columns_give_nobody_away(tmp_path, attack):
    truth = sparse_values()
    guard = QueryGuard(population(truth), tmp_path / "log", public=["unit"],
                       bounds={"value": (0, 99_999)}, epsilon=2.9)
    rows, answers = asked_sums(guard, PEOPLE, 29)
    found = attack(rows, answers, 99_999)
    holders = truth[:PEOPLE] > 0
    assert holders.sum() >= 3
    assert not (found[holders] == truth[:PEOPLE][holders]).any()


def padding_attack(guard, truth, tries=12, seed=11):
    """Ten people whose sum is zero are padding for anybody: the answer is the victim's value."""
    rng = np.random.default_rng(seed)
    right = 0
    for victim in np.flatnonzero(truth > 0)[:8]:
        for _ in range(tries):
            padding = rng.choice(np.setdiff1d(np.arange(truth.size), [victim]), 10, replace=False)
            if _ask(guard, padding) != 0:
                continue
            answer = _ask(guard, [victim, *padding[:9]])
            right += answer == truth[victim]
            break
    return right


def _ask(guard, people):
    try:
        return float(guard.sum("value", "unit in (" + ", ".join(map(str, people)) + ")"))
    except QueryRefusedError:
        return None


def many_zeros():
    rng = np.random.default_rng(12)
    return np.where(rng.random(400) < 0.05, rng.integers(1000, 99_999, 400), 0)


def test_padding_with_zeros_works_behind_a_linear_audit(tmp_path):
    truth = many_zeros()
    assert padding_attack(linear_guard(population(truth), tmp_path / "log"), truth) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("audit", ["noise", "exact"])
def test_padding_with_zeros_gets_no_value(tmp_path, audit):
    truth = many_zeros()
    guard = QueryGuard(population(truth), tmp_path / "log", public=["unit"], audit=audit,
                       bounds={"value": (0, 99_999)})
    assert padding_attack(guard, truth) == 0


def determined(rows, answers, high):
    """Count the people whose value is the same in every whole-number solution."""
    count = 0
    for person in range(rows.shape[1]):
        ends = [milp(sign * np.eye(rows.shape[1])[person], integrality=np.ones(rows.shape[1]),
                     constraints=LinearConstraint(rows, answers, answers),
                     bounds=Bounds(0, high)) for sign in (1, -1)]
        count += all(end.status == 0 for end in ends) and round(ends[0].fun) == -round(ends[1].fun)
    return count


@pytest.mark.slow
def test_exact_answers_that_are_audited_determine_nobody(tmp_path):
    truth = uniform_values()
    guard = QueryGuard(population(truth), tmp_path / "log", public=["unit"], audit="exact",
                       bounds={"value": (0, HIGH)})
    rows, answers = asked_sums(guard, PEOPLE, 29, refusals=12)
    assert len(rows) <= 4
    assert determined(rows, answers, HIGH) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("secret", "high"), [("hours-per-week", 99), ("capital-gain", 99_999)])
def test_census_people_are_not_reconstructed(tmp_path, shared, secret, high):
    import pandas as pd

    public = ["age", "fnlwgt", "education-num"]
    rows = pd.read_parquet(shared("adult_data.parquet"))[[*public, secret]]
    alone = rows.index[~rows.duplicated(public, keep=False)].to_numpy()
    rng = np.random.default_rng(1)
    chosen = rng.choice(alone, PEOPLE, replace=False)
    who = np.array(["(" + " and ".join(f'"{c}" = {rows[c][i]}' for c in public) + ")"
                    for i in chosen])
    guard = QueryGuard(unspoken.read(rows, sensitive=[secret], show=False), tmp_path / "log",
                       public=public, bounds={secret: (0, high)})
    sets, answers = [], []
    while guard.left > 0.05:
        asked = rng.random(PEOPLE) < 0.5
        if asked.sum() >= 10:
            answers.append(float(guard.sum(secret, " or ".join(who[asked]))))
            sets.append(asked)
    truth = rows[secret].to_numpy()[chosen]
    guessed = max(np.mean(truth == value) for value in set(truth))
    for attack in ATTACKS:
        found = attack(np.array(sets, float), np.array(answers), high)
        # Whatever it finds, saying the most frequent value of everybody is right more often.
        assert np.mean(found == truth) <= guessed + 0.1
