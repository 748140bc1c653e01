"""A survey under attack: what is sent twice, forged, cut short, or sent before it is randomised."""

import json
import math
import os

import numpy as np
import pytest
from scipy import stats

from support.studio_calls import HOST, Calls
from support.studio_server import studio
from unspoken.studio.survey_laws import SurveyQuestion, possible_interval
from unspoken.studio.survey_store import read_survey, start_survey, surveys_in

HOSTILE = '"><script>document.title="broken"</script>'
YES_NO = SurveyQuestion(f"Yes? {HOSTILE}", "response", 1.0, ("yes", f"no {HOSTILE}"))
MANY = SurveyQuestion("Where?", "hashing", 1.0, tuple(f"town {k}" for k in range(20)))
NUMBER = SurveyQuestion("How much?", "number", 1.5, (), (0.0, 100.0))
ONCE = "0123456789abcdef" * 2


@pytest.fixture
def calls(tmp_path):
    return Calls(tmp_path).enter()


@pytest.fixture
def survey(calls):
    return start_survey(calls.folder.part("surveys"), "Pay", [YES_NO])


def send(calls, survey, body=b"[1]", **headers):
    return calls.ask("POST", f"/answer/{survey.name}", body,
                     **{"Origin": f"http://{HOST}", **headers})


def test_what_a_page_sends_again_counts_once(calls, survey):
    for _ in range(3):
        assert send(calls, survey, X_Answer_Once=ONCE)[0] == 200
    assert survey.reports() == [[1]]
    status, _, text = send(calls, survey, b"[0]", X_Answer_Once=ONCE)
    assert (status, "That one counts" in text) == (409, True)
    assert survey.reports() == [[1]]
    assert send(calls, survey, X_Answer_Once=ONCE[::-1])[0] == 200
    assert send(calls, survey)[0] == 200
    assert survey.reports() == [[1]] * 3


def test_what_was_sent_before_a_restart_counts_once_too(calls, survey):
    from unspoken.studio.survey_answers import _BOOKS

    assert send(calls, survey, X_Answer_Once=ONCE)[0] == 200
    _BOOKS.clear()
    assert send(calls, survey, X_Answer_Once=ONCE)[0] == 200
    assert survey.reports() == [[1]]


@pytest.mark.parametrize("once", ["x", ONCE + "0", ONCE.upper(), '{"a": 1}', "0" * 5000])
def test_a_number_that_no_page_draws_is_refused(calls, survey, once):
    assert send(calls, survey, X_Answer_Once=once)[0] == 400
    assert survey.reports() == []


@pytest.mark.parametrize("report", [["05", "1"], ["5", "01"], ["", "1"], ["5", "٣"], [5, 1],
                                    ["5", "1", "1"], ["+5", "1"], ["5 ", "1"], [["5"], "1"]])
def test_a_hash_that_is_written_in_another_way_is_refused(report):
    assert MANY.accepts(["5", "1"])
    assert MANY.accepts(["0", "0"])
    assert not MANY.accepts(report)


@pytest.mark.parametrize("body", [b"q0=1", b"", b"\xff", b"[1" + b"0" * 20_000, b"[[[[",
                                  b'{"once": "x", "sent": [1]}', b"[1.5]", b"[1e0]", b"[null]",
                                  b"[NaN]", b"[-1]", b"[2]", b"[1, 1]"])
def test_what_is_no_report_is_refused_and_leaves_nothing(calls, survey, body):
    assert send(calls, survey, body)[0] == 400
    assert not (survey.place / "answers.jsonl").exists()


def test_a_survey_that_is_closed_while_an_answer_is_on_its_way_does_not_take_it(calls, survey):
    late = read_survey(survey.place)
    survey.close()
    with pytest.raises(Exception, match="closed"):
        late.add([1])
    assert survey.reports() == []


