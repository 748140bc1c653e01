"""The table of file formats. A new format is one entry here, with its reader and its writer.

Everything that reads or writes data goes through this table: `read`, `read_baskets`, baskets that
are saved, hierarchies, the files of joint parties, and the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from unspoken.errors import DataError, InputError
from unspoken.table.atomic_files import named_path, write_file
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.binary_tables import (
    open_arrow,
    open_parquet,
    write_arrow,
    write_parquet_table,
)
from unspoken.table.formats.compressed_files import COMPRESSIONS, bare_name, compressed
from unspoken.table.formats.data_urls import DataUrl, as_place
from unspoken.table.formats.database_tables import open_database, open_table
from unspoken.table.formats.delta_tables import is_delta, open_delta
from unspoken.table.formats.file_sets import files_of, is_file_set
from unspoken.table.formats.files_together import open_together
from unspoken.table.formats.header_names import check_names
from unspoken.table.formats.missing_words import blank_words
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.parquet_sets import open_parquet_set
from unspoken.table.formats.read_options import ReadOptions
from unspoken.table.formats.remote_files import open_remote
from unspoken.table.formats.text_tables import open_text_table, write_text_table

Opener = Callable[[Path, ReadOptions, LocalEngine, Sequence[str]], OpenedFile]
Writer = Callable[[Any, ReadOptions], bytes]


@dataclass(frozen=True)
class FileFormat:
    """One format: its endings, how tables are opened and written, and what it can do.

    `text`: lines that may be compressed and have a delimiter and an encoding. `between` is what
    usually stands between the entries of a line. `streams`: rows need not fit into memory.
    `tables`: one file holds several, so that one may be named.
    """

    name: str
    suffixes: tuple[str, ...]
    open: Opener | None
    write: Writer | None = None
    text: bool = False
    between: str = ","
    streams: bool = False
    tables: bool = False


def _text_format(name: str, suffixes: tuple[str, ...], between: str) -> FileFormat:
    return FileFormat(name, suffixes, partial(open_text_table, usual=between),
                      partial(write_text_table, usual=between), True, between, True)


FORMATS: list[FileFormat] = [
    _text_format("text with commas", (".csv", ".txt"), ","),
    _text_format("text with tabs", (".tsv",), "\t"),
    FileFormat("baskets, one a line", (".basket", ".baskets"), None, text=True),
    FileFormat("baskets between blanks", (".dat",), None, text=True, between=" "),
    FileFormat("Parquet", (".parquet", ".pq"), open_parquet, write_parquet_table, streams=True),
    FileFormat("Arrow", (".arrow", ".feather", ".ipc"), open_arrow, write_arrow),
    FileFormat("DuckDB or SQLite", (".duckdb", ".db", ".sqlite", ".sqlite3"), open_database,
               tables=True),
]
"""All formats, the usual ones first; no other module knows an ending."""


def format_of(path: str | PathLike[str]) -> FileFormat:
    """Return the format of a file by its name; a name of no format is refused."""
    file = named_path(path)
    name, packed = bare_name(file), bare_name(file) != file.name.lower()
    for kind in FORMATS:
        if name.endswith(kind.suffixes) and (kind.text or not packed):
            return kind
    raise DataError(f"'{file.name}' must be a {endings()} file. Got the ending "
                    f"'{''.join(file.suffixes[-2:]) or 'none'}'. Convert it, or read it yourself "
                    "and pass the table.")


def endings() -> str:
    """Return the endings of tables, in words."""
    tables = [suffix for kind in FORMATS if kind.open for suffix in kind.suffixes]
    tables.sort(key=lambda suffix: suffix != ".parquet")
    packed = " or ".join(COMPRESSIONS)
    return f"{', '.join(tables[:-1])} or {tables[-1]} (text also {packed})"


def existing_file(path: str | PathLike[str] | DataUrl) -> Path:
    """Return the path of a file that is there."""
    file = as_place(path)
    if isinstance(file, DataUrl):
        raise DataError(f"'{file}' must be a file on this machine for this. Write it to one first.")
    if not file.is_file():
        what = "It is a folder; name one file in it." if file.is_dir() else "There is none."
        raise DataError(f"'{file}' must be an existing file. {what} Check the path.")
    return file


def open_file(source: str | PathLike[str] | DataUrl, options: ReadOptions, engine: LocalEngine,
              as_text: Sequence[str] = ()) -> OpenedFile:
    """Open a table whose names are checked: a file of any format, a folder of them, an address.

    Columns named `as_text` are taken as they are written, where the format has no types.
    """
    place = as_place(source)
    open_here = partial(_open_path, options=options, engine=engine, as_text=as_text)
    if isinstance(place, Path):
        opened = open_here(place)
    elif place.is_database:
        _refuse_text_options(options, str(place))
        opened = _blanked(open_table(place, options, engine), options, engine)
    else:
        opened = open_remote(place, engine, open_here)
    check_names(engine.schema(opened.frame).names)
    return opened


def _open_path(path: Path, options: ReadOptions, engine: LocalEngine,
               as_text: Sequence[str]) -> OpenedFile:
    """Open a file, a Delta table, or all files of a folder or a pattern as one table."""
    open_one = partial(_open_one, options=options, engine=engine, as_text=as_text)
    if is_delta(str(path)):
        refuse_table(options, path.name)
        _refuse_text_options(options, path.name)
        return _blanked(open_delta(str(path), engine), options, engine)
    if not is_file_set(path):
        return open_one(existing_file(path))
    files = files_of(path)
    kinds = {format_of(file).name: file for file in files}
    if len(kinds) > 1:
        first, second = list(kinds.items())[:2]
        raise DataError(f"All files of '{path.name}' must be of one format. '{first[1].name}' is "
                        f"{first[0]}, '{second[1].name}' is {second[0]}. Take one of them out.")
    kind = format_of(files[0])
    if not kind.tables:
        refuse_table(options, path.name)
    if kind.open is open_parquet:
        _refuse_text_options(options, path.name)
        if (opened := open_parquet_set(path, files, engine)) is not None:
            return _blanked(opened, options, engine)
    return open_together(path, files, open_one, engine, kind.text)


def _open_one(file: Path, options: ReadOptions, engine: LocalEngine,
              as_text: Sequence[str]) -> OpenedFile:
    kind = format_of(file)
    if kind.open is None:
        raise DataError(f"'{file.name}' must be a table ({endings()}). Its ending says that it "
                        "holds baskets. Read it by read_baskets.")
    if not kind.tables:
        refuse_table(options, file.name)
    if kind.text:
        return kind.open(file, options, engine, as_text)
    _refuse_text_options(options, file.name)
    opened = _blanked(kind.open(file, options, engine, as_text), options, engine)
    return replace(opened, packed=((file, opened.size),))


def refuse_table(options: ReadOptions, name: str) -> None:
    """Refuse the name of a table where there is but one: it would do nothing."""
    if options.table is not None:
        raise InputError(f"'table' names a table of a database. '{name}' is none. Leave it out.")


def _refuse_text_options(options: ReadOptions, name: str) -> None:
    if options.about_text:
        raise InputError(f"'{options.about_text[0]}' is for text files. '{name}' is none. "
                         "Leave it out.")


def _blanked(opened: OpenedFile, options: ReadOptions, engine: LocalEngine) -> OpenedFile:
    """Take the words out that stand for a missing value, where they were named."""
    if options.missing is None:
        return opened
    frame, missing = blank_words(opened.frame, options.words, engine)
    return replace(opened, frame=frame, missing=missing)


def read_rows(path: str | PathLike[str] | DataUrl, options: ReadOptions | None = None,
              as_text: Sequence[str] = ()) -> Any:
    """Read a file of any format as one Arrow table, values as they are."""
    engine = LocalEngine()
    return engine.collect(open_file(path, options or ReadOptions(), engine, as_text).frame)


def write_rows(table: Any, path: str | PathLike[str], options: ReadOptions | None = None,
               mode: int = 0o644) -> None:
    """Write an Arrow table as a file of the format that its name says."""
    file = named_path(path)
    kind = format_of(file)
    if kind.write is None:
        raise DataError(f"'{file.name}' must be a file that tables are written to. Files of the "
                        f"format {kind.name} are only read.")
    check_names(table.column_names)
    write_file(file, compressed(file, kind.write(table, options or ReadOptions())), mode)
