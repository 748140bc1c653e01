"""Putting records into intervals by all of their reports together, round by round.

ByClass as in as2000 section 4.2 gets every column right and combinations wrong: a record's interval
in one column does not depend on its other reports. Even with the true distributions of every
column the tree of function 2 is then 15 to 21 points below the original. So the tree itself is
taken as a model of how columns go together: inside a leaf they are independent, with the class's
own distribution cut to the leaf's box. One round

1. finds how much of each class lies in each leaf, by a few steps of EM over all reports of every
   record (the chance of a report given a box is known from the law of the distortion),
2. draws for every record a leaf and, inside its box, intervals, from what its reports allow,
3. grows the tree again.

This is stochastic EM for a density made of boxes. A few steps and leaves that hold many records
keep it from fitting the noise. The last tree is grown from several draws, and its leaves are
counted as in step 1. A table of records by leaves is held in memory, four bytes a cell. Where the
noise is narrow, order places records well and small leaves count for more: `blurred` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.methods.distortion.learners.learner_inputs import Column
from unspoken.models.tree import Tree

Narrow = npt.NDArray[np.float32]

ROUNDS = 6
LEAVES = 128
STEPS = 3
POOL = 3
"""How many draws the last tree is grown from."""
BLURRED = 0.2
"""Share of the variance that reports must leave open on average; below, order alone does better."""
LEAST, SHARE, TENTH = 100, 500, 10
"""A leaf holds a hundred records and one in 500 of all: a report says little about a leaf. In a
small table it holds a tenth of all."""


@dataclass(frozen=True)
class Boxes:
    """The leaves of a tree over interval numbers: [low, high) in every column."""

    leaves: Ints
    low: Ints
    high: Ints

    @classmethod
    def of(cls, tree: Tree, sizes: Sequence[int]) -> Boxes:
        """Walk down from the root, cutting the box at every split."""
        low = np.zeros((tree.nodes, len(sizes)), np.int64)
        high = np.tile(np.array(sizes, np.int64), (tree.nodes, 1))
        for node in np.argsort(tree.shape.depth, kind="stable").tolist():
            left, right = int(tree.left[node]), int(tree.right[node])
            if left < 0:
                continue
            index, cut = int(tree.feature[node]), int(np.floor(tree.threshold[node])) + 1
            for child in (left, right):
                low[child], high[child] = low[node], high[node]
            high[left, index] = min(cut, int(high[node, index]))
            low[right, index] = max(cut, int(low[node, index]))
        leaves = np.flatnonzero(tree.left < 0)
        return cls(leaves, low[leaves], high[leaves])


@dataclass(frozen=True)
class Reported:
    """One column in one class: where reports fall, and what they say about intervals.

    `within[k, j]`: of a report of kind k, the share that lies below interval j; `below[j]`: the
    same for the class without a report.
    """

    where: Ints
    within: Floats
    below: Floats

    @classmethod
    def of(cls, column: Column, where: Ints, shares: Floats) -> Reported:
        """Join the law of the column with the distribution of the class."""
        # Nothing is impossible: the estimate of an interval may be zero by chance.
        prior = shares + 1e-9
        joint = column.table * (prior / prior.sum())
        cumulated = np.concatenate([np.zeros((joint.shape[0], 1)), np.cumsum(joint, axis=1)],
                                   axis=1)
        return cls(where, cumulated / np.maximum(cumulated[:, -1:], 1e-300),
                   np.r_[0.0, np.cumsum(prior / prior.sum())])

    def ratios(self, low: Ints, high: Ints) -> Narrow:
        """Return how much likelier each report is inside each box than in the whole class."""
        table = (self.within[:, high] - self.within[:, low]) / (self.below[high] - self.below[low])
        return table.astype(np.float32)[self.where]

    def drawn(self, low: Ints, high: Ints, rng: np.random.Generator) -> Ints:
        """Return for every report an interval of its box, drawn from what the report allows."""
        first, last = self.within[self.where, low], self.within[self.where, high]
        level = first + (last - first) * rng.random(self.where.size)
        width = self.within.shape[1]
        # Rows are laid end to end, two apart, so that one search finds all places.
        flat = (self.within + 2.0 * np.arange(self.within.shape[0])[:, None]).ravel()
        place = np.searchsorted(flat, level + 2.0 * self.where, side="right") - 1
        return np.asarray(np.clip(place - self.where * width, low, high - 1))


@dataclass(frozen=True)
class Refiner:
    """Rounds over binned columns; `shares` holds one row per class for every column."""

    columns: Sequence[Column]
    codes: Ints
    shares: Sequence[Floats]
    grow: Callable[[Sequence[Ints]], Tree]
    seed: int

    def refined(self, assigned: Ints, rounds: int) -> Tree:
        """Return the tree over interval numbers after some rounds, its leaves counted anew."""
        rng = np.random.default_rng(self.seed)
        groups = [np.flatnonzero(self.codes == label) for label in range(self.shares[0].shape[0])]
        classes = self._reported(groups)
        draws = [assigned]
        for _ in range(rounds):
            tree = self.grow(draws[-1:])
            draws = [*draws[1 - POOL:], self._again(tree, draws[-1], groups, classes, rng)]
        # Draws differ by chance: the last tree is grown from several of them.
        tree = self.grow(draws[-POOL:])
        boxes = self._boxes(tree)
        counts = [self._in_leaves(tree, boxes, draws[-1][rows], own)[1] * rows.size
                  for rows, own in zip(groups, classes, strict=True)]
        return _counted(tree, boxes, np.column_stack(counts).astype(np.float64))

    def _reported(self, groups: Sequence[Ints]) -> list[list[Reported]]:
        where = [column.where for column in self.columns]
        return [[Reported.of(column, at[rows], own[label]) for column, at, own
                 in zip(self.columns, where, self.shares, strict=True)]
                for label, rows in enumerate(groups)]

    def _boxes(self, tree: Tree) -> Boxes:
        return Boxes.of(tree, [column.intervals for column in self.columns])

    def _in_leaves(self, tree: Tree, boxes: Boxes, assigned: Ints,
                   reported: Sequence[Reported]) -> tuple[Narrow, Narrow]:
        """Return the chances of a class's records in the leaves, and its share in each."""
        chances = _chances(reported, boxes)
        leaf = _leaf_numbers(tree, boxes, assigned)
        return chances, _masses(chances, np.bincount(leaf, minlength=boxes.leaves.size))

    def _again(self, tree: Tree, assigned: Ints, groups: Sequence[Ints],
               classes: Sequence[Sequence[Reported]], rng: np.random.Generator) -> Ints:
        """Draw everybody's leaf and intervals again from what all reports together allow."""
        boxes, out = self._boxes(tree), np.empty_like(assigned)
        for rows, reported in zip(groups, classes, strict=True):
            chances, masses = self._in_leaves(tree, boxes, assigned[rows], reported)
            picked = _picked(chances * masses, rng)
            for index, one in enumerate(reported):
                places = one.drawn(boxes.low[picked, index], boxes.high[picked, index], rng)
                exact = self.columns[index].exact
                # True reports stay where they are.
                out[rows, index] = places if exact is None \
                    else np.where(exact[rows] >= 0, exact[rows], places)
        return out


