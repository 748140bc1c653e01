"""Records collapsed to their distinct quasi-identifiers, and their classes at a node.

A node of the generalisation lattice says on which level of its hierarchy each column stands. What
its classes are depends on the distinct combinations alone, and classes of a finer node can be
merged in place of records: every grouping is made from the one that already has the levels of the
columns that merge most, which many nodes share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded

Node = tuple[int, ...]
_STEMS = 1024
_MOST_HELD = 1 << 22
_DIRECT = 1 << 14


@dataclass(frozen=True, eq=False)
class LeveledColumn:
    """One column: for every level the label of each code, and how much each label hides.

    The last code is missing; it is a label of its own but where one label holds everything.
    `hidden[level][label]` is the share of the column's range, or of its values, that it covers.
    """

    name: str
    codes: Ints
    labels: tuple[Ints, ...]
    hidden: tuple[Floats, ...]

    @classmethod
    def of(cls, name: str, values: Coded, tree: Hierarchy) -> LeveledColumn:
        """Read a coded column beside its hierarchy."""
        places = tree.places(name, values.values())
        labels = []
        for level, above in enumerate(tree.ancestors):
            # A level of one label has nothing to tell apart: missing joins it.
            last = int(above.max(initial=0))
            labels.append(np.append(above[places], 0 if level and last == 0 else last + 1))
        hidden = tuple(_hidden(values, tree, level, labels[level])
                       for level in range(tree.levels + 1))
        return cls(name, values.codes, tuple(labels), hidden)

    @property
    def levels(self) -> int:
        """Return the number of levels, the values themselves included."""
        return len(self.labels)


def _hidden(values: Coded, tree: Hierarchy, level: int, labels: Ints) -> Floats:
    """Return for every label the share of the range or of the values that it covers."""
    above, size = tree.ancestors[level], int(labels.max()) + 1
    if level and int(above.max(initial=0)) == 0:
        return np.ones(size)
    if is_number(values.labels.type) and values.missing:
        numbers = np.asarray(to_numbers(values.labels), np.float64)
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, labels[:-1], numbers)
        np.maximum.at(high, labels[:-1], numbers)
        covered = np.where(high >= low, high - low, 0.0) / max(float(np.ptp(numbers)), 1e-300)
        return np.minimum(covered, 1.0)
    leaves = np.bincount(above, minlength=size)[:size]
    return np.maximum(leaves - 1, 0) / max(len(tree.rows) - 1, 1)


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a node: one combination out of each, and the records in it."""

    node: Node
    members: stats.Codes
    counts: stats.Codes


