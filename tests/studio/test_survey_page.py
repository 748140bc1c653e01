"""Walk 7: what a respondent's browser sends, by the laws of the library and never the truth."""

import json
import re

import numpy as np
import pytest

from support.axe import known_source, look_at
from support.browser import PHONE, opened
from support.keyboard import choose, press, tab_to, write
from support.studio_calls import HOST, Calls
from support.studio_server import studio
from unspoken.methods.distortion.local_frequencies import _hashed
from unspoken.studio.survey_laws import SurveyQuestion
from unspoken.studio.survey_store import read_survey

pytestmark = pytest.mark.xdist_group("several processes")

FEW = SurveyQuestion("Did you ever take it home?", "response", 1.0, ("yes", "no", "never say"))
MANY = SurveyQuestion("Which town?", "hashing", 2.0, tuple(f"town {k}" for k in range(40)))
NUMBER = SurveyQuestion("How much?", "number", 1.5, (), (0.0, 100.0))
ALL = (FEW, MANY, NUMBER)
WORDS = {"response": "one of a", "hashing": "one of m", "number": "a number"}


@pytest.fixture
def calls(tmp_path):
    return Calls(tmp_path).enter()


def started(calls):
    fields = {"title": "Tools"}
    for place, one in enumerate(ALL):
        values = "\n".join(one.values) or "0..100"
        fields |= {f"text.{place}": one.text, f"way.{place}": one.way,
                   f"epsilon.{place}": one.epsilon, f"values.{place}": values}
    status, headers, _ = calls.post("/surveys", **fields)
    assert status == 303
    return headers["location"].removeprefix("/surveys/")


def answered(calls, name, reports, **headers):
    return calls.ask("POST", f"/answer/{name}", json.dumps(reports).encode(),
                     **{"Origin": f"http://{HOST}", **headers})


def test_a_respondent_needs_no_cookie_and_gets_nothing_else(calls):
    name = started(calls)
    assert calls.ask("GET", f"/answer/{name}")[0] == 200
    assert calls.ask("GET", "/answer/assets/survey.js")[0] == 200
    assert calls.ask("GET", "/answer/assets/studio.js")[0] == 400
    assert calls.ask("GET", f"/surveys/{name}")[0] == 403
    assert calls.ask("GET", "/answer/unknown")[0] == 400
    assert calls.ask("GET", "/answer/..%2fdrafts")[0] in (400, 404)


@pytest.mark.parametrize("reports", [
    [0, ["5", "1"]], [3, ["5", "1"], 0], [0, ["5", "99"], 0], [0, ["-5", "1"], 0],
    [True, ["5", "1"], 0], [0, ["5", "1"], 0.1], [0, ["5", "1"], "x"], [0, [str(1 << 62), "1"], 0],
    [0, ["5", "1"], float("inf")], {"0": 0}, "yes", None, ["no", ["5", "1"], 0]])
def test_a_report_that_no_law_produces_is_refused(calls, reports):
    name = started(calls)
    assert answered(calls, name, reports)[0] == 400
    assert read_survey(calls.folder.known("surveys", name)).reports() == []


def test_a_report_that_fits_is_kept_and_nothing_beside_it(calls):
    name = started(calls)
    reports = [1, ["12345", "2"], NUMBER.law.grid * 3]
    assert answered(calls, name, reports)[0] == 200
    survey = read_survey(calls.folder.known("surveys", name))
    assert survey.reports() == [reports]
    assert (survey.place / "answers.jsonl").read_text() == json.dumps(reports) + "\n"
    assert answered(calls, name, reports, Origin="http://evil.example")[0] == 403


def test_a_closed_survey_takes_no_answers(calls):
    name = started(calls)
    assert calls.post(f"/surveys/{name}/close")[0] == 303
    assert answered(calls, name, [1, ["12345", "2"], 0.0])[0] == 400
    assert "closed" in calls.ask("GET", f"/answer/{name}")[2]


def test_the_stated_epsilon_is_the_laws():
    assert FEW.stated == pytest.approx(1.0)
    assert MANY.stated == 2.0
    assert NUMBER.stated == pytest.approx(1.5, rel=1e-4)


