"""Walk 6: a study with other owners: written, seen as a picture, agreed to, watched, accounted."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, UnspokenError
from unspoken.studio.charts import parties_picture
from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.elements import Markup, el, whole
from unspoken.studio.form_fields import read_form
from unspoken.studio.joint_desk import (
    JOINT,
    certificates,
    identities,
    make_own_identity,
    note_refusal,
    planned,
    refusals,
    studies,
    written_study,
)
from unspoken.studio.joint_run_pages import AGREED, agreed, ended_words
from unspoken.studio.layout import button, facts, form, html, table, verdict
from unspoken.studio.replies import off_the_loop, see_other, text_reply
from unspoken.studio.uploads import save_upload
from unspoken.table.atomic_files import write_file

LONGEST_NAME = 200


async def show(request: Any) -> Any:
    """GET /joint: one's identity, the studies, the runs, and how to write a study."""
    desk: Desk = desk_of(request)
    folder = desk.folder.part(JOINT)
    known = [[el("a", one.stem, href=f"/joint/studies/{one.stem}")] for one in studies(folder)]
    runs = [_run_row(one) for one in sorted(desk.folder.part("runs").iterdir())
            if (one / AGREED).is_file()]
    return html(request, "Joint studies", _identity(request, folder),
                table(["study"], known, "Studies") if known else None,
                table(["run", "study", "as", "state"], runs, "Runs you agreed to")
                if runs else None, _certificates(folder), _upload(), _writing(request),
                lead="Several owners compute one result and show each other nothing else. Every "
                     "owner runs its own side.")


def _run_row(run: Path) -> list[Any]:
    try:
        about = agreed(run)
    except InputError as error:
        return [run.name, str(error), "–", "damaged"]
    return [el("a", run.name, href=f"/joint/runs/{run.name}"), about["study"], about["as"],
            ended_words(run)]


def _own(name: str, folder: Path) -> Any:
    """Return one's fingerprint, to be read out; an identity that is damaged is named."""
    from unspoken.joint.session.consent import spaced
    from unspoken.joint.session.identity import load_identity

    try:
        own = load_identity(name, folder)
    except UnspokenError as error:
        return verdict("high", f"The identity '{name}' cannot be used", str(error))
    return [el("p", el("b", name), ": read this to the others by telephone."),
            el("p", spaced(own.fingerprint), class_="sent"),
            el("details", el("summary", "The certificate, for the author of a study"),
               el("pre", own.certificate_path.read_text(encoding="ascii")))]


def _identity(request: Any, folder: Path) -> Any:
    parts = [el("h2", "Who you are"), *(_own(name, folder) for name in identities(folder))]
    parts.append(form(request, "/joint/identity", el("label", "Name of your party", for_="party"),
                      el("input", type="text", name="name", id="party", required=True,
                         maxlength=60), button("Make an identity", class_="plain")))
    return el("section", parts)


def _certificates(folder: Path) -> Markup | None:
    """List the certificates of others, by the fingerprints that they read out."""
    rows = [[one["name"], one["file"], one["fingerprint"]] for one in certificates(folder)]
    return table(["party", "certificate", "fingerprint"], rows,
                 "Certificates of others; compare the fingerprints by telephone") \
        if rows else None


def _upload() -> Markup:
    return el("div", el("label", "A study or a certificate that somebody sent",
                        el("input", type="file", autocomplete="off")),
              el("p", "", role="status"), class_="drop", data_upload="/joint/upload")


def _writing(request: Any) -> Markup:
    from unspoken.joint.mpc.engines.modes import MODE_NAMES
    from unspoken.joint.tasks.task_list import all_tasks

    tasks = [el("option", name, value=name) for name in sorted(all_tasks())]
    modes = [el("option", "the usual one", value=""),
             *(el("option", name, value=name) for name in MODE_NAMES)]
    left = [el("label", "Name of the study", for_="name"),
            el("input", type="text", name="name", id="name", required=True, maxlength=60),
            el("label", "What is computed", for_="task"),
            el("select", tasks, name="task", id="task"), el("label", "Mode", for_="mode"),
            el("select", modes, name="mode", id="mode"), el("label", "Made by", for_="author"),
            el("input", type="text", name="author", id="author", maxlength=200)]
    right = [el("label", "Parties: certificate, address and fingerprint, one in each line ",
                el("span", "a fingerprint that was told is compared with the certificate",
                   class_="soft"), for_="parties"),
             el("textarea", name="parties", id="parties", spellcheck="false", required=True),
             el("label", "Dealer outside: certificate and address ",
                el("span", "somebody who owns nothing and hands out random numbers; left empty, "
                   "there is none", class_="soft"), for_="dealer"),
             el("input", type="text", name="dealer", id="dealer", autocomplete="off"),
             el("label", "Settings of the task, one in each line", for_="settings"),
             el("textarea", name="settings", id="settings", spellcheck="false"),
             el("p", "Such as columns = [\"age\"]. 'unspoken joint tasks TASK' explains them.",
                class_="help")]
    return el("details", el("summary", "Write a study"), form(
        request, "/joint/studies", el("div", el("div", left), el("div", right), class_="two"),
        button("Write it")))


async def identity(request: Any) -> Any:
    """POST /joint/identity: make a key and a certificate."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    await off_the_loop(make_own_identity, fields["name"], desk.folder.part(JOINT))
    return see_other("/joint")


async def write(request: Any) -> Any:
    """POST /joint/studies: write a study."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    names = ("name", "task", "mode", "author", "parties", "dealer", "settings")
    place = await off_the_loop(written_study, desk, {one: fields[one] for one in names})
    return see_other(f"/joint/studies/{place.stem}")


