"""Writing files so that a crash leaves the old one or the new one, never half of one."""

from __future__ import annotations

import ctypes
import glob
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.table.file_locks import take_lock

_EXCHANGE = 2
_AT_FDCWD = -100


def named_path(source: str | os.PathLike[str]) -> Path:
    """Return a path that names something: an empty text would stand for the current folder."""
    if isinstance(source, str) and not source.strip():
        raise InputError("A path must name a file or a folder. Got an empty one.")
    return Path(source)


def write_file(path: Path, data: bytes | Sequence[Any], mode: int = 0o644,
               overwrite: bool = True) -> None:
    """Write a file atomically; without `overwrite` an existing file raises FileExistsError.

    Large data may come in parts, which spares putting them together.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            parts: Sequence[Any] = [data] if isinstance(data, bytes) else data
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            os.replace(temporary, path)
        else:
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def write_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Fill a new folder and put it in place at once, exchanging it with an old one.

    What a process that was killed left half-filled for the same place is removed first.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    try:
        temporary.mkdir()
        with _occupied(temporary):
            fill(temporary)
            _sync_folder(temporary)
            _put_in_place(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    _sync_folder(path.parent)


@contextmanager
def _occupied(folder: Path) -> Iterator[bool]:
    """Hold a lock on a folder, which ends with the process; False if another one holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield take_lock(descriptor, 0)
    finally:
        os.close(descriptor)


def _remove_abandoned(path: Path) -> None:
    """Remove what killed processes left half-filled; what a living one fills is locked."""
    for folder in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        if folder.is_dir() and not folder.is_symlink():
            with suppress(OSError), _occupied(folder) as free:
                if free:
                    shutil.rmtree(folder, ignore_errors=True)


def _put_in_place(new: Path, path: Path) -> None:
    if not path.exists():
        os.rename(new, path)
    elif not _exchange(new, path):
        # No atomic exchange on this system: the old folder is moved away first.
        old = new.with_suffix(".old")
        os.rename(path, old)
        os.rename(new, path)
        shutil.rmtree(old, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two folders in one step (Linux renameat2); False where that is not possible."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    done = rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _EXCHANGE)
    return bool(done == 0)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
