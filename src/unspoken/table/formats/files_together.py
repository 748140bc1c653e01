"""Several files as one table: same columns, same types, rows in the order of the files.

What differs between files is refused by the name of the column and of both files: a column that is
missing in one file would otherwise be empty there, and a type that changes would change values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from unspoken.errors import DataError, InputError
from unspoken.table.engines.duckdb_files import literal, quote
from unspoken.table.engines.local import LocalEngine, MemoryFrame, ScanFrame
from unspoken.table.formats.file_sets import base_of, folder_types, partitions_of
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.parquet_sets import many_files


@dataclass(frozen=True)
class _Part:
    """One file of several: its name below the folder, its rows, and columns from folders."""

    name: str
    opened: OpenedFile
    values: Mapping[str, str | None]


@dataclass(frozen=True)
class _Column:
    """The type that all files agree on, and a file that has it; None if folders name it."""

    kind: Any
    part: _Part | None = None

    def sql(self, name: str, engine: LocalEngine) -> str:
        """Return the type as DuckDB calls it."""
        if self.part is None:
            return "BIGINT" if self.kind == pa.int64() else "VARCHAR"
        return engine.column_types(self.part.opened.frame.sql)[name]


def open_together(path: Path, files: Sequence[Path], open_one: Callable[[Path], OpenedFile],
                  engine: LocalEngine, text: bool) -> OpenedFile:
    """Open files of one format as one table."""
    base = base_of(path)
    values = partitions_of(files, base)
    parts = [_Part(str(file.relative_to(base)), _opened(file, base, open_one), one)
             for file, one in zip(files, values, strict=True)]
    columns = _common(parts, engine, text)
    added = {name: _Column(kind) for name, kind in folder_types(values).items()}
    for name in added:
        if name in columns:
            raise DataError(f"Column '{name}' must come from one place. It stands in the files of "
                            f"'{path.name}' and in the names of their folders.")
    return _united(path, parts, {**columns, **added}, engine)


def _opened(file: Path, base: Path, open_one: Callable[[Path], OpenedFile]) -> OpenedFile:
    try:
        return open_one(file)
    except InputError as error:
        raise type(error)(f"'{file.relative_to(base)}', one of several files, cannot be used. "
                          f"{error}") from None


def _common(parts: Sequence[_Part], engine: LocalEngine, text: bool) -> dict[str, _Column]:
    """Return the columns of all files with their types; one that differs is refused by name."""
    first = engine.schema(parts[0].opened.frame)
    common = {entry.name: _Column(entry.type, parts[0]) for entry in first}
    for part in parts[1:]:
        schema = engine.schema(part.opened.frame)
        _same_names(parts[0].name, list(common), part.name, schema.names)
        for name, column in common.items():
            other = _Column(schema.field(name).type, part)
            if other.kind != column.kind:
                common[name] = _agreed(name, column, other, engine, text)
    return common


def _same_names(first: str, wanted: Sequence[str], other: str, names: Sequence[str]) -> None:
    for lacking, has, column in ((other, first, set(wanted) - set(names)),
                                 (first, other, set(names) - set(wanted))):
        if column:
            raise DataError(f"All files must have the same columns. '{lacking}' lacks the column "
                            f"'{min(column)}', which '{has}' has. Add it, or take the file out.")


def _agreed(name: str, one: _Column, other: _Column, engine: LocalEngine, text: bool) -> _Column:
    """Return the column of which two files have different types; an empty one takes any."""
    for column, alternative in ((other, one), (one, other)):
        if column.part is not None and _is_empty(name, column.part.opened.frame, engine):
            return alternative
    if text and {one.kind, other.kind} == {pa.int64(), pa.float64()}:
        return one if one.kind == pa.float64() else other
    names = [column.part.name for column in (one, other) if column.part is not None]
    raise DataError(f"Column '{name}' must have one type in all files. It is {one.kind} in "
                    f"'{names[0]}' and {other.kind} in '{names[1]}'. Convert one of them.")


def _is_empty(name: str, frame: Any, engine: LocalEngine) -> bool:
    return engine.count_missing(frame, name) == engine.rows(frame)


def _united(path: Path, parts: Sequence[_Part], columns: Mapping[str, _Column],
            engine: LocalEngine) -> OpenedFile:
    frames = [part.opened.frame for part in parts]
    missing: dict[str, Counter[str]] = {}
    for part in parts:
        for name, words in part.opened.missing.items():
            missing.setdefault(name, Counter()).update(words)
    notes = dict.fromkeys(note for part in parts for note in part.opened.notes)
    frame = _in_memory(parts, columns, engine) \
        if any(isinstance(one, MemoryFrame) for one in frames) else _scan(parts, columns, engine)
    return OpenedFile(frame, sum(part.opened.size for part in parts),
                      (many_files(path, parts), *notes), missing, _written(parts, engine),
                      tuple(one for part in parts for one in part.opened.packed),
                      next((part.opened.unnamed for part in parts if part.opened.unnamed), ""))


def _scan(parts: Sequence[_Part], columns: Mapping[str, _Column],
          engine: LocalEngine) -> ScanFrame:
    frames = [part.opened.frame for part in parts]
    differing = {name for name, column in columns.items() for frame in frames
                 if column.part is None or frame.schema.field(name).type != column.kind}
    types = {name: columns[name].sql(name, engine) for name in differing}
    return engine.scan(_balanced([_select(part, columns, types) for part in parts]),
                       sum(frame.rows for frame in frames),
                       max(frame.widest for frame in frames), [frame.keep for frame in frames])


def _balanced(selects: Sequence[str]) -> str:
    """Return a UNION ALL whose depth grows slowly: parsers bound how deep a statement may be."""
    if len(selects) == 1:
        return f"({selects[0]})"
    half = len(selects) // 2
    return (f"(SELECT * FROM {_balanced(selects[:half])} UNION ALL "
            f"SELECT * FROM {_balanced(selects[half:])})")


def _select(part: _Part, columns: Mapping[str, _Column], types: Mapping[str, str]) -> str:
    """Return the rows of one file, with the columns and types of all."""
    cells = []
    for name, column in columns.items():
        cell = quote(name)
        if name in part.values:
            value = part.values[name]
            cell = "NULL" if value is None else literal(value)
        elif part.opened.frame.schema.field(name).type != column.kind and types[name] != "DOUBLE":
            cell = "NULL"
        cells.append(f"CAST({cell} AS {types[name]}) AS {quote(name)}" if name in types else cell)
    return f"SELECT {', '.join(cells)} FROM {part.opened.frame.sql}"


def _in_memory(parts: Sequence[_Part], columns: Mapping[str, _Column],
               engine: LocalEngine) -> MemoryFrame:
    schema = pa.schema([(name, column.kind) for name, column in columns.items()])
    tables = []
    for part in parts:
        table = engine.collect(part.opened.frame)
        for name, value in part.values.items():
            cells = pa.array([value] * table.num_rows, pa.string())
            table = table.append_column(name, cells.cast(columns[name].kind))
        tables.append(table.select(list(columns)).cast(schema))
    return MemoryFrame(pa.concat_tables(tables))


def _written(parts: Sequence[_Part], engine: LocalEngine) -> Any:
    """Return what all files have as text beside their types."""
    frames = [part.opened.written for part in parts]
    if any(frame is None for frame in frames):
        return None
    shared = [name for name in frames[0].schema.names
              if all(name in frame.schema.names for frame in frames)]
    if not shared:
        return None
    listed = ", ".join(map(quote, shared))
    selects = [f"SELECT {listed} FROM {frame.sql}" for frame in frames]
    return engine.scan(_balanced(selects), sum(frame.rows for frame in frames), 0,
                       [frame.keep for frame in frames])
