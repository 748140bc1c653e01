"""Files as bytes, decompressed while they are read, so that no file grows beyond bounds."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from unspoken.errors import DataError, reason

FREE_BYTES = 1 << 28
"""Whatever expands to at most this much is read without a question."""
FACTOR = 1000
"""What is larger may be at most this many times as large as its file."""


def _open_zst(path: Path) -> Any:
    return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")


def _zst(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


COMPRESSIONS: dict[str, tuple[Callable[[Path], Any], Callable[[bytes], bytes]]] = {
    ".gz": (gzip.GzipFile, lambda content: gzip.compress(content, 6)),
    ".zst": (_open_zst, _zst),
}
"""Endings of compressed text files: how to open one, and how to compress bytes."""


def bare_name(path: Path) -> str:
    """Return the name of a file in small letters, without the ending of its compression."""
    name = path.name.lower()
    return name.removesuffix(compression_of(path) or "")


def compression_of(path: Path) -> str | None:
    """Return the ending of a compressed file; None if it is not compressed."""
    return next((ending for ending in COMPRESSIONS if path.name.lower().endswith(ending)), None)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressed if its name says that it is compressed."""
    ending = compression_of(path)
    if ending is None:
        return path.open("rb")
    return io.BufferedReader(_Bounded(path, COMPRESSIONS[ending][0]), 1 << 16)


def compressed(path: Path, content: bytes) -> bytes:
    """Return content as a file of this name holds it."""
    ending = compression_of(path)
    return content if ending is None else COMPRESSIONS[ending][1](content)


def bound_of(path: Path) -> int:
    """Return how many bytes a file may expand to."""
    return max(FREE_BYTES, FACTOR * path.stat().st_size)


def too_much(path: Path, size: int | None = None) -> DataError:
    """Return the refusal of a file that expands beyond bounds."""
    reached = "more" if size is None else f"{size:,} bytes"
    return DataError(f"'{path.name}' must expand to at most {bound_of(path):,} bytes, "
                     f"{FACTOR:,} times its own {path.stat().st_size:,}. It expands to {reached}. "
                     "Such a file fills the memory on purpose or by accident; ask its author for "
                     "another, or read a table piece by piece with lazy=True.")


class _Bounded(io.RawIOBase):
    """A decompressed stream that stops where a file expands beyond bounds."""

    def __init__(self, path: Path, opener: Callable[[Path], Any]) -> None:
        self._path, self._left = path, bound_of(path)
        self._inner = self._try(lambda: opener(path))

    def readable(self) -> bool:
        """Return True: this can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        content = self._try(lambda: self._inner.read(len(buffer)))
        self._left -= len(content)
        if self._left < 0:
            raise too_much(self._path)
        buffer[:len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        if not self.closed and hasattr(self, "_inner"):
            self._inner.close()
        super().close()

    def _try(self, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except (EOFError, OSError, zlib.error, pa.ArrowException) as error:
            raise DataError(f"'{self._path.name}' cannot be read: {reason(error)} Is it really "
                            f"compressed as its ending {compression_of(self._path)} says?"
                            ) from None
