"""Reading a joint party's own file: one reader for all tasks, with options of this party alone.

How a party's file is written is its own affair and no part of the study: `reading_as` says it for
everything that is read inside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pyarrow as pa

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.table.formats.data_urls import DataUrl, Place
from unspoken.table.formats.read_options import ReadOptions
from unspoken.table.schema import Schema
from unspoken.table.table import Table

_OPTIONS: ContextVar[ReadOptions | None] = ContextVar("party_options", default=None)
_LEFT_OUT: ContextVar[tuple[str, ...]] = ContextVar("left_out", default=())


@contextmanager
def reading_as(options: ReadOptions) -> Iterator[None]:
    """Read files of this party with these options."""
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


@contextmanager
def leaving_out(*names: str) -> Iterator[None]:
    """Read tables of this party without columns of ids or names, which are the runner's alone."""
    token = _LEFT_OUT.set(names)
    try:
        yield
    finally:
        _LEFT_OUT.reset(token)


def left_out() -> str | None:
    """Return the name of the ids that are left out, if there are any."""
    return next(iter(_LEFT_OUT.get()), None)


def load_with(load: Callable[[Any, Study], Any], path: Place, study: Study,
              **options: Any) -> Any:
    """Load a party's file for a study, with this party's own options of reading."""
    with reading_as(ReadOptions.of(**options)):
        return load(path, study)


def party_options() -> ReadOptions:
    """Return how files of this party are read."""
    return _OPTIONS.get() or ReadOptions()


def party_table(path: Place, ids: str | None = None) -> Table:
    """Read a party's file; ids are taken as they are written ("007" is not 7) in text files.

    So are true and false: parties agree on words, and one other word makes words of all of them.
    """
    from unspoken.table.read import read_file

    hidden = _LEFT_OUT.get()
    texts = (*(() if ids is None else (ids,)), *hidden)
    table = read_file(path, party_options(), texts)
    kinds = table.engine.schema(table.frame)
    words = [name for name in table.guessed if pa.types.is_boolean(kinds.field(name).type)]
    if words:
        table = read_file(path, party_options(), (*texts, *words))
    return _without(table, hidden) if hidden else table


def _without(table: Table, names: Sequence[str]) -> Table:
    from unspoken.table.engines.local import MemoryFrame

    schema = Schema(tuple(c for c in table.schema.columns if c.name not in names))
    return Table(schema, MemoryFrame(table.arrow(list(schema.names))), table.engine)


def id_column(path: Place, name: str, parameter: str = "ids") -> list[Any]:
    """Return the column of ids that a parameter of the study names, as `party_table` reads it."""
    table = party_table(path, name)
    if name not in table.schema.names:
        raise StudyError(explain(f"Parameter '{parameter}'", "one of this owner's columns: "
                                 + ", ".join(table.schema.names), name))
    return list(table.arrow([name])[name].to_pylist())


def kept_beside(source: Place, ending: str, parameter: str) -> Path:
    """Return where something is kept beside a party's file: `north.csv.ENDING` of north.csv."""
    if isinstance(source, DataUrl):
        raise StudyError(f"Parameter '{parameter}' keeps a record beside this owner's file. An "
                         "address of a database or another system has no such place. Copy the "
                         "data into a file.")
    return source.with_name(f"{source.name}.{ending}")


def needed(columns: Sequence[str], *names: str) -> None:
    """Refuse an owner's file that lacks a column."""
    lacking = next((name for name in names if name not in columns), None)
    if lacking is not None:
        raise StudyError(explain("The columns of this owner's file",
                                 f"such that '{lacking}' is there", ", ".join(columns)))
