"""The default audit at size: time, memory, and whether progress with time left is shown.

    python bench/audit_scale.py [ROWS] [40-mixed] [30-numbers] [30-categories]

Protects 20 numbers and 20 categories of 200,000 people by default settings and audits them by the
command, in a process of its own with a terminal for its progress; then 30 columns of numbers
beside 30 of categories. Prints wall and processor seconds and the peak of memory of each.
"""

import os
import pty
import resource
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 200_000


def people(numbers: int, categories: int, rows: int) -> pa.Table:
    """Return people whose columns hang together: integers, fractions, few and many categories."""
    rng = np.random.default_rng(1)
    core = rng.normal(size=rows)
    columns = {}
    for k in range(numbers):
        value = 40 + 12 * (0.6 * core + 0.8 * rng.normal(size=rows))
        columns[f"n{k}"] = np.round(value).astype(np.int32) if k % 2 else np.round(value * 37, 2)
    for k in range(categories):
        size = (3, 8, 20, 60, 200)[k % 5]
        place = np.abs(0.5 * core + rng.normal(size=rows)) * size / 3
        columns[f"c{k}"] = np.array([f"{k}-{j}" for j in range(size)])[
            np.minimum(place.astype(int), size - 1)]
    columns["outcome"] = np.where(core + rng.normal(size=rows) > 0, "yes", "no")
    return pa.table(columns)


def measured(label: str, *words: str) -> tuple[bytes, float]:
    """Run a command with a terminal as its error stream; return what it showed there, and how long.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    shown, (ours, theirs) = [], pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "unspoken", *words], stderr=theirs,
                               stdout=subprocess.DEVNULL)
    os.close(theirs)
    reader = threading.Thread(target=_read, args=(ours, shown))
    reader.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    reader.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{label}: {wall:.1f} s, {spent:.1f} s of processors, {usage.ru_maxrss / 1024:,.0f} MiB, "
          f"exit status {os.waitstatus_to_exitcode(status)}", flush=True)
    return b"".join(shown), wall


def _read(end: int, shown: list[bytes]) -> None:
    while True:
        try:
            part = os.read(end, 65536)
        except OSError:
            return
        if not part:
            return
        shown.append(part)


def audited(folder: Path, label: str, numbers: int, categories: int, rows: int) -> float:
    """Protect and audit one table; return the seconds of the audit."""
    data, release = folder / f"{label}.parquet", folder / label
    pq.write_table(people(numbers, categories, rows), data)
    subprocess.run([sys.executable, "-m", "unspoken", "protect", str(data), "--target", "outcome",
                    "--out", str(release), "--key", f"{release}.key"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shown, wall = measured(f"{label}, {rows:,} rows", "audit", str(release), "--against", str(data),
                     "--target", "outcome", "--key", f"{release}.key", "--out", f"{release}.html")
    steps = shown.decode(errors="replace").split("\r")
    print("  progress:", next((one.strip() for one in steps[len(steps) // 2:] if "<" in one),
                              "none shown"), flush=True)
    return wall


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    took = {}
    with tempfile.TemporaryDirectory() as folder:
        for label, numbers, categories in (("40-mixed", 20, 20), ("30-numbers", 30, 0),
                                           ("30-categories", 0, 30)):
            if len(sys.argv) < 3 or label in sys.argv[2:]:
                took[label] = audited(Path(folder), label, numbers, categories, rows)
    if {"30-numbers", "30-categories"} <= set(took):
        print(f"30 categories take {took['30-categories'] / took['30-numbers']:.2f} of the time of "
              "30 numbers (2 allowed)")


if __name__ == "__main__":
    main()
