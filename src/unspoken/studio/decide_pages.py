"""Walk 4: policy, full audit, record; taken back before it is signed, and not after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.disclosure.policy import Policy
from unspoken.errors import InputError
from unspoken.release.method import method_of
from unspoken.release.terms_of_use import Terms
from unspoken.report.drawing import percent
from unspoken.studio.desk import Desk, mark_of
from unspoken.studio.desks import desk_of
from unspoken.studio.draft_release import RECORD, REPORT, read_about
from unspoken.studio.elements import Markup, el
from unspoken.studio.form_fields import MEANT, Fields, Forbidden, check_still, read_form
from unspoken.studio.kept_desks import keep_desk, note_begun, note_ended
from unspoken.studio.layout import (
    button,
    cut_short,
    facts,
    form,
    hidden,
    html,
    job_box,
    table,
    verdict,
)
from unspoken.studio.parameter_controls import read_parameters
from unspoken.studio.replies import off_the_loop, see_other
from unspoken.studio.sign_decision import SHORTEST, Signer, sign_decision, take_back
from unspoken.studio.spelled_out import command_line, method_words
from unspoken.studio.table_source import Source
from unspoken.studio.visitor import OFFICER
from unspoken.table.formats.data_urls import as_place

POLICY = """[people]
max_identified = 0.05
max_singled_out = 0.05
max_inferred = 0.10
"""
DRAFT = "draft"
_TERMS = (("recipient", "Who gets it"), ("purpose", "What for"),
          ("legal_basis", "What allows it"), ("retention", "Until when it may be kept"))


async def show(request: Any) -> Any:
    """GET /decide: what was chosen, the terms and the policy; drafts that wait."""
    desk: Desk = desk_of(request)
    chosen, job = desk.found.get("chosen"), desk.found.get("draft_job")
    body: list[Any] = [_waiting(request, desk)]
    if job is not None and job.state == "running":
        body.append(job_box(job.name, job.words, f"/decide/drafts/{desk.found['draft']}"))
    elif job is not None and job.state == "failed":
        body.append(verdict("unknown", "The draft could not be made", job.error))
    elif job is None:
        body.append(cut_short(desk, DRAFT))
    body.append(_question(request, desk, *chosen) if chosen else verdict(
        "calm", "Nothing is chosen yet", "Choose 'Decide on this' on the page 'Try' or "
        "'Frontier'."))
    return html(request, "Decide", *body, lead="The release is made and attacked in every known "
                "way. Nothing leaves before it is signed, and until then it can be taken back.")


def _may_see(request: Any, place: Path) -> bool:
    """Return True for a draft of one's own, and for an officer: who else may look is nobody."""
    visitor = request.scope["unspoken.visitor"]
    if visitor.may(OFFICER):
        return True
    try:
        return bool(visitor.name) and read_about(place).get("owner") == visitor.name
    except InputError:
        return False


def _draft(request: Any, desk: Desk) -> Path:
    """Return the folder of the draft that is asked for; another's is as one that is not there."""
    place = desk.folder.known("drafts", request.path_params["name"])
    if not _may_see(request, place):
        raise InputError("There is no such entry. It may have been taken back.")
    return place


def _draft_row(request: Any, place: Path) -> list[Any]:
    try:
        about = read_about(place)
    except InputError as error:
        return [place.name[:8], str(error), "–", _undo(request, place)]
    return [el("a", place.name[:8], href=f"/decide/drafts/{place.name}"),
            about["verdict"]["word"], about["method"], as_place(about["source"]["path"]).name]


def _waiting(request: Any, desk: Desk) -> Markup | None:
    """List drafts that are neither signed nor taken back."""
    drafts = sorted(one for one in desk.folder.part("drafts").iterdir()
                    if one.is_dir() and not one.name.startswith(".") and _may_see(request, one))
    rows = [_draft_row(request, one) for one in drafts]
    return table(["draft", "verdict", "method", "table"], rows,
                 "Drafts that wait for a signature") if rows else None


