"""The register: what went out of a table, to whom, when, under which guarantee.

Disclosures add up, so the custodian keeps one small file, readable by its owner only. A table is
known by a digest of each of its columns (their values and how often they occur, in any order of
rows), so that a release of some columns, or of the table with one more, is recognised too. What
is written is JSON lines; the file is replaced at once or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import InputError, ReleaseError, explain
from unspoken.release.release import Release
from unspoken.table.atomic_files import write_file
from unspoken.table.table import Table

KINDS = ("release", "study", "query")
_MAX_BYTES = 1 << 26


@dataclass(frozen=True)
class Entry:
    """One disclosure in a register.

    Attributes
    ----------
    kind : {"release", "study", "query"}
        What was disclosed.
    table : str
        The digest of the table.
    columns : mapping of str to str
        The digest of each column, by original name.
    what : str
        The fingerprint of a release, or a description.
    to : str
        The recipient.
    when : str
        Date and time, UTC.
    guarantee : str
        The name of the guarantee.
    released : mapping of str to str
        Original names to released names.
    mechanism : mapping
        The method of a release.
    place : str or None
        Where a copy of the release is kept.
    """

    kind: str
    table: str
    columns: Mapping[str, str]
    what: str
    to: str
    when: str
    guarantee: str
    released: Mapping[str, str] = field(default_factory=dict)
    mechanism: Mapping[str, Any] = field(default_factory=dict)
    place: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(explain("The kind of an entry", f"one of {', '.join(KINDS)}",
                                     self.kind))


@dataclass(frozen=True)
class Digest:
    """The digest of a table and of each of its columns."""

    table: str
    columns: Mapping[str, str]


def digest(table: Table) -> Digest:
    """Return digests that do not depend on the order of rows or columns.

    Parameters
    ----------
    table : Table
        Any table.

    Returns
    -------
    Digest
        `table` and `columns`, SHA-256 in hexadecimal. A digest of few or guessable values can be
        found by trying: keep the register in-house.
    """
    numeric = [c.name for c in table.schema.columns if c.kind in ("numeric", "ordinal")]
    counted = table.counts(numeric)
    digests = {name: _hash(c.values.tobytes(), c.by_value.tobytes(), str(c.missing).encode())
               for name, c in counted.items()}
    for name in table.schema.names:
        if name not in digests:
            values, counts = np.unique(_texts(table, name), return_counts=True)
            digests[name] = _hash("\x1f".join(values.tolist()).encode(), counts.tobytes())
    whole = json.dumps([table.rows, sorted(digests.items())]).encode()
    return Digest(_hash(whole), digests)


def _texts(table: Table, name: str) -> Any:
    column = table.arrow([name])[name]
    return np.array([repr(value) for value in column.to_pylist()], dtype=np.str_)


def _hash(*parts: bytes) -> str:
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8, "little") + part)
    return hasher.hexdigest()


@dataclass(frozen=True)
class Register:
    """What was disclosed from which table; `Register.load(path)` reads it.

    Attributes
    ----------
    path : Path
        The file, JSON lines, readable by its owner only.
    entries : tuple of Entry
        The entries, oldest first.

    Examples
    --------
    >>> Register.load("register.jsonl").add_release(table, release, "institute")  # doctest: +SKIP
    """

    path: Path
    entries: tuple[Entry, ...] = ()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Register:
        """Read a register; a file that does not exist yet is an empty one."""
        file = Path(path)
        if not file.exists():
            return cls(file)
        try:
            if file.stat().st_size > _MAX_BYTES:
                raise ValueError(f"more than {_MAX_BYTES} bytes")
            lines = file.read_text(encoding="utf-8").splitlines()
            entries = tuple(Entry(**json.loads(line)) for line in lines if line.strip())
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise ReleaseError(f"'{file}' must be a register written by unspoken. {error}. "
                               "Restore a copy; a register must not be lost.") from None
        return cls(file, entries)

    def add(self, entry: Entry) -> Register:
        """Return the register with one more entry, written to its file."""
        grown = Register(self.path, (*Register.load(self.path).entries, entry))
        text = "".join(json.dumps(asdict(one), sort_keys=True, allow_nan=False) + "\n"
                       for one in grown.entries)
        write_file(self.path, text.encode(), 0o600)
        return grown

    def add_release(self, table: Table, release: Release, to: str, place: str | None = None,
                    released: Mapping[str, str] | None = None) -> Register:
        """Enter a release; `released` maps original to released names where they differ."""
        return self.add(release_entry(table, release, to, place, released))

    def add_other(self, kind: str, table: Table, what: str, to: str,
                  guarantee: str = "none") -> Register:
        """Enter a study or an answered query."""
        known = digest(table)
        return self.add(Entry(kind, known.table, known.columns, what, to, _now(), guarantee))

    def before(self, table: Table | Digest) -> tuple[Entry, ...]:
        """Return what already went out of this table, or of any of its columns."""
        known = table if isinstance(table, Digest) else digest(table)
        mine = set(known.columns.values())
        return tuple(one for one in self.entries
                     if one.table == known.table or mine & set(one.columns.values()))


def release_entry(table: Table, release: Release, to: str, place: str | None = None,
                  released: Mapping[str, str] | None = None) -> Entry:
    """Return the entry of a release; only the columns that went out are entered."""
    known = digest(table)
    names = released or {name: name for name in table.schema.names if name in release.schema.names}
    return Entry("release", known.table, {name: known.columns[name] for name in names},
                 release.fingerprint, to, _now(), release.guarantee.name, dict(names),
                 dict(release.mechanism), place)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
