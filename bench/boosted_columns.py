"""Boosted trees over columns of two sites, timed: seconds, bytes, memory, and the pooled trees.

    python bench/boosted_columns.py ROWS COLUMNS TREES DEPTH [one-process] [no-pooled]

prints one line for docs/bench.md. Sites and a dealer are processes over TLS, or tasks of one
process, and then the processor seconds are those of all of them.
Columns are numbers cut at 15 quantiles; a tenth of one column is missing.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np

from unspoken.joint.tasks.boosted_trees.boost_sites import BoostSite, own_questions
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.boosted_trees.pooled_columns import pooled_boost_columns
from unspoken.joint.tasks.boosted_trees.program_columns import mine_boost_columns
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.boosted_part import BoostedPart

NAMES = ("north", "south")
POINTS = 15


def sites_of(rows: int, columns: int) -> tuple[dict[str, BoostSite], Any]:
    """Return two sites with half of the columns each, and the classes."""
    random = np.random.default_rng(5)
    table = {f"x{i}": random.normal(size=rows) for i in range(columns)}
    score = sum(table[f"x{i}"] * (1.5 if i % 3 else -1.0) / (1 + i) for i in range(columns))
    score = score + table["x0"] * table["x1"] + random.normal(0, 0.5, rows)
    table["x1"][random.random(rows) < 0.1] = np.nan
    labels = np.where(score > 0, "yes", "no").astype(object)
    sites = {}
    for place, name in enumerate(NAMES):
        own = {n: v for i, (n, v) in enumerate(table.items()) if i % 2 == place}
        sites[name] = BoostSite(own_questions(own, tuple(own), POINTS), own,
                                labels if place == 0 else None)
    return sites, labels


def odds_of(parts: dict[str, BoostedPart], sites: dict[str, BoostSite], rows: int) -> Any:
    """Return the log-odds of all records by trees whose parts are all here."""
    odds = np.zeros(rows)
    for place, tree in enumerate(parts["north"].trees):
        node = np.zeros(rows, np.int64)
        for each in np.flatnonzero(tree.owner >= 0).tolist():
            name = NAMES[int(tree.owner[each])]
            answers = parts[name].trees[place].answers(each, sites[name].columns)
            here = node == each
            node[here] = tree.first_child[each] + answers[here]
        numbers = np.zeros(tree.nodes)
        numbers[tree.leaf_nodes] = parts["north"].numbers[place]
        odds += numbers[node]
    return odds


def main() -> None:
    """Run once and print."""
    rows, columns, trees, depth = map(int, sys.argv[1:5])
    sites, labels = sites_of(rows, columns)
    slots = max(len(site.questions) for site in sites.values())
    shape = TreeShape(("no", "yes"), "north", slots, 2)
    rules, boost = TreeParams(max_depth=depth), Boost(trees)
    start, busy = time.perf_counter(), time.process_time()
    parts, ledgers = mine_boost_columns(sites, shape, rules, boost,
                                        processes="one-process" not in sys.argv)
    wall, busy = time.perf_counter() - start, time.process_time() - busy
    sent = sum(r.bytes for ledger in ledgers.values() for r in ledger.rows
               if r.direction == "received")
    start = time.process_time()
    alone = parts if "no-pooled" in sys.argv else pooled_boost_columns(sites, shape, rules, boost)
    pooled = time.process_time() - start
    right = [((odds_of(each, sites, rows) > 0) == (labels == "yes")).mean()
             for each in (parts, alone)]
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF,
                                                             resource.RUSAGE_CHILDREN)) / 1024
    print(f"| {rows:,} x {columns}, {trees} trees of depth {depth}, {2 * slots} questions | "
          f"{wall:.1f} s | {busy:.1f} s | {sent / 1e9:.2f} GB | "
          f"{sent / rows / columns * 1e6 / 1e9:.2f} GB | {peak:,.0f} MiB | {pooled:.1f} s | "
          f"{right[0]:.4f}, {right[1]:.4f} |")


if __name__ == "__main__":
    main()