def test_an_answer_that_the_disk_cuts_short_is_taken_back_and_not_thanked_for(calls, survey,
                                                                              monkeypatch):
    assert send(calls, survey)[0] == 200
    whole = (survey.place / "answers.jsonl").read_bytes()
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr("unspoken.studio.survey_answers.os.write",
                      lambda descriptor, data: real(descriptor, data[:2]))
        status, _, text = send(calls, survey, X_Answer_Once=ONCE)
    assert (status, "could not be kept" in text) == (400, True)
    assert (survey.place / "answers.jsonl").read_bytes() == whole
    assert send(calls, survey, X_Answer_Once=ONCE)[0] == 200
    assert survey.reports() == [[1], [1]]


def test_answers_are_read_once_and_a_file_that_was_edited_is_read_again(survey, monkeypatch):
    file = survey.place / "answers.jsonl"
    file.write_text("[1]\n" * 50)
    assert len(survey.reports()) == 50
    seen = []
    fits = type(survey)._fits
    monkeypatch.setattr(type(survey), "_fits",
                        lambda self, one: seen.append(one) or fits(self, one))
    monkeypatch.setattr(survey.book, "_fits", survey._fits)
    survey.add([0])
    assert survey.reports()[-1] == [0]
    assert len(seen) == 2
    file.write_text("[0]\n" * 51)
    os.utime(file, ns=(1, 1))
    assert survey.reports() == [[0]] * 51
    file.unlink()
    assert survey.reports() == []


def test_a_survey_that_was_begun_by_a_killed_studio_is_no_survey(calls, monkeypatch):
    from unspoken.studio import survey_store

    with monkeypatch.context() as patch:
        patch.setattr(survey_store.Survey, "write", lambda _: (_ for _ in ()).throw(OSError(5)))
        with pytest.raises(OSError, match="5"):
            start_survey(calls.folder.part("surveys"), "Pay", [YES_NO])
    assert surveys_in(calls.folder.part("surveys")) == ([], [])


def test_one_answer_is_not_held_for_more_certain_than_its_noise():
    for epsilon in (0.05, 1.0, 10.0):
        question = SurveyQuestion("How much?", "number", epsilon, (), (0.0, 100.0))
        _, value, low, high = question.estimate([0.0])[0]
        # Laplace noise lies farther than this from zero in one of twenty draws.
        assert min(high - value, value - low) >= question.law.noise.scale * math.log(20)


def test_a_spread_that_is_estimated_counts_as_such():
    numbers = np.random.default_rng(2).normal(50, 10, 120) // 1.0
    _, value, _, high = NUMBER.estimate(numbers.tolist())[0]
    wanted = stats.t.ppf(0.975, 119) * numbers.std(ddof=1) / math.sqrt(120)
    assert high - value == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(("value", "low", "high"), [
    (-0.3, -0.5, -0.1), (1.2, 1.1, 1.3), (0.5, 0.4, 0.6), (-0.2, -0.4, 0.001), (0.5, -3.0, 4.0)])
def test_a_share_is_never_shown_as_certain_because_noise_put_it_outside(value, low, high):
    least, most = possible_interval(value, low, high)
    assert 0 <= least <= max(low, 0)
    assert min(high, 1) <= most <= 1
    assert most - least >= min((high - low) / 2, 1) - 1e-12
    for truth in np.linspace(0, 1, 101):
        assert least <= truth <= most or not low <= truth <= high


def test_the_page_shows_such_a_share_with_its_whole_interval(calls, survey):
    (survey.place / "answers.jsonl").write_text("[0]\n" * 40)
    page = calls.get(f"/surveys/{survey.name}")[2]
    assert "100% to 100%" not in page
    assert ">0% to 0%" not in page
    assert "read once" in page


def test_ends_of_a_range_are_not_rounded(calls):
    question = SurveyQuestion("Pay?", "number", 1.0, (), (-1234567.25, 12345678.0))
    survey = start_survey(calls.folder.part("surveys"), "Pay", [question])
    page = calls.ask("GET", f"/answer/{survey.name}")[2]
    assert 'min="-1234567.25"' in page
    assert 'max="12345678"' in page