async def choose(request: Any) -> Any:
    """POST /decide/choose: a method with its parameters, from another page."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    method = method_of(fields["method"])
    parameters = _parameters(fields) if "parameters" in fields else \
        read_parameters(method, dict(fields.pairs))
    method.build(parameters)
    desk.found["chosen"] = (method.name, parameters)
    await off_the_loop(keep_desk, desk)
    return see_other("/decide")


def _parameters(fields: Fields) -> dict[str, Any]:
    try:
        data = json.loads(fields["parameters"])
    except (ValueError, RecursionError):
        raise InputError("The parameters cannot be read. Go back and choose again.") from None
    plain = isinstance(data, dict) and all(value is None or isinstance(value, str | int | float)
                                           for value in data.values())
    if not plain:
        raise InputError("The parameters must be plain values. Go back and choose again.")
    return dict(data)


def _question(request: Any, desk: Desk, name: str, parameters: Mapping[str, Any]) -> Markup:
    method = method_of(name)
    terms = [el("div", el("label", words, for_=field),
                el("input", type="text", name=field, id=field, maxlength=500))
             for field, words in _TERMS]
    policy = el("div", el("label", "Policy ", el("span", "what the release must withstand; left "
                                                 "empty, the verdict decides", class_="soft"),
                          for_="policy"), el("textarea", POLICY, name="policy", id="policy",
                                             spellcheck="false"))
    secret = el("div", el("label", "Passphrase of the key ",
                          el("span", "seals the file that says which record is which; keep it",
                             class_="soft"), for_="passphrase"),
                el("input", type="password", name="passphrase", id="passphrase", required=True,
                   minlength=SHORTEST, autocomplete="new-password"))
    return el("section", el("h2", method_words(method, parameters)), el("p", method.promise),
              form(request, "/decide/drafts", hidden(MEANT, _meant(desk)),
                   el("div", el("div", terms), el("div", policy, secret), class_="two"),
                   button("Make it and attack it")),
              el("details", el("summary", "As a command line"),
                 el("pre", command_line(desk.dataset.source, method, parameters))))


def _meant(desk: Desk) -> str:
    """Return what a draft would be made of: the table, and the method with its parameters."""
    return mark_of(desk.dataset.mark, desk.found["chosen"])


async def make(request: Any) -> Any:
    """POST /decide/drafts: make the release, attack it, write the record."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    if "chosen" not in desk.found:
        raise InputError("Nothing is chosen yet. Choose a method on the page 'Try'.")
    check_still(fields, _meant(desk))
    name, parameters = desk.found["chosen"]
    passphrase = fields.secret("passphrase")
    if passphrase is None or len(passphrase) < SHORTEST:
        raise InputError(f"The passphrase of the key must have at least {SHORTEST} letters.")
    terms = {field: fields[field] for field, _ in _TERMS}
    Terms(**terms)
    if fields["policy"]:
        Policy.parse(fields["policy"])
    place = desk.folder.new("drafts")
    desk.found["draft"] = place.name
    desk.found["draft_job"] = desk.jobs.start("draft", {
        "source": desk.dataset.source.to_json(), "method": name, "parameters": dict(parameters),
        "terms": terms, "policy": fields["policy"], "passphrase": passphrase,
        "owner": request.scope["unspoken.visitor"].name,
        "place": str(place), "register": str(desk.folder.register)},
        "The release is made and attacked", lambda _: note_ended(desk, DRAFT),
        clear=lambda: desk.folder.clear(place))
    await off_the_loop(note_begun, desk, DRAFT)
    return see_other("/decide")


async def draft(request: Any) -> Any:
    """GET /decide/drafts/NAME: the verdict, the reasons, the record, and the two ways on."""
    desk: Desk = desk_of(request)
    place = _draft(request, desk)
    about = read_about(place)
    return html(request, "Look before you release", _verdict(about), _promise(about),
                _people(about), _documents(place, "drafts"), _sign(request, place, about),
                _undo(request, place))


def _verdict(about: Mapping[str, Any]) -> Markup:
    one = about["verdict"]
    parts = [f"{name.capitalize()}: {one[name]['words']}." for name in ("naming", "inferring")
             if one[name]]
    allowed = "" if about["may_leave"] == (one["level"] in ("low", "raised")) else \
        "The policy allows what was measured." if about["may_leave"] else ""
    return verdict(one["level"], f"{one['word']}: {one['advice']}", allowed,
                   *one["reasons"][:4], *parts, *about["added"][:2])


