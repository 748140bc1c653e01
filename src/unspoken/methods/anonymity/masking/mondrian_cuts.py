"""Mondrian (LeFevre, DeWitt and Ramakrishnan 2006): cutting records into classes, all at once.

Every round cuts all classes that can still be cut, each along the dimension on which it is widest
(or, with labels, along the one whose best cut predicts them best: the information-gain variant
that fu2010 section 5 compares with). Strict cuts send equal values to one side; relaxed ones
divide them so that both halves are equal. A cut stands only if both sides satisfy the
requirement. Rounds work on whole arrays: about log2(records / k) of them are needed.

A dimension with a hierarchy is cut between children of the lowest node that holds the class, so
that sides stay nodes, or runs of sibling nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.methods.anonymity.measures.equivalence_classes import dense

Requirement = Callable[[Ints, Ints], Bools]
"""(record numbers, their class from 0 without gaps) -> which classes satisfy it."""

_TINY = 1e-9


@dataclass(frozen=True)
class Dimension:
    """Ordered codes of the records, where each code lies, and ancestors.

    Widths are in units of `scale`, the width of the whole table. `ancestors[level, code]` must
    not decrease with the code; level 0 is the code itself.
    """

    codes: Ints
    place: Floats
    ancestors: Ints | None = None
    scale: float = 1.0

    def effective(self, rows: Ints, node: Ints, low: Ints, high: Ints) -> Ints:
        """Return codes among which a class may be cut: the children of its lowest ancestor."""
        if self.ancestors is None:
            return self.codes[rows]
        same = self.ancestors[:, low] == self.ancestors[:, high]
        level = np.maximum(same.argmax(axis=0) - 1, 0)
        return np.asarray(self.ancestors[level[node], self.codes[rows]])


@dataclass(frozen=True)
class Target:
    """What cuts should predict: one column of sums per record, and how mixed sums are."""

    columns: Floats
    mixed: Callable[[Floats], Floats]
    number: bool = False

    def counts(self, sums: Floats) -> Floats:
        """Return how many records are behind sums."""
        return np.asarray(sums[..., 0] if self.number else sums.sum(axis=-1))

    def rates(self, sums: Floats) -> Floats:
        """Return the mean behind sums; of classes the share of those but the commonest."""
        rest = sums[..., 1] if self.number else \
            sums.sum(axis=-1) - sums[..., int(self.columns.sum(axis=0).argmax())]
        return np.asarray(rest / np.maximum(self.counts(sums), 1.0))

    @classmethod
    def of_classes(cls, codes: Ints) -> Target:
        """Count classes: information gain."""
        return cls(np.eye(int(codes.max(initial=0)) + 1)[codes], _entropy)

    @classmethod
    def of_numbers(cls, values: Floats) -> Target:
        """Sum values and their squares: reduction of squared error."""
        moved = values - values.mean()
        return cls(np.column_stack([np.ones(values.size), moved, moved**2]), _squares, True)


def _entropy(sums: Floats) -> Floats:
    total = sums.sum(axis=-1)
    logs = np.where(sums > 0, sums, 1.0)
    return np.asarray(total * np.log(np.maximum(total, 1.0)) - (sums * np.log(logs)).sum(axis=-1))


def _squares(sums: Floats) -> Floats:
    return np.asarray(sums[..., 2] - sums[..., 1] ** 2 / np.maximum(sums[..., 0], 1.0))


def partition(dimensions: Sequence[Dimension], requirement: Requirement, k: int, *,
              strict: bool = True, target: Target | None = None, spare: int = 0,
              start: Ints | None = None) -> Ints:
    """Return the class of every record, from 0; -1 for those left out.

    All records together must satisfy the requirement. `spare`: how many may be left out where
    that lets the others be cut further. `start`: classes that are cut further, -1 for records
    that were left out before.
    """
    size = dimensions[0].codes.size
    owner = np.zeros(size, np.int64) if start is None else start.copy()
    active, done = np.flatnonzero(owner >= 0), 0
    while active.size:
        node = dense(owner[active])
        cut = _Round(dimensions, active, node, k, strict, target)
        side = cut.sides(requirement)
        side, spare = cut.trimmed(side, requirement, spare)
        ready = side == _STAY
        final = np.unique(node[ready], return_inverse=True)
        owner[active[ready]] = -2 - done - final[1].reshape(-1)
        done += final[0].size
        owner[active[side == _OUT]] = -1
        moving = (side == _LEFT) | (side == _RIGHT)
        owner[active[moving]] = 2 * node[moving] + side[moving]
        active = active[moving]
    return np.where(owner < -1, -2 - owner, -1)


_LEFT, _RIGHT, _STAY, _OUT = 0, 1, 2, 3


class _Round:
    """All classes of one round, sorted by class."""

    def __init__(self, dimensions: Sequence[Dimension], rows: Ints, node: Ints, k: int,
                 strict: bool, target: Target | None) -> None:
        order = np.argsort(node, kind="stable")
        self.back = np.empty(order.size, np.int64)
        self.back[order] = np.arange(order.size)
        self.rows, self.node = rows[order], node[order]
        self.starts = np.flatnonzero(np.r_[True, self.node[1:] != self.node[:-1]])
        self.sizes = np.diff(self.starts, append=self.node.size)
        self.k, self.strict, self.dimensions = k, strict, dimensions
        self.codes: list[Ints] = []
        self._measure(target)

    def _measure(self, target: Target | None) -> None:
        """Find how wide every class is on every dimension, and the best cuts for the target."""
        shape = (self.starts.size, len(self.dimensions))
        width, self.at = np.zeros(shape), np.full(shape, -1, np.int64)
        gain = np.zeros(shape)
        for index, one in enumerate(self.dimensions):
            own = one.codes[self.rows]
            low = np.minimum.reduceat(own, self.starts)
            high = np.maximum.reduceat(own, self.starts)
            width[:, index] = (one.place[high] - one.place[low]) / one.scale
            self.codes.append(one.effective(self.rows, self.node, low, high))
            if target is not None:
                gain[:, index], self.at[:, index] = self._best(index, target)
        useful = gain.max(axis=1, initial=0.0) > _TINY
        self.at[~useful] = -1
        score = np.where(useful[:, None], gain, width)
        self.choices = np.argsort(-score, axis=1, kind="stable")
        self.score = score

    def _best(self, index: int, target: Target) -> tuple[Floats, Ints]:
        """Return gain and last code on the left of every class's best cut; -1 for none."""
        codes = self.codes[index]
        order = _sorted(codes, self.node)
        ranked, node = codes[order], self.node
        sums = np.cumsum(target.columns[self.rows[order]], axis=0)
        base = np.vstack([np.zeros((1, sums.shape[1])), sums])[self.starts]
        whole = sums[self.starts + self.sizes - 1] - base
        count = np.arange(1, node.size + 1) - self.starts[node]
        edge = np.r_[(node[1:] == node[:-1]) & (ranked[1:] != ranked[:-1]), False]
        edge &= (count >= self.k) & (self.sizes[node] - count >= self.k)
        at = np.flatnonzero(edge)
        left = sums[at] - base[node[at]]
        held = target.mixed(left) + target.mixed(whole[node[at]] - left)
        gain = (target.mixed(whole)[node[at]] - held) / self.sizes[node[at]]
        best = np.full(self.starts.size, -np.inf)
        np.maximum.at(best, node[at], gain)
        hit = at[gain == best[node[at]]]
        cut = np.full(self.starts.size, -1, np.int64)
        cut[node[hit][::-1]] = ranked[hit][::-1]
        return np.where(cut >= 0, np.maximum(best, 0.0), 0.0), cut

    def sides(self, requirement: Requirement) -> Ints:
        """Return for every record whether it goes left or right, or its class stays."""
        side = np.full(self.node.size, _STAY, np.int64)
        open_ = self.sizes >= 2 * self.k
        for choice in range(self.choices.shape[1]):
            picked = self.choices[:, choice]
            for index in np.unique(picked[open_]):
                nodes = open_ & (picked == index) & (self.score[:, index] > 0)
                where = np.flatnonzero(nodes[self.node])
                if where.size == 0:
                    continue
                went = self._cut(where, int(index))
                good = self._allowed(where, went, requirement)
                side[where[good]] = went[good]
                open_[self.node[where[good]]] = False
        return side[self.back]

    def _cut(self, where: Ints, index: int) -> Ints:
        """Cut classes along one dimension, where the target says or at the median."""
        codes, node = self.codes[index][where], self.node[where]
        order = _sorted(codes, node)
        at = self.at[node, index]
        place = np.empty(where.size, np.int64)
        starts = np.flatnonzero(np.r_[True, node[1:] != node[:-1]])
        local = np.repeat(np.arange(starts.size), np.diff(starts, append=node.size))
        place[order] = np.arange(where.size) - starts[local]
        half = self.sizes[node] // 2
        if not self.strict:
            return np.asarray(np.where(at >= 0, codes > at, place >= half), np.int64)
        middle = codes[order][starts + self.sizes[node[starts]] // 2][local]
        below = np.add.reduceat((codes < middle).astype(np.int64), starts)[local]
        upto = np.add.reduceat((codes <= middle).astype(np.int64), starts)[local]
        size = self.sizes[node]
        under = np.minimum(below, size - below) >= np.minimum(upto, size - upto)
        median = np.where(under, codes >= middle, codes > middle)
        return np.asarray(np.where(at >= 0, codes > at, median), np.int64)

    def _allowed(self, where: Ints, went: Ints, requirement: Requirement) -> Bools:
        """Return which records are in classes both of whose sides satisfy the requirement."""
        child = 2 * self.node[where] + went
        fine = self._fine(where, child, requirement)
        return np.asarray((fine[0::2] & fine[1::2])[self.node[where]])

    def _fine(self, where: Ints, child: Ints, requirement: Requirement) -> Bools:
        """Return which sides satisfy the requirement, by their number."""
        fine = np.zeros(2 * self.starts.size, np.bool_)
        fine[child] = True
        fine[np.flatnonzero(fine)] = requirement(self.rows[where], dense(child))
        return fine

    def trimmed(self, side: Ints, requirement: Requirement, spare: int) -> tuple[Ints, int]:
        """Leave out the smaller side of a cut that fails, while the spare records last."""
        if spare <= 0:
            return side, spare
        now = side[np.argsort(self.back)] if side.size else side
        stuck = np.flatnonzero((now == _STAY) & (self.sizes > self.k)[self.node])
        index = self.choices[self.node[stuck], 0]
        for one in np.unique(index):
            where = stuck[(index == one) & (self.score[self.node[stuck], one] > 0)]
            if where.size:
                spare = self._trim(now, where, self._cut(where, int(one)), requirement, spare)
        return now[self.back], spare

    def _trim(self, now: Ints, where: Ints, went: Ints, requirement: Requirement,
              spare: int) -> int:
        count = np.zeros((self.starts.size, 2), np.int64)
        np.add.at(count, (self.node[where], went), 1)
        small = count.argmin(axis=1)
        few, node = count.min(axis=1), self.node[where]
        fine = self._fine(where, 2 * node + went, requirement)
        good = (few > 0) & fine[2 * np.arange(small.size) + 1 - small]
        order = np.flatnonzero(good)[np.argsort(few[good], kind="stable")]
        order = order[np.cumsum(few[order]) <= spare]
        chosen = np.zeros(small.size, np.bool_)
        chosen[order] = True
        mine = chosen[node]
        now[where[mine]] = np.where(went == small[node], _OUT, went)[mine]
        return spare - int(few[order].sum())


def _sorted(codes: Ints, node: Ints) -> Ints:
    """Return the order by class, then by code; one key is faster to sort than two."""
    return np.argsort(node * (int(codes.max(initial=0)) + 1) + codes, kind="stable")
