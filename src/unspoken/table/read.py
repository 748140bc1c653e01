"""Reading anything Arrow-shaped into a Table, with kinds and roles guessed conservatively."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from unspoken.errors import DataError, ReleaseError, SchemaError
from unspoken.table.arrow_arrays import is_number
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.engines.protocol import Engine
from unspoken.table.formats.data_urls import DataUrl, Place, as_place
from unspoken.table.formats.expansion import refuse_bomb
from unspoken.table.formats.file_formats import open_file, refuse_table
from unspoken.table.formats.missing_targets import without_missing_target
from unspoken.table.formats.missing_words import blank_words, missing_note, words_note
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.read_options import ReadOptions, take_options
from unspoken.table.identify import Finding, copied_identifiers, identify, with_findings
from unspoken.table.identify.named_roles import ID_NAME
from unspoken.table.identify.written_index import index_notes, unnamed_in, with_index
from unspoken.table.library_frames import index_note
from unspoken.table.memory_sources import plain_rows, to_arrow, value_orders
from unspoken.table.plain_columns import holds_bytes, refuse_released_bytes, refuse_type
from unspoken.table.read_on_spark import open_on_spark, wants_spark
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table

EAGER_CELLS = 50_000_000
"""Files with at most this many cells are read into memory."""
EAGER_BYTES = 1 << 30
"""Files whose rows need more memory than this are scanned piece by piece."""

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

    Parameters
    ----------
    source : path, address, table, frame, DuckDB relation, array, mapping or Table
        A file of any format (`unspoken.table.formats`), a folder of files or a pattern such as
        "data/*.parquet", a Delta table, an address such as
        "postgresql://user@host/db?table=people" or "s3://bucket/folder", data in memory (pyarrow,
        pandas, polars), or a Spark DataFrame. `table=` names the table of a database, `columns=`
        the columns of a 2-d numpy array.
    target : str, default None
        The column to be predicted.
    sensitive, quasi, identifiers : str or list of str, default None
        Columns of these roles. Identifiers are never released.
    kinds : mapping of str to str, default None
        Kinds of columns: "numeric", "ordinal", "categorical" or "basket". Texts have an order
        where it is stated ("ordinal:low<medium<high"), or where the source is an ordered
        categorical.
    **options
        `drop_missing_target=True` leaves records without a target out, and says how many.
        `keep=` releases columns that were flagged, the target among them; `suggest_roles=True`
        adopts the suggested quasi-identifiers and sensitive columns; `show=True` prints the guess
        and what was done (by default on a terminal only); `lazy=True` reads a large file piece by
        piece; `engine="spark"` reads Parquet on Apache Spark, and `order=` names the column that
        gives the rows of a Spark DataFrame their order (`docs/scale.md`). For text files
        `delimiter=`, `encoding=`, `decimal=`, `thousands=` and `missing=[...]`, the words for a
        missing value.

    Returns
    -------
    Table

    Notes
    -----
    Kinds and roles that are not declared are guessed: text is categorical, numbers are numeric. A
    column that differs in every row and is text or named like an identifier is an identifier. So is
    what `identify` flags by name or content (names, e-mail, telephone and national numbers, free
    text, row and record numbers) unless its role is declared or `keep=` names it, and so is a copy
    of a declared identifier, or one code for each of its values. A target that is flagged is
    refused unless `keep=` names it.

    Delimiter and a marked encoding are detected. Empty cells and the words NA, N/A, NaN and null
    are missing, and "?" in columns of numbers. Null and NaN stay missing. Infinities are read, and
    refused by methods that cannot keep them. In text files, numbers with leading zeros stay text,
    and columns of nothing but true and false are booleans. Methods that compute with
    float64 refuse whole numbers beyond 2**53 and longer decimals by name.

    A first column of a text file that has no name, as frames are often written, is called "row". It
    and the index of a frame in a Parquet file are identifiers, whatever their values are.

    Two columns whose names are the same, or differ only by case, blanks, characters that cannot be
    seen, or the Unicode form of a character, are refused, as are a table without rows and a small
    file of very many rows.

    Examples
    --------
    >>> table = read("records.csv", target="outcome", quasi=["age", "zip"])  # doctest: +SKIP
    """
    show, lazy = options.pop("show", None), options.pop("lazy", None)
    table, columns = options.pop("table", None), options.pop("columns", None)
    keep, suggest = _listed(options.pop("keep", None)), options.pop("suggest_roles", False)
    wanted, order = options.pop("engine", None), options.pop("order", None)
    drop = options.pop("drop_missing_target", False)
    chosen = take_options(options, table)
    if wants_spark(source, wanted):
        guessed = _table(*open_on_spark(source, order, chosen))
    else:
        engine, notes = LocalEngine(), index_note(source)
        if not isinstance(source, str | PathLike | DataUrl | Table):
            source = to_arrow(source, columns)
        guessed = _ordered(_table(_opened(source, engine, columns, chosen, lazy), engine), source)
        guessed = replace(guessed, notes=(*notes, *guessed.notes))
    roles = _with_kept({"sensitive": _listed(sensitive), "quasi": _listed(quasi),
                        "identifier": _listed(identifiers), "target": _listed(target)}, keep)
    copies = copied_identifiers(guessed, roles["identifier"], _undeclared(guessed, roles))
    schema = _flagged(guessed, roles, suggest, keep, copies).declare(roles, kinds)
    refuse_released_bytes(schema, guessed.engine.schema(guessed.frame))
    result = replace(guessed, schema=schema, notes=(*guessed.notes, *map(_withheld, copies)))
    result = without_missing_target(result) if drop else result
    if show or (show is None and sys.stderr.isatty()):
        print(result, file=sys.stderr)
    return result