def test_a_page_for_respondents_cannot_send_a_form_and_says_so_without_script(calls, survey):
    _, headers, page = calls.ask("GET", f"/answer/{survey.name}")
    assert "form-action 'none'" in headers["content-security-policy"]
    assert 'method="dialog"' in page
    assert " action=" not in page
    assert "<noscript>" in page
    assert "<script>document" not in page
    assert "Only browsers on this machine reach it" in calls.get(f"/surveys/{survey.name}")[2]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with studio(tmp_path_factory.mktemp("attacked")) as found:
        yield found.enter()


@pytest.fixture
def link(running):
    status, headers, _ = running.post("/surveys", title="Pay", **{
        "text.0": YES_NO.text, "way.0": "response", "epsilon.0": "1",
        "values.0": "\n".join(YES_NO.values), "text.1": "How much?", "way.1": "number",
        "epsilon.1": "1", "values.1": "0..100"})
    assert status == 303
    return running.base + headers["Location" if "Location" in headers else "location"].replace(
        "/surveys/", "/answer/")


@pytest.fixture
def respondent(browser):
    context = browser.new_context()
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.sent = []
    page.on("request", lambda one: page.sent.append(one))
    yield page
    context.close()


def fill(page):
    page.check("input[name=q0] >> nth=1")
    page.fill("input[name=q1]", "37.25")


@pytest.mark.slow
@pytest.mark.xdist_group("several processes")
def test_a_page_whose_script_did_not_come_sends_nothing_even_when_it_is_pressed(respondent, link):
    respondent.route("**/survey.js", lambda route: route.abort())
    respondent.route(link, lambda route: route.fulfill(
        response=(answer := route.fetch()), body=answer.text().replace(" disabled>Send", ">Send")))
    respondent.goto(link)
    fill(respondent)
    assert respondent.is_enabled("button")
    respondent.sent.clear()
    respondent.click("button")
    respondent.press("input[name=q1]", "Enter")
    respondent.evaluate("document.getElementById('survey').submit()")
    assert respondent.evaluate("document.getElementById('survey').method") == "dialog"
    assert respondent.sent == []
    assert respondent.url == link


@pytest.mark.slow
@pytest.mark.xdist_group("several processes")
def test_a_double_click_and_a_lost_reply_count_once(respondent, link, running):
    lost = []

    def lose(route):
        if lost or route.request.method != "POST":
            return route.continue_()
        lost.append(route.fetch().status)
        return route.abort()

    respondent.route(link, lose)
    respondent.goto(link)
    fill(respondent)
    respondent.dblclick("button")
    respondent.wait_for_selector("text=The server was not reached")
    assert lost == [200]
    posts = [one for one in respondent.sent if one.method == "POST"]
    assert len(posts) == 1
    assert "37.25" not in posts[0].post_data
    respondent.click("button")
    respondent.wait_for_selector("text=Thank you.")
    page = running.get(link.removeprefix(running.base).replace("/answer/", "/surveys/"))[2]
    assert "1 answer" in page
    assert "2 answers" not in page


@pytest.mark.slow
@pytest.mark.xdist_group("several processes")
@pytest.mark.parametrize("storage", ["forbidden", "damaged"])
def test_a_browser_that_keeps_nothing_can_answer(respondent, link, storage):
    name = link.rpartition("/")[2]
    respondent.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })"
        if storage == "forbidden" else
        f"localStorage.setItem('unspoken-survey-{name}-drawn', '[[\"1\"]]')")
    respondent.goto(link)
    fill(respondent)
    respondent.wait_for_selector("button:not([disabled])")
    respondent.click("button")
    respondent.wait_for_selector("text=Thank you.")
    assert respondent.title() != "broken"


def test_all_that_is_kept_of_a_respondent_is_what_was_randomised(calls, survey):
    send(calls, survey, X_Answer_Once=ONCE, User_Agent="spy", Cookie="who=me",
         X_Forwarded_For="203.0.113.9", Referer="http://elsewhere/")
    kept = (survey.place / "answers.jsonl").read_text()
    assert json.loads(kept) == {"once": ONCE, "sent": [1]}
    files = [one.read_bytes() for one in calls.folder.root.rglob("*") if one.is_file()]
    assert not any(word in data for data in files for word in (b"spy", b"203.0.113", b"who=me"))
