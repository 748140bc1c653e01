"""What lies on the desk: one table with its roles, what was tried on it, and the work under way."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.errors import InputError
from unspoken.studio.background_jobs import Jobs
from unspoken.studio.session_folder import SessionFolder
from unspoken.studio.table_source import Source, source_digest
from unspoken.studio.upload_room import UploadRoom
from unspoken.table.formats.data_urls import DataUrl, Place, as_place
from unspoken.table.formats.database_tables import tables_in
from unspoken.table.formats.file_formats import format_of
from unspoken.table.formats.read_options import ReadOptions
from unspoken.table.identify import Finding, identify, with_findings
from unspoken.table.read import read_file
from unspoken.table.schema import KINDS, ROLES, Schema
from unspoken.table.table import Table

SAMPLE = 2000
"""Rows on which methods are tried while somebody drags a slider."""
LONGEST_PATH = 1000
ON_THIS_MACHINE = ("duckdb", "sqlite", "file")
"""Addresses of files: by them one would get past the folder that was chosen."""
MOST_NAMED = 20


@dataclass(frozen=True)
class Dataset:
    """A table on the desk, and what was noticed about its columns."""

    source: Source
    table: Table
    findings: tuple[Finding, ...]
    guessed: Schema

    @property
    def name(self) -> str:
        """Return the name of the file, and of the table inside it."""
        return self.source.name

    @property
    def mark(self) -> str:
        """Return what tells this table from another one in a form that is sent late."""
        return mark_of(str(self.source.path), self.source.sha256, self.source.table)

    @cached_property
    def sample(self) -> Table:
        """Return some rows, drawn once, so that what changes is the method alone."""
        from unspoken.numerics.random import fresh_seed, generator
        from unspoken.release.record_key import taken

        if self.table.rows <= SAMPLE:
            return taken(self.table, np.arange(self.table.rows))
        rng = generator(fresh_seed(), "studio sample")
        return taken(self.table, np.sort(rng.choice(self.table.rows, SAMPLE, replace=False)))

    def declared(self, roles: Mapping[str, str], kinds: Mapping[str, str]) -> Dataset:
        """Return the table with other roles and kinds; nothing is read again."""
        names = self.table.schema.names
        for given, allowed in ((roles, ROLES), (kinds, KINDS)):
            for name, word in given.items():
                if name not in names or word not in allowed:
                    raise InputError(f"'{word}' is nothing that a column can be.")
        by_role = {role: [n for n, own in roles.items() if own == role] for role in ROLES}
        schema = self.table.schema.declare(by_role, kinds)
        source = replace(
            self.source, roles={c.name: c.role for c in schema.columns},
            kinds={c.name: c.kind for c in schema.columns if c.kind != self.guessed[c.name].kind},
            keep=tuple(c.name for c in schema.columns if c.role == "plain"
                       and self.guessed[c.name].role == "identifier"))
        return Dataset(source, replace(self.table, schema=schema), self.findings, self.guessed)


def mark_of(*parts: Any) -> str:
    """Return a short mark of some plain data; two that differ have different ones."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def open_dataset(path: Place, table: str | None = None) -> Dataset:
    """Read a file, a folder, or an address; what was noticed about columns suggests their roles."""
    if isinstance(path, Path):
        table = _inner_table(path, table)
    bare = read_file(path, ReadOptions(table=table))
    findings = identify(bare)
    rows = replace(bare, schema=with_findings(bare.schema, findings, suggest=True))
    source = Source(path, source_digest(path, bare), table)
    whole = Dataset(source, rows, findings, rows.schema)
    return whole.declared({c.name: c.role for c in rows.schema.columns}, {})


def _inner_table(path: Path, table: str | None) -> str | None:
    """Return the table of a file to be read; of a database that holds one, that one."""
    if not _is_there(path):
        raise InputError(f"There is no file '{path.name}' in that place, and no folder. Check the "
                         "path.")
    if table is not None or path.is_dir() or not format_of(path).tables:
        return table
    names = tables_in(path)
    if len(names) != 1:
        listed = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
        raise InputError(f"'{path.name}' holds {len(names)} tables. Name one of them: {listed}."
                         if names else f"'{path.name}' holds no table.")
    return names[0]


