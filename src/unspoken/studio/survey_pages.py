"""Walk 7: a survey whose answers are randomised in the respondent's browser, and its results."""

from __future__ import annotations

import re
from typing import Any

from unspoken.errors import InputError
from unspoken.report.drawing import percent
from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.elements import Markup, el
from unspoken.studio.form_fields import Fields, read_form
from unspoken.studio.layout import button, form, fragment, html, table, verdict
from unspoken.studio.replies import off_the_loop, see_other
from unspoken.studio.survey_laws import (
    HASHING,
    NUMBER,
    RESPONSE,
    SurveyQuestion,
    possible_interval,
)
from unspoken.studio.survey_store import Survey, read_survey, start_survey, surveys_in
from unspoken.studio.visitor import CUSTODIAN

SLOTS = 3
MOST_LISTED = 12
_WAYS = {"": "no question", RESPONSE: "one of a few answers (randomised response)",
         HASHING: "one of many answers (local hashing)", NUMBER: "a number (noise)"}
_END = r"\s*(-?(?:\d+(?:\.\d+)?|\.\d+))\s*"
_RANGE = re.compile(rf"{_END}\.\.{_END}", re.ASCII)


async def show(request: Any) -> Any:
    """GET /surveys: those that are there, and how to start one."""
    desk: Desk = desk_of(request)
    known, damaged = await off_the_loop(surveys_in, desk.folder.part("surveys"))
    rows = [[el("a", one.title, href=f"/surveys/{one.name}"), f"{len(one.questions)}",
             f"{len(one.reports()):,}", "open" if one.is_open else "closed"] for one in known]
    return html(request, "Surveys",
                verdict("high", "Some surveys are damaged", *damaged) if damaged else None,
                table(["survey", "questions", "answers", "state"], rows, "Your surveys", [1, 2])
                if rows else None, _new(request) if _owns(request) else None,
                lead="Every answer is randomised in the respondent's own browser. What arrives "
                     "here tells little about anybody, and still adds up.")


def _owns(request: Any) -> bool:
    """Return True for somebody who may start and close surveys; others look."""
    return bool(request.scope["unspoken.visitor"].may(CUSTODIAN))


def _new(request: Any) -> Markup:
    slots = [_slot(place) for place in range(SLOTS)]
    return el("section", el("h2", "Start a survey"), form(
        request, "/surveys", el("label", "Title", for_="title"),
        el("input", type="text", name="title", id="title", required=True, maxlength=200),
        slots, button("Start it")))


def _slot(place: int) -> Markup:
    kind = el("select", [el("option", words, value=way, selected=way == RESPONSE and place == 0)
                         for way, words in _WAYS.items() if way or place],
              name=f"way.{place}", id=f"way{place}")
    return el("fieldset", el("legend", f"Question {place + 1}"),
              el("div",
                 el("div", el("label", "Question", for_=f"text{place}"),
                    el("input", type="text", name=f"text.{place}", id=f"text{place}",
                       maxlength=300), el("label", "How it is answered", for_=f"way{place}"), kind,
                    el("label", "Epsilon ", el("span", "smaller hides more", class_="soft"),
                       for_=f"epsilon{place}"),
                    el("input", type="number", name=f"epsilon.{place}", id=f"epsilon{place}",
                       min="0.05", max="10", step="any", value="1")),
                 el("div", el("label", "Answers, one in each line; of a number its range, such as "
                              "0..100", for_=f"values{place}"),
                    el("textarea", name=f"values.{place}", id=f"values{place}")), class_="two"),
              class_="card")


