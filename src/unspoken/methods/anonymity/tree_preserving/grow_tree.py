"""Grow the trees of this release again, with nothing but Python and numpy.

    python grow_tree.py [folder of the release]

`cells.json` holds every combination of predictors and target that was released, and how many
records have it; `manifest.json` the rules, and the trees that must come out, node by node.
"""

import json
import math
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

getcontext().prec = 50
Json = dict[str, Any]

@cache
def log(n: int) -> Decimal:
    """Return n log2 n."""
    return n * Decimal(n).ln() / Decimal(2).ln() if n else Decimal(0)


def worth(criterion: str, parts: list[int]) -> Any:
    """Return what a node is worth; parts are class counts, or records and the target's sum."""
    if criterion == "gini":
        return Fraction(sum(n * n for n in parts), sum(parts))
    if criterion == "variance":
        return Fraction(parts[1] * parts[1], parts[0])
    return sum(map(log, parts), -log(sum(parts)))


def score(rule: Json, total: Any, children: list[Any]) -> float:
    """Return what a split gains, exact and rounded once; -inf if a child is too small."""
    criterion, whole = rule["criterion"], [[int(n) for n in part] for part in [total, *children]]
    sizes = [part[0] if criterion == "variance" else sum(part) for part in whole]
    if min(sizes[1:]) < max(rule["min_leaf"], 1):
        return -math.inf
    gain = sum((worth(criterion, part) for part in whole[1:]), -worth(criterion, whole[0]))
    if criterion == "gain-ratio":
        gain /= log(sizes[0]) - sum(map(log, sizes[1:]))
    return float(gain)


class Column:
    """One predictor in codes: numbers by rank, missing last; categories in the published order."""
    def __init__(self, values: list[Any], numeric: bool, groups: Any) -> None:
        self.numeric = numeric
        listed = groups or [[v, [v]] for v in
                            sorted(set(values), key=lambda v: (v is None, v or type(v)()))]
        self.values = [label for label, _ in listed if not (numeric and label is None)]
        self.members = {m: at for at, (_, members) in enumerate(listed) for m in members}
        place = {value: at for at, value in enumerate(self.values)}
        self.codes = np.array([place.get(v, len(self.values)) for v in values], np.int64)


def size(rule: Json, parts: Any) -> Any:
    """Return the records of one or many nodes."""
    return parts[..., 0] if rule["criterion"] == "variance" else parts.sum(axis=-1)


def cuts(rule: Json, total: Any, counts: Any, present: list[int], column: Column) -> Any:
    """Yield score and split of every cut of a number, the lowest first, missing right first."""
    some, left = bool(size(rule, counts[-1])), np.zeros_like(total)
    for at, code in enumerate(present):
        left = left + counts[code]
        if (last := at + 1 == len(present)) and not some:
            return
        low, high = column.values[code], math.inf if last else column.values[present[at + 1]]
        threshold = half if (half := low / 2.0 + high / 2.0) != high or last else low
        more = bool(2 * size(rule, left) >= size(rule, total)) and not some
        yield score(rule, total, [left, total - left]), (code, threshold, more)
        if some and not last:
            yield score(rule, total, [left + counts[-1], total - left - counts[-1]]), (
                code, threshold, True)


def two_ways(rule: Json, total: Any, counts: Any, present: list[int]) -> Any:
    """Yield score and route of every division of categories, in the order of the target."""
    for key in [1] if counts.shape[1] == 2 else range(counts.shape[1]):
        order = sorted(present, key=lambda c: float(counts[c][key]) / float(size(rule, counts[c])))
        left = np.zeros_like(total)
        for at, code in enumerate(order[:-1]):
            left = left + counts[code]
            absent = int(2 * size(rule, left) < size(rule, total))
            route = [int(c not in order[:at + 1]) if c in present else absent
                     for c in range(len(counts))]
            yield score(rule, total, [left, total - left]), route


def many_ways(rule: Json, total: Any, counts: Any, present: list[int]) -> Any:
    """Yield score and route of one child per category; absent ones go with the largest."""
    if len(present) < 2:
        return
    large = max(present, key=lambda c: (size(rule, counts[c]), -c))
    owner = [c if c in present else large for c in range(len(counts))]
    rank = {c: at for at, c in enumerate(dict.fromkeys(owner))}
    yield score(rule, total, [counts[c] for c in present]), [rank[c] for c in owner]