def _inside(place: Path) -> Iterator[Path]:
    """Yield the files of a folder that is opened as one table: each could be a link elsewhere."""
    return (file for file in place.rglob("*") if file.is_symlink()) if _is_folder(place) \
        else iter(())


def _is_folder(path: Path) -> bool:
    return _is_there(path) and path.is_dir()


def _is_there(path: Path) -> bool:
    try:
        return path.is_file() or path.is_dir()
    except (OSError, ValueError):
        # A part of the path is longer than a name of a file may be.
        return False


@dataclass
class Common:
    """What all desks of a studio share: the query service, and joint runs by their names.

    `data` is the table of the command line. `addresses` says whether tables of databases may be
    opened by their addresses, which are then asked for in the name of whoever runs the studio.
    `room` is what may be brought through pages.
    """

    queries: Any = None
    runs: dict[str, Any] = field(default_factory=dict)
    data: Place | None = None
    addresses: bool = True
    room: UploadRoom = field(default_factory=UploadRoom)
    starting: threading.Lock = field(default_factory=threading.Lock)
    """Held by whoever begins to answer questions."""


class Desk:
    """What one user has before them; what is kept of it is written by `kept_desks`."""

    def __init__(self, folder: SessionFolder, data_root: Path, common: Common | None = None,
                 jobs: Jobs | None = None, owner: str = "") -> None:
        self.folder, self.data_root = folder, data_root.absolute()
        self.common, self.jobs, self.owner = common or Common(), jobs or Jobs(), owner
        self.lock, self.waking = threading.Lock(), threading.Lock()
        self.one_look = asyncio.Lock()
        self._dataset: Dataset | None = None
        self.found: dict[str, Any] = {}
        """What was counted about the table on the desk: raw risks, frontier, tries."""
        self.kept: Mapping[str, Any] | None = None
        """What was kept of this desk and is yet to be put back."""
        self.notice = ""
        """Why the table that lay here before a restart does not."""

    @property
    def dataset(self) -> Dataset:
        """Return the table on the desk, or say that there is none."""
        if self._dataset is None:
            raise InputError("No table is loaded yet. Load one on the page 'Data'.")
        return self._dataset

    @property
    def loaded(self) -> bool:
        """Return True if a table is on the desk."""
        return self._dataset is not None

    def put(self, dataset: Dataset | None, found: Mapping[str, Any] | None = None) -> None:
        """Put a table on the desk, or none; what was counted about another one is forgotten."""
        with self.lock:
            self._dataset, self.found, self.notice = dataset, dict(found or {}), ""

    def place_of(self, text: str) -> Place:
        """Return the file, folder or table that a user names; what they may not open is refused."""
        place = as_place(text) if "://" in text else None
        if not isinstance(place, DataUrl):
            return self.below_root(text)
        self.check_place(place)
        return place

    def check_place(self, place: Place) -> None:
        """Refuse what this studio was not started to open."""
        if place == self.common.data:
            return
        if isinstance(place, DataUrl):
            if place.scheme in ON_THIS_MACHINE:
                raise InputError("A file on this machine is named by its path, and the table of a "
                                 "database below it.")
            if not self.common.addresses:
                raise InputError("Behind a reverse proxy no addresses are opened. Whoever runs the "
                                 "studio names one when it is started.")
        elif not place.resolve().is_relative_to(self.folder.part("uploads").resolve()):
            self.below_root(str(place))

    def below_root(self, text: str) -> Path:
        """Return a path inside the folder that was chosen; anything else is refused."""
        if "\0" in text or len(text) > LONGEST_PATH:
            raise InputError(f"A path must have at most {LONGEST_PATH} letters, and no control "
                             "characters.")
        place = (self.data_root / text).resolve()
        for file in (place, *_inside(place)):
            self._refuse_outside(file.resolve())
        return place

    def _refuse_outside(self, place: Path) -> None:
        if not place.is_relative_to(self.data_root.resolve()):
            raise InputError(f"A path must lie under '{self.data_root}'. Start the studio with "
                             "--root to choose another folder.")
        own = self.folder.root.resolve()
        if place.is_relative_to(own) or own.is_relative_to(place):
            raise InputError("What the studio keeps itself is opened on its own pages only.")