def _ordered(table: Table, source: Any) -> Table:
    """Return a table whose columns know the order of an ordered categorical."""
    if isinstance(source, Table):
        orders = {c.name: c.order for c in source.schema.columns}
    else:
        orders = value_orders(source) if isinstance(source, pa.Table) else {}
    columns = (replace(c, order=orders.get(c.name, ())) for c in table.schema.columns)
    return replace(table, schema=Schema(tuple(columns)))


def _with_kept(roles: Mapping[str, list[str]], keep: Sequence[str]) -> dict[str, list[str]]:
    """Return the roles with those columns plain that are kept by name and have no other role."""
    released = {name for role in ("sensitive", "quasi", "target") for name in roles[role]}
    return {**roles, "plain": [name for name in keep if name not in released]}


def _refuse_naming_target(findings: Sequence[Finding], targets: Sequence[str]) -> None:
    """Refuse a target that names people: most methods release it as it is."""
    named = next((one for one in findings if one.withheld and one.column in targets), None)
    if named is not None:
        raise SchemaError(
            f"The target '{named.column}' looks like what names people: {named.what} {named.how} "
            f"({named.reason}). It would be released with the records. Choose another target, or, "
            f'if it may leave, keep it by name: keep="{named.column}".')


def _undeclared(table: Table, roles: Mapping[str, list[str]]) -> list[str]:
    declared = {name for names in roles.values() for name in names}
    return [name for name in table.schema.names if name not in declared]


def _flagged(table: Table, roles: Mapping[str, list[str]], suggest: bool, keep: Sequence[str],
             copies: Sequence[Finding]) -> Schema:
    """Return the schema with what names people withheld, of columns that are not declared.

    Of those that are, a target is looked at in the same pass, and refused if it names people.
    """
    targets = [table.schema[name].name for name in roles["target"] if name not in keep]
    findings = identify(table, [*targets, *_undeclared(table, roles)])
    _refuse_naming_target(findings, targets)
    others = [one for one in findings if one.column not in targets]
    return with_findings(table.schema, (*others, *copies), suggest)


def _withheld(copy: Finding) -> str:
    return (f"Column '{copy.column}' is {copy.what}, which is an identifier: it is not released "
            f"unless it is kept by name (keep='{copy.column}').")


def read_file(path: Place, options: ReadOptions, as_text: Sequence[str] = ()) -> Table:
    """Read a file without declaring anything; columns `as_text` are taken as they are written."""
    engine = LocalEngine()
    return _table(_opened_file(path, engine, options, None, as_text), engine)


