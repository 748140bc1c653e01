"""Walk 3: what every method that fits keeps and risks; one click says how to have it."""

from __future__ import annotations

import json
from typing import Any

from unspoken.audit.people.attacked_frontier import ROWS
from unspoken.errors import InputError
from unspoken.methods.anonymity.utility.risk_utility_frontier import TASKS
from unspoken.release.method import method_of
from unspoken.studio.charts import scatter
from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.elements import Markup, el
from unspoken.studio.form_fields import Fields, read_form
from unspoken.studio.frontier_figures import (
    ATTACKS,
    GROUPS,
    Found,
    across,
    kept_words,
    listed,
    point,
    upward,
)
from unspoken.studio.kept_desks import note_begun, note_ended
from unspoken.studio.layout import button, cut_short, form, hidden, html, job_box, verdict
from unspoken.studio.replies import off_the_loop, see_other
from unspoken.studio.spelled_out import command_line, method_words, python_lines

FRONTIER = "frontier"


async def show(request: Any) -> Any:
    """GET /frontier: the picture, or the question what is asked for."""
    desk: Desk = desk_of(request)
    dataset = desk.dataset
    found, job = desk.found.get(FRONTIER), desk.found.get("frontier_job")
    body: list[Any] = []
    if job is not None and job.state == "running":
        body.append(job_box(job.name, job.words, "/frontier"))
    elif job is not None and job.state == "failed":
        body.append(verdict("unknown", "It could not be tried", job.error))
    elif job is None:
        body.append(cut_short(desk, FRONTIER))
    if found is not None:
        body += _shown(request, desk, found)
    question = _question(request, desk)
    body.append(el("details", el("summary", "Ask for something else"), question)
                if found is not None else question)
    return html(request, "Usefulness against risk", *body,
                lead=f"Every method that fits is tried on three quarters of the records of "
                     f"{dataset.name}, and tested on the rest.")


def _question(request: Any, desk: Desk) -> Markup:
    schema = desk.dataset.table.schema
    if not schema.with_role("quasi"):
        return verdict("calm", "Nothing is declared that somebody could look up",
                       "Choose quasi-identifiers on the page 'Data' first.")
    k = el("div", el("label", "Smallest group (K)", for_="k"),
           el("input", type="number", name="k", id="k", min=2, max=10000, value=10, required=True))
    diversity = el("div", el("label", "Diversity of sensitive columns (L) ",
                             el("span", "left empty: no demand", class_="soft"), for_="l"),
                   el("input", type="number", name="l", id="l", min=1, step="any"))
    task = _task("task", schema.target)
    others = el("div", el("label", "Columns without a role", for_="others"),
                el("select", el("option", "leave them out", value="drop"),
                   el("option", "keep them as they are", value="keep"), name="others", id="others"))
    groups = form(request, "/frontier", el("h2", "By the group that people hide in"),
                  hidden("by", GROUPS), k, diversity, task, others, button("Try all that fit"))
    return el("div", groups, _attack_question(request, schema.target), class_="two")


def _task(name: str, target: str | None) -> Markup:
    """Ask what for; without a target nothing can be predicted."""
    open_to = TASKS if target is not None else TASKS[1:]
    return el("div", el("label", "What for", None if target is not None else el(
        "span", " a target makes prediction possible", class_="soft"), for_=name),
        el("select", [el("option", one, value=one) for one in open_to], name="task", id=name))


def _attack_question(request: Any, target: str | None) -> Markup:
    task = _task("use", target)
    return form(request, "/frontier", el("h2", "By the worst attack"), hidden("by", ATTACKS), el(
        "p", f"Methods of every family, weak and strong, on up to {ROWS:,} records. What each "
        "releases is attacked in every way; records that were held back are the control group. It "
        "takes some minutes, and intervals are wide: look at what is far apart.",
        class_="help"), task, button("Try and attack all"))


async def start(request: Any) -> Any:
    """POST /frontier: try everything that fits."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    by = ATTACKS if fields["by"] == ATTACKS else GROUPS
    demand = _demand(fields) if by == GROUPS else {}
    if fields["task"] not in TASKS:
        raise InputError("A task must be prediction or statistics.")
    counted = desk.found
    job = desk.jobs.start(
        "frontier", {"source": desk.dataset.source.to_json(), "demand": demand,
                     "task": fields["task"], "by": by}, "Methods are being tried",
        lambda result: _found(desk, counted, {**result, "demand": demand, "by": by}))
    desk.found["frontier_job"] = job
    await off_the_loop(note_begun, desk, FRONTIER)
    return see_other("/frontier")


def _found(desk: Desk, counted: dict[str, Any], frontier: Found) -> None:
    """Keep a frontier, unless another table lies on the desk by now."""
    counted[FRONTIER] = frontier
    if desk.found is counted:
        note_ended(desk, FRONTIER)


def _demand(fields: Fields) -> dict[str, Any]:
    try:
        demand: dict[str, Any] = {"k": int(fields["k"]), "others": fields["others"] or "drop"}
        if fields["l"]:
            demand |= {"l": float(fields["l"]), "diversity": "distinct"}
    except ValueError:
        raise InputError("K must be a whole number, and L a number or empty.") from None
    return demand


def _shown(request: Any, desk: Desk, found: Found) -> list[Any]:
    known = [(place, one) for place, one in enumerate(found["tried"]) if one["utility"]]
    refused = [one for one in found["tried"] if not one["utility"]]
    if not known:
        return [verdict("unknown", "No method reaches what was asked for",
                        *(f"{one['method']}: {one['refusal']}" for one in refused[:3]))]
    best = known[0][1]
    words = method_words(method_of(best["method"]), best["parameters"])
    return [verdict("calm", f"Recommended: {best['method']}", words + ".", kept_words(best)),
            scatter([point(found, place, one) for place, one in known], across(found),
                    upward(found), "Usefulness against risk; every point leads to its command"),
            el("p", "Filled: recommended. Thick ring: nothing else is better in both. Thin ring: "
               "something else is. A click says how to have it.", class_="help"),
            listed(found, known), *(_choice(request, desk, place, one) for place, one in known),
            el("details", el("summary", f"{len(refused)} refused"),
               el("ul", [el("li", f"{one['method']}: {one['refusal']}") for one in refused]))
            if refused else None]


def _choice(request: Any, desk: Desk, place: int, one: dict[str, Any]) -> Markup:
    method, source = method_of(one["method"]), desk.dataset.source
    decide = form(request, "/decide/choose",
                  hidden("method", method.name),
                  hidden("parameters", json.dumps(one["parameters"])), button("Decide on this"))
    warnings = one["utility"]["warnings"]
    return el("section", el("h3", f"{place + 1}. {method_words(method, one['parameters'])}"),
              el("p", kept_words(one)), el("ul", [el("li", line) for line in warnings]),
              el("p", "On the command line:"),
              el("pre", command_line(source, method, one["parameters"])),
              el("p", "In Python:"), el("pre", python_lines(source, method, one["parameters"])),
              decide, id=f"choice-{place}", class_="choice best" if place == 0 else "choice",
              tabindex="-1")