def _promise(about: Mapping[str, Any]) -> list[Any]:
    words = method_words(method_of(about["method"]), about["parameters"])
    return [el("h2", "What would leave"), el("p", about["promise"]),
            facts([("Method", words), ("Rows", f"{about['rows']:,}"),
                   ("Columns", f"{len(about['columns'])}"),
                   ("To", about["terms"]["recipient"] or "nobody named")])]


def _people(about: Mapping[str, Any]) -> Markup | None:
    rows = [[one["kind"], one["column"], f"{one['adversary']}, {one['knowledge']}",
             percent(one["hits"] / max(one["people"], 1)),
             "–" if one["control_hits"] is None
             else percent(one["control_hits"] / max(one["control_people"], 1)),
             percent(one["baseline"])] for one in about["risks"]]
    return table(["attack", "about", "by", "succeeds", "on people outside", "blind guess"],
                 rows, "Every attack on people", [3, 4, 5]) if rows else None


def _documents(place: Path, kind: str) -> Markup:
    return el("p", *(el("a", words, href=f"/decide/{kind}/{place.name}/{name}", target="_blank",
                        class_="button plain") for name, words in
                     ((RECORD, "Decision record"), (REPORT, "Full report"))))


def _sign(request: Any, place: Path, about: Mapping[str, Any]) -> Markup:
    desk: Desk = desk_of(request)
    visitor = request.scope["unspoken.visitor"]
    if not visitor.may(OFFICER):
        return el("p", "A privacy officer signs this.", class_="help")
    first = "" if desk.folder.signer.exists() else \
        "A signing key is made and sealed with this passphrase."
    who = el("div", el("label", "Signed by", for_="by"),
             el("input", type="text", name="by", id="by", required=True, maxlength=200,
                value=visitor.name or None, readonly=bool(visitor.name), autocomplete="name"))
    secret = el("div", el("label", "Passphrase of the signing key", for_="signing"),
                el("p", first, class_="help") if first else None,
                el("input", type="password", name="passphrase", id="signing", required=True,
                   minlength=SHORTEST, autocomplete="off"))
    leave = button("Sign and release", name="decision", value="release") \
        if about["may_leave"] else None
    return el("section", el("h2", "Sign"), form(
        request, f"/decide/drafts/{place.name}/sign", who, secret, leave,
        button("Sign the refusal", name="decision", value="refuse", class_="stop")))


def _undo(request: Any, place: Path) -> Markup:
    return form(request, f"/decide/drafts/{place.name}/undo",
                button("Take it back", class_="plain"),
                el("p", "Release, key and record of this draft are removed.", class_="help"))


async def sign(request: Any) -> Any:
    """POST /decide/drafts/NAME/sign: the officer's decision."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    visitor = request.scope["unspoken.visitor"]
    if not visitor.may(OFFICER):
        raise Forbidden("Only a privacy officer signs.")
    place = _draft(request, desk)
    if fields["decision"] not in ("release", "refuse"):
        raise InputError("A decision is to release or to refuse.")
    if fields["decision"] == "release":
        desk.check_place(Source.from_json(read_about(place)["source"]).path)
    signer = Signer(visitor.name or fields["by"], fields.secret("passphrase") or "")
    await off_the_loop(sign_decision, desk.folder, place, signer,
                       fields["decision"] == "release")
    return see_other("/history")


async def undo(request: Any) -> Any:
    """POST /decide/drafts/NAME/undo: take a draft back."""
    desk: Desk = desk_of(request)
    await read_form(request)
    place = _draft(request, desk)
    await off_the_loop(take_back, desk.folder, place)
    return see_other("/decide")


async def document(request: Any) -> Any:
    """GET /decide/KIND/NAME/FILE: the record or the report, which run nothing."""
    from starlette.responses import HTMLResponse

    from unspoken.studio.doorkeeper import REPORT_POLICY

    desk: Desk = desk_of(request)
    kind, file = request.path_params["kind"], request.path_params["file"]
    if kind not in ("drafts", "signed") or file not in (RECORD, REPORT):
        raise InputError("There is no such document.")
    place = _draft(request, desk) if kind == "drafts" else \
        desk.folder.known(kind, request.path_params["name"])
    return HTMLResponse((place / file).read_bytes(),
                        headers={"content-security-policy": REPORT_POLICY})