@dataclass
class Collapsed:
    """The distinct combinations of a table, and the classes that were formed from them."""

    columns: Sequence[LeveledColumn]
    k: int
    _kept: dict[Node, Classes] = field(default_factory=dict)
    _held: int = 0
    _last: tuple[Node, Ints] | None = None

    def __post_init__(self) -> None:
        self.owner = stats.classes([column.codes for column in self.columns])
        self.counts = stats.sizes(self.owner)
        # Half the memory where there are fewer than two billion records.
        self._kind = np.int32 if self.owner.size < 1 << 31 else np.int64
        first = np.empty(self.counts.size, np.int64)
        first[self.owner[::-1]] = np.arange(self.owner.size)[::-1]
        self.first = first
        # Labels of combinations, level by level, so that a node is only looked up.
        self.tables = [[labels[column.codes[first]].astype(np.int32) for labels in column.labels]
                       for column in self.columns]
        self.widths = [[int(labels.max()) + 1 for labels in column.labels]
                       for column in self.columns]
        self._bottom = Classes((0,) * len(self.columns), np.arange(first.size, dtype=self._kind),
                               self.counts.astype(self._kind))
        self._stem = self._stem_columns()

    def _stem_columns(self) -> list[int]:
        """Return the columns whose levels merge most, as far as all their levels can be kept."""
        merging = [widths[0] / min(widths) for widths in self.widths]
        stem, stems = [], 1
        for place in sorted(range(len(merging)), key=lambda at: -merging[at]):
            stems *= len(self.widths[place])
            if merging[place] > 1 and stems <= _STEMS:
                stem.append(place)
        return stem

    @property
    def rows(self) -> int:
        """Return the number of records."""
        return int(self.owner.size)

    def keys(self, node: Node, members: stats.Codes | None = None) -> tuple[stats.Codes, int]:
        """Return a number for the labels of each combination, and how large it can be."""
        size = self.counts.size if members is None else members.size
        used = [(table[level], widths[level]) for table, widths, level in
                zip(self.tables, self.widths, node, strict=True) if widths[level] > 1]
        total = math.prod(width for _, width in used)
        # Narrow numbers are half the work.
        key: stats.Codes = np.zeros(size, np.int32 if total < 1 << 31 else np.int64)
        so_far = 1
        for labels, width in used:
            if so_far * width >= 1 << 62:
                key = stats.dense(key)
                so_far = int(key.max(initial=0)) + 1
            key *= key.dtype.type(width)
            key += labels if members is None else labels.take(members)
            so_far *= width
        return key, so_far

    def look(self, node: Node, spare: float) -> Classes | None:
        """Group the combinations by their labels at a node; None if k is out of reach there.

        Keys are thrown into buckets first: classes that meet there only hide that they are small,
        so that most nodes out of reach are seen without forming classes.
        """
        below = self._below(node)
        key, total = self.keys(node, below.members)
        buckets = (1 << max(below.members.size.bit_length() + 1, 8)) - 1
        held = np.bincount(key if total <= buckets else key % key.dtype.type(buckets),
                           below.counts, min(total, buckets))
        if float(held[held < self.k].sum()) > spare:
            return None
        grouped = _grouped(node, key, total, below)
        short = int(grouped.counts[grouped.counts < self.k].sum())
        return None if short > spare else grouped

    def classes(self, node: Node) -> Classes:
        """Group the combinations by their labels at a node, in the order of the labels."""
        below = self._below(node)
        return _grouped(node, *self.keys(node, below.members), below)

    def _below(self, node: Node) -> Classes:
        """Return classes that only need merging: those with the stem's columns on their levels."""
        at = self._bottom
        for place in self._stem:
            if node[place]:
                levels = list(at.node)
                levels[place] = node[place]
                at = self._again(tuple(levels)) or self._keep(tuple(levels), at)
        return at

    def _again(self, node: Node) -> Classes | None:
        """Return classes that are at hand; what was used last is given up last."""
        at = self._kept.pop(node, None)
        if at is not None:
            self._kept[node] = at
        return at

    def _keep(self, node: Node, below: Classes) -> Classes:
        grouped = _grouped(node, *self.keys(node, below.members), below)
        self._kept[node] = grouped
        self._held += grouped.members.size
        while self._held > max(_MOST_HELD, self.counts.size) and len(self._kept) > 1:
            self._held -= self._kept.pop(next(iter(self._kept))).members.size
        return grouped

    def class_of_combination(self, node: Node) -> Ints:
        """Return the number of each combination's class, from 0 without gaps."""
        if self._last is None or self._last[0] != node:
            self._last = (node, stats.dense(self.keys(node)[0]))
        return self._last[1]


def _grouped(node: Node, key: stats.Codes, total: int, below: Classes) -> Classes:
    """Add up the records of equal keys; one member of each stands for its class."""
    if total <= max(_DIRECT, 4 * key.size):
        sums = np.bincount(key, below.counts, total).astype(below.counts.dtype)
        first = np.zeros(total, below.members.dtype)
        first[key] = below.members
        there = np.flatnonzero(sums)
        return Classes(node, first[there], sums[there])
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    return Classes(node, below.members[order][starts],
                   np.add.reduceat(below.counts[order], starts, dtype=below.counts.dtype))