def _table(opened: OpenedFile, engine: Engine) -> Table:
    if engine.rows(opened.frame) == 0:
        raise DataError("A table must have at least one row. Got none. Check the source.")
    for entry in engine.schema(opened.frame):
        refuse_type(entry.name, entry.type)
    guessed = with_index(guess(engine, opened.frame), opened.unnamed)
    schema = _noted(guessed, opened.missing)
    return Table(schema, opened.frame, engine,
                 (*opened.notes, *index_notes(schema), *words_note(opened.missing)),
                 opened.written)


def read_released(path: Path, schema: Schema) -> Table:
    """Read the data of a release that somebody else may have made: nothing is guessed.

    A file whose rows are out of all proportion to its size is refused before they are read.
    """
    engine = LocalEngine()
    opened = open_file(path, ReadOptions(), engine)
    refuse_bomb(path, opened.size)
    if engine.schema(opened.frame).names != list(schema.names):
        raise ReleaseError(f"The columns of '{path}' are not those of its manifest.")
    if engine.rows(opened.frame) == 0:
        raise ReleaseError(f"'{path}' must have at least one row. It has none.")
    return Table(schema, _in_memory(opened, engine, None), engine)


def _listed(names: Names) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def _opened(source: Any, engine: LocalEngine, columns: Sequence[str] | None,
            options: ReadOptions, lazy: bool | None) -> OpenedFile:
    if isinstance(source, str | PathLike | DataUrl):
        return _opened_file(as_place(source), engine, options, lazy)
    refuse_table(options, type(source).__name__)
    frame = source.frame if isinstance(source, Table) \
        else MemoryFrame(plain_rows(to_arrow(source, columns)))
    words = () if options.missing is None else options.words
    frame, missing = blank_words(frame, words, engine)
    written, unnamed = (source.written, unnamed_in(source.schema)) \
        if isinstance(source, Table) else (None, "")
    return OpenedFile(frame, 0, (), missing, written, unnamed=unnamed)


def _opened_file(path: Place, engine: LocalEngine, options: ReadOptions, lazy: bool | None,
                 as_text: Sequence[str] = ()) -> OpenedFile:
    opened = open_file(path, options, engine, as_text)
    for file, size in () if lazy else opened.packed:
        refuse_bomb(file, size)
    frame, written = _in_memory(opened, engine, lazy), opened.written
    if written is not None and isinstance(frame, MemoryFrame):
        written = MemoryFrame(engine.collect(written))
    return replace(opened, frame=frame, written=written)


def _in_memory(opened: OpenedFile, engine: LocalEngine, lazy: bool | None) -> Any:
    """Return the rows in memory, or as they are if they are many or that was asked for."""
    frame = opened.frame
    if isinstance(frame, MemoryFrame):
        return MemoryFrame(plain_rows(frame.table))
    if lazy is None:
        lazy = frame.rows * len(frame.schema) > EAGER_CELLS or opened.size > EAGER_BYTES
    return frame if lazy else MemoryFrame(plain_rows(engine.collect(frame)))


def _noted(schema: Schema, missing: Mapping[str, Mapping[str, int]]) -> Schema:
    """Add to every column how many of its cells were taken as missing."""
    return Schema(tuple(replace(column, note="; ".join(filter(None, (
        column.note, missing_note(missing.get(column.name, {}))))))
        for column in schema.columns))


def guess(engine: Any, frame: Any) -> Schema:
    """Guess kind and role of every column from its type, its name and its distinct values."""
    arrow = engine.schema(frame)
    return Schema(tuple(_guess_column(engine, frame, entry) for entry in arrow))


def _guess_column(engine: Any, frame: Any, entry: Any) -> Column:
    if holds_bytes(entry.type):
        return Column(entry.name, "categorical", "identifier", "bytes are never released", True)
    number = is_number(entry.type)
    kind = "numeric" if number else "categorical"
    note = "dates and times count as numbers" if pa.types.is_temporal(entry.type) else ""
    if pa.types.is_floating(entry.type) or (number and not ID_NAME.search(entry.name)):
        return Column(entry.name, kind, note=note, guessed=True)
    rows = engine.rows(frame)
    if rows >= 20 and engine.count_distinct(frame, entry.name) == rows:
        return Column(entry.name, kind, "identifier", "different in every row: guessed", True)
    return Column(entry.name, kind, note=note, guessed=True)
