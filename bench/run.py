"""Run the benchmarks and write docs/bench.md: `make bench`, or name tasks to run only those."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import growth
import harness
import sizes
import tasks_anonymity
import tasks_anonymize
import tasks_attack
import tasks_baskets
import tasks_decode
import tasks_encode
import tasks_joint
import tasks_joint_bayes
import tasks_joint_clusters
import tasks_joint_regression
import tasks_joint_rules
import tasks_joint_trees
import tasks_noise
import tasks_rotation
import tasks_sets

START, END = "<!-- measured: start -->", "<!-- measured: end -->"
INTRO = """Written by `make bench`. Every row was measured in one run on one machine ({cpus} cores):
the answer is checked first, then the shortest of several runs is taken. Ratios below 1 mean that we
are faster. "Instead" is what somebody would use in our place, "floor" is the least work that any
solution must do. Data that is not there is left out by name.

{versions}

"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="tasks to run; all without any")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--out", default=str(harness.ROOT / "docs" / "bench.md"))
    parser.add_argument("--smoke", action="store_true", help="every task once, at a tiny size: "
                        "does it run, is its answer right? Nothing is written")
    parser.add_argument("--growth", action="store_true", help="the tasks at four sizes, and how "
                        "their time grows with them; takes twice as long, writes its own table")
    arguments = parser.parse_args()
    if arguments.task:
        harness.inside(arguments.task)
        return 0
    names = arguments.names or list(harness.TASKS)
    if arguments.growth:
        return grow(names, Path(arguments.out))
    rows, failed = measure(names, sizes.SMOKE if arguments.smoke else 1.0)
    table = harness.markdown(rows)
    print(table)
    tell(failed)
    if arguments.smoke:
        return int(bool(failed))
    if not arguments.names:
        write_page(Path(arguments.out), table, list(failed))
        write_rows(Path(arguments.out).with_suffix(".json"), rows, list(failed))
    return int(bool(failed) or any(row.reached.startswith("NO") for row in rows))


def tell(failed: dict[str, str]) -> None:
    """Print which tasks failed and why."""
    for name, why in failed.items():
        print(f"{name} did not end:\n{why}", file=sys.stderr)


def grow(names: list[str], page: Path) -> int:
    """Measure the tasks at four sizes and put the exponents into the page."""
    runs, failed = {}, {}
    for scale in growth.SCALES:
        runs[scale], ended = measure(names, scale)
        failed |= ended
    table = growth.markdown(growth.exponents(runs))
    print(table)
    tell(failed)
    if set(names) == set(harness.TASKS):
        write_part(page, growth.MARKS, growth.INTRO + table + "\n")
    return int(bool(failed))


def measure(names: list[str], scale: float) -> tuple[list[harness.Row], dict[str, str]]:
    """Run the tasks one after the other; one that fails is named and does not end the run."""
    rows: list[harness.Row] = []
    failed: dict[str, str] = {}
    for name in names:
        start = time.perf_counter()
        try:
            measured = harness.run_one(name, scale)
        except RuntimeError as error:
            failed[name], measured = str(error), []
        rows += measured
        print(f"{name}: {time.perf_counter() - start:.0f} s", *harness.lines(measured), sep="\n",
              file=sys.stderr, flush=True)
    return rows, failed


def write_page(page: Path, table: str, failed: list[str]) -> None:
    """Put the table where the last one stood; what was written by hand stays."""
    head = INTRO.format(cpus=os.cpu_count(), versions=harness.versions())
    missing = f"\n\nDid not run: {', '.join(failed)}.\n" if failed else "\n"
    write_part(page, (START, END), f"{head}{table}{missing}")


def write_part(page: Path, marks: tuple[str, str], text: str) -> None:
    """Put a text between its marks, at the end of the page where they are not yet."""
    start, end = marks
    before, after = page.read_text() if page.exists() else "# Measurements\n\n", "\n"
    if start in before:
        before, rest = before.split(start, 1)
        after = rest.split(end, 1)[1]
    page.write_text(f"{before}{start}\n{text}{end}{after}")


def write_rows(path: Path, rows: list[harness.Row], failed: list[str]) -> None:
    """Write the same rows for programs."""
    content = {"versions": harness.versions(), "rows": [asdict(row) for row in rows],
               "failed": failed}
    path.write_text(json.dumps(content, indent=1) + "\n")


def _modules() -> tuple[object, ...]:
    """The task modules, which register themselves when imported."""
    return (tasks_anonymity, tasks_anonymize, tasks_attack, tasks_baskets, tasks_decode,
            tasks_encode, tasks_joint, tasks_joint_bayes, tasks_joint_clusters,
            tasks_joint_regression, tasks_joint_rules, tasks_joint_trees, tasks_noise,
            tasks_rotation, tasks_sets)


if __name__ == "__main__":
    raise SystemExit(main())