def left_open(column: Column) -> float:
    """Return the share of a column's variance, in intervals, that reports leave open on average.

    Zero for exact values; r^2 / (1 + r^2) for Gaussian noise r times as wide as Gaussian values.
    """
    shares = column.distribution(np.arange(column.where.size))
    joint, place = column.table * shares, np.arange(shares.size, dtype=np.float64)
    posterior = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    inside = posterior @ place**2 - (posterior @ place) ** 2
    counts = np.bincount(column.where, minlength=inside.size)
    whole = shares @ place**2 - (shares @ place) ** 2
    return float(counts @ inside / counts.sum() / max(float(whole), 1e-300))


def blurred(columns: Sequence[Column]) -> bool:
    """Return True if columns are distorted so far that records should be placed together."""
    open_ = [left_open(column) for column in columns if column.exact is None
             or np.any(column.exact < 0)]
    return bool(open_) and float(np.mean(open_)) >= BLURRED


def _leaf_numbers(tree: Tree, boxes: Boxes, assigned: Ints) -> Ints:
    place = np.zeros(tree.nodes, np.int64)
    place[boxes.leaves] = np.arange(boxes.leaves.size)
    return np.asarray(place[tree.apply(assigned)])


def _chances(reported: Sequence[Reported], boxes: Boxes) -> Narrow:
    """Return how likely every record is in every leaf, all of its reports together."""
    out = np.ones((reported[0].where.size, boxes.leaves.size), np.float32)
    for index, one in enumerate(reported):
        low, high = boxes.low[:, index], boxes.high[:, index]
        if np.any(low > 0) or np.any(high < high.max()):
            out *= one.ratios(low, high)
    return out


def _masses(chances: Narrow, start: Ints) -> Narrow:
    """Return the share of a class in every leaf, a few steps of EM from what was assigned."""
    masses = (start + 0.5).astype(np.float32)
    masses /= masses.sum()
    for _ in range(STEPS):
        expected = np.maximum(chances @ masses, np.float32(1e-30))
        masses = masses * (chances.T @ (1 / expected))
        masses /= max(float(masses.sum()), 1e-30)
    return masses


def _picked(weights: Narrow, rng: np.random.Generator) -> Ints:
    total = np.cumsum(weights, axis=1)
    level = rng.random(weights.shape[0], np.float32) * total[:, -1]
    return np.asarray(np.minimum((total < level[:, None]).sum(axis=1), weights.shape[1] - 1))


def _counted(tree: Tree, boxes: Boxes, counts: Floats) -> Tree:
    """Return the tree with other counts in its leaves, added up towards the root."""
    every = np.zeros((tree.nodes, counts.shape[1]))
    every[boxes.leaves] = counts
    for node in np.argsort(-tree.shape.depth, kind="stable").tolist():
        if tree.left[node] >= 0:
            every[node] = every[tree.left[node]] + every[tree.right[node]]
    total = np.maximum(every.sum(axis=1), 1e-9)
    return replace(tree, value=every / total[:, None], weighted_n_samples=total,
                   n_samples=np.rint(total).astype(np.int64))
