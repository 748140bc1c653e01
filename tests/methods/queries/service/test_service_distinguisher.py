"""Every mechanism of the service as a distinguisher sees it, and mutants that must be caught.

Two tables differ in what one person says. The reports of a mechanism on both prove a lower bound on
epsilon (Clopper and Pearson): it must stay below what is stated, and exceed it for every mutant.
"""

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.epsilon_distinguisher import least_epsilon, likelier
from support.service_people import policy_data
from unspoken.methods.queries.service import noisy_answers, summed_planes
from unspoken.methods.queries.service.noisy_answers import aggregates, noisy
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.methods.queries.service.service_records import ServiceRecords

pytestmark = pytest.mark.slow
EPSILON, REPORTS = 1.0, 3000


def records(tmp_path, age, work="state", income=0.0):
    data = {"age": [age, 40, 41, 42], "income": [income, 10.0, 20.0, 30.0],
            "sex": ["F", "F", "M", "M"], "work": [work, "private", "state", "none"],
            "ill": [True, False, False, True]}
    table = unspoken.read(pa.table(data), keep=list(data), show=False)
    return ServiceRecords(table, ServicePolicy.parse(policy_data(), tmp_path), None, 1)


def reports(found, pick, epsilon=EPSILON):
    return np.array([pick(noisy(found, epsilon, 1)) for _ in range(REPORTS)])


def value(answer):
    return answer["value"]


def first_two(answer):
    return answer["groups"][0]["value"] - answer["groups"][1]["value"]


CASES = {
    "count": ("select count() where age > 50", value, {"age": 90}, {"age": 18}),
    "sum": ("select sum(age)", value, {"age": 90}, {"age": 18}),
    "sum beyond its bounds": ("select sum(income)", value, {"age": 40, "income": 1e9},
                              {"age": 40, "income": 0.0}),
    "mean": ("select mean(age)", value, {"age": 90}, {"age": 18}),
    "variance": ("select variance(age)", value, {"age": 90}, {"age": 54}),
    "quantile": ("select quantile(age, 0.9)", value, {"age": 90}, {"age": 18}),
    "groups": ("select count() group by work", first_two, {"age": 40, "work": "state"},
               {"age": 40, "work": "private"}),
    "histogram": ("select histogram(age, 18, 30, 90)",
                  # One person moves from one interval to the other: both must show it.
                  lambda a: min(a["groups"][1]["value"] - 0.5, 3.5 - a["groups"][2]["value"]),
                  {"age": 20}, {"age": 80}),
    "missing": ("select count() where age is missing", value, {"age": None}, {"age": 20}),
}


def proven(tmp_path, name):
    text, pick, one, two = CASES[name]
    question = question_of(text)
    return least_epsilon(*(reports(aggregates(records(tmp_path, **who), question), pick)
                           for who in (one, two)))


@pytest.mark.parametrize("name", CASES)
def test_no_distinguisher_gets_beyond_the_stated_epsilon(tmp_path, name):
    assert proven(tmp_path, name) <= EPSILON


def half_the_noise(monkeypatch):
    real = noisy_answers.laplace_noise
    monkeypatch.setattr(noisy_answers, "laplace_noise",
                        lambda values, reach, epsilon: real(values, reach, 2 * epsilon))


def reused_noise(monkeypatch):
    drawn = {}

    def same(values, reach, epsilon):
        return [v + drawn.setdefault((len(values), k), 3) for k, v in enumerate(values)]

    monkeypatch.setattr(noisy_answers, "laplace_noise", same)


def no_clamp(monkeypatch):
    from unspoken.methods.queries.grid_columns import GridColumn

    real = ServiceRecords.column

    def unclamped(self, name):
        column = real(self, name)
        _, values, present = self._rows.raw(name)
        steps = np.rint(np.where(present, values.astype(float), 0) / float(column.step))
        return GridColumn(column.low, column.high, column.step, steps.astype(np.int64), present)

    monkeypatch.setattr(ServiceRecords, "column", unclamped)
    monkeypatch.setattr(noisy_answers, "_middle", lambda column: 0)


def groups_that_do_not_share(monkeypatch):
    real = ServiceRecords.groups

    def still(self, names):
        found = real(self, names)
        return noisy_answers.Groups(found.codes, found.labels, False)

    monkeypatch.setattr(ServiceRecords, "groups", still)


def ungrounded_choice(monkeypatch):
    real = noisy_answers.noisy_choice
    monkeypatch.setattr(noisy_answers, "noisy_choice",
                        lambda scores, reach, epsilon: real(scores, reach, 60 * epsilon))


@pytest.mark.parametrize(("mutant", "name"), [
    (half_the_noise, "count"), (half_the_noise, "sum"), (half_the_noise, "mean"),
    (half_the_noise, "histogram"), (reused_noise, "count"), (no_clamp, "sum beyond its bounds"),
    (groups_that_do_not_share, "groups"), (ungrounded_choice, "quantile")])
def test_a_mechanism_that_breaks_its_promise_is_caught(tmp_path, monkeypatch, mutant, name):
    mutant(monkeypatch)
    assert proven(tmp_path, name) > EPSILON


def half_the_choice(monkeypatch):
    real = noisy_answers.noisy_choice
    monkeypatch.setattr(noisy_answers, "noisy_choice",
                        lambda scores, reach, epsilon: real(scores, reach, 2 * epsilon))


