"""What every joint task sends, on paper: bytes and rounds per record, counted by dry runs.

    python bench/joint_forecasts.py

writes the table of docs/scale.md. One small study of every task (three owners; parameters as in the
tests, which compare the same dry runs with real ones byte by byte) is run dry at three sizes, from
which follows how the bytes grow. Nothing is computed and nothing is sent: times are waiting
and sending alone.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.study_cases import CASES, modes_of, study_case  # noqa: E402

PAGE = ROOT / "docs" / "scale.md"
MARKS = "<!-- joint: start -->", "<!-- joint: end -->"
SIZES = (2_000, 4_000, 8_000)
DELAY, RATE = 0.02, 125e6
"""Seconds per round, and bytes per second: 20 ms and 1 Gbit/s."""
MILLION = 1_000_000
WITH_TAGS = ("sum", "bayes-columns", "tree", "kmeans", "classify")
"""Shown with tags, too: how much these add is much the same for the others."""
HEAD = ("| task | mode | rounds | bytes whatever the records | bytes per record | growth "
        "| a million records: bytes | waiting | sending |\n" + "|" + " --- |" * 9)


@dataclass(frozen=True)
class Forecast:
    """What a task takes at the sizes: rounds and bytes of all parties together."""

    task: str
    mode: str
    rounds: tuple[int, ...]
    bytes: tuple[int, ...]

    @property
    def squared(self) -> bool:
        """Return True where every pair of records is compared."""
        return self.bytes[-1] > 3 * self.bytes[-2]

    @property
    def grows(self) -> bool:
        """Return True where more records take more bytes; numbers of zeros vary by a little."""
        return self.bytes[-1] > 1.05 * self.bytes[-2]

    @property
    def each(self) -> float:
        """Return the bytes per record, or per pair of records."""
        if not self.grows:
            return 0.0
        if self.squared:
            return (self.bytes[-1] - self.bytes[-2]) * 2 / (SIZES[-1] ** 2 - SIZES[-2] ** 2)
        return (self.bytes[-1] - self.bytes[-2]) / (SIZES[-1] - SIZES[-2])

    def bytes_at(self, records: int) -> float:
        """Return the bytes for so many records."""
        many = (records ** 2 - SIZES[-1] ** 2) / 2 if self.squared else records - SIZES[-1]
        return self.bytes[-1] + self.each * many

    def rounds_at(self, records: int) -> float:
        """Return the rounds for so many records; blocks of records come one after the other."""
        step = self.rounds[-1] - self.rounds[-2]
        if step <= self.rounds[-1] // 10:
            return self.rounds[-1] + step * np.log2(records / SIZES[-1])
        many = (records / SIZES[-1]) ** (2 if self.squared else 1)
        return float(self.rounds[-1] * many)

    def line(self) -> str:
        """Return the row of the table."""
        fixed = 0.0 if self.squared else max(0.0, self.bytes[-1] - self.each * SIZES[-1])
        sent, rounds = self.bytes_at(MILLION), self.rounds_at(MILLION)
        shown = (f"{self.rounds[-1]:,}", f"{fixed:,.0f}",
                 f"{self.each:,.0f}" + (" a pair" if self.squared else ""),
                 "squared" if self.squared else "linear" if self.each else "none",
                 in_bytes(sent), duration(rounds * DELAY), duration(sent / RATE))
        return f"| {' | '.join((self.task, self.mode, *shown))} |"


def in_bytes(size: float) -> str:
    """Return a number of bytes for people."""
    for limit, unit, name in ((1e6, 1e3, "kB"), (1e9, 1e6, "MB"), (1e12, 1e9, "GB")):
        if size < limit:
            return f"{size / unit:.3g} {name}"
    return f"{size / 1e12:.3g} TB"


def duration(seconds: float) -> str:
    """Return a time for people."""
    if seconds < 0.1:
        return "below 0.1 s"
    for limit, size, unit in ((100, 1, "s"), (6000, 60, "min"), (360_000, 3600, "h")):
        if seconds < limit:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds / 86400:,.0f} days"


def forecast(task: str, mode: str, sizes: tuple[int, ...] = SIZES) -> Forecast:
    """Run a task dry at every size."""
    study, chosen, _ = study_case(task, mode)
    runs = [chosen.dry_run(study, size) for size in sizes]
    return Forecast(task, mode, tuple(run.rounds for run in runs), tuple(run.bytes for run in runs))


def modes_on_the_page(task: str) -> tuple[str, ...]:
    """Return the modes that the page shows: the cheapest, and the usual one of a few tasks."""
    shown = ("sums", "dealer", *(("authenticated",) if task in WITH_TAGS else ()))
    return tuple(mode for mode in shown if mode in modes_of(task))


def table() -> str:
    """Return the table for every task."""
    lines = []
    for task in CASES:
        for mode in modes_on_the_page(task):
            print(f"{task}, {mode}", file=sys.stderr, flush=True)
            lines.append(forecast(task, mode).line())
    return "\n".join([HEAD, *lines])


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(MARKS[0], 1)
    PAGE.write_text(f"{before}{MARKS[0]}\n{table()}\n{MARKS[1]}{rest.split(MARKS[1], 1)[1]}")
