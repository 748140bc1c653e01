"""What a node of the generalisation lattice costs, and the least that any node above it costs.

    loss            mean share of the range or of the values that a label covers (Iyengar 2002's
                    LM); a record that is left out loses everything
    entropy         bits about the original values that labels no longer tell (Gionis and Tassa
                    2009, non-uniform entropy); a record that is left out loses all of them
    discernibility  records that each record cannot be told from, its own class; a record that is
                    left out costs as many as there are (Bayardo and Agrawal 2005)
    class           records whose class of quasi-identifiers has another commonest target, and all
                    that are left out, as a share (Iyengar 2002's CM)

Bounds. More records are left out further down the lattice, never fewer, so that what they cost
alone settles nodes (`most_out`). `floor` never exceeds the cost of the node itself nor of any node
above it: coarser labels tell less, classes only grow, and minorities only add up. Leaving a record
out costs at least what keeping it costs. So a node whose floor is not below the best cost so far
needs no second look, nor does anything above it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.methods.anonymity.method import LOSSES
from unspoken.methods.anonymity.recoding.collapsed_records import (
    Classes,
    Collapsed,
    LeveledColumn,
    Node,
)

_HAIR = 1.0 - 1e-12
"""Rounding must not lift a bound above the cost that it bounds."""
LOSS, ENTROPY, DISCERNIBILITY, CLASS = LOSSES


class Loss(Protocol):
    """One way of counting what is lost."""

    base: Floats
    """A bound for every node of the lattice that costs nothing to know."""

    def cost(self, classes: Classes, out: Bools) -> float:
        """Return what a node costs when some of its classes are left out."""

    def floor(self, classes: Classes) -> float:
        """Return a bound for a node and all above it."""

    def finer(self, classes: Classes) -> Floats | None:
        """Return a bound for every node at or below a node, in the lattice's axes, if any."""

    def most_out(self, cost: float) -> float:
        """Return how many records may be left out at most where less than a cost is paid."""


class ByLabel:
    """A loss that adds up over cells and depends on the label alone: `loss` and `entropy`."""

    def __init__(self, data: Collapsed, own: Sequence[Sequence[Floats]],
                 rest: Sequence[Sequence[Floats]]) -> None:
        """Take, per column and level, what labels lose per record, and what leaving out adds."""
        self.data, self.rest = data, rest
        self.scale = 1.0 / max(data.rows * len(data.columns), 1)
        counts = [_counts(column) for column in data.columns]
        parts = [np.array([float((n * lost).sum()) for n, lost in zip(number, levels, strict=True)])
                 for number, levels in zip(counts, own, strict=True)]
        self.base = _outer_sum(parts) * self.scale

    def cost(self, classes: Classes, out: Bools) -> float:
        """Add what is left out to what labels lose."""
        at, extra = classes.members[out], 0.0
        for place, level in enumerate(classes.node):
            labels = self.data.tables[place][level][at]
            extra += float((self.rest[place][level][labels] * classes.counts[out]).sum())
        return float(self.base[classes.node]) + extra * self.scale

    def floor(self, classes: Classes) -> float:
        """Return what the labels alone lose."""
        return float(self.base[classes.node])

    def finer(self, classes: Classes) -> Floats | None:
        """Return nothing: what labels lose is known for every node."""
        return None

    def most_out(self, cost: float) -> float:
        """Return no limit: a record may lose next to nothing by being left out."""
        return np.inf


def by_range(data: Collapsed) -> ByLabel:
    """Return the loss by the range or the values that labels cover."""
    return ByLabel(data, [column.hidden for column in data.columns],
                   [[1.0 - lost for lost in column.hidden] for column in data.columns])


def by_entropy(data: Collapsed) -> ByLabel:
    """Return the loss in bits about the original values."""
    own, rest = [], []
    for column in data.columns:
        counts = _counts(column)
        bits = [np.log2(np.maximum(n, 1.0)) for n in counts]
        first = float((counts[0] * bits[0]).sum())
        # Per record: log2 of how many share its label, less what its own value shared already.
        own.append([b - first / max(float((n).sum()), 1.0) for n, b in
                    zip(counts, bits, strict=True)])
        rest.append([np.log2(max(data.rows, 1)) - b for b in bits])
    return ByLabel(data, own, rest)


