"""The folder of a studio: uploads, drafts, signed releases; readable by its owner only.

    uploads/   files that were brought through a page
    drafts/    releases that were audited and not signed; taken back without a trace
    signed/    one folder for each decision: release, sealed key, report, record, signatures
    surveys/   answers as they came, already randomised
    joint/     one's identity and the studies with others; runs/ their ledgers and results
    desks/     what every user has loaded, tried and chosen
    budgets/   budgets of tables that lie in databases; that of a file lies beside it
    register.jsonl   what left, chained
    signer.pem       the officer's signing key
    drafts.key       the secret that drafts are sealed with

A draft is filled beside its place and moved there at once, and so is a signed decision. What a
killed server left half written has a name that begins with a dot, and is removed at the next start.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.table.atomic_files import write_file
from unspoken.table.file_locks import take_lock

PARTS = ("uploads", "drafts", "signed", "surveys", "models", "joint", "runs", "desks", "budgets")


def read_description(file: Path, *needed: str) -> dict[str, Any]:
    """Read what an entry says about itself; a file that was damaged is named."""
    try:
        about = json.loads(file.read_bytes())
        if isinstance(about, dict) and all(name in about for name in needed):
            return about
    except (OSError, ValueError, RecursionError):
        pass
    raise InputError(f"'{file.parent.name}/{file.name}' is damaged or missing and cannot be read. "
                     "Restore a copy of it.")


class SessionFolder:
    """Where a studio keeps what it was given and what it made."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.deciding = threading.Lock()
        """Held by whoever signs a draft or takes one back."""

    def prepare(self) -> None:
        """Make the folders, hold them, and remove what a killed server left half written."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._hold()
        for folder in (self.root, *(self.root / name for name in PARTS)):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.chmod(folder, 0o700)
        for name in PARTS:
            for left in (self.root / name).glob(".*"):
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink()
        for half in (*self.root.glob(".*.part"), *self.root.glob("[!.]*/[!.]*/.*.part")):
            if half.is_file():
                half.unlink()

    def _hold(self) -> None:
        """Refuse a folder that another studio works in; the lock ends with the process."""
        self._lock = os.open(self.root / "studio.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
                             0o600)
        if not take_lock(self._lock, 0.0):
            os.close(self._lock)
            raise InputError(f"Another studio works in '{self.root}'. End it, or choose another "
                             "folder with --folder.")

    def part(self, name: str) -> Path:
        """Return one of the folders inside."""
        return self.root / name

    @property
    def register(self) -> Path:
        """Return the register of what left."""
        return self.root / "register.jsonl"

    @property
    def signer(self) -> Path:
        """Return the signing key of the officer."""
        return self.root / "signer.pem"

    def draft_secret(self) -> bytes:
        """Return the secret that drafts are sealed with; it is made where there is none yet."""
        place = self.root / "drafts.key"
        if not place.exists():
            with suppress(FileExistsError):
                write_file(place, secrets.token_bytes(32), 0o600, overwrite=False)
        return place.read_bytes()

    def new(self, kind: str) -> Path:
        """Return a place for a new draft or survey that is not there yet."""
        return self.part(kind) / secrets.token_hex(8)

    def clear(self, place: Path) -> None:
        """Remove an entry that nobody waits for any more, and what was half written for it."""
        with self.deciding:
            for left in (place, *place.parent.glob(f".{place.name}.*")):
                shutil.rmtree(left, ignore_errors=True)

    def known(self, kind: str, name: str) -> Path:
        """Return a folder that is there; a name that is none is refused."""
        if name not in {one.name for one in self.part(kind).iterdir() if one.is_dir()} \
                or name.startswith("."):
            raise InputError("There is no such entry. It may have been taken back.")
        return self.part(kind) / name
