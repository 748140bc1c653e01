"""One table of measurements: ours, what a user would pick instead, and a floor, in one run.

Every task runs in a process of its own, checks its answer before it measures, and reports ratios
within that run; seconds are for orientation only, ratios are what is compared.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import sizes
from unspoken_experiments.data_sets import find

ROOT = Path(__file__).resolve().parents[1]
SCRATCH = ROOT / "bench-data"

TASKS: dict[str, Callable[[], list[Row]]] = {}


@dataclass(frozen=True)
class Row:
    """One line of the table; `goal` is the ratio that must not be exceeded, if one was set."""

    task: str
    size: str
    ours: float
    peer: str
    peer_seconds: float
    floor: str
    floor_seconds: float
    goal: float | None = None
    against: str = "peer"
    note: str = ""
    peak_mib: float = 0.0

    @property
    def ratio(self) -> float:
        return self.ours / self.peer_seconds

    @property
    def floor_ratio(self) -> float:
        return self.ours / self.floor_seconds

    @property
    def reached(self) -> str:
        if self.goal is None:
            return ""
        found = self.ratio if self.against == "peer" else self.floor_ratio
        return f"{'yes' if found <= self.goal else 'NO'} (at most {self.goal:g} x {self.against})"


def task(function: Callable[[], list[Row]]) -> Callable[[], list[Row]]:
    TASKS[function.__name__] = function
    return function


def best(function: Callable[[], Any], repeats: int = 5) -> float:
    """Return the shortest of some wall times."""
    times = []
    for _ in range(sizes.repeats(repeats)):
        gc.collect()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def shared(name: str) -> Path | None:
    """Return the file of a data set, or None; `unspoken reproduce --fetch` brings most of them."""
    return find(name)


def run_one(name: str, scale: float = 1.0) -> list[Row]:
    """Run a task in a fresh process, at a share of its size, and add its peak memory."""
    command = [sys.executable, str(ROOT / "bench" / "run.py"), "--task", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, sizes.VARIABLE: str(scale)})
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-3000:]}")
    return [Row(**entry) for entry in json.loads(done.stdout.splitlines()[-1])]


def inside(name: str) -> None:
    """Run a task here and print its rows as JSON."""
    rows = TASKS[name]()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    filled = [asdict(r) | ({} if r.peak_mib else {"peak_mib": peak}) for r in rows]
    print(json.dumps(filled))


HEAD = ("task", "size", "ours (s)", "instead", "(s)", "ratio", "floor", "(s)", "ratio",
        "peak MiB", "reached", "note")


def markdown(rows: list[Row]) -> str:
    head = ["| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD)]
    return "\n".join([*head, *lines(rows)])


def lines(rows: list[Row]) -> list[str]:
    """Return the rows of the table, without its head."""
    shown = []
    for r in rows:
        cells = (r.task, r.size, f"{r.ours:.3g}", r.peer, f"{r.peer_seconds:.3g}",
                 f"{r.ratio:.2f}", r.floor, f"{r.floor_seconds:.3g}", f"{r.floor_ratio:.2f}",
                 f"{r.peak_mib:.0f}", r.reached, r.note)
        shown.append("| " + " | ".join(cells) + " |")
    return shown


def versions() -> str:
    names = ("unspoken", "numpy", "pyarrow", "duckdb", "scikit-learn", "randomgen")
    found = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    return f"Python {platform.python_version()}, {found}"
