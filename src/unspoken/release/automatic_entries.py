"""Entering into a register what no release stands for: answers, models, changed baskets, studies.

Many answers come from one log and a study is run more than once, so each is entered once for each
recipient; its own log says the rest. An entry is written before anything is given away: what could
not be entered is not disclosed.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from unspoken.release.chained_lines import secret_of
from unspoken.release.register import Entry, Register, digest, mac
from unspoken.table.table import Table

ENVIRONMENT = "UNSPOKEN_REGISTER"
"""The environment variable that names the register of whoever runs the commands."""
RESULT = " result /"
"""What stands in an entry between a study and the file of its result."""


def configured(chosen: str | os.PathLike[str] | None) -> Path | None:
    """Return the register that was chosen, or that the environment names; None if neither."""
    named = chosen if chosen is not None else os.environ.get(ENVIRONMENT) or None
    return None if named is None else Path(named)


def file_words(what: str, path: Path, data: bytes) -> str:
    """Return what an entry says of a file: its kind, its place, and which content it has."""
    return f"{what} {path.absolute()} {_content(hashlib.sha256(data).hexdigest())}"


def is_file(entry: Entry, sha256: str) -> bool:
    """Return True if an entry is about a file of this content, wherever it lay."""
    return entry.what.endswith(f" {_content(sha256)}")


def file_of(entry: Entry) -> Path | None:
    """Return where the file of an entry was written; None if it is about no file."""
    words, mark, _ = entry.what.rpartition(" sha256:")
    _, slash, place = words.partition(" /")
    return Path(f"/{place}") if mark and slash else None


def _content(sha256: str) -> str:
    return f"sha256:{sha256[:16]}"


def enter_once(path: Path, kind: str, table: Table, what: str, to: str,
               guarantee: str = "none") -> bool:
    """Enter something that goes out of a table; return False if it stands there already."""
    register = Register.load(path)
    if _there(register, kind, table, what, to):
        return False
    register.add_other(kind, table, what, to, guarantee)
    return True


def _there(register: Register, kind: str, table: Table, what: str, to: str) -> bool:
    alike: list[Entry] = [one for one in register.entries
                          if (one.kind, one.what, one.to) == (kind, what, to)]
    if not alike:
        return False
    mine = mac(secret_of(register.path), digest(table).table)
    return any(one.table == mine for one in alike)
