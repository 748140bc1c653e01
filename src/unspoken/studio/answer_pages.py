"""What a respondent of a survey sees: no cookie, no account, nothing but the survey.

The page holds the public laws; `assets/survey.js` draws by them before anything is sent.
"""

from __future__ import annotations

import json
from typing import Any

from unspoken.errors import InputError
from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.doorkeeper import POLICY
from unspoken.studio.elements import Markup, el
from unspoken.studio.layout import document
from unspoken.studio.replies import off_the_loop, text_reply
from unspoken.studio.survey_answers import AnsweredAlready
from unspoken.studio.survey_laws import HASHING, NUMBER, SurveyQuestion
from unspoken.studio.survey_store import Survey, read_survey

MOST_BYTES = 1 << 14
ONCE_HEADER = "x-answer-once"
_ONLY_BY_SCRIPT = {"content-security-policy": POLICY.replace("form-action 'self'",
                                                             "form-action 'none'")}
"""A form that a browser sends by itself would carry the truth: the page forbids it."""


def _survey(request: Any) -> Survey:
    desk: Desk = desk_of(request)
    return read_survey(desk.folder.known("surveys", request.path_params["name"]))


async def show(request: Any) -> Any:
    """GET /answer/NAME: the questions."""
    from starlette.responses import HTMLResponse

    survey = await off_the_loop(_survey, request)
    if not survey.is_open:
        return HTMLResponse(document(survey.title, None, None, el("p", "This survey is closed."),
                                     scripts=()), headers=_ONLY_BY_SCRIPT)
    laws = json.dumps([one.public() for one in survey.questions])
    body = [el("p", "Your answers are randomised on this device before they are sent. Nobody, not "
               "even whoever asks, can be sure what you chose.", class_="lead"),
            el("noscript", el("p", "This survey needs JavaScript: without it nothing could be "
                              "randomised here, so nothing can be sent.", class_="verdict high")),
            el("form", [_asked(place, one) for place, one in enumerate(survey.questions)],
               el("section", el("h2", "What will be sent"),
                  el("div", "Choose your answers first.", id="sent", class_="sent",
                     aria_live="polite")),
               el("button", "Send this", type="submit", disabled=True),
               el("p", "", role="status", id="said"), id="survey", data_laws=laws,
               data_name=survey.name, data_place=f"/answer/{survey.name}", method="dialog",
               autocomplete="off")]
    return HTMLResponse(document(survey.title, None, None, *body, scripts=("survey.js",)),
                        headers=_ONLY_BY_SCRIPT)


def _asked(place: int, question: SurveyQuestion) -> Markup:
    return el("fieldset", el("legend", question.text), _choices(place, question),
              el("p", question.hides, class_="help"), class_="card")


def _choices(place: int, question: SurveyQuestion) -> Any:
    name = f"q{place}"
    if question.way == NUMBER:
        low, high = question.ends
        return el("input", type="number", name=name, min=f"{low:.15g}", max=f"{high:.15g}",
                  step="any",
                  required=True, aria_label=question.text, inputmode="decimal")
    if question.way == HASHING or len(question.values) > 6:
        options = [el("option", "Choose", value="", disabled=True, selected=True),
                   *(el("option", one, value=at) for at, one in enumerate(question.values))]
        return el("select", options, name=name, required=True, aria_label=question.text)
    return [el("label", el("input", type="radio", name=name, value=at, required=True), one,
               class_="check") for at, one in enumerate(question.values)]


async def take(request: Any) -> Any:
    """POST /answer/NAME: randomised answers as JSON."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise InputError("These answers are too long.")
    try:
        reports = json.loads(bytes(body))
    except (ValueError, RecursionError):
        raise InputError("These answers cannot be read.") from None
    survey = await off_the_loop(_survey, request)
    try:
        await off_the_loop(survey.add, reports, request.headers.get(ONCE_HEADER, ""))
    except AnsweredAlready as error:
        return text_reply(str(error), 409)
    return text_reply("Thank you.")
