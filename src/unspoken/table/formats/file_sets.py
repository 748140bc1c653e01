"""Which files make up one table: all of a folder or of a pattern, in the order of their paths.

Folders named `column=value` (Hive's convention) give a column to the files below them. Names that
begin with a dot or an underscore are notes of other tools and are left out.
"""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from unspoken.errors import DataError
from unspoken.table.atomic_files import sha256_of

_NULL = "__HIVE_DEFAULT_PARTITION__"
_LOGS = ("-wal", ".wal")
"""Behind the name of a database file: what was changed and is not in the file yet."""


def is_file_set(path: Path) -> bool:
    """Return True for a folder, and for a pattern unless a file has that very name."""
    return path.is_dir() or (glob.has_magic(str(path)) and not path.exists())


def files_of(path: Path) -> list[Path]:
    """Return the files of a folder or pattern, sorted by their paths."""
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file() and _is_data(file, path)]
    else:
        files = [Path(name) for name in glob.glob(str(path), recursive=True)
                 if Path(name).is_file() and not Path(name).name.startswith((".", "_"))]
    if not files:
        raise DataError(f"'{path}' must hold or match at least one file. It does not. "
                        "Check the path.")
    return sorted(files, key=lambda file: file.parts)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder that of all names and contents inside it.

    Notes of other tools count, too: by those of a Delta table rows are added and deleted. So does
    the log beside a database file.
    """
    if not path.is_dir():
        return _file_digest(path)
    files = sorted(file for file in path.rglob("*") if file.is_file()
                   and not any(part.startswith(".") for part in file.relative_to(path).parts))
    listed = [f"{sha256_of(file)} {file.relative_to(path).as_posix()}" for file in files]
    return hashlib.sha256("\n".join(listed).encode(errors="surrogateescape")).hexdigest()


def _file_digest(path: Path) -> str:
    logs = [log for log in (path.with_name(path.name + ending) for ending in _LOGS)
            if log.is_file() and log.stat().st_size]
    parts = [sha256_of(path), *(f"{sha256_of(log)} {log.name}" for log in logs)]
    return hashlib.sha256("\n".join(parts).encode(errors="surrogateescape")).hexdigest() \
        if logs else parts[0]


def _is_data(file: Path, folder: Path) -> bool:
    return not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def base_of(path: Path) -> Path:
    """Return the folder below which folders name columns: that itself, or before a pattern."""
    if path.is_dir():
        return path
    parts = []
    for part in path.parts:
        if glob.has_magic(part):
            break
        parts.append(part)
    return Path(*parts)


def partition_values(file: Path, base: Path) -> dict[str, str | None]:
    """Return the columns that the folders between base and file name, with their values."""
    pairs = [part.partition("=") for part in file.relative_to(base).parent.parts if "=" in part]
    return {unquote(name): None if value == _NULL else unquote(value) for name, _, value in pairs}


def folder_types(values: Sequence[Mapping[str, str | None]]) -> dict[str, Any]:
    """Return the types of the columns that folders name: whole numbers, or text."""
    return {name: _folder_type([one[name] for one in values]) for name in values[0]}


def _folder_type(values: Sequence[str | None]) -> Any:
    known = [value for value in values if value is not None]
    return pa.int64() if known and all(map(_is_whole, known)) else pa.string()


def _is_whole(text: str) -> bool:
    """Return True for a number that is written as numbers are, which "007" is not."""
    return len(text) < 18 and re.fullmatch(r"0|-?[1-9][0-9]*", text) is not None


def partitions_of(files: Sequence[Path], base: Path) -> list[dict[str, str | None]]:
    """Return the columns from folders of every file; files that do not agree are refused."""
    listed = [partition_values(file, base) for file in files]
    for file, values in zip(files, listed, strict=True):
        if list(values) != list(listed[0]):
            raise DataError(f"All files must lie below folders of the same columns. "
                            f"'{files[0].relative_to(base)}' has {list(listed[0])}, "
                            f"'{file.relative_to(base)}' has {list(values)}.")
    return listed