async def upload(request: Any) -> Any:
    """POST /joint/upload: a study or a certificate that somebody sent."""
    from unspoken.joint.session.identity import read_certificate
    from unspoken.joint.session.study import Study

    desk: Desk = desk_of(request)
    folder = desk.folder.part(JOINT)
    file = await save_upload(request, desk, 1 << 20)
    try:
        if file.suffix not in (".toml", ".crt"):
            raise InputError("Bring a study (.toml) or a certificate (.crt).")
        await off_the_loop(Study.load if file.suffix == ".toml" else read_certificate, file)
        write_file(folder / file.name, file.read_bytes(), 0o600, overwrite=False)
    except FileExistsError:
        raise InputError("There is a file of that name already.") from None
    finally:
        file.unlink(missing_ok=True)
    return text_reply(f"/joint/studies/{file.stem}" if file.suffix == ".toml" else "/joint")


def _study(request: Any) -> Path:
    desk: Desk = desk_of(request)
    name = request.path_params["name"]
    place = next((one for one in studies(desk.folder.part(JOINT)) if one.stem == name), None)
    if place is None:
        raise InputError("There is no such study.")
    return place


async def study(request: Any) -> Any:
    """GET /joint/studies/NAME: the plan, who learns what, and the question whether one agrees."""
    desk: Desk = desk_of(request)
    path = _study(request)
    plan = await off_the_loop(planned, path)
    learns = [[name, "; ".join(what) or "nothing", "; ".join(plan["determined"].get(name, []))]
              for name, what in plan["learns"].items()]
    who = [[one["name"], one["address"], ", ".join(one["roles"]), one["fingerprint"]]
           for one in plan["parties"]]
    return html(request, plan["name"],
                verdict("calm", f"Safe against: {plan['safe_against']}", *plan["trust"]),
                parties_picture(plan["parties"], plan["learns"]),
                table(["party", "learns", "can work out"], learns, "Who learns what"),
                facts([("Task", plan["task"]), ("Mode", plan["mode"]),
                       ("Rounds", f"{plan['rounds']:,}"), ("Bytes", f"{plan['bytes']:,}"),
                       *((f"Time {name}", _seconds(time))
                         for name, time in plan["seconds"].items())]),
                table(["party", "address", "roles", "fingerprint"], who,
                      "Compare the fingerprints by telephone, not by mail"),
                el("ul", [el("li", note) for note in plan["notes"]]),
                _refused(path), _question(request, desk, path, plan),
                lead=f"Made by {plan['author'] or 'nobody who is named'}; counted by a dry run for "
                     f"{plan['assumes']}.")


def _refused(path: Path) -> Markup | None:
    rows = [[whole(one["at"]), one["as"], one["by"] or "nobody named"] for one in refusals(path)]
    return table(["when", "as", "by"], rows, "You refused") if rows else None


def _seconds(time: float) -> str:
    return f"{math.ceil(time)} s" if time < 120 else f"{time / 60:.0f} min"


def _question(request: Any, desk: Desk, path: Path, plan: dict[str, Any]) -> Markup:
    own = [one for one in identities(desk.folder.part(JOINT))
           if one in {party["name"] for party in plan["parties"]}]
    visitor = request.scope["unspoken.visitor"]
    if not own:
        return el("p", "None of your identities takes part in this study.", class_="help")
    return el("section", el("h2", "Do you agree?"), form(
        request, f"/joint/studies/{path.stem}/consent", el("label", "You are", for_="as"),
        el("select", [el("option", one, value=one) for one in own], name="as", id="as"),
        el("label", "Your table, a path under ", el("code", desk.data_root),
           el("span", "; a dealer has none", class_="soft"), for_="data"),
        el("input", type="text", name="data", id="data", autocomplete="off"),
        el("label", "Who agrees", for_="approver"),
        el("input", type="text", name="approver", id="approver", required=True,
           maxlength=LONGEST_NAME, value=visitor.name or None, readonly=bool(visitor.name)),
        button("I agree, take part", name="answer", value="yes"),
        button("I refuse", name="answer", value="no", class_="stop", formnovalidate=True)))


async def consent(request: Any) -> Any:
    """POST /joint/studies/NAME/consent: take part, or refuse; nothing was sent before."""
    desk: Desk = desk_of(request)
    fields = await read_form(request)
    path = _study(request)
    # Behind a proxy nobody agrees or refuses in the name of another.
    approver = request.scope["unspoken.visitor"].name or fields["approver"]
    if fields["as"] not in identities(desk.folder.part(JOINT)) or len(approver) > LONGEST_NAME:
        raise InputError("Say as which of your identities, and who you are in at most "
                         f"{LONGEST_NAME} letters.")
    if fields["answer"] != "yes":
        await off_the_loop(note_refusal, path, fields["as"], approver)
        return html(request, "You did not agree", verdict("calm", "Nothing was sent"))
    if not approver:
        raise InputError("Say who agrees.")
    data = str(desk.below_root(fields["data"])) if fields["data"] else ""
    plan = await off_the_loop(planned, path)
    place = desk.folder.new("runs")
    place.mkdir(mode=0o700)
    asked = {"study": str(path), "run": str(place), "as": fields["as"],
             "identities": str(desk.folder.part(JOINT)), "bytes": plan["bytes"],
             "data": data, "approver": f"{approver}, in the studio",
             "register": str(desk.folder.register)}
    write_file(place / AGREED, json.dumps({"study": plan["name"], "as": fields["as"],
                                           "by": approver}).encode(), 0o600)
    desk.common.runs[place.name] = desk.jobs.start("join", asked, f"{plan['name']} runs")
    return see_other(f"/joint/runs/{place.name}")
