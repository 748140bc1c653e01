"""Growing a tree from codes, one step at a time, by counting (fu2010 section 3.1).

A step expands the one leaf whose split gains most (of equal ones the oldest), or every leaf of
the deepest level. The tree after each step is a prefix of the tree after the next, so smaller
trees cost nothing. Records are counted once for every column of the smaller children; what the
largest child holds is what the others leave of its parent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.numerics.split_search import layout
from unspoken.numerics.splitting import LEAST, NUMERIC, Criterion, Split, logs_upto

Codes = npt.NDArray[np.integer]
Rows = npt.NDArray[np.integer] | None
"""Row numbers; None is all of them."""

BEST_FIRST, LEVEL = ORDERS = ("best-first", "level")
_KEPT = 1 << 22
"""Histograms of waiting leaves are kept up to this many numbers, else counted again."""


@dataclass(frozen=True)
class Attribute:
    """One column in codes: numeric in the order of its values, missing last; or categories."""

    codes: Codes
    size: int
    kind: str

    @property
    def bins(self) -> int:
        """Return the number of codes, the one for missing numbers included."""
        return self.size + 1 if self.kind == NUMERIC else self.size

    def sides(self, split: Split, rows: Rows) -> npt.NDArray[np.integer]:
        """Return the child that each row goes to."""
        codes = self.codes if rows is None else self.codes.take(rows)
        if split.route is not None:
            return split.route.take(codes)
        assert split.cut is not None
        right = codes > split.cut[0]
        if split.missing_left:
            right &= codes != self.size
        return right.view(np.int8)


class Response(Protocol):
    """What is counted; `kind` is a type that holds every sum over rows."""

    rows: int
    parts: int
    kind: type[np.integer]

    def total(self, rows: Rows) -> Ints:
        """Return the parts of some rows together."""

    def histogram(self, attribute: Attribute, index: int, rows: Rows) -> Ints:
        """Return the parts of some rows by the codes of a column."""


class Labels:
    """A class a row; counting is one pass over codes in which column and class are joined."""

    def __init__(self, labels: Codes, classes: int) -> None:
        self.labels, self.parts, self.rows = labels, classes, int(labels.size)
        self.kind: type[np.integer] = np.int32 if self.rows < 2**31 else np.int64
        self._joined: dict[int, Codes] = {}

    def total(self, rows: Rows) -> Ints:
        """Return the number of rows of each class."""
        labels = self.labels if rows is None else self.labels.take(rows)
        return np.bincount(labels, minlength=self.parts).astype(np.int64)

    def histogram(self, attribute: Attribute, index: int, rows: Rows) -> Ints:
        """Return the number of rows by code and class."""
        width = attribute.bins * self.parts
        joined = self._joined.get(index)
        if joined is None:
            joined = self.labels.astype(np.min_scalar_type(width))
            joined *= joined.dtype.type(attribute.bins)
            joined += attribute.codes.astype(joined.dtype, copy=False)
            self._joined[index] = joined
        counts = np.bincount(joined if rows is None else joined.take(rows), minlength=width)
        return counts.reshape(self.parts, -1).astype(np.int64, copy=False)


class Parts:
    """Whole numbers a row, or a cell of many rows: each part is summed exactly.

    No sum of a part may pass 2**53, which float64 holds exactly.
    """

    kind: type[np.integer] = np.int64

    def __init__(self, parts: Ints, rows: int | None = None) -> None:
        self.columns = [np.ascontiguousarray(column, np.float64) for column in parts.T]
        self.parts = len(self.columns)
        self.rows = int(parts.shape[0]) if rows is None else rows

    def total(self, rows: Rows) -> Ints:
        """Return the sums of each part."""
        return np.array([(c if rows is None else c[rows]).sum() for c in self.columns]
                        ).astype(np.int64)

    def histogram(self, attribute: Attribute, index: int, rows: Rows) -> Ints:
        """Return the sums of each part by code."""
        codes = attribute.codes if rows is None else attribute.codes[rows]
        out = np.empty((self.parts, attribute.bins), np.int64)
        for place, column in enumerate(self.columns):
            weights = column if rows is None else column[rows]
            out[place] = np.bincount(codes, weights, attribute.bins)
        return out


@dataclass
class Node:
    """One node: its rows while it waits, and its best split; `children` once it was expanded."""

    total: Ints
    depth: int
    rows: Rows = None
    split: Split | None = None
    priority: float = -math.inf
    histogram: Ints | None = None
    children: tuple[int, ...] = ()
    siblings: tuple[Node, list[Node]] | None = None


@dataclass
class Growing:
    """A tree that grows step by step; `sizes[s]` is its number of nodes after s steps."""

    response: Response
    attributes: Sequence[Attribute]
    criterion: Criterion
    order: str = BEST_FIRST
    nodes: list[Node] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        root = Node(self.response.total(None), 0)
        self.nodes.append(root)
        self.sizes.append(1)
        counted = [self.response.histogram(a, i, None) for i, a in enumerate(self.attributes)]
        self.layout = layout([a.kind for a in self.attributes], [c.shape[1] for c in counted],
                             [bool(c[:, -1].any()) for c in counted])
        root.histogram = self._side_by_side([counted[i] for i in self.layout.order])
        self._unjudged = [root]

    @property
    def steps(self) -> int:
        """Return the number of steps taken."""
        return len(self.sizes) - 1

    def step(self) -> bool:
        """Expand once more; False if nothing can be split.

        New leaves are judged when the next step is taken: the last ones never need it.
        """
        while self._unjudged:
            self._judge(self._unjudged.pop())
        waiting = [i for i, node in enumerate(self.nodes)
                   if not node.children and node.split is not None]
        if not waiting:
            return False
        if self.order == BEST_FIRST:
            waiting = [max(waiting, key=lambda i: (self.nodes[i].priority, -i))]
        for index in waiting:
            self._expand(self.nodes[index])
        self.sizes.append(len(self.nodes))
        return True

    def grow(self, leaves: int | None = None, steps: int | None = None) -> Growing:
        """Grow to a number of leaves or of steps, or until nothing can be split."""
        while ((leaves is None or self.leaves() < leaves)
               and (steps is None or self.steps < steps)):
            if not self.step():
                break
        return self

    def leaves(self, step: int | None = None) -> int:
        """Return the number of leaves after a step."""
        size = self.sizes[-1 if step is None else step]
        return sum(1 for node in self.nodes[:size]
                   if not node.children or node.children[0] >= size)

    def inner(self, step: int | None = None) -> list[tuple[int, Node]]:
        """Return the inner nodes after a step, with their numbers."""
        size = self.sizes[-1 if step is None else step]
        return [(i, node) for i, node in enumerate(self.nodes[:size])
                if node.children and node.children[0] < size]

    def _count(self, node: Node) -> None:
        # Row numbers are kept narrow and are widened here once, not once a column.
        rows = None if node.rows is None else node.rows.astype(np.intp)
        node.histogram = self._side_by_side([
            self.response.histogram(self.attributes[i], i, rows) for i in self.layout.order])

    def _side_by_side(self, counted: Sequence[Ints]) -> Ints:
        """Join histograms; searching them is mostly reading them, so they are kept narrow."""
        return np.concatenate(counted, axis=1, dtype=self.response.kind, casting="same_kind")

    def _judge(self, node: Node) -> None:
        """Find the best split of a node, and forget what need not be kept."""
        if node.histogram is None:
            self._share(node)
        assert node.histogram is not None
        best = self.layout.search(self.criterion, node.total, node.histogram)
        if best is not None and best.score > self._floor(node):
            node.split = best
            node.priority = self.criterion.priority(node.total, best.score)
        if node.split is None or node.histogram.size > _KEPT:
            node.histogram = None

    def _floor(self, node: Node) -> float:
        if self.criterion.name == "gain-ratio":
            return LEAST
        return LEAST * abs(float(self.criterion.worth(node.total)))

    def _expand(self, node: Node) -> None:
        split = node.split
        assert split is not None
        sides = self.attributes[split.attribute].sides(split, node.rows)
        groups: list[Codes] = [np.flatnonzero(sides == side) for side in range(split.children)]
        if node.rows is not None:
            groups = [node.rows.take(group) for group in groups]
        elif self.response.rows < 2**31:
            groups = [group.astype(np.int32) for group in groups]
        born = [Node(total, node.depth + 1, group)
                for total, group in zip(self._totals(node, groups), groups, strict=True)]
        node.children = tuple(range(len(self.nodes), len(self.nodes) + len(born)))
        self.nodes.extend(born)
        self._unjudged.extend(born)
        for child in born:
            child.siblings = (node, born)
        node.rows = np.zeros(0, np.int32)

    def _totals(self, node: Node, groups: Sequence[Codes]) -> list[Ints]:
        """Return the totals of children; the largest holds what the others leave."""
        largest = max(range(len(groups)), key=lambda i: groups[i].size)
        totals = [node.total if i == largest else self.response.total(group)
                  for i, group in enumerate(groups)]
        totals[largest] = node.total - sum(t for i, t in enumerate(totals) if i != largest)
        return totals

    def _share(self, child: Node) -> None:
        """Count all children but the largest, which is the rest of the parent."""
        assert child.siblings is not None
        parent, born = child.siblings
        largest = max(born, key=lambda one: 0 if one.rows is None else one.rows.size)
        for one in born:
            if one is not largest or parent.histogram is None:
                self._count(one)
        if parent.histogram is not None:
            for one in born:
                if one is not largest and one.histogram is not None:
                    parent.histogram -= one.histogram
            largest.histogram, parent.histogram = parent.histogram, None
        for one in born:
            one.siblings = None


def start(response: Response, attributes: Sequence[Attribute], criterion: str, *,
          rows: int, scale: float = 1.0, min_leaf: int = 1, order: str = BEST_FIRST) -> Growing:
    """Return a tree of one node, ready to grow; `rows` counts records, not cells."""
    by = Criterion(criterion, logs_upto(rows, criterion), scale, min_leaf)
    return Growing(response, attributes, by, order)


def leaf_of_row(growing: Growing, rows: int, step: int | None = None) -> npt.NDArray[np.int32]:
    """Return the node that is each row's leaf after a step."""
    leaves = np.zeros(rows, np.int32)
    advance(growing, leaves, 0, growing.steps if step is None else step)
    return leaves


def advance(growing: Growing, leaf: npt.NDArray[np.int32], before: int, after: int) -> None:
    """Move rows from their leaves after one step to their leaves after a later one."""
    old = growing.sizes[before]
    for index, node in growing.inner(after):
        if node.children[0] < old:
            continue
        assert node.split is not None
        rows = np.flatnonzero(leaf == index)
        sides = growing.attributes[node.split.attribute].sides(node.split, rows)
        leaf[rows] = node.children[0] + sides
