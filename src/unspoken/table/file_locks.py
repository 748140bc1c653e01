"""Locks between processes: one process at a time reads, decides and writes a file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT = 300.0
"""How long another process may hold a lock, in seconds."""


def take_lock(descriptor: int, wait: float = WAIT) -> bool:
    """Wait for an exclusive lock on an open file; False if another process still holds it."""
    import fcntl

    until = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.005)


@contextmanager
def locked_beside(path: Path, wait: float = WAIT) -> Iterator[bool]:
    """Hold `<path>.lock`, which stays: a file that is replaced cannot carry its own lock.

    Yields False if another process did not let go in time.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    # A new descriptor each time: one that a fork shares would share its lock, too.
    descriptor = os.open(path.with_name(path.name + ".lock"), flags, 0o600)
    try:
        yield take_lock(descriptor, wait)
    finally:
        os.close(descriptor)
