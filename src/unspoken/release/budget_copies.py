"""A budget follows its people: a copy of a table under another name is known by keyed digests.

A file beside a budget holds digests of everybody whom it counts (`people_file`), its first line
digests of what its columns hold (`people_columns`), both under its own key, so that a few rows of
the table, another order, rows twice, more or less, an edit or a missing column do not hide them.
Where a table has no budget of its own, these places are looked through: the folder of the data, the
folders that UNSPOKEN_BUDGETS names, and the budgets that were started under the register. A budget
is known by what it holds, whatever it is called, and one of which only the key or the head is left
counts as one that cannot be read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unspoken.errors import BudgetError, DataError
from unspoken.numerics.random import derive
from unspoken.release.automatic_entries import configured
from unspoken.release.original_records import Original
from unspoken.release.people_columns import COLUMNS, IDS, NAMES, column_marks, names_in
from unspoken.release.people_file import (
    Everybody,
    everybody,
    from_bytes,
    mark_of,
    shared_share,
    to_bytes,
)
from unspoken.release.people_sketch import SAME, overlap, sketch
from unspoken.table.atomic_files import write_file

if TYPE_CHECKING:
    from unspoken.table.table import Table

FOLDERS = "UNSPOKEN_BUDGETS"
"""The environment variable that names folders in which budgets are kept."""
FILE = "file"
_KINDS = ("values",)
_BEGINNINGS = (b'{"unspoken-budget-key"', b'{"unspoken-budget-head"')


def write_people(table: Table, secret: bytes, path: Path) -> dict[str, Any]:
    """Write digests of everybody beside a budget, and return what its first line says of them."""
    data = to_bytes(everybody(table, secret))
    write_file(path, data, 0o600)
    return {**column_marks(table, secret), FILE: mark_of(data)}


def read_people(path: Path, people: Mapping[str, Any]) -> Everybody:
    """Return the digests beside a budget; none for a budget of an earlier version."""
    if FILE not in people:
        return {}
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BudgetError(f"'{path}' must be there: it says whom the budget counts. "
                          f"{error.strerror}. Restore it.") from None
    if mark_of(data) != people[FILE]:
        raise BudgetError(f"'{path}' is not what was written when the budget was started. "
                          "Restore it: it says whom the budget counts.")
    return from_bytes(data)


def shared_people(table: Table, secret: bytes, people: Mapping[str, Any],
                  known: Everybody) -> float:
    """Return which share of the smaller group both are; 0 where these are other people."""
    if FILE not in people:
        rows = {label: part for label, part in people.items() if label not in (COLUMNS, NAMES)}
        share = overlap(sketch(table, secret, _KINDS), rows) if rows else 0.0
        return share if share >= SAME else 0.0
    names, identifiers = names_in(table, secret), set(table.schema.with_role("identifier"))
    ids = [name for word, name in names.items() if name in identifiers or word in people[IDS]]
    # Fifty rows may single people out by a column that thousands share: names decide as well.
    as_there = [name for word, name in names.items() if word in people[NAMES]]
    as_here = [name for name in table.schema.names if name not in identifiers]
    return max(shared_share(table, secret, known, as_there, ids),
               0.0 if as_here == as_there else shared_share(table, secret, known, as_here, ()))


def table_mark(table: Table, secret: bytes) -> str:
    """Return a keyed digest of whole records, in any order of rows and columns."""
    _refuse_bytes(table)
    names = sorted(table.schema.names)
    records = Original.of(table, names, derive(secret, "records")).records
    hashed = hashlib.blake2b(json.dumps([table.rows, names]).encode(),
                             key=derive(secret, "table"), digest_size=32)
    hashed.update(np.sort(records).astype("<i8").tobytes())
    return hashed.hexdigest()


def _refuse_bytes(table: Table) -> None:
    """Refuse columns of bytes by name: nothing says what is the same in them."""
    for entry in table.engine.schema(table.frame):
        if pa.types.is_binary(entry.type) or pa.types.is_large_binary(entry.type) \
                or pa.types.is_fixed_size_binary(entry.type):
            raise DataError(f"Column '{entry.name}' must hold numbers, texts or dates for a table "
                            "to have a budget. It holds bytes. Turn them into text, or leave the "
                            "column out.")


def known_budgets(folders: Iterable[Path], register: Path | None = None) -> Iterator[Path]:
    """Yield the budgets of folders, of UNSPOKEN_BUDGETS and of the register, each once.

    Also those of which only a key or a head is left.
    """
    named = [Path(one) for one in os.environ.get(FOLDERS, "").split(os.pathsep) if one]
    seen: set[Path] = set()
    for path in (*_listed(register), *(file for folder in (*folders, *named)
                                       for file in _budgets_in(folder))):
        if path.absolute() not in seen:
            seen.add(path.absolute())
            yield path


def _budgets_in(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise BudgetError(f"The folder '{folder}' must be readable: budgets are looked for in it. "
                          f"{error.strerror}. Nothing was disclosed. Make it readable, or take it "
                          f"out of {FOLDERS}.") from None
    for name in names:
        base = name.removesuffix(".key").removesuffix(".head")
        if not (folder / name).is_dir() and (base.endswith(".budget")
                                             or _is_budget(folder / name, base != name)):
            yield folder / base


def _is_budget(path: Path, left: bool) -> bool:
    """Return True if a file begins as a budget does, or as its key or its head."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            start = file.read(1000)
    except OSError:
        # What cannot be read under any other name is known by its key beside it.
        return False
    if left:
        return start.startswith(_BEGINNINGS)
    return start.startswith(b'{"chain":"') and b'"format":"unspoken-budget ' in start


def list_budget(path: Path, register: Path | None = None) -> None:
    """Note beside the register, if there is one, where a budget was started."""
    beside = _beside(register)
    if beside is not None:
        # One short append, so that two processes that start budgets lose neither.
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(f"{path.absolute()}\n".encode())


def _beside(register: Path | None) -> Path | None:
    chosen = configured(register)
    return None if chosen is None else chosen.with_name(chosen.name + ".budgets")


def _listed(register: Path | None) -> list[Path]:
    beside = _beside(register)
    if beside is None or not beside.is_file():
        return []
    return [Path(line) for line in beside.read_text(encoding="utf-8").splitlines() if line]
