"""The best split of a node from counts: numeric cuts, two groups of categories, one child each.

Everything is counted in whole numbers, so that a sum never depends on the order of its parts. Two
tables in which a split sends the same records to the same sides therefore give it the same score,
bit for bit. A histogram has one column per value and the parts of the response as rows: the counts
of the classes, or (records, high part, low part) of a numeric response.

Candidates have a fixed order, and the first of the best wins: column by column, in a column from
the lowest cut on, missing values to the right before missing to the left. Scores are compared as
exact numbers, rounded once, so that rounding decides no tie. Taking candidates away
can then change the choice only if the chosen one goes (fu2010 section 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.numerics.exact_scores import exact_score

Ints = npt.NDArray[np.integer]

CRITERIA = ("gini", "entropy", "gain-ratio", "variance")
NUMERIC, TWO_WAY, MULTIWAY = KINDS = ("numeric", "two-way", "multiway")
LEAST = 1e-10
"""A split must improve a node by this share of its worth: less is rounding."""
_ROUNDING = 1e-12
"""Scores this close, as a share of what they are made of, may be the same number."""


@dataclass(frozen=True)
class Split:
    """A question: its column, how good it is, and where each value goes.

    `cut` holds the codes of the two values a numeric cut lies between; the second is the number
    of values where nothing but missing goes right. `route` holds the child of every category.
    """

    attribute: int
    score: float
    cut: tuple[int, int] | None = None
    missing_left: bool = False
    route: npt.NDArray[np.int16] | None = None
    children: int = 2


@dataclass(frozen=True)
class Criterion:
    """How splits are scored; `scale` turns the parts of a numeric response into one number."""

    name: str
    logs: Floats
    scale: float = 1.0
    min_leaf: int = 1

    def size(self, parts: Ints) -> Ints:
        """Return the number of records; the first axis holds the parts."""
        return np.asarray(parts[0] if self.name == "variance" else _across(parts))

    def worth(self, parts: Ints) -> Floats:
        """Return what a node of these records is worth; splitting adds to it."""
        return np.asarray(_WORTH[self.name](self, parts), np.float64)

    def score(self, total: Ints, left: Ints, right: Ints) -> Floats:
        """Return the score of two-way splits, -inf where a side is too small."""
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = self.worth(left)
            gain += self.worth(right)
            gain -= self.worth(total)
            if self.name == "gain-ratio":
                inside = self.logs[self.size(left)] + self.logs[self.size(right)]
                gain = gain / (self.logs[self.size(total)] - inside)
        if self.min_leaf > 1:
            small = (self.size(left) < self.min_leaf) | (self.size(right) < self.min_leaf)
            gain = np.where(small, -np.inf, gain)
        return np.asarray(gain)

    def settle(self, total: Ints, left: Ints, scores: Floats) -> Floats:
        """Return the scores with those that could be the best without rounding errors.

        Equally good splits then have the same score, bit for bit, and the first of them wins.
        """
        best, worth = float(scores.max(initial=-math.inf)), abs(float(self.worth(total)))
        if best == -math.inf or (self.name != "gain-ratio" and best <= LEAST / 2 * worth):
            return scores
        near = np.flatnonzero(scores >= best - _ROUNDING * (worth + abs(best)))
        whole = self._whole(total)
        for at in near.tolist():
            side = self._whole(left[:, at])
            other = [a - b for a, b in zip(whole, side, strict=True)]
            scores[at] = exact_score(self.name, whole, (side, other))
        return scores

    def _whole(self, parts: Ints) -> list[int]:
        """Return the counts of the classes, or the records and their sum, as whole numbers."""
        numbers = [int(part) for part in parts]
        return [numbers[0], numbers[1] * int(self.scale) + numbers[2]] \
            if self.name == "variance" else numbers

    def score_of_many(self, total: Ints, parts: Ints) -> float:
        """Return the score of a split into one child per column."""
        sizes = self.size(parts)
        if sizes.size < 2 or sizes.min() < self.min_leaf:
            return -math.inf
        return exact_score(self.name, self._whole(total), [self._whole(p) for p in parts.T])

    def priority(self, total: Ints, score: float) -> float:
        """Return how urgent a node is: its size times what its best split gains a record."""
        return score * int(self.size(total)) if self.name == "gain-ratio" else score

    def keys(self, parts: Ints) -> list[Floats]:
        """Return by what categories are ordered: the response's mean, or each class's share."""
        size = self.size(parts)
        if self.name == "variance":
            return [self._sum(parts) / size]
        first = 1 if parts.shape[0] == 2 else 0
        return [parts[c] / size for c in range(first, parts.shape[0])]

    def _sum(self, parts: Ints) -> Floats:
        return np.asarray(parts[1] * self.scale + parts[2], np.float64)


def _across(parts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Sum over the parts; for a few of them numpy's own sum is slower."""
    if parts.shape[0] > 8:
        return np.asarray(np.add.reduce(parts, axis=0))
    joined = parts[0]
    for index in range(1, parts.shape[0]):
        joined = joined + parts[index]
    return np.asarray(joined)


def _gini(of: Criterion, parts: Ints) -> Floats:
    # float64 holds squares of counts up to 94 million exactly, and divides without casting.
    counts = parts.astype(np.float64)
    size = _across(counts)
    return np.asarray(_across(counts * counts) / size)


