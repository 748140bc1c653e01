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

import harness
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
    arguments = parser.parse_args()
    if arguments.task:
        harness.inside(arguments.task)
        return 0
    names = arguments.names or list(harness.TASKS)
    rows, failed = measure(names)
    table = harness.markdown(rows)
    print(table)
    for name, why in failed.items():
        print(f"{name} did not end:\n{why}", file=sys.stderr)
    if not arguments.names:
        write_page(Path(arguments.out), table, list(failed))
        write_rows(Path(arguments.out).with_suffix(".json"), rows, list(failed))
    return int(bool(failed) or any(row.reached.startswith("NO") for row in rows))


def measure(names: list[str]) -> tuple[list[harness.Row], dict[str, str]]:
    """Run the tasks one after the other; one that fails is named and does not end the run."""
    rows: list[harness.Row] = []
    failed: dict[str, str] = {}
    for name in names:
        start = time.perf_counter()
        try:
            measured = harness.run_one(name)
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
    part = f"{START}\n{head}{table}{missing}{END}"
    before, after = "# Measurements\n\n", "\n"
    if page.exists() and START in page.read_text():
        before, rest = page.read_text().split(START, 1)
        after = rest.split(END, 1)[1]
    page.write_text(before + part + after)


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
