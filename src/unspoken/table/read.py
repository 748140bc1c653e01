"""Reading anything Arrow-shaped into a Table, with kinds and roles guessed conservatively."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.errors import DataError, SchemaError, explain
from unspoken.table.arrow_arrays import is_number
from unspoken.table.engines.local import LocalEngine, MemoryFrame, file_sql, read_database
from unspoken.table.identify import identify, with_findings
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

EAGER_CELLS = 50_000_000
"""Files with at most this many cells are read into memory."""

_ID_NAME = re.compile(r"(^|[_\W])(id|ids|uuid|guid|ssn|email|e_mail|phone|name|rowid)($|[_\W])|"
                      r"[a-z]I[dD]$", re.IGNORECASE)
Names = str | Sequence[str] | None


def read(
    source: Any,
    *,
    target: str | None = None,
    sensitive: Names = None,
    quasi: Names = None,
    identifiers: Names = None,
    kinds: Mapping[str, str] | None = None,
    **options: Any,
) -> Table:
    """Read a table and declare what its columns are.

    `source`: a path to Parquet, CSV or DuckDB (`table=` names the table), a pyarrow table, a
    pandas or polars frame, a DuckDB relation, a 2-d numpy array (`columns=` names its columns),
    a structured array, a mapping of columns, or a Table. Kinds and roles that are not declared
    are guessed: text is categorical, numbers are numeric, and a column that is different in
    every row and is text or named like an identifier is an identifier, which is never released.
    So is what `identify` flags by name or content (names, e-mail, telephone and national numbers,
    free text, row numbers) unless its role is declared or `keep=` names it. `suggest_roles=True`
    takes over quasi-identifiers and sensitive columns that it suggests.
    `show=True` prints the guess; by default it is printed on a terminal.

    Missing values are null or NaN and stay missing. Infinities are read and refused by methods
    that cannot keep them. A table without rows or with two columns of one name is refused.
    """
    show, lazy = options.pop("show", None), options.pop("lazy", None)
    table, columns = options.pop("table", None), options.pop("columns", None)
    keep, suggest = _listed(options.pop("keep", None)), options.pop("suggest_roles", False)
    if options:
        raise SchemaError(explain("Options of read", "show, lazy, table, columns, keep, "
                                  "suggest_roles", list(options)))
    engine = LocalEngine()
    frame = _frame(source, engine, table, columns, lazy)
    if engine.rows(frame) == 0:
        raise DataError("A table must have at least one row. Got none. Check the source.")
    schema = guess(engine, frame)
    roles = {"sensitive": _listed(sensitive), "quasi": _listed(quasi),
             "identifier": _listed(identifiers), "target": _listed(target)}
    schema = _flagged(Table(schema, frame, engine), _with_kept(roles, keep), suggest)
    result = Table(schema.declare(_with_kept(roles, keep), kinds), frame, engine)
    if show or (show is None and sys.stderr.isatty()):
        print(result, file=sys.stderr)
    return result


def _with_kept(roles: Mapping[str, list[str]], keep: Sequence[str]) -> dict[str, list[str]]:
    """Return the roles with those columns plain that are kept by name and have no other role."""
    released = {name for role in ("sensitive", "quasi", "target") for name in roles[role]}
    return {**roles, "plain": [name for name in keep if name not in released]}


def _flagged(table: Table, roles: Mapping[str, list[str]], suggest: bool) -> Schema:
    """Return the schema with what names people withheld; declared columns are not looked at."""
    declared = {name for names in roles.values() for name in names}
    looked = [name for name in table.schema.names if name not in declared]
    return with_findings(table.schema, identify(table, looked), suggest)


def released(source: str | PathLike[str]) -> Table:
    """Read a table that went out already, in which nothing has to be withheld any more."""
    engine = LocalEngine()
    frame = _frame(source, engine, None, None, None)
    if engine.rows(frame) == 0:
        raise DataError("A table must have at least one row. Got none. Check the source.")
    return Table(guess(engine, frame), frame, engine)


def _listed(names: Names) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def _frame(source: Any, engine: LocalEngine, table: str | None,
           columns: Sequence[str] | None, lazy: bool | None) -> Any:
    if isinstance(source, Table):
        return source.frame
    if isinstance(source, str | PathLike):
        return _file_frame(Path(source), engine, table, lazy)
    return MemoryFrame(_plain(to_arrow(source, columns)))


def _file_frame(path: Path, engine: LocalEngine, table: str | None, lazy: bool | None) -> Any:
    if not path.exists():
        raise DataError(f"'{path}' must be an existing file. There is none. Check the path.")
    if path.suffix.lower() in (".duckdb", ".db"):
        if table is None:
            raise SchemaError("A DuckDB file needs table=, the name of the table to read.")
        return MemoryFrame(_plain(read_database(path, table)))
    _refuse_repeated_header(path)
    frame = engine.scan(file_sql(path))
    if lazy is None:
        lazy = frame.rows * len(frame.schema) > EAGER_CELLS
    return frame if lazy else MemoryFrame(_plain(engine.collect(frame)))


def _refuse_repeated_header(path: Path) -> None:
    """A CSV reader renames repeated names silently; here they are refused."""
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return
    import csv

    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        head = file.read(1 << 20).splitlines()[:1]
    if not head:
        raise DataError(f"'{path.name}' must have a header line. The file is empty.")
    delimiter = max(",;\t|", key=head[0].count)
    names = next(csv.reader(head, delimiter=delimiter))
    _refuse_repeated([name.strip() for name in names])


def to_arrow(source: Any, columns: Sequence[str] | None = None) -> Any:
    """Turn an in-memory table of any library into an Arrow table."""
    try:
        return _to_arrow(source, columns)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"Every column must hold values of one type. {str(error)[:200]} "
            "Convert the column to numbers or to text first."
        ) from None


def _to_arrow(source: Any, columns: Sequence[str] | None) -> Any:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, np.ndarray):
        return _from_numpy(source, columns)
    if isinstance(source, Mapping):
        return pa.table({str(name): pa.array(values) for name, values in source.items()})
    module = type(source).__module__.split(".")[0]
    if module == "pandas":
        _refuse_repeated([str(name) for name in source.columns])
        return pa.Table.from_pandas(source, preserve_index=False)
    if hasattr(source, "collect") and module == "polars":
        source = source.collect()
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    raise DataError(
        explain("A source", "a path or an Arrow, pandas, polars, numpy or DuckDB table",
                f"an object of type {type(source).__name__}")
    )


def _refuse_repeated(names: Sequence[str]) -> None:
    Schema(tuple(Column(name, "categorical") for name in names))


def _from_numpy(source: np.ndarray[Any, Any], columns: Sequence[str] | None) -> Any:
    if source.dtype.names:
        return pa.table({name: np.ascontiguousarray(source[name]) for name in source.dtype.names})
    if source.ndim != 2:
        raise DataError(explain("A numpy source", "2-dimensional", f"{source.ndim} dimensions"))
    names = list(columns) if columns is not None else [f"x{i}" for i in range(source.shape[1])]
    if len(names) != source.shape[1]:
        raise SchemaError(explain("'columns'", f"{source.shape[1]} names", f"{len(names)} names"))
    _refuse_repeated(names)
    parts = [pa.array(np.ascontiguousarray(source[:, i])) for i in range(len(names))]
    return pa.Table.from_arrays(parts, names)


def _plain(table: Any) -> Any:
    """Decode dictionaries and name what cannot be used."""
    _refuse_repeated(table.column_names)
    for index, entry in enumerate(table.schema):
        if pa.types.is_dictionary(entry.type):
            table = table.set_column(index, entry.name, table[index].cast(entry.type.value_type))
        elif pa.types.is_string_view(entry.type):
            # Polars hands out views, for which pyarrow has few functions.
            table = table.set_column(index, entry.name, table[index].cast(pa.large_string()))
        elif pa.types.is_nested(entry.type):
            raise DataError(
                f"Column '{entry.name}' must hold one value a row. Got {entry.type}. Unnest it."
            )
    return table.replace_schema_metadata(None)


def guess(engine: Any, frame: Any) -> Schema:
    """Guess kind and role of every column from its type, its name and its distinct values."""
    arrow = engine.schema(frame)
    return Schema(tuple(_guess_column(engine, frame, entry) for entry in arrow))


def _guess_column(engine: Any, frame: Any, entry: Any) -> Column:
    number = is_number(entry.type)
    kind = "numeric" if number else "categorical"
    note = "dates and times count as numbers" if pa.types.is_temporal(entry.type) else ""
    if pa.types.is_floating(entry.type) or (number and not _ID_NAME.search(entry.name)):
        return Column(entry.name, kind, note=note)
    rows = engine.rows(frame)
    if rows >= 20 and engine.count_distinct(frame, entry.name) == rows:
        return Column(entry.name, kind, "identifier", "different in every row: guessed")
    return Column(entry.name, kind, note=note)
