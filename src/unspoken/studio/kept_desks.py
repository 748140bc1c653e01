"""Desks on disk: what a user has loaded, tried and chosen is still there after a restart.

A desk is one file, readable by its owner only. It says where the table lies, what its columns were
declared to be, which methods were tried and chosen, and the last frontier. It holds no rows: the
table is read again when its user comes back, and one that was changed meanwhile is not put back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unspoken.errors import InputError, UnspokenError
from unspoken.release.method import method_of
from unspoken.studio.desk import Dataset, Desk, open_dataset
from unspoken.studio.session_folder import SessionFolder, read_description
from unspoken.studio.table_source import Source
from unspoken.table.atomic_files import write_file

DESKS = "desks"
FOUND = ("methods", "tried", "chosen", "frontier", "begun")
"""What is kept of what was found; raw risks show values of people and are counted again."""
Kept = Mapping[str, Any]


def desk_file(folder: SessionFolder, owner: str) -> Path:
    """Return where the desk of somebody is kept: names of users are no names of files."""
    return folder.part(DESKS) / f"{hashlib.sha256(owner.encode()).hexdigest()[:32]}.json"


def keep_desk(desk: Desk) -> None:
    """Write down what lies on a desk; an empty one is forgotten."""
    file = desk_file(desk.folder, desk.owner)
    with desk.lock:
        if not desk.loaded:
            file.unlink(missing_ok=True)
            return
        kept = {"user": desk.owner, "source": desk.dataset.source.to_json(),
                "found": {name: desk.found[name] for name in FOUND if name in desk.found}}
        write_file(file, json.dumps(kept).encode(), 0o600)


def put_and_keep(desk: Desk, dataset: Dataset | None) -> None:
    """Put a table on a desk, or none, and write that down."""
    desk.put(dataset)
    keep_desk(desk)


def note_begun(desk: Desk, what: str) -> None:
    """Write down that some work has begun, so that a studio that ends meanwhile can say so."""
    desk.found["begun"] = sorted({*desk.found.get("begun", ()), what})
    keep_desk(desk)


def note_ended(desk: Desk, what: str) -> None:
    """Write down that some work has come to its end."""
    desk.found["begun"] = [one for one in desk.found.get("begun", ()) if one != what]
    keep_desk(desk)


def kept_desk(folder: SessionFolder, owner: str) -> Kept | None:
    """Return what was kept of a desk; one that was damaged counts as one that names no table."""
    file = desk_file(folder, owner)
    if not file.is_file():
        return None
    try:
        kept = read_description(file, "user", "source", "found")
        return kept if kept["user"] == owner else {"source": {}, "found": {}}
    except InputError as error:
        return {"user": owner, "source": {}, "found": {}, "damaged": str(error)}


def kept_sources(folder: SessionFolder) -> dict[str, Source]:
    """Return the tables on all desks that are kept, by the names of their users."""
    found = {}
    for file in folder.part(DESKS).glob("[!.]*.json"):
        try:
            kept = read_description(file, "user", "source")
            if file != desk_file(folder, kept["user"]):
                continue
            found[str(kept["user"])] = Source.from_json(kept["source"])
        except (UnspokenError, KeyError, TypeError, AttributeError):
            # Its owner is told when they come.
            continue
    return found


def put_back(desk: Desk, kept: Kept, dataset: Dataset | None = None) -> None:
    """Put on a desk what was kept of it; what cannot be put back is said, and nothing else is."""
    try:
        desk.put(as_kept(desk, Source.from_json(kept["source"]), dataset), _found(kept["found"]))
    except UnspokenError as error:
        desk.notice = str(error)
    except (KeyError, TypeError, ValueError, AttributeError, OSError):
        desk.notice = kept.get("damaged") or "What was kept of this desk is damaged. Load it again."


def as_kept(desk: Desk, source: Source, dataset: Dataset | None = None) -> Dataset:
    """Read the table that lay on a desk, with its columns as they were declared."""
    desk.check_place(source.path)
    whole = open_dataset(source.path, source.table) if dataset is None else dataset
    if whole.source.sha256 != source.sha256:
        raise InputError(f"'{source.path.name}' was changed after it was loaded. Load it again.")
    return whole.declared(source.roles, source.kinds)


def _found(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was found, without a method that can no longer be built like that."""
    found = {name: kept[name] for name in FOUND if name in kept}
    wanted = [*found.get("tried", {}).values(), *([found["chosen"]] if "chosen" in found else [])]
    try:
        for method, parameters in wanted:
            method_of(method).build(parameters)
    except (UnspokenError, ValueError, TypeError):
        return {}
    return found


def same_table(kept: Kept, dataset: Dataset) -> bool:
    """Return True if a kept desk is about this very table."""
    source, now = kept["source"], dataset.source.to_json()
    return isinstance(source, Mapping) and all(
        source.get(name) == now[name] for name in ("path", "sha256", "table"))
