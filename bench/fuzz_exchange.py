"""Fuzz the model exchange: `python bench/fuzz_exchange.py [CASES] [FIRST]` prints what happened.

Runs the cases of tests/support/fuzz_child.py in child processes, so that a case that kills its
process is seen and counted. 100,000 cases take about half an hour of one core.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
BATCH = 1000


def run_batch(first: int, count: int) -> tuple[Counter[str], list[str]]:
    """Return the counts of one child, and what went wrong in it."""
    places = [str(TESTS), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run([sys.executable, "-m", "support.fuzz_child", str(first), str(count)],
                          capture_output=True, text=True, check=False, cwd=TESTS,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(places)})
    if done.returncode != 0:
        return Counter(died=1), [f"cases from {first}: {done.stderr[-500:]}"]
    result = json.loads(done.stdout.splitlines()[-1])
    return Counter(result["counts"]), result["wrong"]


def main() -> int:
    """Run all batches; exit status 1 if anything died or went wrong."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    totals: Counter[str] = Counter()
    for first in range(start, start + cases, BATCH):
        counts, wrong = run_batch(first, min(BATCH, start + cases - first))
        totals += counts
        for line in wrong:
            print(line, flush=True)
        print(first + BATCH - start, dict(totals), flush=True)
    return 1 if totals["wrong"] or totals["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