def _entropy(of: Criterion, parts: Ints) -> Floats:
    entropy = -of.logs[of.size(parts)]
    for part in parts:
        entropy = entropy + of.logs[part]
    return np.asarray(entropy)


def _variance(of: Criterion, parts: Ints) -> Floats:
    total = of._sum(parts)
    return np.asarray(total * total / parts[0])


_WORTH: dict[str, Callable[[Criterion, Ints], Floats]] = {
    "gini": _gini, "entropy": _entropy, "gain-ratio": _entropy, "variance": _variance,
}


def logs_upto(rows: int, name: str) -> Floats:
    """Return n log2 n for every n up to `rows`, where a criterion needs it.

    One table serves both sides of a comparison: no logarithm is taken twice.
    """
    if name not in ("entropy", "gain-ratio"):
        return np.zeros(0)
    logs = np.arange(rows + 1, dtype=np.float64)
    logs[1:] *= np.log2(logs[1:])
    return logs


def best_cut(by: Criterion, attribute: int, total: Ints, histogram: Ints) -> Split | None:
    """Return the best cut of a numeric column; its last column counts missing values."""
    missing, known = histogram[:, -1], by.size(histogram[:, :-1])
    present = np.flatnonzero(known)
    absent = int(by.size(missing)) == 0
    if present.size + (not absent) < 2:
        return None
    left = np.cumsum(histogram[:, present], axis=1)
    if absent:
        return _plain_cut(by, attribute, total, left, present)
    return _cut_with_missing(by, attribute, total, left, present, missing[:, None],
                             histogram.shape[1] - 1)


def _plain_cut(by: Criterion, attribute: int, total: Ints, left: Ints, present: Ints
               ) -> Split | None:
    scores = by.score(total, left[:, :-1], total[:, None] - left[:, :-1])
    at = int(np.argmax(by.settle(total, left, scores)))
    low = left[:, at]
    more = int(by.size(low)) >= int(by.size(total - low))
    return _found(attribute, scores[at], (int(present[at]), int(present[at + 1])), more)


def _cut_with_missing(by: Criterion, attribute: int, total: Ints, left: Ints, present: Ints,
                      missing: Ints, values: int) -> Split | None:
    """Missing may go right or left of every cut; right of all values it stands alone."""
    right = by.score(total, left, total[:, None] - left)
    other = by.score(total, left + missing, total[:, None] - left - missing)
    other[-1] = -np.inf
    both = np.stack([right, other], axis=1).ravel()
    by.settle(total, np.stack([left, left + missing], axis=2).reshape(left.shape[0], -1), both)
    at, goes_left = divmod(int(np.argmax(both)), 2)
    after = int(present[at + 1]) if at + 1 < present.size else values
    return _found(attribute, both.max(), (int(present[at]), after), bool(goes_left))


def _found(attribute: int, score: float, cut: tuple[int, int], missing_left: bool
           ) -> Split | None:
    return Split(attribute, float(score), cut, missing_left) if score > -math.inf else None


def best_two_way(by: Criterion, attribute: int, total: Ints, histogram: Ints) -> Split | None:
    """Return the best division of categories into two groups, in the order of their response.

    For two classes, or a number, no other division is better (Breiman et al. 1984, theorem 4.5);
    for more classes the order by each class is tried. Categories that no record of the node has
    go with the larger side.
    """
    present = np.flatnonzero(by.size(histogram))
    if present.size < 2:
        return None
    parts = histogram[:, present]
    best, chosen = -math.inf, present[:0]
    for key in by.keys(parts):
        order = np.argsort(key, kind="stable")
        left = np.cumsum(parts[:, order], axis=1)[:, :-1]
        scores = by.score(total, left, total[:, None] - left)
        at = int(np.argmax(by.settle(total, left, scores)))
        if scores[at] > best:
            best, chosen = float(scores[at]), present[order[: at + 1]]
    return None if best == -math.inf else route_of(by, attribute, best, total, histogram, chosen)


def route_of(by: Criterion, attribute: int, score: float, total: Ints, histogram: Ints,
             chosen: npt.NDArray[np.integer]) -> Split:
    """Return the split of categories into those chosen and the others."""
    size = by.size(histogram)
    larger = 2 * int(size[chosen].sum()) >= int(by.size(total))
    route = np.full(size.size, 0 if larger else 1, np.int16)
    route[size > 0] = 1
    route[chosen] = 0
    return Split(attribute, score, route=route)


def best_multiway(by: Criterion, attribute: int, total: Ints, histogram: Ints) -> Split | None:
    """Return the split into one child a category; absent categories go with the largest."""
    size = by.size(histogram)
    present = np.flatnonzero(size)
    score = by.score_of_many(total, histogram[:, present])
    if score == -math.inf:
        return None
    owner = np.full(size.size, present[np.argmax(size[present])])
    owner[present] = present
    first = np.unique(owner, return_index=True)
    rank = np.empty(size.size, np.int16)
    rank[first[0][np.argsort(first[1])]] = np.arange(present.size)
    return Split(attribute, score, route=rank[owner], children=int(present.size))


SEARCH = {NUMERIC: best_cut, TWO_WAY: best_two_way, MULTIWAY: best_multiway}

