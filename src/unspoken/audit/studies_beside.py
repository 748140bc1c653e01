"""The result of a joint study beside a released table.

A model that several owners learned together is asked as any published model is
(`model_beside_release`). Sums and counts are taken as they are over this owner's people alone:
that is what all other owners know who subtract their own parts, so that it is an upper bound. A
study is entered before it is run, and its result, where it is kept in a file, once more by its
content; without the file it is not assessed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.errors import UnspokenError
from unspoken.methods.queries.disclosed_sums import DisclosedSum
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.predicates import All, Compare, Predicate
from unspoken.models.load_model import load_model
from unspoken.release.automatic_entries import RESULT, file_of, is_file
from unspoken.release.register import Entry
from unspoken.table.schema import Schema
from unspoken.table.table import Table

MOST_BYTES = 64 * 1024 * 1024
_GOAL = re.compile(r" about (.+) result /")
_SPAN = re.compile(r"^(.*) (\S+) \.\. (\S+)$", re.DOTALL)


def without_results(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Leave out studies whose result was entered as well: the result says it all."""
    listed = tuple(entries)
    results = [one.what for one in listed if one.kind == "study" and RESULT in one.what]
    return tuple(one for one in listed if one.kind != "study" or RESULT in one.what
                 or not any(what.startswith(f"{one.what} ") for what in results))


def with_goal(entry: Entry, table: Table) -> Table:
    """Return the table with the column as its target that the study explained, if one is named."""
    goal = _GOAL.search(entry.what)
    if goal is None or goal[1] not in table.schema.names:
        return table
    plain = (replace(c, role="plain") if c.role == "target" else c for c in table.schema.columns)
    return replace(table, schema=Schema(tuple(
        replace(c, role="target") if c.name == goal[1] else c for c in plain)))


def study_result(entry: Entry) -> bytes | None:
    """Return the result that was entered; None if it is not at its place as it was."""
    path = file_of(entry)
    if entry.kind != "study" or path is None or not path.is_file() \
            or path.stat().st_size > MOST_BYTES:
        return None
    content = path.read_bytes()
    return content if is_file(entry, hashlib.sha256(content).hexdigest()) else None


def joint_model(content: bytes) -> Any | None:
    """Return the model that a result is, None if it is none."""
    try:
        return load_model(content)
    except (UnspokenError, ValueError, KeyError, TypeError):
        return None


def joint_sums(content: bytes, table: Table) -> list[DisclosedSum] | None:
    """Return a result of sums and counts as sums over these people; None if it is anything else."""
    try:
        result = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(result, dict) or not result or \
            not all(isinstance(one, int | float) for one in result.values()):
        return None
    rows = Rows(table)
    try:
        return _named(list(result), rows)
    except (UnspokenError, KeyError, ValueError):
        return None


def _named(labels: Sequence[str], rows: Rows) -> list[DisclosedSum]:
    """Return the sums that labels name: of a column, or of who has a value in an interval."""
    out = []
    for place, label in enumerate(labels):
        if label in rows.schema.names:
            values, _ = rows.values(label)
            out.append(DisclosedSum((), label, float(values.sum()), 0.0))
            continue
        span = _SPAN.match(label)
        if span is None or span[1] not in rows.schema.names:
            raise ValueError(label)
        out.append(_counted(rows, span, _ends(labels, place, span[1])))
    return out


def _ends(labels: Sequence[str], place: int, name: str) -> tuple[bool, bool]:
    """Return whether an interval is the first and the last of its column: those have no end."""
    same = [at for at, label in enumerate(labels)
            if (span := _SPAN.match(label)) and span[1] == name]
    return place == same[0], place == same[-1]


def _counted(rows: Rows, span: re.Match[str], ends: tuple[bool, bool]) -> DisclosedSum:
    name, low, high = span[1], float(span[2]), float(span[3])
    parts: list[Predicate] = [] if ends[0] else [Compare(name, ">=", low)]
    parts += [] if ends[1] else [Compare(name, "<", high)]
    people = rows.meet(All(tuple(parts)) if parts else None)
    return DisclosedSum(tuple(parts), None, float(np.count_nonzero(people)), 0.0)
