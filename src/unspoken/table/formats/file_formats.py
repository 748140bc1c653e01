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
from unspoken.table.atomic_files import write_file
from unspoken.table.engines.local import LocalEngine
from unspoken.table.formats.binary_tables import (
    open_arrow,
    open_database,
    open_parquet,
    write_arrow,
    write_parquet_table,
)
from unspoken.table.formats.compressed_files import COMPRESSIONS, bare_name, compressed
from unspoken.table.formats.header_names import check_names
from unspoken.table.formats.missing_words import blank_words
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.read_options import ReadOptions
from unspoken.table.formats.text_tables import open_text_table, write_text_table

Opener = Callable[[Path, ReadOptions, LocalEngine, Sequence[str]], OpenedFile]
Writer = Callable[[Any, ReadOptions], bytes]


@dataclass(frozen=True)
class FileFormat:
    """One format: its endings, how tables are opened and written, and what it can do.

    `text`: lines that may be compressed and have a delimiter and an encoding. `between` is what
    usually stands between the entries of a line. `streams`: rows need not fit into memory.
    """

    name: str
    suffixes: tuple[str, ...]
    open: Opener | None
    write: Writer | None = None
    text: bool = False
    between: str = ","
    streams: bool = False


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
    FileFormat("DuckDB", (".duckdb", ".db"), open_database),
]
"""All formats, the usual ones first; no other module knows an ending."""


def format_of(path: str | PathLike[str]) -> FileFormat:
    """Return the format of a file by its name; a name of no format is refused."""
    file = Path(path)
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


def existing_file(path: str | PathLike[str]) -> Path:
    """Return the path of a file that is there."""
    file = Path(path)
    if not file.is_file():
        what = "It is a folder; name one file in it." if file.is_dir() else "There is none."
        raise DataError(f"'{file}' must be an existing file. {what} Check the path.")
    return file


def open_file(path: str | PathLike[str], options: ReadOptions, engine: LocalEngine,
              as_text: Sequence[str] = ()) -> OpenedFile:
    """Open a file of any format as a table whose names are checked.

    Columns named `as_text` are taken as they are written, where the format has no types.
    """
    file = existing_file(path)
    kind = format_of(file)
    if kind.open is None:
        raise DataError(f"'{file.name}' must be a table ({endings()}). Its ending says that it "
                        "holds baskets. Read it by read_baskets.")
    if options.about_text and not kind.text:
        raise InputError(f"'{options.about_text[0]}' is for text files. '{file.name}' is none. "
                         "Leave it out.")
    opened = kind.open(file, options, engine, as_text)
    check_names(engine.schema(opened.frame).names)
    if kind.text or options.missing is None:
        return opened
    frame, missing = blank_words(opened.frame, options.words, engine)
    return replace(opened, frame=frame, missing=missing)


def read_rows(path: str | PathLike[str], options: ReadOptions | None = None,
              as_text: Sequence[str] = ()) -> Any:
    """Read a file of any format as one Arrow table, values as they are."""
    engine = LocalEngine()
    return engine.collect(open_file(path, options or ReadOptions(), engine, as_text).frame)


def write_rows(table: Any, path: str | PathLike[str], options: ReadOptions | None = None) -> None:
    """Write an Arrow table as a file of the format that its name says."""
    file = Path(path)
    kind = format_of(file)
    if kind.write is None:
        raise DataError(f"'{file.name}' must be a file that tables are written to. Files of the "
                        f"format {kind.name} are only read.")
    check_names(table.column_names)
    write_file(file, compressed(file, kind.write(table, options or ReadOptions())))
