"""Joint studies in a studio: one's identity, studies, their plans, and taking part in them."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tomllib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.errors import InputError, UnspokenError
from unspoken.studio.desk import Desk
from unspoken.table.atomic_files import write_file

if TYPE_CHECKING:
    from unspoken.joint.wire.credentials import Member

JOINT = "joint"
MOST_REFUSALS = 100
WAIT = 3600.0
"""Seconds that others have to agree on their own pages; whoever does not want to wait cancels."""
RESULT, WORDS, LEDGER, REFUSED = "result.json", "result.txt", "run.ledger", ".refused"


def identities(folder: Path) -> list[str]:
    """Return the names of the identities whose keys lie in a folder."""
    return sorted(one.stem for one in folder.glob("*.key"))


def studies(folder: Path) -> list[Path]:
    """Return the studies in a folder."""
    return sorted(folder.glob("*.toml"))


def written_study(desk: Desk, fields: Mapping[str, str]) -> Path:
    """Write a study from what a form says; certificates lie under the chosen folder."""
    from unspoken.joint.mpc.engines.modes import MODE_NAMES, mode_of, usual_mode
    from unspoken.joint.session.run_roles import with_roles
    from unspoken.joint.session.study import Study
    from unspoken.joint.tasks.new_study import completed, member_of

    owners, dealers = ([_compared(member_of(_certificate(desk, file), address, (role,)), told)
                        for file, address, told in _parties(fields[name])]
                       for name, role in (("parties", "owner"), ("dealer", "dealer")))
    if not owners or len(dealers) > 1:
        raise InputError("A study needs its owners, and has at most one dealer.")
    if fields["mode"] and fields["mode"] not in MODE_NAMES:
        raise InputError(f"A mode is one of {', '.join(MODE_NAMES)}.")
    mode = mode_of(fields["mode"]) if fields["mode"] else usual_mode(
        dealer=bool(dealers), shares=fields["task"] not in ("sum", "intersection"))
    if mode.dealer_outside != bool(dealers):
        raise InputError(f"Mode '{mode.name}' needs a dealer outside. Name its certificate and its "
                         "address." if mode.dealer_outside else
                         f"Mode '{mode.name}' has no dealer outside. Leave it out.")
    members = with_roles(owners, mode, [member.name for member in owners])
    study = completed(Study(fields["name"], fields["task"], mode.name, (*members, *dealers),
                            _settings(fields["settings"]), author=fields["author"]))
    place = desk.folder.part(JOINT) / f"{_plain(study.name)}.toml"
    if place.exists():
        raise InputError("There is a study of that name already. Choose another name.")
    study.save(place)
    return place


def _parties(text: str) -> list[tuple[str, str, str]]:
    """Return certificate, address and the fingerprint that was told, which may be left out."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if any(len(one) < 2 for one in lines):
        raise InputError("Name one party in each line: its certificate and its address, such as "
                         "north.crt north.example:7700, and behind them the fingerprint that you "
                         "were told.")
    return [(file, address, "".join(told)) for file, address, *told in lines]


def _compared(member: Member, told: str) -> Member:
    """Return a party, unless its certificate is not the one whose fingerprint was told."""
    if told and told.replace(":", "").lower() != member.fingerprint.replace(":", "").lower():
        raise InputError(f"The certificate of '{member.name}' has another fingerprint than the one "
                         "that you were told. Do not use it: ask them for theirs again.")
    return member


def certificates(folder: Path) -> list[dict[str, str]]:
    """Return the certificates of others in a folder, with their fingerprints."""
    from unspoken.joint.session.consent import spaced
    from unspoken.joint.tasks.new_study import member_of

    own, found = set(identities(folder)), []
    for file in (one for one in sorted(folder.glob("*.crt")) if one.stem not in own):
        try:
            member = member_of(file, "", ())
            found.append({"name": member.name, "file": file.name,
                          "fingerprint": spaced(member.fingerprint)})
        except UnspokenError as error:
            found.append({"name": "damaged", "file": file.name, "fingerprint": str(error)})
    return found


def make_own_identity(name: str, folder: Path) -> None:
    """Make a key and a certificate; the key comes to its place last, and the certificate before.

    A studio that is killed in between leaves no key that has no certificate.
    """
    from unspoken.joint.session.identity import make_identity

    part = folder / f".{secrets.token_hex(6)}.part"
    part.mkdir(mode=0o700)
    try:
        made = make_identity(name, part)
        for file in (made.certificate_path, part / f"{name}.key"):
            os.link(file, folder / file.name)
    except FileExistsError:
        raise InputError(f"There is a key or a certificate of the name '{name}' already, and none "
                         "is ever replaced. Choose another name.") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def note_refusal(study: Path, as_whom: str, by: str) -> None:
    """Write down that somebody refused a study: nothing was sent, and that is remembered."""
    said = [*refusals(study), {"at": datetime.now(UTC).isoformat(timespec="seconds"),
                               "as": as_whom, "by": by}]
    write_file(study.with_suffix(REFUSED), json.dumps(said[-MOST_REFUSALS:]).encode(), 0o600)


def refusals(study: Path) -> list[dict[str, str]]:
    """Return who refused a study here, and when."""
    file = study.with_suffix(REFUSED)
    try:
        said: list[dict[str, str]] = json.loads(file.read_bytes()) if file.is_file() else []
        return [{name: str(one[name]) for name in ("at", "as", "by")} for one in said]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"'{file.name}' says who refused this study, and is damaged. Restore a "
                         "copy of it.") from None


