"""Measurements of hours: counts in a file, so that a run can be stopped and gone on with.

Every case is a number, from which everything about it is drawn. The file says which case comes
next, what happened so far and how long it took; a run that was stopped or killed loses at most the
cases since the file was last written.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

EVERY = 10.0
"""Seconds between two writings of the file."""


@dataclass
class Progress:
    """Where a run stands; `path` None keeps it in memory alone."""

    first: int
    path: Path | None = None
    next: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    largest: dict[str, float] = field(default_factory=dict)
    _since: float = field(default_factory=time.monotonic)
    _written: float = 0.0

    @classmethod
    def of(cls, first: int, path: Path | None) -> Progress:
        """Begin at a case, or go on where the file says; another first case is refused."""
        begun = cls(first, path, first)
        if path is None or not path.exists():
            return begun
        known = json.loads(path.read_text())
        if known["first"] != first:
            raise SystemExit(f"'{path}' holds a run that begins at case {known['first']}, not at "
                             f"{first}. Name another file, or go on with --first {known['first']}.")
        begun.next, begun.seconds = known["next"], known["seconds"]
        begun.counts.update(known["counts"])
        begun.notes, begun.largest = known["notes"], known["largest"]
        return begun

    @property
    def done(self) -> int:
        """Return the number of cases that are through."""
        return self.next - self.first

    def add(self, counts: dict[str, int], following: int) -> None:
        """Count cases; the one that comes next is `following`."""
        self.counts.update(counts)
        self.next = following
        if time.monotonic() - self._written > EVERY:
            self.write()

    def reach(self, largest: dict[str, float]) -> None:
        """Keep the largest of each measure."""
        for name, value in largest.items():
            self.largest[name] = max(value, self.largest.get(name, 0.0))

    def write(self) -> None:
        """Write the file at once or not at all."""
        now = time.monotonic()
        self.seconds, self._since, self._written = self.seconds + now - self._since, now, now
        if self.path is None:
            return
        text = json.dumps({"first": self.first, "next": self.next, "seconds": self.seconds,
                           "counts": dict(sorted(self.counts.items())), "notes": self.notes,
                           "largest": self.largest}, indent=1)
        spare = self.path.with_name(self.path.name + ".new")
        spare.write_text(text)
        os.replace(spare, self.path)

    def summary(self) -> str:
        """Return the number of cases, their rate, and every count."""
        rate = self.done / self.seconds if self.seconds else 0.0
        lines = [f"cases {self.first} to {self.next - 1}: {self.done} in {self.seconds:.0f} s, "
                 f"{rate:.1f} a second"]
        lines += [f"{name}: {count}" for name, count in sorted(self.counts.items())]
        lines += [f"largest {name}: {value:.2f}" for name, value in sorted(self.largest.items())]
        return "\n".join(lines + self.notes)


def arguments(about: str, first: int, cases: int) -> argparse.Namespace:
    """Read which cases to run, for how long, and where to keep count."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--first", type=int, default=first, help="the first case")
    parser.add_argument("--cases", type=int, default=cases, help="how many, with those that the "
                        "file has counted already")
    parser.add_argument("--seconds", type=float, default=86_400.0, help="stop after this time")
    parser.add_argument("--counts", type=Path, metavar="FILE",
                        help="keep count in this file, and go on from it if it is there")
    return parser.parse_args()
