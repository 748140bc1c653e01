"""Signing a draft: what leaves is booked, entered, signed, and then put in its place at once.

The order is that of every disclosure here: budget and register first, so that a server that dies in
between has counted what did not leave, never the reverse. A draft that is signed again after such
an end is not counted twice, and one whose decision is signed is put in its place at the next start.
Whoever signs a refusal takes release and key away for good, and keeps the record.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.release.budget import Budget
from unspoken.release.budget_places import known_place
from unspoken.release.budget_releases import draw_release
from unspoken.release.record_signature import (
    Signature,
    new_signing_key,
    sign_file,
    verify_file,
)
from unspoken.release.register import Register
from unspoken.studio.draft_release import FILES, KEY, RECORD, RELEASE, read_about
from unspoken.studio.draft_seal import (
    audited_release,
    check_about,
    check_files,
    check_nothing_left_since,
)
from unspoken.studio.session_folder import SessionFolder, read_description
from unspoken.studio.table_source import Source
from unspoken.table.atomic_files import sha256_of, write_file
from unspoken.table.formats.data_urls import as_place

DECISION = "decision.json"
FORMAT = "unspoken-studio-decision"
DAMAGED = "damaged"
"""The decision of a folder whose decision cannot be read."""
SHORTEST = 8
"""Letters of a passphrase."""


@dataclass(frozen=True)
class Signer:
    """Who signs, and the passphrase of the signing key."""

    name: str
    passphrase: str

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 200:
            raise InputError("Say who signs, in at most 200 letters.")
        if len(self.passphrase) < SHORTEST:
            raise InputError(f"The passphrase of the signing key must have at least {SHORTEST} "
                             "letters.")


def sign_decision(folder: SessionFolder, draft: Path, signer: Signer, release: bool) -> Path:
    """Sign a draft as a release or as a refusal; return the folder of the signed decision."""
    with folder.deciding:
        about = _checked_draft(folder, draft, release)
        if not folder.signer.exists():
            new_signing_key(folder.signer, signer.passphrase)
        # A wrong passphrase must be noticed before anything is booked.
        sign_file(draft / RECORD, folder.signer, signer.passphrase)
        return _decided(folder, draft, about, signer, release)


def _decided(folder: SessionFolder, draft: Path, about: Mapping[str, Any], signer: Signer,
             release: bool) -> Path:
    """Book what leaves or remove what does not, sign the decision, and put it in its place."""
    place = _place(folder, about)
    if release:
        _booked(folder, draft, about, place)
    else:
        shutil.rmtree(draft / RELEASE, ignore_errors=True)
        (draft / KEY).unlink(missing_ok=True)
    _write_decision(draft, about, signer, release)
    sign_file(draft / DECISION, folder.signer, signer.passphrase)
    return _put_in_place(draft, place)


def finish_signed(folder: SessionFolder) -> list[Path]:
    """Put decisions in their place whose signature was written when a studio was killed.

    All that comes before the signature was done by then; only the last step is missing.
    """
    waiting = [one for one in folder.part("drafts").iterdir()
               if (one / DECISION).is_file() and not one.name.startswith(".")]
    return [done for one in waiting if (done := _finished(folder, one)) is not None]


def _finished(folder: SessionFolder, draft: Path) -> Path | None:
    try:
        about = read_about(draft)
        check_about(about, folder.draft_secret())
    except InputError:
        return None
    with folder.deciding:
        return _put_in_place(draft, _place(folder, about)) if _checked(draft).intact else None


def take_back(folder: SessionFolder, draft: Path) -> None:
    """Remove a draft that was not signed."""
    with folder.deciding:
        _refuse_decided(draft)
        # Renamed first: a removal that is cut short is no draft any more.
        shutil.rmtree(draft.rename(draft.with_name(f".{draft.name}.gone")))


def _refuse_decided(draft: Path) -> None:
    if not draft.is_dir():
        raise InputError("Somebody else has signed this draft or taken it back meanwhile.")


def _checked_draft(folder: SessionFolder, draft: Path, release: bool) -> dict[str, Any]:
    """Return what a draft says about itself, once it is what was audited and may be signed."""
    _refuse_decided(draft)
    about = read_about(draft)
    if release and not about["may_leave"]:
        raise InputError("The audit says that this must not be released. Sign the refusal, take "
                         "the draft back, or try another method.")
    check_about(about, folder.draft_secret())
    hashes = {FILES[name]: about["sha256"][FILES[name]] for name in _signed_files(release)}
    check_files(draft, hashes, RELEASE if release else None)
    return about


def _signed_files(release: bool) -> tuple[str, ...]:
    return tuple(FILES) if release else ("record", "report")


def _booked(folder: SessionFolder, draft: Path, about: Mapping[str, Any], to_place: Path) -> None:
    source = Source.from_json(about["source"])
    table, release = source.read(), audited_release(draft / RELEASE, about["fingerprint"])
    register = Register.load(folder.register)
    check_nothing_left_since(register, about["register"], table, release.fingerprint)
    to = about["terms"]["recipient"]
    place, _ = known_place(source.known_budget(folder.root), source.path, table)
    if place is not None:
        draw_release(Budget(place), table, release, to, again=False, undone="signed")
    if all(entry.what != release.fingerprint for entry in register.entries):
        # A sealed key is not opened for this: only released names are entered.
        register.add_release(table, release, to, str(to_place / RELEASE))


def _write_decision(draft: Path, about: Mapping[str, Any], signer: Signer, release: bool) -> None:
    decision = {
        "format": FORMAT, "version": 1, "decision": "release" if release else "refuse",
        "by": signer.name, "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "table": {"name": as_place(about["source"]["path"]).name,
                  "sha256": about["source"]["sha256"]},
        "method": about["method"], "parameters": about["parameters"], "terms": about["terms"],
        "fingerprint": about["fingerprint"], "verdict": about["verdict"]["word"],
        "policy": about["policy"],
        # Of what was audited: a file that is changed while this runs does not fit.
        "sha256": {name: about["sha256"][FILES[name]] for name in _signed_files(release)}}
    write_file(draft / DECISION, json.dumps(decision, indent=2).encode(), 0o600)


def _place(folder: SessionFolder, about: Mapping[str, Any]) -> Path:
    """Return where a decision goes; a release that was entered before goes where that says."""
    for entry in Register.load(folder.register).entries:
        entered = Path(entry.place or "").parent
        if entry.what == about["fingerprint"] and entered.parent == folder.part("signed") \
                and not entered.exists():
            return entered
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    places = (folder.part("signed") / f"{stamp}-{about['fingerprint'][:8]}{more}"
              for more in ("", *(f"-{number}" for number in range(2, 1000))))
    return next(one for one in places if not one.exists())


def _put_in_place(draft: Path, place: Path) -> Path:
    os.rename(draft, place)
    for parent in (place.parent, draft.parent):
        descriptor = os.open(parent, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    return place


@dataclass(frozen=True)
class Signed:
    """One signed decision, and whether everything is as it was signed."""

    place: Path
    decision: Mapping[str, Any]
    signature: Signature
    changed: tuple[str, ...]

    @property
    def intact(self) -> bool:
        """Return True if nothing was changed after signing."""
        return bool(self.signature) and not self.changed


def signed_decisions(folder: SessionFolder) -> list[Signed]:
    """Return every signed decision, the newest first, checked against its signature."""
    places = sorted((one for one in folder.part("signed").iterdir()
                     if one.is_dir() and not one.name.startswith(".")), reverse=True)
    return [_checked(one) for one in places]


def _checked(place: Path) -> Signed:
    try:
        decision = read_description(place / DECISION, "decision", "table", "fingerprint", "by",
                                    "at", "method", "verdict", "terms", "sha256")
    except InputError as error:
        return Signed(place, {"decision": DAMAGED}, Signature(False, "", "", str(error)), ())
    signature = _signature(place / DECISION)
    changed = [name for name, digest in decision["sha256"].items()
               if name not in FILES or not (place / FILES[name]).is_file()
               or sha256_of(place / FILES[name]) != digest]
    return Signed(place, decision, signature, (*changed, *_added(place, decision["sha256"])))


def _added(place: Path, signed: Mapping[str, str]) -> list[str]:
    """Return what lies in the release and was not signed: it would leave with it."""
    known = {FILES[name] for name in signed if name in FILES}
    here = (str(one.relative_to(place)) for one in sorted((place / RELEASE).rglob("*")))
    return [f"{name} (added)" for name in here if name not in known]


def _signature(file: Path) -> Signature:
    try:
        return verify_file(file)
    except InputError as error:
        return Signature(False, "", "", str(error))

