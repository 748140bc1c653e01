"""Run the benchmarks and write docs/bench.md: `make bench`, or name tasks to run only those."""

from __future__ import annotations

import argparse
import os
import sys
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

INTRO = """# Measurements

Written by `make bench`. Every row was measured in one run on one machine ({cpus} cores): the
answer is checked first, then the shortest of several runs is taken. Ratios below 1 mean that we
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
    rows: list[harness.Row] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += harness.run_one(name)
    table = harness.markdown(rows)
    print(table)
    if not arguments.names:
        head = INTRO.format(cpus=os.cpu_count(), versions=harness.versions())
        Path(arguments.out).write_text(head + table + "\n")
    return int(any(row.reached.startswith("NO") for row in rows))


def _modules() -> tuple[object, ...]:
    """The task modules, which register themselves when imported."""
    return (tasks_anonymity, tasks_anonymize, tasks_attack, tasks_baskets, tasks_decode,
            tasks_encode, tasks_joint, tasks_joint_bayes, tasks_joint_clusters,
            tasks_joint_regression, tasks_joint_rules, tasks_joint_trees, tasks_noise,
            tasks_rotation, tasks_sets)


if __name__ == "__main__":
    raise SystemExit(main())
