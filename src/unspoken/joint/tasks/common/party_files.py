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

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError, UnspokenError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.session.study import Study
from unspoken.table.formats.read_options import ReadOptions
from unspoken.table.schema import Schema
from unspoken.table.table import Table

_OPTIONS: ContextVar[ReadOptions | None] = ContextVar("party_options", default=None)
_LEFT_OUT: ContextVar[str | None] = ContextVar("left_out", default=None)


@contextmanager
def reading_as(options: ReadOptions) -> Iterator[None]:
    """Read files of this party with these options."""
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


@contextmanager
def leaving_out(ids: str | None) -> Iterator[None]:
    """Read tables of this party without their column of ids, which is the runner's alone."""
    token = _LEFT_OUT.set(ids)
    try:
        yield
    finally:
        _LEFT_OUT.reset(token)


def left_out() -> str | None:
    """Return the name of the ids that are left out, if there are any."""
    return _LEFT_OUT.get()


def load_with(load: Callable[[Path, Study], Any], path: Path, study: Study,
              **options: Any) -> Any:
    """Load a party's file for a study, with this party's own options of reading."""
    with reading_as(ReadOptions.of(**options)):
        return load(path, study)


def party_options() -> ReadOptions:
    """Return how files of this party are read."""
    return _OPTIONS.get() or ReadOptions()


def party_table(path: Path, ids: str | None = None) -> Table:
    """Read a party's file; ids are taken as they are written ("007" is not 7) in text files."""
    from unspoken.table.read import read_file

    hidden = left_out()
    table = read_file(path, party_options(), tuple(n for n in (ids, hidden) if n is not None))
    return table if hidden is None else _without(table, hidden)


def _without(table: Table, name: str) -> Table:
    from unspoken.table.engines.local import MemoryFrame

    schema = Schema(tuple(c for c in table.schema.columns if c.name != name))
    return Table(schema, MemoryFrame(table.arrow(list(schema.names))), table.engine)


def numbers_in(table: Table, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return columns as numbers, NaN where missing; one that holds others is refused by name."""
    columns = []
    for name in names:
        try:
            columns.append(table.numbers([name])[:, 0])
        except UnspokenError:
            raise
        except (TypeError, ValueError):
            raise DataError(f"Column '{name}' must hold numbers. It holds something else in some "
                            "rows. Correct them, or leave those rows out.") from None
    return np.column_stack(columns)


def id_column(path: Path, name: str, parameter: str = "ids") -> list[Any]:
    """Return the column of ids that a parameter of the study names, as `party_table` reads it."""
    table = party_table(path, name)
    if name not in table.schema.names:
        raise StudyError(explain(f"Parameter '{parameter}'", "one of this owner's columns: "
                                 + ", ".join(table.schema.names), name))
    return list(table.arrow([name])[name].to_pylist())


def needed(columns: Sequence[str], *names: str) -> None:
    """Refuse an owner's file that lacks a column."""
    lacking = next((name for name in names if name not in columns), None)
    if lacking is not None:
        raise StudyError(explain("The columns of this owner's file",
                                 f"such that '{lacking}' is there", ", ".join(columns)))
