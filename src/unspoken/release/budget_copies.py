"""A budget follows its people: a copy of a table under another name is known by salted digests.

The first line of a budget holds digests of its people (`people_sketch`) under a salt of its own, so
that rows in another order, a row more or less, an edit or a missing column do not hide them. Where
a table has no budget of its own, these places are looked through: the folder of the data, the
folders that UNSPOKEN_BUDGETS names, and the budgets that were started under the register. A copy
that lies elsewhere, on another machine or with numbers in another unit is not recognised.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.release.automatic_entries import configured
from unspoken.release.people_sketch import overlap, sketch

if TYPE_CHECKING:
    from unspoken.table.table import Table

FOLDERS = "UNSPOKEN_BUDGETS"
"""The environment variable that names folders in which budgets are kept."""
_KINDS = ("values",)


def people_in(table: Table, salt: str) -> dict[str, Any]:
    """Return digests by which the people of a table are known again."""
    return sketch(table, bytes.fromhex(salt), _KINDS)


def shared_people(table: Table, salt: str, people: Mapping[str, Any]) -> float:
    """Return which share of the smaller group both are; 0 where nothing was recorded."""
    return overlap(people_in(table, salt), people) if people else 0.0


def known_budgets(folders: Iterable[Path], register: Path | None = None) -> Iterator[Path]:
    """Yield the budgets of folders, of UNSPOKEN_BUDGETS and of the register, each once."""
    named = [Path(one) for one in os.environ.get(FOLDERS, "").split(os.pathsep) if one]
    seen: set[Path] = set()
    for path in (*_listed(register), *(file for folder in (*folders, *named)
                                       for file in sorted(folder.glob("*.budget")))):
        if path.resolve() not in seen and path.is_file():
            seen.add(path.resolve())
            yield path


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
