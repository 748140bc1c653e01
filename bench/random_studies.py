"""Two hundred random studies of every task, each against a reference that shares no code with it.

    PYTHONPATH=src:tests:bench python bench/random_studies.py [COUNT | FIRST:END] [TASK ...]

prints a line of docs/bench.md for each task, and every study that came out wrong; ends with 1 if
any did. All parties run in this process, mode `dealer` (or `sums` where a task needs no shares).
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

from support.random_studies import all_draws, trial_of
from support.random_studies.trials import Judged, one_connection, run


def worst_of(judged: list[Judged]) -> str:
    """Return the number that came nearest to its bound."""
    bounded = [one for one in judged if one.bound]
    if not bounded:
        return "exact"
    top = max(bounded, key=lambda one: one.error / one.bound)
    return f"{top.what}: {top.error:.1e} of {top.bound:.1e}"


def tried(task: str, numbers: range) -> tuple[list[Judged], int, int]:
    """Run the studies of a task; return what was judged, and how many were refused, and wrong."""
    judged, refused, wrong = list[Judged](), 0, 0
    for number in numbers:
        trial = trial_of(task, number)
        refused += trial.refused
        try:
            with tempfile.TemporaryDirectory() as folder:
                judged += run(trial, Path(folder))
        except Exception as error:
            wrong += 1
            print(f"wrong: {task} {number}: {type(error).__name__}: {error}", flush=True)
    return judged, refused, wrong


def main(words: list[str]) -> int:
    """Run and print."""
    warnings.simplefilter("ignore")
    first, _, end = (words[0] if words else "200").rpartition(":")
    numbers, failures = range(int(first or 0), int(end)), 0
    with one_connection():
        for task in words[1:] or list(all_draws()):
            since = time.process_time()
            judged, refused, wrong = tried(task, numbers)
            failures += wrong
            print(f"| {task} | {len(numbers)} | {refused} | {wrong} | {worst_of(judged)} | "
                  f"{time.process_time() - since:.0f} s |", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
