"""Writing files so that a crash leaves the old one or the new one, never half of one."""

from __future__ import annotations

import ctypes
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

_EXCHANGE = 2
_AT_FDCWD = -100


def write_file(path: Path, data: bytes, mode: int = 0o644, overwrite: bool = True) -> None:
    """Write a file atomically; without `overwrite` an existing file raises FileExistsError."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
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
    """Fill a new folder and put it in place at once, exchanging it with an old one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        temporary.mkdir()
        fill(temporary)
        _sync_folder(temporary)
        _put_in_place(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    _sync_folder(path.parent)


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