def _plain(name: str) -> str:
    from unspoken.studio.form_fields import safe_name

    return safe_name(name).replace(".", "_")


def _certificate(desk: Desk, file: str) -> Path:
    """Return a certificate that was brought, by its name alone; a path is one below the root."""
    own = desk.folder.part(JOINT) / Path(file).name
    brought = Path(file).name == file and own.suffix == ".crt" and own.is_file()
    return own if brought else desk.below_root(file)


def _settings(text: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for line in text.splitlines():
        name, sign, value = line.partition("=")
        if not line.strip():
            continue
        if not sign:
            raise InputError("Write one setting in each line, such as columns = [\"age\"].")
        try:
            settings[name.strip()] = tomllib.loads(f"value = {value.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            settings[name.strip()] = value.strip()
    return settings


def planned(path: Path) -> dict[str, Any]:
    """Return a study, its plan by a dry run, and who could break it, as plain data."""
    from unspoken.joint.session.consent import broken_by, dealer_lines, engine_lines, spaced
    from unspoken.joint.session.study import Study
    from unspoken.joint.tasks.task_list import task_of

    study = Study.load(path)
    plan = task_of(study).plan(study)
    return {"name": study.name, "task": study.task, "mode": study.mode, "author": study.author,
            "hash": study.hash(), **plan.to_json(),
            "trust": [*dealer_lines(study), *broken_by(study), *engine_lines(study)],
            "parties": [{"name": one.name, "address": one.address, "roles": list(one.roles),
                         "fingerprint": spaced(one.fingerprint)} for one in study.members]}


def check_data(study: Any, name: str, brings: bool) -> None:
    """Refuse an owner without a table, and a table of somebody who owns nothing in a study."""
    owns = "owner" in study.member(name).roles
    if owns != brings:
        raise InputError(f"'{name}' owns data in this study. Name a table." if owns else
                         f"'{name}' owns no data in this study. Leave the table out.")


def take_part(request: Mapping[str, Any], step: Callable[..., None]) -> dict[str, Any]:
    """Run one party's side of a study; its ledger is written all along."""
    import asyncio
    import threading

    from unspoken.joint.session.identity import load_identity
    from unspoken.joint.session.join import join
    from unspoken.joint.session.study import Study
    from unspoken.joint.tasks.common.party_files import load_with
    from unspoken.joint.tasks.task_list import task_of
    from unspoken.joint.wire.transports import Limits

    study, run = Study.load(Path(request["study"])), Path(request["run"])
    task = task_of(study)
    own = load_identity(request["as"], request["identities"])
    check_data(study, request["as"], bool(request["data"]))
    data = load_with(task.load, Path(request["data"]), study) if request["data"] else None
    if request["data"]:
        _counted(study, Path(request["data"]), Path(request["register"]))
    ended = threading.Event()
    watching = threading.Thread(target=_watched, args=(run / LEDGER, request["bytes"], step, ended))
    watching.start()
    try:
        limits = Limits(start=max(study.start_limit, WAIT))
        outcome = asyncio.run(join(study, own, task.program(study), data, limits=limits,
                                   ledger_path=run / LEDGER, approver=request["approver"]))
    finally:
        ended.set()
        watching.join()
    if outcome.error is not None:
        raise InputError(f"The study failed: {outcome.error}")
    return {"result": _kept(outcome.output, run)}


def _counted(study: Any, data: Path, register: Path) -> None:
    """Enter a study into the register and book it, before anything is shared."""
    from unspoken.joint.session.book_study import book_study
    from unspoken.release.automatic_entries import enter_once
    from unspoken.release.budget_places import budget_path, known_place
    from unspoken.table.read import read

    table = read(data, show=False)
    enter_once(register, "study", table, f"study {study.name} ({study.task}) {study.hash()[:16]}",
               ", ".join(study.having("receiver")))
    if budget_path(None, data) is not None or "epsilon" in study.parameters:
        book_study(study, table, known_place(None, data, table)[0])


def _kept(output: Any, run: Path) -> str:
    """Write the result for its owner alone; return its words."""
    from unspoken.joint.session.result_file import result_text

    words = "nothing to learn" if output is None else \
        str(output.summary()) if hasattr(output, "summary") else str(output)
    if output is not None:
        write_file(run / RESULT, result_text(output).encode(), 0o600)
    write_file(run / WORDS, words.encode(), 0o600)
    return words


def _watched(ledger: Path, expected: int, step: Callable[..., None], ended: Any) -> None:
    """Say now and then what was sent and received, from the ledger as it grows."""
    while not ended.wait(0.3):
        seen = ledger_figures(ledger)
        if seen is not None:
            step(min(seen["bytes"], 0.99 * expected), max(expected, 1),
                 f"Step {seen['step']}: {seen['messages']:,} messages, {seen['bytes']:,} bytes.")


def read_ledger(path: Path) -> Any:
    """Return a ledger; None while it cannot be read."""
    from unspoken.joint.wire.ledger import Ledger

    try:
        return Ledger.load(path)
    except (UnspokenError, OSError):
        return None


def ledger_figures(path: Path) -> dict[str, Any] | None:
    """Return step, messages and bytes of a ledger; None while it cannot be read."""
    ledger = read_ledger(path)
    if ledger is None:
        return None
    rows = ledger.rows
    return {"step": max((row.step for row in rows), default=0), "messages": len(rows),
            "bytes": sum(row.bytes for row in rows)}
