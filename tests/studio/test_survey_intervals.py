"""Results of a survey: intervals that hold as often as they say, and reports that can be true."""

import json

import numpy as np
import pytest

from support.studio_calls import HOST, Calls
from unspoken.studio.survey_laws import FARTHEST, SurveyQuestion
from unspoken.studio.survey_store import read_survey, start_survey

TRIALS = 400
NUMBER = SurveyQuestion("How much?", "number", 1.5, (), (0.0, 100.0))


def covered(question, people, share, trials=TRIALS):
    """Return how often the interval of a rare answer holds its share of a large population."""
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(trials):
        rare = (rng.random(people) < share).astype(int)
        if question.way == "response":
            reports = question.law.answer(1 - rare, rng.bytes(32)).tolist()
        else:
            pairs = question.law.report([question.values[1 - one] for one in rare], rng.bytes(32))
            reports = [[str(a), str(b)] for a, b in pairs.tolist()]
        _, _, low, high = question.estimate(reports)[0]
        inside += low <= share <= high
    return inside / trials


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.005, 0.1])
@pytest.mark.parametrize("people", [100, 300])
@pytest.mark.parametrize("epsilon", [3.0, 5.0, 10.0])
@pytest.mark.parametrize("way", ["response", "hashing"])
def test_intervals_of_rare_answers_hold_as_often_as_they_say(way, epsilon, people, share):
    question = SurveyQuestion("Which?", way, epsilon, ("rare", "usual", "other"))
    assert covered(question, people, share) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.0])
def test_intervals_hold_where_answers_share_what_is_said(epsilon):
    question = SurveyQuestion("Which?", "response", epsilon, tuple("abcdefgh"))
    assert covered(question, 100, 0.05) >= 0.93


def test_an_interval_holds_its_estimate():
    question = SurveyQuestion("Which?", "response", 5.0, ("a", "b", "c"))
    for reports in ([0] * 50, [0] * 49 + [1], [2]):
        for _, value, low, high in question.estimate(reports):
            assert low <= value <= high


def test_numbers_that_no_noise_reaches_are_refused():
    scale, grid = NUMBER.law.noise.scale, NUMBER.law.grid
    farthest = np.floor((100 + scale * FARTHEST) / grid) * grid
    assert NUMBER.accepts(farthest)
    assert NUMBER.accepts(100 - farthest // grid * grid + 0.0)
    for report in (farthest + 3 * grid, -farthest - 100.0, 1e15, 10**400, -10**400, float("nan")):
        assert not NUMBER.accepts(report)


def test_a_number_with_hundreds_of_digits_is_refused_with_a_sentence(tmp_path):
    calls = Calls(tmp_path)
    survey = start_survey(calls.folder.part("surveys"), "Pay", [NUMBER])
    for text in ("1e400", "1" + "0" * 400, "1e15"):
        status, _, words = calls.ask("POST", f"/answer/{survey.name}", f"[{text}]".encode(),
                                     Origin=f"http://{HOST}")
        assert (status, "do not fit the survey" in words) == (400, True), text
    assert read_survey(survey.place).reports() == []
    assert json.loads((survey.place / "survey.json").read_text())["open"]
