"""What the log of a service says about its answers: sums, each with the noise that it has."""

import math
from fractions import Fraction

import numpy as np
import pytest

from support.service_people import people, service
from unspoken.methods.queries.grid_columns import GridColumn
from unspoken.methods.queries.service import noisy_answers
from unspoken.methods.queries.service.logged_answers import logged_sums
from unspoken.methods.queries.service.noisy_answers import Aggregates
from unspoken.methods.queries.service.question_service import Asked
from unspoken.methods.queries.service.question_text import question_of
from unspoken.numerics.private_noise import laplace_error

ROWS = 600
COLUMNS = {"age": {"bounds": [0, 100], "step": 1}, "plot": {"public": True},
           "work": {"values": ["state", "private", "none"]}}


@pytest.fixture
def table():
    return people(ROWS, plot=np.random.default_rng(1).permutation(ROWS))


def asked(folder, table, texts, each):
    opened = service(folder, table, epsilon=1000.0, each=each, columns=COLUMNS)
    replies = opened.ask_each([Asked("alice", question_of(text)) for text in texts])
    assert all(one["answered"] for one in replies)
    return logged_sums(folder / "log", table)


def test_the_noise_of_a_mean_is_that_of_its_sum_however_the_noise_of_its_people_fell(tmp_path,
                                                                                   table):
    """Three people may be told to be thirty: distances of 50 over 0.25 deviate by 282.8."""
    sums = asked(tmp_path, table, [f"select mean(age) where plot in ({k}, {k + 1}, {k + 2})"
                                   for k in range(100)], 0.5)
    assert [one.deviation for one in sums] == pytest.approx([math.sqrt(2) * 200] * 100, rel=1e-3)


def test_a_group_that_protected_values_decide_has_half_the_price(tmp_path, table):
    sums = asked(tmp_path, table, ["select mean(age) group by work"], 0.5)
    assert [one.deviation for one in sums] == pytest.approx([math.sqrt(2) * 400] * 5, rel=1e-3)


@pytest.mark.parametrize("kind", ["mean", "variance"])
def test_sums_behind_answers_are_as_near_as_stated(tmp_path, table, kind):
    ends = range(ROWS - 400, ROWS)
    sums = asked(tmp_path, table, [f"select {kind}(age) where plot < {end}" for end in ends], 2.0)
    age, plot = (table.numbers([name])[:, 0] for name in ("age", "plot"))
    truth = [np.sum((age[plot < end] - one.centre) ** one.power)
             for one, end in zip(sums, ends, strict=True)]
    off = [(one.total - real) / one.deviation for one, real in zip(sums, truth, strict=True)]
    assert 0.55 < np.sqrt(np.mean(np.square(off))) < 1.5


def test_the_error_of_a_variance_is_what_its_three_noises_make(monkeypatch):
    """Everybody is near the upper end: one person too many takes the squared mean down."""
    column = GridColumn(0, 100, Fraction(1), np.zeros(0, np.int64), np.zeros(0, np.bool_))
    off = np.tile([42, 47], 5000)
    found = Aggregates(question_of("select variance(age)"), np.array([off.size]),
                       np.array([off.sum()]), np.array([(off ** 2).sum()]), None, column)

    def told(shifted=None):
        """Return the answer where one noise, the n-th that is drawn, is one deviation."""
        drawn = iter(range(3))
        monkeypatch.setattr(noisy_answers, "laplace_noise", lambda values, reach, epsilon: [
            value + (laplace_error(reach, epsilon) if shifted == place else 0)
            for place in [next(drawn)] for value in values])
        return noisy_answers.noisy(found, 3.0, 1)

    plain = told()
    moved = [told(one)["value"] - plain["value"] for one in range(3)]
    assert plain["error"] == pytest.approx(np.hypot.reduce(moved), rel=0.01)


def test_a_log_without_grids_is_read_as_before(tmp_path, table, monkeypatch):
    monkeypatch.setattr("unspoken.methods.queries.service.question_service.grid_entry",
                        lambda *_: {})
    first, second = asked(tmp_path, table, ["select mean(age)", "select variance(age)"], 2.0)
    assert first.total == pytest.approx(table.numbers(["age"]).sum(), rel=0.05)
    assert second.power == 2
    assert first.bounds is None
