"""A log that several processes append to: JSON lines that survive a crash and cannot be raced past.

Every line is `{"chain": ..., "entry": ...}`. The chain is a keyed hash of the line before and the
entry, so that a line that was edited, removed from the middle or put elsewhere is seen. The key
lies beside the log in `<log>.key`. The last chain and the number of lines stand in a file of their
own, the head (`<log>.head`, or where the custodian wants it: the key file says where), so that a
log whose tail was cut, a second log in its place and an older copy are seen, too. All files are
0600.

Whoever decides takes an exclusive lock (flock), reads what other processes have added, decides,
appends, syncs, moves the head, and only then answers. A last line without its end was never
answered and is cut off; a line beyond the head was not, either, and stays. A crash between line and
answer counts as answered, which is the careful side. Somebody who can write all three files can put
older copies of all of them back; keep the head where that person cannot write.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from unspoken.errors import UnspokenError
from unspoken.numerics.random import derive, fresh_seed
from unspoken.table.atomic_files import named_path, write_file
from unspoken.table.file_locks import WAIT, take_lock

MAX_BYTES = 256 * 1024 * 1024


class ChainedLog:
    """One log file, its key and its head; `label` stands in the key, `error` is what it raises."""

    label: ClassVar[str] = "log"
    error: ClassVar[type[UnspokenError]] = UnspokenError

    def __init__(self, path: str | os.PathLike[str],
                 head: str | os.PathLike[str] | None = None) -> None:
        self.path = named_path(path)
        self.key_path = self.path.with_name(self.path.name + ".key")
        self._elsewhere = None if head is None else Path(head).absolute()
        self.head_path = self._elsewhere or self.path.with_name(self.path.name + ".head")
        self.entries = 0
        self.secret = b""
        self._read = 0
        self._chain = ""
        self._chains: list[str] = []
        self._inode = 0

    @contextmanager
    def locked(self) -> Iterator[LockedLog]:
        """Hold the log, with what is new in it; no other process gets in meanwhile."""
        descriptor = self._open()
        try:
            # A new descriptor each time: one that a fork shares would share its lock, too.
            self._lock(descriptor)
            self._same_file(descriptor)
            yield LockedLog(self, descriptor)
        finally:
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        """Wait for the process that holds the log, but not for one that hangs."""
        if not take_lock(descriptor, self.wait):
            raise self.error(f"'{self.path}' must be free within {self.wait:g} s. Another process "
                             "holds it. End that process if it hangs.")

    @property
    def wait(self) -> float:
        """Return how many seconds another process may hold the log."""
        return WAIT

    def _open(self) -> int:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise self.error(f"'{self.path}' must be a file that can be read and written. "
                                f"{error.strerror}.") from None
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
            os.close(descriptor)
            raise self.error(f"'{self.path}' must be a plain file that only its owner can read. "
                                "chmod 600 it.")
        return descriptor

    def _same_file(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if self._inode and (status.st_ino != self._inode or status.st_size < self._read):
            raise self.error(f"'{self.path}' was replaced or cut while it was in use. "
                                "Restore it before anything is answered.")
        if status.st_size > MAX_BYTES:
            raise self.error(f"'{self.path}' must be at most {MAX_BYTES} bytes long.")
        self._inode = status.st_ino

    def load_key(self, empty: bool) -> None:
        """Read the key, or make one for a new log."""
        if self.secret:
            return
        if empty:
            self._new_key()
        try:
            mode = self.key_path.stat().st_mode
            data = json.loads(self.key_path.read_bytes()[:10_000])
            secret = bytes.fromhex(data[f"unspoken-{self.label}-key"])
            head = Path(data.get("head", self.head_path))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise self.error(f"'{self.key_path}' must be the key of the log. It is missing or "
                                "damaged. Restore it.") from None
        if mode & 0o077 or len(secret) != 32:
            raise self.error(f"'{self.key_path}' must be a key that only its owner can read. "
                                "chmod 600 it.")
        self.secret = secret
        if self._elsewhere is None:
            self.head_path = head

    def _new_key(self) -> None:
        if self.head_path.exists():
            raise self.error(
                f"'{self.path}' is empty, but its head '{self.head_path}' is there: the log was "
                "lost. Restore it. Remove the head only if no earlier answer can matter any more.")
        content = {f"unspoken-{self.label}-key": fresh_seed().hex()}
        if self._elsewhere is not None:
            content["head"] = str(self._elsewhere)
        try:
            write_file(self.key_path, json.dumps(content).encode(), 0o600, overwrite=False)
        except FileExistsError:
            raise self.error(
                f"'{self.path}' is empty, but its key '{self.key_path}' is there: the log was "
                "lost. Restore it. Remove the key only if no earlier answer can matter any more."
            ) from None

    def take(self, line: bytes) -> dict[str, Any]:
        """Check one line and return its entry."""
        try:
            parsed = json.loads(line)
            entry, chain = parsed["entry"], parsed["chain"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._damaged() from None
        if not isinstance(entry, dict) or chain != self.link(_body(entry)):
            raise self._damaged()
        self._chain, self._read, self.entries = chain, self._read + len(line), self.entries + 1
        self._chains.append(chain)
        return entry

    def check_head(self) -> None:
        """Refuse a log that lacks what its head has seen, and bring the head up to date."""
        if not self.entries and not self.head_path.exists():
            return
        seen, chain = self._read_head()
        if seen > self.entries or self._chains[seen - 1] != chain:
            raise self.error(
                f"'{self.path}' is not the log that its head '{self.head_path}' describes: its end "
                "was cut off, another log was put in its place, or an older copy was restored. "
                "Answers that it does not know would be given again. Restore the newest copy.")
        if seen < self.entries:
            self.write_head()

    def _read_head(self) -> tuple[int, str]:
        try:
            mode = self.head_path.stat().st_mode
            data = json.loads(self.head_path.read_bytes()[:10_000])
            seen, chain = data["entries"], data[f"unspoken-{self.label}-head"]
        except (OSError, ValueError, KeyError, TypeError):
            raise self.error(f"'{self.head_path}' must be the head of the log. It is missing or "
                                "damaged. Restore it.") from None
        if mode & 0o077 or type(seen) is not int or seen < 1:
            raise self.error(f"'{self.head_path}' must be a head that only its owner can read. "
                                "chmod 600 it.")
        return seen, str(chain)

    def write_head(self) -> None:
        """Write where the log ends."""
        content = json.dumps({f"unspoken-{self.label}-head": self._chain, "entries": self.entries})
        try:
            write_file(self.head_path, content.encode(), 0o600)
        except OSError as error:
            raise self.error(f"'{self.head_path}' cannot be written. {error.strerror}. Nothing "
                                "was answered.") from None

    def _damaged(self) -> UnspokenError:
        return self.error(f"Line {self.entries + 1} of '{self.path}' is damaged or was changed. "
                             "Restore an intact copy; nothing is answered before.")

    def link(self, body: str, after: str | None = None) -> str:
        """Return the chain of the next entry, or of one after another chain."""
        key = derive(self.secret, "chain")
        before = self._chain if after is None else after
        return hashlib.blake2b(f"{before}\n{body}".encode(), key=key, digest_size=32).hexdigest()

    @property
    def first(self) -> str:
        """Return the chain of the first line, which no other log has."""
        return self._chains[0] if self._chains else ""

    @property
    def chains(self) -> tuple[str, ...]:
        """Return the chains of all lines, oldest first."""
        return tuple(self._chains)

    @property
    def read(self) -> int:
        """Return how many bytes were read."""
        return self._read


class LockedLog:
    """A log while its lock is held."""

    def __init__(self, log: ChainedLog, descriptor: int) -> None:
        self._log, self._descriptor = log, descriptor

    def news(self) -> list[dict[str, Any]]:
        """Return the entries that were added since the last look."""
        log = self._log
        lines = self._pending().splitlines(keepends=True)
        torn = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        log.load_key(empty=not lines and log.entries == 0)
        entries = [log.take(line) for line in lines]
        log.check_head()
        if torn:
            # The head never saw it, so it was never answered: its writer was stopped.
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - len(torn))
        return entries

    def _pending(self) -> bytes:
        parts, at = [], self._log.read
        while part := os.pread(self._descriptor, 1 << 20, at):
            parts.append(part)
            at += len(part)
        return b"".join(parts)

    def append(self, *entries: dict[str, Any]) -> None:
        """Write entries to the disk, with one sync for all of them."""
        log, lines, chain = self._log, [], None
        for body in map(_body, entries):
            chain = log.link(body, chain)
            lines.append(f'{{"chain":"{chain}","entry":{body}}}\n'.encode())
        self._write(b"".join(lines))
        for line in lines:
            log.take(line)
        log.write_head()

    def _write(self, data: bytes) -> None:
        log = self._log
        try:
            written = os.pwrite(self._descriptor, data, log.read)
            os.fsync(self._descriptor)
        except OSError as error:
            written, why = 0, str(error.strerror)
        else:
            why = "The disk may be full"
        if written != len(data):
            os.ftruncate(self._descriptor, log.read)
            raise log.error(f"'{log.path}' cannot be written. {why}. Nothing was answered.")


def _body(entry: dict[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), allow_nan=False)