def proven_quantile(tmp_path):
    """Return what a median proves that lies at the end of the zeros.

    One row leaps from there to the far end: 0 loses the median, the seven above 1 gain it.
    """
    values = [0.0] * 11 + [1.0] + [8.0] * 11
    seen = []
    for leap in (0.0, 8.0):
        table = unspoken.read(pa.table({"n": [leap, *values]}), keep=["n"], show=False)
        policy = ServicePolicy.parse({"service": {"budget": "b", "log": "l"},
                                      "columns": {"n": {"bounds": [0, 8], "step": 1}}}, tmp_path)
        found = aggregates(ServiceRecords(table, policy, None, 1),
                           question_of("select quantile(n, 0.5)"))
        seen.append(np.concatenate([reports(found, value) for _ in range(3)]))
    return least_epsilon(*seen)


def test_half_the_noise_of_a_quantile_is_caught_and_all_of_it_is_not(tmp_path, monkeypatch):
    assert proven_quantile(tmp_path) <= EPSILON
    half_the_choice(monkeypatch)
    assert proven_quantile(tmp_path) > EPSILON


def proven_parts(tmp_path, monkeypatch, text, noise):
    """Return what all noisy numbers inside an answer prove, by their likelihood."""
    drawn = []

    def watched(values, reach, epsilon):
        drawn.append((np.array(noise(values, reach, epsilon), float) / (reach / epsilon),
                      np.array(values, float) / (reach / epsilon)))
        return drawn[-1][0] * (reach / epsilon)

    monkeypatch.setattr(noisy_answers, "laplace_noise", watched)
    seen, exact = [], []
    for who in ({"age": 90}, {"age": None}):
        found, rows = aggregates(records(tmp_path, **who), question_of(text)), []
        for _ in range(REPORTS):
            drawn.clear()
            noisy(found, EPSILON, 1)
            rows.append(np.concatenate([one[0] for one in drawn]))
        seen.append(rows)
        exact.append(np.concatenate([one[1] for one in drawn]))
    return least_epsilon(*(likelier(rows, *exact) for rows in seen), 0.99)


@pytest.mark.parametrize("text", ["select mean(age)", "select variance(age)"])
def test_half_the_noise_inside_an_answer_is_caught_and_all_of_it_is_not(tmp_path, monkeypatch,
                                                                        text):
    real = noisy_answers.laplace_noise
    assert proven_parts(tmp_path, monkeypatch, text, real) <= EPSILON
    assert proven_parts(tmp_path, monkeypatch, text,
                        lambda v, r, e: real(v, r, 2 * e)) > EPSILON


def test_a_quantile_finds_what_nearly_everybody_says(tmp_path):
    """Values between two candidates count as the nearest: the stated rank holds for them, too."""
    table = unspoken.read(pa.table({"n": [30.0] * 400}), keep=["n"], show=False)
    policy = ServicePolicy.parse({"service": {"budget": "b", "log": "l"},
                                  "columns": {"n": {"bounds": [0, 100]}}}, tmp_path)
    found = aggregates(ServiceRecords(table, policy, None, 1),
                       question_of("select quantile(n, 0.5)"))
    assert {round(noisy(found, 5.0, 1)["value"]) for _ in range(20)} == {30}


def test_errors_and_notes_say_the_same_whatever_the_values_are(tmp_path):
    """Nothing but the noisy value may differ: not the notes, not the error, not which groups."""
    for text in ("select count() group by work", "select sum(age) where age > 30",
                 "select histogram(work)"):
        found = [noisy(aggregates(records(tmp_path, **who), question_of(text)), 1.0, 1)
                 for who in ({"age": 90, "work": "state"}, {"age": None, "work": "a spy"})]
        shapes = [(a["done"], a.get("error"), [(g["group"], g["error"])
                                               for g in a.get("groups", [])]) for a in found]
        assert shapes[0] == shapes[1]


def work(tmp_path, monkeypatch, text, age):
    """Return the sizes of everything that is passed over for an answer, step by step."""
    held, sizes = records(tmp_path, age=age), []

    def watched(real):
        def pass_over(*values, **named):
            sizes.extend(np.shape(one) for one in values)
            return real(*values, **named)
        return pass_over

    with monkeypatch.context() as watching:
        for module, name in ((noisy_answers, "shared"), (noisy_answers, "bit_counts"),
                             (summed_planes, "shared"), (np, "bincount"), (np, "cumsum")):
            watching.setattr(module, name, watched(getattr(module, name)))
        aggregates(held, question_of(text))
    return sizes


WORK = ("select count() where age > 50", "select sum(age) where age > 50",
        "select variance(age) where age > 50", "select quantile(age, 0.5) where age > 50",
        "select count() where age > 50 group by work")


@pytest.mark.parametrize("text", WORK)
def test_the_work_of_an_answer_does_not_tell_how_many_it_is_about(tmp_path, monkeypatch, text):
    """Time is not measured here: what decides it is how much is passed over."""
    seen = [work(tmp_path, monkeypatch, text, age) for age in (90, 18, None)]
    assert seen[0]
    assert seen[0] == seen[1] == seen[2]


def test_work_that_follows_the_data_is_caught(tmp_path, monkeypatch):
    def only_inside(inside, column, places):
        held = np.bincount(places[inside], minlength=noisy_answers._candidates(column).size)
        return np.array([np.cumsum(held) - held, held.sum() - np.cumsum(held)], np.int64)

    monkeypatch.setattr(noisy_answers, "_ranks", only_inside)
    seen = [work(tmp_path, monkeypatch, WORK[3], age) for age in (90, 18)]
    assert seen[0] != seen[1]