class ByClassSize:
    """Discernibility."""

    def __init__(self, data: Collapsed) -> None:
        self.rows, self.k = data.rows, data.k
        self.parts = [_parts(column) for column in data.columns]
        self.base = np.full(tuple(column.levels for column in data.columns),
                            float(self.rows * min(self.k, self.rows)))

    def cost(self, classes: Classes, out: Bools) -> float:
        """Return the sum of squared sizes, and all records for each that is left out."""
        kept = classes.counts[~out].astype(np.float64)
        return float((kept * kept).sum() + float(classes.counts[out].sum()) * self.rows)

    def floor(self, classes: Classes) -> float:
        """Return the sum with no class below k: above, a record's class is as large or larger."""
        sizes = classes.counts.astype(np.float64)
        return float((sizes * np.maximum(sizes, self.k)).sum())

    def finer(self, classes: Classes) -> Floats | None:
        """Return the sum of squares over the parts that a class is cut into further down.

        A class of n records in at most p parts has a sum of squares of at least n * n / p.
        """
        sizes = classes.counts.astype(np.float64)
        squares = float((sizes * sizes).sum()) * _HAIR
        parts = np.ones(())
        for column, level in zip(self.parts, classes.node, strict=True):
            parts = parts[..., None] * column[level]
        return np.asarray(squares / parts)

    def most_out(self, cost: float) -> float:
        """Divide what is left, when every record that stays costs k, by what leaving out adds."""
        if self.rows <= self.k:
            return np.inf
        return (cost - self.rows * self.k) / (self.rows - self.k)


class ByTarget:
    """The share of records that their class would misjudge."""

    def __init__(self, data: Collapsed, target: Ints) -> None:
        self.rows, self.labels = data.rows, int(target.max(initial=0)) + 1
        # Records collapsed together with their targets, the target last: what belongs to one
        # class stands together, and classes stand in their order.
        alone = LeveledColumn("", target, (np.arange(self.labels),), (np.zeros(self.labels),))
        self.joint = Collapsed([*data.columns, alone], 1)
        self.base = np.zeros(tuple(column.levels for column in data.columns))
        self._last: tuple[Node, Ints] | None = None

    def _minorities(self, classes: Classes) -> Ints:
        """Return for every class how many records have another target than its commonest."""
        if self._last is None or self._last[0] != classes.node:
            pairs = self.joint.classes((*classes.node, 0))
            key = self.joint.keys(pairs.node, pairs.members)[0] // self.labels
            starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
            few = np.add.reduceat(pairs.counts, starts) - np.maximum.reduceat(pairs.counts, starts)
            self._last = (classes.node, few)
        return self._last[1]

    def cost(self, classes: Classes, out: Bools) -> float:
        """Count minorities of the classes that stay, and everybody who is left out."""
        few = self._minorities(classes)
        return float(few[~out].sum() + classes.counts[out].sum()) / self.rows

    def floor(self, classes: Classes) -> float:
        """Count minorities of all classes."""
        return float(self._minorities(classes).sum()) / self.rows

    def finer(self, classes: Classes) -> Floats | None:
        """Return nothing: parts of a class may have no minority at all."""
        return None

    def most_out(self, cost: float) -> float:
        """Return what the records left out alone would cost."""
        return cost * self.rows


def loss_of(name: str, data: Collapsed, target: Ints | None) -> Loss:
    """Return the loss of that name; `class` needs a target."""
    if name == CLASS:
        assert target is not None
        return ByTarget(data, target)
    makers: dict[str, Callable[[Collapsed], Loss]] = {
        LOSS: by_range, ENTROPY: by_entropy, DISCERNIBILITY: ByClassSize}
    return makers[name](data)


def _counts(column: LeveledColumn) -> list[Floats]:
    """Return how many records have each label, level by level."""
    codes = np.bincount(column.codes, minlength=column.labels[0].size)
    return [np.bincount(labels, codes, int(labels.max()) + 1).astype(np.float64)
            for labels in column.labels]


def _parts(column: LeveledColumn) -> list[Floats]:
    """Return for every level the most labels of each level below that one of its labels holds."""
    seen = np.flatnonzero(np.bincount(column.codes, minlength=column.labels[0].size))
    out = []
    for level, high in enumerate(column.labels):
        pairs = (np.unique(np.column_stack([high[seen], low[seen]]), axis=0)[:, 0]
                 for low in column.labels[:level + 1])
        out.append(np.array([float(np.bincount(one).max()) for one in pairs]))
    return out


def _outer_sum(parts: Sequence[Floats]) -> Floats:
    out = np.zeros(())
    for part in parts:
        out = out[..., None] + part
    return out
