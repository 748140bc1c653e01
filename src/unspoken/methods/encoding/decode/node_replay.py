"""Replay: each node's threshold from the original values of the training rows that met it.

An exact splitter puts its threshold between the largest value that goes left and the smallest
that goes right *at that node*. Codes keep which rows those are; the original values of the same
rows therefore give the original threshold, to the last bit. bu2007's Theorem 2 applies the
inverse function to the encoded threshold instead: with codes 1->1, 2->8, 10->9 and a node that
holds {1, 10} it answers 1.5 where the truth is 5.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.code_ranks import Ranks
from unspoken.methods.encoding.decode.node_segments import Segments
from unspoken.methods.encoding.decode.training_rows import Rows
from unspoken.numerics.treewalk import LeafGroups, NodeRanges, Shape

Midpoint = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Nodes:
    """One mined tree in code space, and how to name it in a message."""

    shape: Shape
    feature: Ints
    threshold: Floats
    where: str = "tree"

    @property
    def inner(self) -> Bools:
        """Return which nodes split."""
        return ~self.shape.leaves


def foreign(where: str, node: int, detail: str) -> DecodeError:
    """Return the error for a tree that was not mined from these rows."""
    return DecodeError(
        f"{where}, node {node}: {detail}. The model was not mined from exactly these rows of "
        "this release. Pass the training data, weights and labels the miner's learner used, or "
        "decode with the right key."
    )


@dataclass(frozen=True)
class Sides:
    """Extreme values beside the thresholds of some nodes: codes and original values.

    `low` and `high` are below and above the threshold in original values; for a decreasing
    encoding they lie on the mined tree's right and left.
    """

    node: Ints
    left_code: Floats
    right_code: Floats
    low: Floats
    high: Floats


class Replay:
    """The rows of one tree grouped by leaf, ready to give the range of any column."""

    def __init__(self, nodes: Nodes, rows: Rows, bag: Ints, leaf: Ints) -> None:
        _check_size(nodes, bag)
        self.nodes = nodes
        self.rows = rows
        self.bag = bag
        self.leaf = leaf

    @cached_property
    def groups(self) -> LeafGroups:
        """Return the rows grouped by leaf, for ranges of whole columns."""
        return LeafGroups(self.nodes.shape, self.leaf)

    @cached_property
    def segments(self) -> Segments:
        """Return the rows of every node, side by side."""
        return Segments(self.nodes.shape, self.leaf)

    def check_counts(self, n_samples: Ints) -> None:
        """Refuse a tree whose nodes did not hold as many rows as it says."""
        counts = self.segments.count
        wrong = np.flatnonzero(counts != n_samples)
        if wrong.size:
            node = int(wrong[0])
            raise foreign(self.nodes.where, node,
                          f"it says {n_samples[node]} rows, and {counts[node]} reach it")

    def code_ranges(self, column: int) -> NodeRanges:
        """Return the range of codes below every node."""
        return self.groups.ranges(self.rows.codes[self.bag, column])

    def value_ranges(self, column: int) -> NodeRanges:
        """Return the range of original values below every node.

        From the rows, not from the code table: in permuted pieces the extreme code does not
        belong to the extreme value.
        """
        return self.groups.ranges(self.rows.values[self.bag, column])

    @cached_property
    def _beside(self) -> dict[str, Floats]:
        """Return what lies beside every threshold, in one pass over the rows of each level."""
        if self.rows.ranks is not None:
            return self._from_ranks(self.rows.ranks)
        below, above = (0, 1) if self.rows.book.increasing else (1, 0)
        wanted = {"left_code": (self.rows.codes, 0, np.fmax),
                  "right_code": (self.rows.codes, 1, np.fmin),
                  "low": (self.rows.values, below, np.fmax),
                  "high": (self.rows.values, above, np.fmin)}
        return self.segments.extremes(self.nodes.feature, self.bag, wanted)

    def _from_ranks(self, ranks: Ranks) -> dict[str, Floats]:
        """Return the same where each code stands for one value."""
        feature = np.where(self.nodes.inner, self.nodes.feature, 0)
        low, high = self.segments.beside(feature, ranks.table, self.bag)
        return {"left_code": ranks.code_at(feature, low),
                "right_code": ranks.code_at(feature, high),
                "low": ranks.value_at(feature, low), "high": ranks.value_at(feature, high)}

    def sides(self, chosen: Bools) -> Sides:
        """Return what lies beside the thresholds of the chosen nodes."""
        node = np.flatnonzero(chosen)
        return Sides(node, **{name: side[node] for name, side in self._beside.items()})


def replay_thresholds(replay: Replay, midpoint: Midpoint) -> Floats:
    """Return the original threshold of every inner node; infinite ones stay as they are.

    At every node the mined threshold must be the learner's own midpoint of the codes beside
    it. So a foreign model, or one mined from other rows, cannot be decoded silently wrong.
    """
    nodes = replay.nodes
    out = nodes.threshold.copy()
    sides = replay.sides(nodes.inner & np.isfinite(nodes.threshold))
    check_sides(nodes, sides, midpoint)
    out[sides.node] = midpoint(sides.low, sides.high)
    _check_infinite(replay, nodes.inner)
    return out


def check_sides(nodes: Nodes, sides: Sides, midpoint: Midpoint) -> None:
    """Refuse thresholds that are not the midpoint of the codes, or that cut a piece."""
    expected = midpoint(sides.left_code, sides.right_code)
    wrong = np.flatnonzero(expected != nodes.threshold[sides.node])
    if wrong.size:
        at = int(wrong[0])
        raise foreign(
            nodes.where, int(sides.node[at]),
            f"the threshold is {nodes.threshold[sides.node[at]]}, and the training rows beside "
            f"it have codes {sides.left_code[at]} and {sides.right_code[at]}",
        )
    _check_uncut(nodes, sides)


def _check_uncut(nodes: Nodes, sides: Sides) -> None:
    low, high = sides.low.astype(np.float32), sides.high.astype(np.float32)
    wrong = np.flatnonzero(~(low < high))
    if wrong.size:
        raise DecodeError(
            f"{nodes.where}, node {int(sides.node[wrong[0]])}: the split lies inside a piece "
            "whose codes were permuted, where no threshold on the original values exists. "
            "Mine with a learner that the guarantee covers, or encode with mode='strict'."
        )


def _check_infinite(replay: Replay, mine: Bools) -> None:
    """An infinite threshold separates missing values from all others."""
    node = np.flatnonzero(mine & np.isinf(replay.nodes.threshold))
    if node.size == 0:
        return
    sides = replay.sides(mine & np.isinf(replay.nodes.threshold))
    above = replay.nodes.threshold[node] > 0
    wrong = np.flatnonzero(~np.isnan(np.where(above, sides.right_code, sides.left_code)))
    if wrong.size:
        raise foreign(replay.nodes.where, int(node[wrong[0]]),
                      "an infinite threshold, with values on both sides")


def _check_size(nodes: Nodes, bag: Ints) -> None:
    if nodes.shape.left.size > max(2 * bag.size - 1, 1):
        raise DecodeError(
            f"{nodes.where} has {nodes.shape.left.size} nodes, and {bag.size} training rows give "
            f"at most {max(2 * bag.size - 1, 1)}. The model was not mined from these rows."
        )
