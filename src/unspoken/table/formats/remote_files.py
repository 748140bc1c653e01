"""Files of other systems (`s3://` and what else fsspec knows), read once into a private copy.

The files themselves are on this machine only while they are read; what stays is held in memory, or
in a copy without a name (`engines.held_rows`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from glob import has_magic
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from unspoken.errors import DataError, MissingExtraError, UnspokenError
from unspoken.table.engines.held_rows import hold
from unspoken.table.engines.local import LocalEngine, ScanFrame
from unspoken.table.formats.data_urls import DataUrl
from unspoken.table.formats.delta_tables import open_delta
from unspoken.table.formats.expansion import refuse_bomb
from unspoken.table.formats.opened_file import OpenedFile


def open_remote(url: DataUrl, engine: LocalEngine,
                open_here: Callable[[Path], OpenedFile]) -> OpenedFile:
    """Open a file, a folder, a pattern of files or a Delta table of another system."""
    try:
        system, path = _system(url)
        if not has_magic(path) and system.isdir(f"{path.rstrip('/')}/_delta_log"):
            return open_delta(url.text, engine)
        with TemporaryDirectory(prefix="unspoken-") as folder:
            return _held(open_here(_fetched(system, path, Path(folder), url)), engine)
    except UnspokenError:
        raise
    except Exception as error:
        # Every system has exceptions of its own, and no common ancestor.
        first = str(error).strip().splitlines()[0] if str(error).strip() else "no reason"
        raise DataError(f"'{url}' must be a file or a folder that can be read. "
                        f"{type(error).__name__}: {first[:200]}") from None


def _system(url: DataUrl) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(url.text)
    except ImportError:
        raise MissingExtraError(f"Files at {url.scheme}:// need fsspec and its part for "
                                f"'{url.scheme}'. Type: pip install 'unspoken[folders]'") from None
    return system, str(path)


def _fetched(system: Any, path: str, folder: Path, url: DataUrl) -> Path:
    """Copy the files into a folder, below one another as they are; return what to open."""
    if has_magic(path):
        base = path[:path.index(next(sign for sign in path if sign in "*?["))].rpartition("/")[0]
        files = [name for name in system.glob(path) if system.isfile(name)]
    elif system.isdir(path):
        base, files = path.rstrip("/"), system.find(path)
    elif system.isfile(path):
        base, files = path.rpartition("/")[0], [path]
    else:
        files = []
    if not files:
        raise DataError(f"'{url}' must be a file, or hold at least one. There is none.")
    whole = folder / (PurePosixPath(base).name or "files")
    for name in files:
        target = _below(whole, str(name)[len(base):].lstrip("/"))
        target.parent.mkdir(parents=True, exist_ok=True)
        system.get_file(str(name), str(target))
    return whole if files != [path] else whole / PurePosixPath(path).name


def _below(folder: Path, name: str) -> Path:
    """Return the path of a file below a folder; a name that leads elsewhere is refused."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        raise DataError(f"Files must lie below the folder that was named. '{name}' does not.")
    return folder.joinpath(*parts)


def _held(opened: OpenedFile, engine: LocalEngine) -> OpenedFile:
    """Return the same rows, held so that the files may go."""
    for file, size in opened.packed:
        refuse_bomb(file, size)

    def kept(frame: Any) -> Any:
        if not isinstance(frame, ScanFrame):
            return frame
        return hold(engine.batches(frame), frame.schema, engine)[0]

    return replace(opened, frame=kept(opened.frame), written=kept(opened.written), packed=())
