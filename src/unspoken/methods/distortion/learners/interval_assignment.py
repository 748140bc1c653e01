"""Records put into the intervals of a reconstructed distribution (as2000 section 4.2).

The distribution says how many records belong into each interval; which ones is not known. As in
as2000, records are sorted by what they reported and the smallest go into the first interval. For
answers without an order the posterior of each answer is dealt out instead.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Ints


def whole_counts(probabilities: Floats, total: int) -> Ints:
    """Return whole numbers that sum to `total`, by largest remainder."""
    exact = probabilities / probabilities.sum() * total
    counts: Ints = np.floor(exact).astype(np.int64)
    rest = int(total - counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:rest]] += 1
    return counts


def by_order(values: Floats, probabilities: Floats) -> Ints:
    """Return the interval of every record, the smallest reports in the first interval."""
    counts = whole_counts(probabilities, values.size)
    out = np.empty(values.size, np.int64)
    out[np.argsort(values, kind="stable")] = np.repeat(np.arange(counts.size), counts)
    return out


def by_posterior(answers: Ints, probabilities: Floats, kernel: Floats,
                 rng: np.random.Generator) -> Ints:
    """Return a category for every record: each answer is dealt out by its posterior."""
    joint = kernel * probabilities
    out = np.empty(answers.size, np.int64)
    for answer in np.unique(answers).tolist():
        who = rng.permutation(np.flatnonzero(answers == answer))
        weights = joint[answer] if joint[answer].sum() > 0 else probabilities
        out[who] = np.repeat(np.arange(probabilities.size), whole_counts(weights, who.size))
    return out


def split_scores(table: Floats, criterion: str) -> Floats:
    """Return the impurity after each cut between intervals, weighted by records (section 4.1).

    `table` holds records by interval and class; a cut that leaves one side empty scores infinity.
    """
    left = np.cumsum(table, axis=0)[:-1]
    right = table.sum(axis=0) - left
    score = _weighted(left, criterion) + _weighted(right, criterion)
    empty = (left.sum(axis=1) < 0.5) | (right.sum(axis=1) < 0.5)
    return np.where(empty, np.inf, score)


def _weighted(counts: Floats, criterion: str) -> Floats:
    total = np.maximum(counts.sum(axis=-1), 1e-12)
    return {"gini": _gini, "entropy": _entropy}[criterion](counts, total)


def _gini(counts: Floats, total: Floats) -> Floats:
    return np.asarray(total - (counts**2).sum(axis=-1) / total)


def _entropy(counts: Floats, total: Floats) -> Floats:
    share = counts / total[..., None]
    logs = np.log2(np.where(share > 0, share, 1.0))
    return np.asarray(-(counts * logs).sum(axis=-1))


def impurity(counts: Floats, criterion: str) -> float:
    """Return the impurity of one node."""
    total = float(counts.sum())
    return float(_weighted(counts, criterion) / total) if total else 0.0
