"""What was decided and what left: every signed decision, checked, and the budget of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unspoken.errors import InputError, UnspokenError
from unspoken.release.budget import Budget
from unspoken.release.budget_copies import list_budget
from unspoken.release.budget_places import counted_elsewhere, known_place
from unspoken.release.register import Register
from unspoken.studio.charts import share_bars
from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.draft_release import RECORD, REPORT
from unspoken.studio.elements import Markup, el, whole, wrapped
from unspoken.studio.form_fields import MEANT, check_still, read_form
from unspoken.studio.layout import button, form, hidden, html, table, verdict
from unspoken.studio.replies import off_the_loop, see_other
from unspoken.studio.sign_decision import DAMAGED, Signed, signed_decisions


async def show(request: Any) -> Any:
    """GET /history: signed decisions and the budget."""
    desk: Desk = desk_of(request)
    signed = await off_the_loop(signed_decisions, desk.folder)
    left = [one for one in signed if one.decision["decision"] == "release"]
    refused = [one for one in signed if one.decision["decision"] == "refuse"]
    broken = [one for one in signed if not one.intact]
    head = verdict("high", f"{len(broken)} of {len(signed)} were changed after signing",
                   *(f"{one.place.name}: {_fault(one)}" for one in broken)) if broken else \
        verdict("calm", f"{len(left)} released, {len(refused)} refused",
                "Every signature was checked just now." if signed else "Nothing was signed yet.")
    budget = await off_the_loop(_budget_part, request, desk) if desk.loaded else None
    register = await off_the_loop(_register, desk)
    return html(request, "History", head, [_entry(one) for one in signed], register,
                el("h2", "Budget"), budget or el("p", "Load a table to see its budget."))


def _register(desk: Desk) -> Markup | None:
    """List everything that was entered: releases, questions, studies."""
    try:
        entries = Register.load(desk.folder.register).entries
    except UnspokenError as error:
        return verdict("high", "The register cannot be read", str(error))
    rows = [[whole(when(one.when)), one.kind, one.to or "nobody named", wrapped(one.what[:60])]
            for one in reversed(entries)]
    return table(["when", "kind", "to", "what"], rows, "The register: what left, and to whom") \
        if rows else None


def when(text: str) -> str:
    """Return a time as people read it."""
    return str(text).replace("T", " ", 1).replace("+00:00", " UTC")


def _fault(one: Signed) -> str:
    return one.signature.reason or f"changed: {', '.join(one.changed)}"


def _entry(one: Signed) -> Markup:
    said = one.decision
    if said["decision"] == DAMAGED:
        return el("section", el("h2", f"Damaged: {one.place.name}"), el("p", _fault(one)))
    released = said["decision"] == "release"
    title = f"{'Released' if released else 'Refused'}: {said['table']['name']}"
    where = [["folder", str(one.place)], ["fingerprint of the release", said["fingerprint"]],
             ["signing key", one.signature.fingerprint],
             *([f"SHA-256, {name}", digest] for name, digest in said["sha256"].items())]
    return el("section", el("h2", title),
              el("p", f"By {said['by']}, {when(said['at'])}. {said['method']}, "
                      f"{said['verdict'].lower()}. To {said['terms']['recipient'] or 'nobody'}.",
                 " ", el("span", "signature holds" if one.intact else _fault(one),
                         class_=f"tag {'good' if one.intact else 'stop'}")),
              el("p", *(el("a", words, href=f"/decide/signed/{one.place.name}/{file}",
                           target="_blank", class_="button plain")
                        for file, words in ((RECORD, "Record"), (REPORT, "Report")))),
              el("details", el("summary", "Hashes"),
                 table(["what", "value"], where, "What was signed")))


def _budget_part(request: Any, desk: Desk) -> Any:
    source = desk.dataset.source
    try:
        place, note = known_place(source.known_budget(desk.folder.root), source.path,
                                  desk.dataset.table)
        budget = None if place is None else Budget(place)
    except UnspokenError as error:
        return verdict("high", "The budget cannot be used", str(error))
    if budget is None:
        return _no_budget(request, desk)
    spent, most = budget.spent(), budget.terms.epsilon
    rows = [("All together", min(spent / most, 1.0), None, f"epsilon {spent:.4g} of {most:g}")]
    listed = [[whole(one.at), one.kind, one.to or "nobody named", one.what, str(one.cost)]
              for one in reversed(budget.draws)]
    return [el("p", note) if note else None, share_bars(rows, "Share of the budget spent"),
            table(["when", "kind", "to", "what", "cost"], listed, "What was booked")
            if listed else el("p", "Nothing was booked yet.")]


def _no_budget(request: Any, desk: Desk) -> Any:
    question = el("div", el("label", "Epsilon of all disclosures together", for_="epsilon"),
                  el("input", type="number", name="epsilon", id="epsilon", value="1", min="0.001",
                     step="any", required=True))
    return [el("p", "This table has no budget, so nothing adds up what its disclosures tell "
               "together."), form(request, "/history/budget", hidden(
                   MEANT, desk.dataset.mark), question, button("Start one"))]


async def start_budget(request: Any) -> Any:
    """POST /history/budget: start the budget of the table on the desk, beside its file."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    check_still(fields, desk.dataset.mark)
    try:
        epsilon = float(fields["epsilon"])
    except ValueError:
        raise InputError("Epsilon must be a number above 0.") from None
    await off_the_loop(_start, desk, epsilon)
    return see_other("/history")


def _start(desk: Desk, epsilon: float) -> None:
    source, rows = desk.dataset.source, desk.dataset.table
    known = counted_elsewhere(rows, source.path)
    if known is not None:
        raise InputError(f"'{known[0]}' counts {known[1]:.0%} of these people already.")
    place = source.own_budget(desk.folder.root) or Path(f"{source.path}.budget")
    Budget.start(place, rows, epsilon=epsilon)
    list_budget(place)
