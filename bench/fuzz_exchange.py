"""Fuzz the model exchange: spoiled model, key and release files, decoded and predicted with.

    python bench/fuzz_exchange.py [--first N] [--cases N] [--seconds S] [--counts FILE]

Runs the cases of tests/support/fuzz_child.py, thousands of them in one child process, so that a
case that kills its process is seen, named and passed over. With --counts a run can be stopped and
gone on with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from long_runs import Progress, arguments

TESTS = Path(__file__).resolve().parent.parent / "tests"
CHILD = (sys.executable, "-m", "support.fuzz_child")
BATCH = 4000
STUCK = 120.0
"""Seconds by the clock after which a case that uses no processor time is taken as hanging."""


def environment() -> dict[str, str]:
    """Return what a child runs in."""
    places = [str(TESTS), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1"}


def run_batch(first: int, count: int, run: Progress) -> None:
    """Run one child, and count what it says, or the case at which it died."""
    with tempfile.TemporaryDirectory() as name:
        place, said = Path(name) / "place", Path(name) / "said"
        place.write_bytes((first - 1).to_bytes(8, "little", signed=True))
        with said.open("wb") as output, (Path(name) / "errors").open("wb") as errors:
            child = subprocess.Popen(
                [*CHILD, str(first), str(count), str(place)],
                stdout=output, stderr=errors, cwd=TESTS, env=environment())
            stuck = watch(child, place)
        at = int.from_bytes(place.read_bytes(), "little", signed=True)
        if child.returncode == 0:
            take(json.loads(said.read_text().splitlines()[-1]), run, first + count)
        elif at < first:
            raise SystemExit((Path(name) / "errors").read_text()[-2000:])
        else:
            passed_over(at, first, stuck, run)


def watch(child: subprocess.Popen[bytes], place: Path) -> bool:
    """Wait for a child; end it, and return True, if it stays at one case.

    Before its first case it loads libraries and fits models, which may take longer.
    """
    begun = at = place.read_bytes()
    since = time.monotonic()
    while True:
        try:
            child.wait(1.0)
            return False
        except subprocess.TimeoutExpired:
            pass
        if place.read_bytes() != at:
            at, since = place.read_bytes(), time.monotonic()
        elif time.monotonic() - since > STUCK * (10 if at == begun else 1):
            child.kill()
            child.wait()
            return True


def take(result: dict, run: Progress, following: int) -> None:
    """Count a child that came to its end."""
    run.notes += result["wrong"]
    run.reach({"seconds of processor time for a file": result["seconds"],
               "growth of a child in MiB": result["mib"]})
    run.add(result["counts"], following)


def passed_over(at: int, first: int, stuck: bool, run: Progress) -> None:
    """Run the cases before a death again, whose outcome it took along; count it and go on."""
    if at > first:
        run_batch(first, at - first, run)
    word = "hung" if stuck else "died"
    run.notes.append(f"case {at}: {word}")
    run.add({word: 1}, at + 1)


def main() -> int:
    """Run all batches; exit status 1 if anything died or went wrong."""
    wanted = arguments(__doc__ or "", 1_000_000, 100_000)
    run, began = Progress.of(wanted.first, wanted.counts), time.monotonic()
    end = wanted.first + wanted.cases
    while run.next < end and time.monotonic() - began < wanted.seconds:
        run_batch(run.next, min(BATCH, end - run.next), run)
        run.write()
        print(run.done, dict(run.counts), flush=True)
    print(run.summary())
    return 1 if {"wrong", "died", "hung"} & set(run.counts) else 0


if __name__ == "__main__":
    sys.exit(main())
