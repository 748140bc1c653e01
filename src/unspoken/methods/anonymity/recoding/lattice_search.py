"""The best node of a generalisation lattice, proven: branch and bound over all nodes at once.

Every node is a place of an array with one axis per column. Looking at a node settles many others
by one slice of that array:

    too small classes   more records are left out at a node, for k, than may be, or than the best
                        node so far could pay for: no fewer are left out below it
    a bound on the loss holds for the node and for everything above it, or below it

With no record left out, L, t, k-map and delta-presence only get better as classes merge, so that
they settle what lies below in the same way; with records left out they do not, and each node is
looked at for itself.
The next node is the middle one of those still open: whatever comes out of it, many are settled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.diversity_rules import Secret
from unspoken.methods.anonymity.recoding.collapsed_records import Classes, Collapsed, Node
from unspoken.methods.anonymity.recoding.outsiders import Outsiders
from unspoken.methods.anonymity.recoding.recoding_losses import Loss

Allows = Callable[[Secret, stats.Spread], Bools]


@dataclass(frozen=True)
class Optimum:
    """The best node, what it costs, and how many nodes had to be looked at to prove it."""

    node: Node
    cost: float
    left_out: int
    looked_at: int
    nodes: int


class LatticeSearch:
    """Finds the cheapest node that satisfies k, L and t with at most `spare` records left out."""

    def __init__(self, data: Collapsed, loss: Loss, spare: int, secrets: Sequence[Secret] = (),
                 allows: Allows | None = None, outsiders: Outsiders | None = None) -> None:
        self.data, self.loss, self.spare = data, loss, spare
        self.outsiders = outsiders
        self.allows = allows if secrets else None
        self.secrets = secrets
        # Sensitive values are counted once per combination; nodes only add these up.
        self.counted = [stats.spread(data.owner, one.codes) for one in secrets]
        self.looked_at = 0

    def run(self) -> Optimum | None:
        """Return the optimum; None if no node satisfies the demand."""
        bound, open_ = self.loss.base.astype(np.float64), np.ones(self.loss.base.shape, np.bool_)
        order = _heights(bound if bound.min() < bound.max() else _merged(self.data))
        best, chosen = np.inf, None
        while (at := _middle(open_ & (bound < best), order)) is not None:
            node: Node = tuple(int(i) for i in np.unravel_index(at, bound.shape))
            open_[node] = False
            self.looked_at += 1
            classes = self.data.look(node, min(self.spare, self.loss.most_out(best)))
            if classes is None:
                open_[_below(node)] = False
                continue
            self._bound(bound, classes)
            out = self._left_out(classes, open_)
            if out is None:
                continue
            cost = self.loss.cost(classes, out)
            if cost < best:
                best, chosen = cost, (node, int(classes.counts[out].sum()))
        return None if chosen is None else Optimum(chosen[0], float(best), chosen[1],
                                                   self.looked_at, int(bound.size))

    def _bound(self, bound: Floats, classes: Classes) -> None:
        """Raise the bounds of all nodes that the classes of one say something about."""
        above = tuple(slice(level, None) for level in classes.node)
        np.maximum(bound[above], self.loss.floor(classes), out=bound[above])
        finer = self.loss.finer(classes)
        if finer is not None:
            below = bound[_below(classes.node)]
            np.maximum(below, finer, out=below)

    def _left_out(self, classes: Classes, open_: Bools) -> Bools | None:
        """Return which classes are left out; None, and nodes below settled, if too many."""
        small = np.asarray(classes.counts < self.data.k)
        if self.allows is None and self.outsiders is None:
            return small
        out = small if self.allows is None else small | self._too_alike(classes)
        if self.outsiders is not None:
            out = out | self.outsiders.poor(self.data, classes)
        if int(classes.counts[out].sum()) <= self.spare:
            return out
        if self.spare == 0:
            open_[_below(classes.node)] = False
        return None

    def _too_alike(self, classes: Classes) -> Bools:
        """Return which classes have too little diversity or closeness."""
        assert self.allows is not None
        owner = self.data.class_of_combination(classes.node)
        poor = np.zeros(classes.counts.size, np.bool_)
        for one, counted in zip(self.secrets, self.counted, strict=True):
            summed = stats.spread(owner[counted.owner], counted.value, one.missing, counted.count)
            poor |= ~self.allows(one, summed)[owner[classes.members]]
        return poor


def _below(node: Node) -> tuple[slice, ...]:
    """Return the part of the lattice that holds a node and all that are finer."""
    return tuple(slice(None, level + 1) for level in node)


def _merged(data: Collapsed) -> Floats:
    """Return for every node how far its labels are merged: fewer combinations are possible."""
    out = np.zeros(())
    for widths in data.widths:
        out = out[..., None] - np.log(np.array(widths, np.float64))
    return out


def _heights(base: Floats) -> Ints:
    """Number the nodes by their bound, then by how high they stand."""
    height = np.indices(base.shape).sum(axis=0).reshape(-1)
    order = np.lexsort((height, base.reshape(-1)))
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return rank


def _middle(open_: Bools, order: Ints) -> int | None:
    """Return the open node in the middle of the order."""
    where = np.flatnonzero(open_)
    if where.size == 0:
        return None
    ranks = order[where]
    return int(where[np.argpartition(ranks, ranks.size // 2)[ranks.size // 2]])
