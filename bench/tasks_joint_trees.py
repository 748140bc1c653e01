"""Trees of three owners by processes over TLS, against growing them in one place, and MPyC.

MPyC's demo id3gini.py is not part of its package: name a copy (with its folder data/id3 beside
it) in UNSPOKEN_MPYC_ID3. What is not there is left out by name.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from data import adult as adult_rows
from harness import Row, best, task
from sizes import repeats, scaled
from tree_program import TimedColumns, TimedHidden, TimedRows
from unspoken.joint import run_local
from unspoken.joint.session.dry_run import DryRun, dry_run
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.tasks.tree.assumed_trees import columns_answers
from unspoken.joint.tasks.tree.hidden_program import ClassifyHidden
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams, attributes_of
from unspoken.joint.tasks.tree.pooled import grow_pooled
from unspoken.joint.tasks.tree.program_rows import Given
from unspoken.joint.tasks.tree.tree_sites import TreeShape, TreeSite
from unspoken.models.site_tree_part import join_parts

MPYC = "UNSPOKEN_MPYC_ID3"


def rows_run(
    layout: TreeLayout, codes: Any, labels: Any, rules: TreeParams
) -> tuple[float, float, int]:
    """Grow over three owners; return wall seconds, processor seconds of all, and bytes."""
    given = [Given(codes[:, i::3], labels[i::3]) for i in range(3)]
    outputs = run_local(TimedRows(layout, rules), given, "dealer", True)
    expected = grow_pooled(layout, codes, labels, rules)[0]
    assert all(found[0].same_as(expected) for found, _ in outputs)
    received = sum(r.bytes for _, ledger in outputs for r in ledger.rows
                   if r.direction == "received")
    return (max(found[1] for found, _ in outputs), sum(found[2] for found, _ in outputs),
            received)


def adult() -> tuple[TreeLayout, Any, Any]:
    """Return Adult: eight categories, six numbers cut at public points."""
    table = adult_rows(3_000)
    columns = {n: table[n].to_numpy(zero_copy_only=False) for n in table.column_names}
    *names, target = columns
    cuts = {}
    for name in names:
        if columns[name].dtype.kind in "if":
            some = columns[name][columns[name] > 0] if "capital" in name else columns[name]
            cuts[name] = np.unique(np.quantile(some, np.arange(1, 8) / 8)) + 0.5
    layout = TreeLayout(attributes_of(columns, cuts, names), tuple(sorted(set(columns[target]))),
                    target)
    return layout, layout.codes(columns), layout.labels(columns[target])


@task
def tree_over_rows_adult() -> list[Row]:
    layout, codes, labels = adult()
    rows = []
    for depth, least in ((3, 200), (5, 100)):
        rules = TreeParams(depth, least, 1 << 15)
        tree = grow_pooled(layout, codes, labels, rules)[0]
        alone = best(lambda r=rules: grow_pooled(layout, codes, labels, r), 5)
        wall, busy, sent = min(rows_run(layout, codes, labels, rules) for _ in range(repeats(3)))
        rows.append(Row(f"ID3 over rows, depth {depth}", f"Adult, {labels.size:,} x 14", wall,
                        "numpy, pooled", alone, "numpy, pooled", alone, 10,
                        note=f"{tree.nodes} nodes, {sent / 1e6:.0f} MB, {busy:.2f} s of "
                             "processors without the dealer"))
    return rows


def spread_columns(count: int) -> tuple[TreeLayout, dict[str, Any], dict[str, TreeSite]]:
    """Return twelve categories of 2 to 4 values, four at each of three sites, and a class."""
    random = np.random.default_rng(7)
    names = [f"a{i}" for i in range(12)]
    numbers = {n: random.integers(0, 2 + i % 3, count) for i, n in enumerate(names)}
    score = (numbers["a0"] + 0.7 * numbers["a4"] - 0.5 * numbers["a8"]
             + 0.6 * numbers["a2"] * numbers["a6"] + random.normal(0, 1, count))
    columns = {n: v.astype(str).astype(object) for n, v in numbers.items()}
    columns["class"] = np.where(score > 1.5, "p", "n").astype(object)
    layout = TreeLayout(attributes_of(columns, {}, names), ("n", "p"))
    return layout, columns, {
        f"p{k}": TreeSite(layout.attributes[4 * k:4 * k + 4], columns,
                      columns["class"] if k == 0 else None) for k in range(3)}


def forecast(program: Any, inputs: Any, answers: Any = None) -> DryRun:
    """Return what a dry run of a program counts."""
    return dry_run(program, inputs, roles_for(list(inputs), "dealer"), program.disclosures, answers)


@task
def tree_over_columns() -> list[Row]:
    count, depth = scaled(100_000, 2_000), 3
    layout, columns, sites = spread_columns(count)
    codes, labels = layout.codes(columns), layout.labels(columns["class"])
    rules = TreeParams(depth, 100)
    expected = grow_pooled(layout, codes, labels, rules)[0]
    alone = best(lambda: grow_pooled(layout, codes, labels, rules), 5)
    program = TimedColumns(TreeShape(("n", "p"), "p0", 4, 4), rules, list(sites))
    walls = []
    for _ in range(repeats(2)):
        outputs = run_local(program, list(sites.values()), "dealer", True)
        whole = join_parts([found[0] for found, _ in outputs], [a.name for a in layout.attributes])
        assert whole.same_as(expected)
        walls.append(max(found[1] for found, _ in outputs))
    sent = sum(r.bytes for _, ledger in outputs for r in ledger.rows if r.direction == "received")
    names = tuple(sites)
    plan = forecast(program, sites, lambda name: columns_answers(program.shape, names, name))
    return [Row(f"ID3 over columns, depth {depth}", f"{count:,} x 12, 3 sites", min(walls),
                "numpy, pooled", alone, "numpy, pooled", alone, 100,
                note=f"{expected.nodes} nodes, {sent / 1e6:.0f} MB; the plan said "
                     f"{plan.bytes / 1e6:.0f} MB, {plan.rounds} rounds")]


@task
def tree_that_nobody_sees() -> list[Row]:
    count, depth = scaled(20_000, 1_000), 3
    layout, columns, sites = spread_columns(count)
    codes, labels, rules = (
        layout.codes(columns),
        layout.labels(columns["class"]),
        TreeParams(depth, 100),
    )
    expected = grow_pooled(layout, codes, labels, rules)[0].predict(columns)
    alone = best(lambda: grow_pooled(layout, codes, labels, rules), 5)
    program = TimedHidden(TreeShape(("n", "p"), "p0", 4, 4), rules)
    program.disclosures = (*program.disclosures, *ClassifyHidden().disclosures)
    outputs = run_local(program, list(sites.values()), "dealer", True)
    assert all((found[0] == expected).all() for found, _ in outputs)
    # A site that holds no shares is done with growing early, and waits.
    _, grown, used = outputs[0][0]
    sent = sum(r.bytes for _, ledger in outputs for r in ledger.rows if r.direction == "received")
    plan = forecast(program, sites)
    return [Row(f"ID3 over columns, hidden, depth {depth}", f"{count:,} x 12, 3 sites", grown,
                "numpy, pooled", alone, "numpy, pooled", alone, 400,
                note=f"21 nodes of 4 branches; classifying all records {used:.1f} s; "
                     f"{sent / 1e6:.0f} MB; the plan said {plan.bytes / 1e6:.0f} MB, "
                     f"{plan.rounds} rounds")]


@task
def tree_against_mpyc() -> list[Row]:
    demo = os.environ.get(MPYC)
    if not demo:
        print(f"MPyC's id3gini is left out: {MPYC} names no copy of it", file=sys.stderr)
        return []
    found = []
    for number, name in ((1, "balance-scale"), (2, "car")):
        layout, codes, labels = _demo_data(Path(demo).parent / "data" / "id3" / f"{name}.csv")
        # The demo stops where at most 5% of all records are left.
        rules = TreeParams(
            len(layout.attributes), labels.size // 20 + 1, 1 << labels.size.bit_length()
        )
        start = time.perf_counter()
        done = subprocess.run([sys.executable, demo, "-M3", f"-i{number}"], check=True, text=True,
                              capture_output=True, cwd=Path(demo).parent, timeout=1800)
        seconds = _elapsed(done.stdout + done.stderr) or time.perf_counter() - start
        wall, busy, _ = min(rows_run(layout, codes, labels, rules) for _ in range(repeats(3)))
        found.append(Row("ID3 over rows", f"{name}, {labels.size:,} x {len(layout.attributes)}",
                         wall, "MPyC id3gini", seconds, "MPyC id3gini", seconds, 0.05,
                         note=f"{busy:.2f} s of processors without the dealer"))
    return found


def _elapsed(text: str) -> float | None:
    """Return the seconds that MPyC says it took."""
    said = re.search(r"elapsed time: (\d+):(\d+):([\d.]+)", text)
    return None if said is None else sum(
        float(part) * size for part, size in zip(said.groups(), (3600, 60, 1), strict=True))


def _demo_data(path: Path) -> tuple[TreeLayout, Any, Any]:
    head, *rows = list(csv.reader(path.open()))
    place = 0 if head[0].lower().startswith("class") else len(head) - 1
    table = np.array(rows, object)
    columns = {name: table[:, i] for i, name in enumerate(head)}
    names = [name for i, name in enumerate(head) if i != place]
    layout = TreeLayout(attributes_of(columns, {}, names), tuple(sorted(set(table[:, place]))),
                    head[place])
    return layout, layout.codes(columns), layout.labels(columns[head[place]])
