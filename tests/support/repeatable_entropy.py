"""Secrets that are drawn anew for every test, and alike in every run.

What the product draws comes from the operating system, so a test of random results could fail by
chance, once in some thousand runs, and not again when it is looked at. Here the source is a stream
of the test's own name: a failure can be repeated. Processes that a test starts draw from the
operating system as ever. UNSPOKEN_TEST_ENTROPY=fresh leaves the source alone in all tests.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading

_REAL = secrets.token_bytes
_LOCK = threading.Lock()


class _Stream:
    """The bytes of one test, in one process."""

    def __init__(self) -> None:
        self.begin("")

    def begin(self, name: str) -> None:
        """Start the stream of a test."""
        with _LOCK:
            self._name, self._drawn, self._process = name.encode(), 0, os.getpid()

    def token_bytes(self, nbytes: int | None = None) -> bytes:
        """Return the next bytes, in place of `secrets.token_bytes`."""
        if os.getpid() != self._process:
            return _REAL(nbytes)
        with _LOCK:
            self._drawn += 1
            drawn = self._drawn
        seed = hashlib.sha256(self._name).digest() + drawn.to_bytes(8, "big")
        return hashlib.shake_256(seed).digest(32 if nbytes is None else nbytes)


_STREAM = _Stream()
begin = _STREAM.begin


def wanted() -> bool:
    """Return whether secrets of tests are to be repeatable."""
    return os.environ.get("UNSPOKEN_TEST_ENTROPY") != "fresh"


def install() -> None:
    """Draw from the stream of the test that runs."""
    if wanted():
        secrets.token_bytes = _STREAM.token_bytes