async def start(request: Any) -> Any:
    """POST /surveys: start one."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    questions = [_question(fields, place) for place in range(SLOTS)
                 if fields[f"way.{place}"] and fields[f"text.{place}"]]
    survey = start_survey(desk.folder.part("surveys"), fields["title"], questions)
    return see_other(f"/surveys/{survey.name}")


def _question(fields: Fields, place: int) -> SurveyQuestion:
    text, way = fields[f"text.{place}"], fields[f"way.{place}"]
    lines = [line.strip() for line in fields[f"values.{place}"].splitlines() if line.strip()]
    try:
        epsilon = float(fields[f"epsilon.{place}"])
    except ValueError:
        raise InputError("Epsilon must be a number.") from None
    if way != NUMBER:
        return SurveyQuestion(text, way, epsilon, tuple(lines))
    ends = _RANGE.fullmatch(" ".join(lines))
    if ends is None:
        raise InputError("A number needs a range, such as 0..100, the lower end first.")
    return SurveyQuestion(text, way, epsilon, (), (float(ends[1]), float(ends[2])))


def _survey(request: Any) -> Survey:
    desk: Desk = desk_of(request)
    return read_survey(desk.folder.known("surveys", request.path_params["name"]))


async def one(request: Any) -> Any:
    """GET /surveys/NAME: the address for respondents, and the results as they come in."""
    survey = await off_the_loop(_survey, request)
    link = f"{request.url.scheme}://{request.headers['host']}/answer/{survey.name}"
    results = await off_the_loop(results_markup, survey)
    close = form(request, f"/surveys/{survey.name}/close",
                 button("Close it", class_="stop")) if survey.is_open and _owns(request) else None
    return html(request, survey.title,
                el("p", "Respondents answer at ", el("a", link, href=link, target="_blank"), ". "
                   "Whoever knows the address can answer.", _reach(request)) if survey.is_open
                else el("p", "This survey is closed."),
                el("p", f"All answers of one person together spend an epsilon of "
                        f"{survey.epsilon:.3g}. Who answers twice spends twice.", class_="help"),
                el("section", results, data_refresh=f"/surveys/{survey.name}/results",
                   data_every=1500, aria_live="polite", id="results"), close)


def _reach(request: Any) -> str:
    """Say who can open the address, where that is nobody else."""
    alone = request.url.hostname in ("127.0.0.1", "localhost")
    return " Only browsers on this machine reach it; for others the studio must run behind a " \
        "reverse proxy." if alone else ""


async def results(request: Any) -> Any:
    """GET /surveys/NAME/results: the results alone."""
    survey = await off_the_loop(_survey, request)
    return fragment(await off_the_loop(results_markup, survey))


def results_markup(survey: Survey) -> Any:
    """Return the results with their intervals."""
    reports, damaged = survey.reports_and_damage()
    left_out = f"{damaged} damaged line(s) of its answers are left out." if damaged else ""
    if not reports:
        return verdict("calm", "No answers yet", "This part follows as they come in.", left_out)
    count = f"{len(reports):,} {'answer' if len(reports) == 1 else 'answers'}"
    parts = [verdict("calm", count, "Shares are estimated from randomised answers. Each interval "
                     "holds with 95% confidence, taken by itself and read once: of many intervals, "
                     "or of many looks while answers come in, more miss.", left_out)]
    for place, question in enumerate(survey.questions):
        found = question.estimate([report[place] for report in reports])
        parts += [el("h2", question.text), _table(question, found)]
    return parts


def _table(question: SurveyQuestion, found: list[tuple[str, float, float, float]]) -> Markup:
    number = question.way == NUMBER
    ordered = found if number else sorted(found, key=lambda row: -row[1])[:MOST_LISTED]

    ends = question.ends if number else (0.0, 1.0)

    def shown(value: float) -> str:
        inside = min(max(value, ends[0]), ends[1])
        return f"{inside:.4g}" if number else percent(inside)

    rows = [[name, shown(value),
             " to ".join(map(shown, possible_interval(value, low, high, ends)))]
            for name, value, low, high in ordered]
    more = len(found) - len(rows)
    return el("div", table(["answer", "estimate", "95% interval"], rows, question.hides, [1, 2]),
              el("p", f"{more} more answers are rarer.", class_="help") if more > 0 else None)


async def close(request: Any) -> Any:
    """POST /surveys/NAME/close: take no more answers."""
    await read_form(request)
    survey = await off_the_loop(_survey, request)
    await off_the_loop(survey.close)
    return see_other(f"/surveys/{survey.name}")
