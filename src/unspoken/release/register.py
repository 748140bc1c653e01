"""The register: what went out of a table, to whom, when, under which guarantee.

Disclosures add up, so the custodian keeps one small file, readable by its owner only: releases of
tables and of baskets, published models, answered queries, joint studies. The people of a table are
known by keyed digests (`people_sketch`, `people_ranks`), so that a row more, an edit, another unit
or other names of columns do not hide that they were released before; a table is also known by a
digest of each of its columns. Entries are chained (`chained_lines`): an edited or a missing one is
noticed, and two processes that write at once wait for each other. The secret lies in
`<register>.key`; lose neither.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import InputError, ReleaseError, explain, reason
from unspoken.release.chained_lines import append_line, read_lines, secret_of, was_started
from unspoken.release.people_ranks import people_overlap, rank_sketch
from unspoken.release.people_sketch import SAME, sketch
from unspoken.release.release import Release
from unspoken.table.atomic_files import named_path
from unspoken.table.column_counts import value_counts
from unspoken.table.table import Table

KINDS = ("release", "study", "query", "model", "baskets", "table")


@dataclass(frozen=True)
class Entry:
    """One disclosure in a register.

    Attributes
    ----------
    kind : {"release", "study", "query", "model", "baskets", "table"}
        What was disclosed; a table is one that another tool made.
    table : str
        The digest of the table, keyed once it is in a register.
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
    people : mapping
        Keyed digests by which the same people are known again, see `Register.known_people`.
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
    people: Mapping[str, Any] = field(default_factory=dict, repr=False)

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
            counts = _text_counts(table, name)
            values = sorted(counts)
            digests[name] = _hash("\x1f".join(values).encode(),
                                  np.array([counts[v] for v in values], np.int64).tobytes())
    whole = json.dumps([table.rows, sorted(digests.items())]).encode()
    return Digest(_hash(whole), digests)


def _text_counts(table: Table, name: str) -> Counter[str]:
    if table.schema[name].kind == "basket":
        return Counter(repr(value) for value in table.arrow([name])[name].to_pylist())
    counts: Counter[str] = Counter()
    for value, count in value_counts(table, name).items():
        counts[repr(value)] += count
    return counts


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
        """Read a register; one that was never written is empty, one that was lost is refused."""
        file = named_path(path)
        if not was_started(file):
            return cls(file)
        try:
            entries = tuple(Entry(**one) for one in read_lines(file))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise ReleaseError(f"'{file}' must be a register written by unspoken. {reason(error)} "
                               "Restore a copy; a register must not be lost.") from None
        return cls(file, entries)

    def add(self, entry: Entry, table: Table | None = None) -> Register:
        """Return the register with one more entry, written to its file; `table`: of whom it is."""
        def keyed_entry(secret: bytes) -> dict[str, Any]:
            people = {} if table is None else _people(table, secret)
            return asdict(replace(_keyed(entry, secret), people=people))

        append_line(self.path, keyed_entry)
        return Register.load(self.path)

    def add_release(self, table: Table, release: Release, to: str, place: str | None = None,
                    released: Mapping[str, str] | None = None) -> Register:
        """Enter a release; `released` maps original to released names where they differ."""
        return self.add(release_entry(table, release, to, place, released), table)

    def add_other(self, kind: str, table: Table, what: str, to: str,
                  guarantee: str = "none") -> Register:
        """Enter a study, an answered query, a published model or a table of another tool."""
        known = digest(table)
        return self.add(Entry(kind, known.table, known.columns, what, to, _now(), guarantee), table)

    def before(self, table: Table | Digest) -> tuple[Entry, ...]:
        """Return what already went out of this table, of any of its columns, or of its people."""
        if not self.entries:
            return ()
        known = table if isinstance(table, Digest) else digest(table)
        secret = secret_of(self.path)
        mine = {mac(secret, one) for one in (known.table, *known.columns.values())}
        people = {} if isinstance(table, Digest) else self.known_people(table)
        return tuple(one for place, one in enumerate(self.entries)
                     if mine & {one.table, *one.columns.values()} or people.get(place, 0.0) >= SAME)

    def known_people(self, table: Table) -> dict[int, float]:
        """Return for every entry, by its place, the share of the people that are these, too."""
        if not self.entries:
            return {}
        mine = _people(table, secret_of(self.path))
        return {place: people_overlap(mine, one.people) for place, one in enumerate(self.entries)}

    def keyed(self, entry: Entry) -> Entry:
        """Return an entry with the digests that it would have in this register."""
        return _keyed(entry, secret_of(self.path))


def _people(table: Table, secret: bytes) -> dict[str, Any]:
    """Return the digests by which people are known again, also under other names and in units."""
    return {**sketch(table, secret), **rank_sketch(table, secret)}


def _keyed(entry: Entry, secret: bytes) -> Entry:
    return replace(entry, table=mac(secret, entry.table),
                   columns={name: mac(secret, one) for name, one in entry.columns.items()})


def mac(secret: bytes, text: str) -> str:
    """Return a digest as a register holds it, keyed with the register's secret."""
    return hashlib.blake2b(text.encode(), key=secret, digest_size=16).hexdigest()


def release_entry(table: Table, release: Release, to: str, place: str | None = None,
                  released: Mapping[str, str] | None = None) -> Entry:
    """Return the entry of a release; only the columns that went out are entered."""
    known = digest(table)
    names = released or {name: name for name in table.schema.names if name in release.schema.names}
    kind = "baskets" if release.schema.of_kind("basket") else "release"
    return Entry(kind, known.table, {name: known.columns[name] for name in names},
                 release.fingerprint, to, _now(), release.guarantee.name, dict(names),
                 dict(release.mechanism), place)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