def best_split(rule: Json, columns: list[Column], parts: Any, rows: Any) -> Any:
    """Return (score, column, split) of the first of the best; None if nothing gains enough."""
    total, best = parts[rows].sum(axis=0), (-math.inf, -1, None)
    for at, column in enumerate(columns):
        counts = np.zeros((len(column.values) + column.numeric, parts.shape[1]), np.int64)
        np.add.at(counts, column.codes[rows], parts[rows])
        seen = [c for c in range(len(column.values)) if size(rule, counts[c])]
        ways = two_ways if rule["categories"] == "two-way" else many_ways
        for value, split in (cuts(rule, total, counts, seen, column) if column.numeric
                             else ways(rule, total, counts, seen)):
            if value > best[0]:
                best = (value, at, split)
    own = abs(float(worth(rule["criterion"], [int(n) for n in total])))
    return best if best[0] > 1e-10 * (1 if rule["criterion"] == "gain-ratio" else own) else None


def grow(rule: Json, columns: list[Column], parts: Any) -> list[Json]:
    """Return the nodes after the published number of steps."""
    nodes: list[Json] = [{"rows": np.arange(len(parts))}]
    for _ in range(rule["steps"]):
        for node in nodes:
            if "best" not in node:
                node["best"] = best_split(rule, columns, parts, node["rows"])
        leaves = [node for node in nodes if "first" not in node and node["best"] is not None]
        if rule["order"] == "best-first":
            leaves = [max(leaves, key=lambda node: node["best"][0] * (
                int(size(rule, parts[node["rows"]]).sum())
                if rule["criterion"] == "gain-ratio" else 1))]
        for node in leaves:
            _, at, split = node["best"]
            of, rows = columns[at], node["rows"]
            codes, many = of.codes[rows], 2 if of.numeric else max(split) + 1
            side = np.array(split)[codes] if not of.numeric else \
                (codes > split[0]) & ~((codes == len(of.values)) & split[2])
            node["first"], node["children"] = len(nodes), many
            nodes += [{"rows": rows[side == child]} for child in range(many)]
    return nodes


def response(rule: Json, tree: Json, target: list[Any], counts: Any) -> Any:
    """Return the parts of every cell: a count per class, or records and the sum of steps."""
    if rule["criterion"] != "variance":
        place = [tree["classes"].index(value) for value in target]
        return np.eye(len(tree["classes"]), dtype=np.int64)[place] * counts[:, None]
    numbers = np.array(target, np.float64)
    low, span = float(numbers.min()), float(numbers.max()) - float(numbers.min())
    bits = 2 * min(20, (62 - int(counts.sum()).bit_length()) // 2) - 1
    unit = 2.0 ** (math.ceil(math.log2(max(span, 2.0**-900))) - bits)
    unit = max(unit, 1.0) if span < 2**bits and (np.rint(numbers) == numbers).all() else unit
    steps = np.rint((numbers - (low + unit * np.rint(span / 2 / unit))) / unit).astype(np.int64)
    return np.stack([counts, counts * steps], axis=1)


def difference(tree: Json, nodes: list[Json], columns: list[Column], counts: Any) -> str:
    """Return where a grown tree differs from the published one; empty if nowhere."""
    if len(nodes) != tree["nodes"]:
        return f"{len(nodes)} nodes, published are {tree['nodes']}"
    for at, node in enumerate(nodes):
        mine: list[Any] = [int(counts[node["rows"]].sum()), -1, -1, 0, 0.0, 0, []]
        if "first" in node:
            _, name, split = node["best"]
            of = columns[name]
            mine[1:4] = name, node["first"], node["children"]
            mine[4:6] = (split[1], int(split[2])) if of.numeric else (0.0, 0)
            mine[6] = [] if of.numeric else [
                split[of.members[m]] for m in tree["categories"][tree["features"][name]]]
        theirs = [tree["n_samples"][at], tree["feature"][at], tree["first_child"][at],
                  tree["children"][at], float(tree["threshold"][at]), tree["missing_left"][at],
                  tree["route"][at]]
        if mine != theirs:
            return f"node {at}: grown {mine}, published {theirs}"
    return ""


def main(folder: Path) -> int:
    """Grow and compare every tree; return how many differ."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    cells = json.loads((folder / "cells.json").read_text(encoding="utf-8"))
    groups, counts, wrong = manifest["mechanism"]["groups"], np.array(cells["counts"]), 0
    columns = [Column(cells["columns"][name], name in cells["numeric"], groups.get(name))
               for name in manifest["guarantee"]["facts"]["predictors"]]
    for at, rule in enumerate(manifest["stopping_rules"]):
        if rule["learner"] != "unspoken":
            continue
        tree, target = manifest["trees"][at], cells["columns"][rule["target"]]
        parts = response(rule, tree, target, counts)
        why = difference(tree, grow(rule, columns, parts), columns, counts)
        wrong += bool(why)
        print(f"tree {at}: {why or 'identical'}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)))
