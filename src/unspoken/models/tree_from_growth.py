"""From growing on codes to the pattern: values, thresholds and categories of every node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Floats
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.tree_growth_rule import Groups, Growth, Learning, predictors, prepare
from unspoken.numerics.splitting import Split
from unspoken.numerics.tree_grower import Growing, Node, leaf_of_row
from unspoken.table.integer_columns import Steps
from unspoken.table.table import Table


def learn(table: Table, growth: Growth, steps: int | None = None, *,
          names: Sequence[str] | None = None, groups: Groups | None = None) -> CategoricalTree:
    """Grow a tree from a table: `steps` expansions, or as far as the growth says.

    `names`: the predictors, if not all that may be one. `groups`: the members of the released
    labels; the tree then speaks of the members.
    """
    growth = growth.for_table(table)
    asked = predictors(table, [str(growth.target)]) if names is None else tuple(names)
    learning = prepare(table, growth, asked, groups)
    growing = learning.start().grow(growth.max_leaves if steps is None else None, steps)
    return pattern(growing, learning).with_members(groups or {})


def pattern(growing: Growing, learning: Learning, step: int | None = None) -> CategoricalTree:
    """Return the tree after a step as a pattern."""
    size = growing.sizes[-1 if step is None else step]
    nodes = growing.nodes[:size]
    inner = dict(growing.inner(step))
    splits = [inner[i].split if i in inner else None for i in range(size)]
    # The categories of a column that is not asked about are nobody's business.
    used = {s.attribute for s in splits if s is not None and s.route is not None}
    return CategoricalTree(
        learning.growth.task, tuple(c.name for c in learning.columns), learning.classes,
        {c.name: c.labels for i, c in enumerate(learning.columns) if i in used},
        feature=np.array([-1 if s is None else s.attribute for s in splits], np.int64),
        threshold=np.array([_threshold(s, learning) for s in splits], np.float64),
        missing_left=np.array([s is not None and s.missing_left for s in splits], np.bool_),
        first_child=np.array([inner[i].children[0] if i in inner else -1 for i in range(size)],
                             np.int64),
        children=np.array([len(inner[i].children) if i in inner else 0 for i in range(size)],
                          np.int64),
        route=tuple(_route(s) for s in splits),
        value=_values(nodes, learning),
        n_samples=np.array([int(growing.criterion.size(n.total)) for n in nodes], np.int64),
        impurity=_impurities(growing, step, learning),
        single=True,
    )


def _threshold(split: Split | None, learning: Learning) -> float:
    if split is None or split.cut is None:
        return 0.0
    values = learning.columns[split.attribute].values
    assert values is not None
    low, high = split.cut
    return midpoint(values[low], values[high]) if high < values.size else float("inf")


def midpoint(low: float, high: float) -> float:
    """Return the threshold between two float32 values, as scikit-learn computes it."""
    middle = float(low) / 2.0 + float(high) / 2.0
    return float(low) if middle in (float(high), float("inf")) else middle


def _route(split: Split | None) -> tuple[int, ...]:
    return () if split is None or split.route is None else tuple(split.route.tolist())


def _values(nodes: Sequence[Node], learning: Learning) -> Floats:
    totals = np.array([node.total for node in nodes], np.int64)
    if learning.steps is None:
        return np.asarray(totals / totals.sum(axis=1, keepdims=True))
    steps = learning.steps
    means = [steps.middle + steps.unit * (_whole_sum(t, steps) / t[0]) for t in totals.tolist()]
    return np.array(means).reshape(-1, 1)


def _whole_sum(total: Sequence[int], steps: Steps) -> int:
    return (total[1] << steps.bits) + total[2]


def _impurities(growing: Growing, step: int | None, learning: Learning) -> Floats:
    """Return gini, entropy or variance of each node, from exact counts and sums."""
    nodes = growing.nodes[: growing.sizes[-1 if step is None else step]]
    totals = np.array([node.total for node in nodes], np.int64)
    if learning.steps is None:
        shares = growing.criterion.worth(totals.T) / growing.criterion.size(totals.T)
        return np.asarray(1.0 - shares if growing.criterion.name == "gini" else -shares)
    squares, unit = _squares(growing, step, learning.steps), learning.steps.unit
    sums = [_whole_sum(t, learning.steps) for t in totals.tolist()]
    # Python's whole numbers: one rounding, at the division.
    return np.array([(n * q - s * s) / (n * n) * unit * unit for n, s, q in
                     zip(totals[:, 0].tolist(), sums, squares, strict=True)])


def _squares(growing: Growing, step: int | None, steps: Steps) -> list[int]:
    """Return the exact sum of squared steps of each node."""
    leaf = leaf_of_row(growing, steps.steps.size, step)
    high, low = steps.steps >> steps.bits, steps.steps & ((1 << steps.bits) - 1)
    parts = []
    for product in (high * high, high * low, low * low):
        summed = np.zeros(growing.sizes[-1 if step is None else step], np.int64)
        np.add.at(summed, leaf, product)
        parts.append(summed.tolist())
    squares = [(hh << 2 * steps.bits) + (2 * hl << steps.bits) + ll
               for hh, hl, ll in zip(*parts, strict=True)]
    for index, node in reversed(growing.inner(step)):
        squares[index] = sum(squares[child] for child in node.children)
    return squares
