"""Noise of the service covers all rows of a person, as the numbers that get it show.

Two tables differ in what one person says in all of her rows. Both services answer one question; the
numbers before noise, and the reach that noise is drawn for, give the loss exactly: the sum of
change over reach times epsilon for Laplace noise, the largest change over reach for a choice.
"""

import pyarrow as pa
import pytest

import unspoken
from unspoken.methods.queries.service import noisy_answers
from unspoken.methods.queries.service.question_service import QueryService
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.release.budget import Budget

ROWS, EPSILON = 4, 0.5
QUESTIONS = {
    "select count() where age > 50": (90, 18), "select sum(age)": (90, 0),
    "select mean(age)": (90, 18), "select variance(age)": (90, 50),
    "select quantile(age, 0.5)": (90, 18), "select histogram(age, 0, 50, 90)": (90, 18),
    "select count() where age is missing": (None, 20), "select mean(age) where ill": (None, 90),
}


def answered(folder, monkeypatch, age, text):
    """Ask a service about a person with ROWS rows, and return what it added noise to."""
    seen = []

    def watched(values, reach, epsilon):
        seen.append((list(values), reach, epsilon))
        return real(values, reach, epsilon)

    def watched_choice(scores, reach, epsilon):
        seen.append((list(scores), reach, epsilon))
        return 0

    real = noisy_answers.laplace_noise
    ages = [age] * ROWS + [30, 40, 60, 70] * 10
    table = unspoken.read(pa.table({"who": [0] * ROWS + list(range(1, 41)), "age": pa.array(ages),
                                    "ill": [True] * len(ages)}), identifiers=["who"],
                          keep=["age", "ill"], show=False)
    folder.mkdir()
    Budget.start(folder / "b", table, epsilon=9.0, unit="who", rows=ROWS)
    policy = ServicePolicy.parse(
        {"service": {"budget": "b", "log": "l", "each": EPSILON}, "analysts": {},
         "columns": {"age": {"bounds": [0, 90], "step": 1}, "ill": {"values": [True, False]}}},
        folder)
    service = QueryService(table, policy)
    with monkeypatch.context() as patch:
        patch.setattr(noisy_answers, "laplace_noise", watched)
        patch.setattr(noisy_answers, "noisy_choice", watched_choice)
        service.ask("alice", question_of(text))
    service.close()
    return seen


def loss(one, two, choice):
    """Return the loss of all noisy numbers of an answer together."""
    parts = []
    for (mine, reach, epsilon), (its, same, _) in zip(one, two, strict=True):
        assert reach == same
        moved = [abs(a - b) for a, b in zip(mine, its, strict=True)]
        parts.append((max(moved) if choice else sum(moved)) / reach * epsilon)
    return sum(parts)


@pytest.mark.slow
@pytest.mark.parametrize("text", QUESTIONS)
def test_the_noise_of_the_service_covers_all_rows_of_a_person(tmp_path, monkeypatch, text):
    one, two = (answered(tmp_path / str(k), monkeypatch, age, text.replace("where ill",
                                                                           "where ill = true"))
                for k, age in enumerate(QUESTIONS[text]))
    whole = loss(one, two, "quantile" in text)
    assert whole <= EPSILON * (1 + 1e-12)
    # Noise for one row of a person would not cover her.
    assert whole * ROWS > EPSILON
