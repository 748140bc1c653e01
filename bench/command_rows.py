"""`unspoken protect` as a user types it beside DuckDB's bare copy of the same file.

    python bench/command_rows.py 20000000 5

Copy, release in order and shuffled release take turns; medians are compared, in wall and in
processor time, with the peak memory of each. Processor times say more on a machine that others use.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

from data import big_parquet
from harness import SCRATCH

COPY = """
import duckdb, sys
source, out = sys.argv[1:]
duckdb.connect().execute(
    f"COPY (SELECT * FROM read_parquet('{source}')) TO '{out}' (FORMAT parquet)")
"""
ASKED = {"in order": 2.0, "shuffled": 3.0}
Run = tuple[float, float, float]
"""Seconds of wall and of processor time, and MiB at most."""


def timed(command: list[str]) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def copy(source: str) -> Run:
    return timed([sys.executable, "-c", COPY, source, str(SCRATCH / "copy.parquet")])


def release(source: str, shuffled: bool) -> Run:
    out, key = SCRATCH / "command", SCRATCH / "command.key"
    shutil.rmtree(out, ignore_errors=True)
    key.unlink(missing_ok=True)
    kept = [] if shuffled else ["--option", "shuffle_rows=false"]
    return timed([sys.executable, "-m", "unspoken.cli.main", "protect", source, "--target",
                  "Cover_Type", "--out", str(out), "--key", str(key), *kept])


def main(rows: int, repeats: int) -> None:
    source = big_parquet(rows)
    runs: dict[str, list[Run]] = {"copy": [], "in order": [], "shuffled": []}
    for _ in range(repeats):
        runs["copy"].append(copy(source))
        for name in ASKED:
            runs[name].append(release(source, name == "shuffled"))
    middle = {name: [statistics.median(run[i] for run in found) for i in range(3)]
              for name, found in runs.items()}
    for name, (wall, used, peak) in middle.items():
        print(json.dumps({
            "rows": rows, "what": name, "wall": round(wall, 2), "processor": round(used, 2),
            "MiB": round(peak), "ratio": round(wall / middle["copy"][0], 2),
            "processor ratio": round(used / middle["copy"][1], 2), "asked": ASKED.get(name)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
