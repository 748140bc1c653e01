"""Walk 8: ask for statistics, see the answer with its error, and the budget go down."""

from __future__ import annotations

from typing import Any

from unspoken.errors import InputError
from unspoken.studio.charts import share_bars
from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.elements import Markup, el, whole
from unspoken.studio.form_fields import read_form
from unspoken.studio.layout import button, form, html, table, verdict
from unspoken.studio.query_desk import ask, service_of, start_service, template
from unspoken.studio.replies import off_the_loop, see_other
from unspoken.studio.visitor import CUSTODIAN, OFFICER

EXAMPLES = ("select count()", "select mean(age) where sex = 'F'", "select count() group by sex",
            "select quantile(age, 0.5)", "select histogram(age, 20, 40, 60) epsilon 0.05")
ALONE = "studio"
"""Who asks on their own machine."""


async def show(request: Any, answer: dict[str, Any] | None = None, asked: str = "",
               wrong: str = "") -> Any:
    """GET /queries: the question, the last answer, and what is left."""
    desk: Desk = desk_of(request)
    service = await off_the_loop(service_of, desk)
    if service is None:
        return html(request, "Queries", _starting(request, desk), lead="Analysts ask for counts, "
                    "sums and means, and never hold the table. Every answer carries noise.")
    about = await off_the_loop(service.about)
    reply = verdict("unknown", "Not answered", wrong) if wrong else _answer(answer)
    return html(request, "Queries", reply, _question(request, asked), _budget(about),
                _columns(about), _booked(request, service),
                lead="Every answer carries noise and is paid for out of one budget. The same "
                     "question is paid for once.")


def _question(request: Any, asked: str) -> Markup:
    return form(request, "/queries", el("label", "Question", for_="question"),
                el("input", type="text", name="question", id="question", required=True,
                   value=asked, list="examples", maxlength=2000, autocomplete="off"),
                el("datalist", [el("option", value=one) for one in EXAMPLES], id="examples"),
                el("p", f"Such as: {EXAMPLES[1]}", class_="help"), button("Ask"))


def _answer(answer: dict[str, Any] | None) -> Any:
    if answer is None:
        return None
    if not answer["answered"]:
        return verdict("high", "The budget refuses", answer["reason"])
    paid = "exactly, from fixed cells" if answer.get("epsilon") is None else \
        f"for an epsilon of {answer['epsilon']:g}"
    if "groups" not in answer:
        return verdict("calm", f"{answer['value']:.6g} ± {answer['error']:.3g}",
                       f"Answered {paid}. The error holds with 95% confidence.",
                       *answer.get("done", ()))
    rows = [[", ".join(map(_group, one["group"])), f"{one['value']:.6g}", f"± {one['error']:.3g}"]
            for one in answer["groups"]]
    return [verdict("calm", f"{len(rows)} groups", f"Answered {paid}.", *answer.get("done", ())),
            table(["group", "value", "error, 95%"], rows, "The answer", [1, 2])]


def _group(value: Any) -> str:
    return "(no value)" if value is None else str(value)


def _budget(about: dict[str, Any]) -> Any:
    spent = about["epsilon"] - about["left"]
    share = spent / about["epsilon"] if about["epsilon"] else 0.0
    return [el("h2", "Budget"), share_bars([("Spent", share, None, f"{about['left']:.4g} of an "
                                             f"epsilon of {about['epsilon']:g} is left")],
                                           "Share of the budget that is spent")]


def _columns(about: dict[str, Any]) -> Markup:
    rows = [[name, one["kind"], ", ".join(f"{key} {value}" for key, value in one.items()
                                          if key != "kind")]
            for name, one in about["columns"].items()]
    return el("details", el("summary", "What may be asked about"),
              table(["column", "kind", "declared"], rows,
                    f"{about['rows']:,} rows; one answer costs {about['each']:g}"))


def _booked(request: Any, service: Any) -> Any:
    visitor = request.scope["unspoken.visitor"]
    if not visitor.may(CUSTODIAN, OFFICER):
        return None
    rows = [[whole(one.at), one.to or "nobody named", one.what, str(one.cost)]
            for one in reversed(service.budget.draws) if one.kind == "query"]
    return el("details", el("summary", "What was asked"),
              table(["when", "by", "question", "cost"], rows[:200], "Questions, newest first"))


def _starting(request: Any, desk: Desk) -> Any:
    visitor = request.scope["unspoken.visitor"]
    if not visitor.may(CUSTODIAN):
        return verdict("calm", "No questions are answered yet", "A custodian starts that.")
    if not desk.loaded:
        return verdict("calm", "No table is loaded", "Load one on the page 'Data'.")
    return el("section", el("h2", "Answer questions about this table"), form(
        request, "/queries/start",
        el("label", "Columns, as a policy declares them (TOML)", for_="columns"),
        el("textarea", template(desk.dataset), name="columns", id="columns", spellcheck="false"),
        el("label", "Epsilon of one answer", for_="each"),
        el("input", type="number", name="each", id="each", value="0.1", min="0.001", step="any",
           required=True), button("Start to answer")))


async def start(request: Any) -> Any:
    """POST /queries/start: begin to answer about the table on the desk."""
    fields = await read_form(request)
    try:
        each = float(fields["each"])
    except ValueError:
        raise InputError("The epsilon of one answer must be a number.") from None
    await off_the_loop(start_service, desk_of(request), fields["columns"], each)
    return see_other("/queries")


async def put(request: Any) -> Any:
    """POST /queries: ask one question."""
    fields = await read_form(request)
    analyst = request.scope["unspoken.visitor"].name or ALONE
    try:
        answer = await off_the_loop(ask, desk_of(request), analyst, fields["question"])
    except InputError as error:
        return await show(request, None, fields["question"], str(error))
    return await show(request, answer, fields["question"])