def test_estimates_cover_the_truth():
    rng = np.random.default_rng(3)
    n = 4000
    truth = rng.choice(3, n, p=[0.2, 0.7, 0.1])
    said = FEW.law.answer(truth, b"s" * 32)
    few = {name: (low, high) for name, _, low, high in FEW.estimate(said.tolist())}
    assert few["yes"][0] < 0.2 < few["yes"][1]
    towns = rng.choice(40, n, p=[0.5] + [0.5 / 39] * 39)
    pairs = MANY.law.report([f"town {k}" for k in towns], b"t" * 32)
    many = MANY.estimate([[str(a), str(b)] for a, b in pairs.tolist()])[0]
    assert many[2] < 0.5 < many[3]
    noisy = NUMBER.law.add(rng.uniform(0, 100, n), b"u" * 32)
    (_, mean, low, high) = NUMBER.estimate(noisy.tolist())[0]
    assert low < 50 < high
    assert all(NUMBER.accepts(one) for one in noisy[:50].tolist())
    assert mean == pytest.approx(noisy.mean())


@pytest.mark.slow
@pytest.mark.parametrize("question", ALL)
@pytest.mark.parametrize("people", [1, 5, 400])
def test_intervals_hold_for_few_answers_and_for_frequent_ones(question, people):
    rng = np.random.default_rng(people)
    inside = 0
    for _ in range(200):
        seed = rng.bytes(32)
        if question is NUMBER:
            truth, reports = 40.0, question.law.add(np.full(people, 40.0), seed).tolist()
        elif question is FEW:
            truth, reports = 1.0, question.law.answer(np.ones(people, int), seed).tolist()
        else:
            pairs = question.law.report(["town 7"] * people, seed)
            truth, reports = 1.0, [[str(a), str(b)] for a, b in pairs.tolist()]
        row = question.estimate(reports)[{NUMBER: 0, FEW: 1, MANY: 7}[question]]
        inside += row[2] <= truth <= row[3]
    assert inside >= 180


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with studio(tmp_path_factory.mktemp("survey")) as found:
        yield found


@pytest.fixture(scope="module")
def page(browser, running):
    with opened(browser, running) as found:
        yield found
        assert found.faults == []


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    return known_source(tmp_path_factory.mktemp("axe"))


@pytest.fixture(scope="module")
def link(page, running, axe):
    press(page, "nav a[href='/surveys']")
    look_at(page, axe)
    write(page, "#title", "Tools <i>home</i>")
    for place, one in enumerate(ALL):
        write(page, f"#text{place}", one.text)
        choose(page, f"#way{place}", WORDS[one.way])
        write(page, f"#epsilon{place}", str(one.epsilon))
        write(page, f"#values{place}", "\n".join(one.values) or "0..100")
    press(page, "form[action='/surveys'] button")
    page.wait_for_selector("text=No answers yet")
    assert "Tools <i>home</i>" in page.inner_text("h1")
    return page.locator("a[href*='/answer/']").get_attribute("href")


LAWS = "const m = await import('/answer/assets/survey.js'); const laws = JSON.parse(" \
       "document.getElementById('survey').dataset.laws);"


@pytest.mark.slow
def test_the_browser_draws_by_the_laws_of_the_library_word_for_word(browser, link):
    rng = np.random.default_rng(11)
    high, low = (rng.integers(0, 1 << 64, 400, dtype=np.uint64) for _ in range(2))
    places = rng.integers(0, 3, 400)
    values = rng.uniform(-10, 110, 400)
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(link)
        given = {"high": list(map(str, high)), "low": list(map(str, low)),
                 "places": places.tolist(), "values": values.tolist()}
        said, noisy, hashed = page.evaluate(
            f"async g => {{ {LAWS} const h = g.high.map(BigInt), l = g.low.map(BigInt);"
            "return [g.places.map((p, k) => m.respond(laws[0], p, h[k])),"
            "g.values.map((v, k) => m.noisy(laws[2], v, h[k], l[k])),"
            "h.map((n, k) => m.hashed(n >> 2n, BigInt(`0x${laws[1].digests[k % 40]}`),"
            " laws[1].range))]; }", given)
        drawn = page.evaluate(
            f"async () => {{ {LAWS} const out = [[], [], []];"
            "for (let k = 0; k < 6000; k += 1) {"
            "out[0].push(m.answer(laws[0], 1, [...m.words(2)]));"
            "out[1].push(m.answer(laws[1], 7, [...m.words(2), m.fair(laws[1].range - 1)]));"
            "out[2].push(m.answer(laws[2], 30, [...m.words(2)])); } return out; }")
    finally:
        context.close()
    shares = (high >> np.uint64(12)) * 2.0**-52 + 2.0**-53
    steps = np.cumsum(FEW.law.matrix, axis=1)
    assert said == sum((shares > steps[places, k]).astype(int) for k in range(2)).tolist()
    law = NUMBER.law
    inside = np.clip(values, law.low, law.high)
    wanted = (np.rint(inside / law.grid)
              + np.rint(law.noise.drawn(high, lambda: low) / law.grid)) * law.grid
    assert np.allclose(noisy, wanted, rtol=0, atol=law.grid * 1.01)
    assert np.mean(np.array(noisy) == wanted) > 0.99
    digests = np.array([int(one, 16) for one in MANY.law.to_json()["digests"]], np.uint64)
    assert hashed == _hashed(high >> np.uint64(2), digests[np.arange(400) % 40],
                             MANY.law.range).tolist()
    _same_distribution(drawn)


