"""From the nodes of C4.5 to the pattern: cuts as values, one branch for each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.labels import Label
from unspoken.numerics.c45_tree import C45Node, SplitColumn

Members = tuple[tuple[str | None, ...], ...]
"""The categories behind each number of a column; empty for numbers."""


@dataclass(frozen=True, eq=False)
class C45Inputs:
    """What the nodes of C4.5 speak of: columns with their names, and the categories behind them."""

    names: tuple[str, ...]
    columns: Sequence[SplitColumn]
    members: Sequence[Members]


def tree_from_c45(root: C45Node, inputs: C45Inputs, classes: tuple[Label, ...]) -> CategoricalTree:
    """Return a grown tree as a pattern; a branch that no record took predicts as its parent."""
    nodes, first = _in_rows(root)
    used = {node.column for node in nodes if node.branches and inputs.members[node.column]}
    return CategoricalTree(
        "classification", inputs.names, classes,
        {inputs.names[place]: tuple(_sorted(inputs.members[place])) for place in sorted(used)},
        feature=np.array([node.column for node in nodes], np.int64),
        threshold=np.array([_threshold(node, inputs) for node in nodes], np.float64),
        missing_left=np.zeros(len(nodes), np.bool_),
        first_child=np.array(first, np.int64),
        children=np.array([len(node.branches) for node in nodes], np.int64),
        route=tuple(_route(node, inputs) for node in nodes),
        value=_values(nodes, first),
        n_samples=np.array([node.rows.size for node in nodes], np.int64),
        impurity=np.array([_entropy(node) for node in nodes], np.float64),
        single=True,
    )


def _in_rows(root: C45Node) -> tuple[list[C45Node], list[int]]:
    """Return the nodes level by level, and where the children of each begin (-1: none)."""
    nodes, first = [root], []
    for node in nodes:
        first.append(len(nodes) if node.branches else -1)
        nodes += node.branches
    return nodes, first


def _sorted(members: Members) -> list[str | None]:
    return sorted((label for group in members for label in group),
                  key=lambda label: (label is None, label or ""))


def _threshold(node: C45Node, inputs: C45Inputs) -> float:
    values = inputs.columns[node.column].values if node.branches else None
    return 0.0 if values is None else float(values[node.cut])


def _route(node: C45Node, inputs: C45Inputs) -> tuple[int, ...]:
    members = inputs.members[node.column] if node.branches else ()
    branch = {label: place for place, group in enumerate(members) for label in group}
    return tuple(branch[label] for label in _sorted(members))


def _values(nodes: Sequence[C45Node], first: Sequence[int]) -> Floats:
    out = np.zeros((len(nodes), nodes[0].counts.size))
    out[0] = nodes[0].counts / max(nodes[0].rows.size, 1)
    for place, node in enumerate(nodes):
        for child, branch in enumerate(node.branches, first[place]):
            size = branch.rows.size
            out[child] = branch.counts / size if size else out[place]
    return out


def _entropy(node: C45Node) -> float:
    shares = node.counts[node.counts > 0] / max(node.rows.size, 1)
    return float(-(shares * np.log2(shares)).sum()) + 0.0
