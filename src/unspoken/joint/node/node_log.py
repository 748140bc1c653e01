"""Structured logs: one JSON object per line on stderr, with names, sizes and numbers of studies.

Nothing that a study computes and nothing of a table is ever logged: events carry the fields that
are listed here, and no others.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from typing import TextIO

from unspoken.errors import UnspokenError

FIELDS = ("study", "peer", "attempt", "why", "version", "address", "count", "status", "door",
          "table")
LONGEST = 300


class NodeLog:
    """Writes events, and counts them for the metrics."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self.counts: Counter[str] = Counter()

    def event(self, name: str, **fields: str | int) -> None:
        """Write one event; fields that are not on the list are a mistake of the caller."""
        unlisted = set(fields) - set(FIELDS)
        if unlisted:
            raise ValueError(f"fields that are never logged: {sorted(unlisted)}")
        self.counts[name] += 1
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": name,
                **{key: _short(value) for key, value in fields.items()}}
        print(json.dumps(line), file=self._stream, flush=True)

    def refused(self, peer: str, why: str, **fields: str | int) -> None:
        """Write that something from outside was refused, and why."""
        self.event("refused", peer=peer, why=why, **fields)


def words_of(error: BaseException) -> str:
    """Return what may be said of an error: our own sentences, of any other its kind alone."""
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}"
    return str(error) if isinstance(error, UnspokenError) and str(error) else type(error).__name__


def _short(value: str | int) -> str | int:
    return value if isinstance(value, int) else value[:LONGEST]