def _same_distribution(drawn):
    """Compare what the browser drew with the probabilities that the laws state."""
    few = np.bincount(drawn[0], minlength=3) / 6000
    assert np.allclose(few, FEW.law.matrix[1], atol=0.03)
    _, share, low, high = MANY.estimate(drawn[1])[7]
    # Five standard errors on each side: a test must not fail once in twenty runs.
    assert abs(share - 1.0) < 5 * (high - low) / (2 * 1.96)
    noise = np.array(drawn[2]) - 30
    assert abs(noise.mean()) < 5 * NUMBER.law.noise.deviation / 6000**0.5
    assert noise.std() == pytest.approx(NUMBER.law.noise.deviation, rel=0.1)


@pytest.mark.slow
def test_walk_7_the_true_answer_never_leaves_a_phone_and_results_appear(browser, page, link, axe):
    context = browser.new_context(viewport=PHONE)
    try:
        phone = context.new_page()
        sent = []
        phone.on("request", lambda one: sent.append((one.url, one.post_data))
                 if one.method == "POST" else None)
        phone.goto(link)
        tab_to(phone, "input[name=q0]")
        phone.keyboard.press("Space")
        tab_to(phone, "select[name=q1]")
        phone.keyboard.type("town 7")
        write(phone, "input[name=q2]", "37.25")
        phone.wait_for_selector("button:not([disabled])")
        look_at(phone, axe)
        phone.set_viewport_size(PHONE)
        assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        shown = phone.inner_text("#sent")
        press(phone, "form button")
        phone.wait_for_selector("text=Thank you.")
        ((place, body),) = sent
        assert place == link
        said, (function, value), number = json.loads(body)
        assert FEW.values[said] in shown
        assert function in shown
        assert value in shown
        assert number != 37.25
        assert phone.input_value("input[name=q2]") == ""
        assert phone.locator("input[name=q0]:checked").count() == 0
        assert "37.25" not in body
        assert "town" not in body
        stored = phone.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
        assert re.findall(r"town|37\.25|yes", stored) == []
        phone.reload()
        phone.wait_for_selector("text=You have answered this survey on this device.")
    finally:
        context.close()
    page.wait_for_selector("#results:has-text('1 answer')")
    assert "95% interval" in page.inner_text("#results")
    look_at(page, axe)


@pytest.mark.slow
def test_loading_the_page_again_does_not_draw_again(browser, link):
    context = browser.new_context()
    try:
        page = context.new_page()
        shown = []
        for _ in range(3):
            page.goto(link)
            page.check("input[name=q0] >> nth=0")
            page.select_option("select[name=q1]", "7")
            page.fill("input[name=q2]", "37.25")
            page.wait_for_selector("button:not([disabled])")
            shown.append(page.inner_text("#sent"))
        assert "function" in shown[0]
        assert len(set(shown)) == 1
        stored = page.evaluate("JSON.stringify({...localStorage})")
        assert re.findall(r"town|37\.25|yes", stored) == []
        press(page, "form button")
        page.wait_for_selector("text=Thank you.")
        assert "drawn" not in page.evaluate("JSON.stringify({...localStorage})")
    finally:
        context.close()
