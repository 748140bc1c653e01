"""How the time of a task grows: the slope of log time over log size, of four sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness import Row

SCALES = (1 / 64, 1 / 16, 1 / 4, 1.0)
MARKS = "<!-- growth: start -->", "<!-- growth: end -->"
INTRO = """## Growth

Written by `python bench/run.py --growth`: every task at a sixty-fourth, a sixteenth, a fourth and
the whole of its size. An exponent of 1 means that twice the rows take twice the time; tasks with
much that does not depend on the rows (processes to start, rounds over a link) stay below it.

"""


def exponents(runs: Mapping[float, Sequence[Row]]) -> list[tuple[str, float, list[float]]]:
    """Return name, exponent and seconds of every row that was measured at four different sizes."""
    by_name = [_named(rows) for _, rows in sorted(runs.items())]
    out = []
    for name in by_name[-1]:
        rows = [each[name] for each in by_name if name in each]
        counts = [_rows_in(row.size) for row in rows]
        if len(rows) == len(SCALES) and len(set(counts)) == len(SCALES) and None not in counts:
            times = [row.ours for row in rows]
            out.append((name, float(np.polyfit(np.log(counts), np.log(times), 1)[0]), times))
    return out


def _named(rows: Sequence[Row]) -> dict[str, Row]:
    """Return rows by what they measure; the same with another peer or type is numbered."""
    named: dict[str, Row] = {}
    for row in rows:
        name = row.task if row.task not in named else f"{row.task} ({len(named)})"
        named[name] = row
    return named


def _rows_in(size: str) -> float | None:
    """Return the first number of a size: '20 million x 10' has 20,000,000 rows."""
    words = [word.strip(",;") for word in size.split()]
    for place, word in enumerate(words):
        if word.replace(",", "").isdigit():
            million = place + 1 < len(words) and words[place + 1] == "million"
            return float(word.replace(",", "")) * (1e6 if million else 1)
    return None


def markdown(found: Sequence[tuple[str, float, list[float]]]) -> str:
    """Return a table of exponents."""
    head = ["| task | exponent | seconds, smallest size first |", "| --- | --- | --- |"]
    return "\n".join(head + [f"| {name} | {slope:.2f} | {', '.join(f'{t:.3g}' for t in times)} |"
                             for name, slope, times in found])
