"""A file of JSON lines that notices when it was edited or cut: each line is sealed to the last.

The secret and the last seal lie in a second file, `<file>.key`, readable by its owner only. Who
holds both files can write anything; who holds the lines alone can change nothing unnoticed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unspoken.errors import ReleaseError
from unspoken.table.atomic_files import write_file
from unspoken.table.file_locks import locked_beside

MAX_BYTES = 1 << 28


def key_path(path: Path) -> Path:
    """Return where the secret of a file lies."""
    return path.with_name(path.name + ".key")


def secret_of(path: Path) -> bytes:
    """Return the secret of a file; it is made where there is none yet."""
    place = key_path(path)
    if not place.exists():
        _write_head(place, secrets.token_bytes(32), 0, "")
    return _head(path)[0]


def _head(path: Path) -> tuple[bytes, int, str]:
    try:
        held = json.loads(key_path(path).read_bytes())
        secret = bytes.fromhex(held["secret"])
        if len(secret) != 32:
            raise ValueError
        return secret, int(held["lines"]), str(held["last"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise ReleaseError(
            f"'{key_path(path)}' must be the key file that was written with '{path}'. It is not "
            "there or cannot be read. Restore a copy; without it nobody is known again.") from None


def _write_head(place: Path, secret: bytes, lines: int, last: str) -> None:
    data = {"secret": secret.hex(), "lines": lines, "last": last}
    write_file(place, (json.dumps(data) + "\n").encode(), 0o600)


def _seal(secret: bytes, previous: str, text: str) -> str:
    message = f"{previous}\n{text}".encode()
    return hashlib.blake2b(message, key=secret, digest_size=32).hexdigest()


def read_lines(path: Path) -> list[Any]:
    """Return what the lines hold; an edited, missing or strange line is refused.

    The head is read first: lines that another process adds in the meantime are then no fewer.
    """
    head = _head(path) if key_path(path).exists() else None
    if not path.exists():
        return _none_written(0 if head is None else head[1])
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"It holds more than {MAX_BYTES} bytes")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    secret, count, last = head or _head(path)
    previous, seals = "", []
    for number, line in enumerate(lines, 1):
        expected = _seal(secret, previous, _text(line["entry"]))
        if not hmac.compare_digest(str(line["seal"]), expected):
            raise ValueError(f"Line {number} is not the one that was written: it was edited, or a "
                             "line before it is missing")
        previous = expected
        seals.append(expected)
    if len(lines) < count or (count and seals[count - 1] != last):
        raise ValueError(f"It must hold {count} lines or more. Got {len(lines)}: some were cut off")
    return [line["entry"] for line in lines]


def _none_written(count: int) -> list[Any]:
    """Return no lines where none were written yet; lines that were lost are refused."""
    if count:
        raise ValueError(f"It is not there any more, and its key file says that it must hold "
                         f"{count} lines or more")
    return []


def was_started(path: Path) -> bool:
    """Return True if lines were written, even if the file that held them is gone."""
    return path.exists() or key_path(path).exists()


def _text(entry: Any) -> str:
    return json.dumps(entry, sort_keys=True, allow_nan=False)


def append_line(path: Path, make: Callable[[bytes], Any]) -> None:
    """Add one line, made with the secret, while no other process writes."""
    with locked_beside(path) as held:
        if not held:
            raise ReleaseError(f"'{path}' is locked by another process. Try again later.")
        secret = secret_of(path)
        _write(path, secret, [*_lines_so_far(path), make(secret)])


def _lines_so_far(path: Path) -> list[Any]:
    try:
        return read_lines(path)
    except (ValueError, KeyError, TypeError) as error:
        raise ReleaseError(f"Nothing was added to '{path}'. {error}. Restore a copy.") from None


def _write(path: Path, secret: bytes, entries: Sequence[Any]) -> None:
    previous, lines = "", []
    for entry in entries:
        previous = _seal(secret, previous, _text(entry))
        lines.append(json.dumps({"entry": entry, "seal": previous}, sort_keys=True,
                                allow_nan=False))
    write_file(path, ("\n".join(lines) + "\n").encode(), 0o600)
    _write_head(key_path(path), secret, len(lines), previous)
