"""Relabelled categories, matched by what they occur together with.

Two categories that are equally frequent differ in the company they keep: in other labels, in the
class, in the bins of columns whose order is visible. Starting from the frequencies, each column is
matched again by its joint counts with the columns as they are matched so far, for a few rounds.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.methods.encoding.adversaries.category_frequencies import (
    assigned,
    by_frequency,
    frequency_gains,
)
from unspoken.methods.encoding.adversaries.release_adversary import LabelAdversary, Labelled
from unspoken.numerics.value_grid import LOOSE

MOST_LABELS = 64
"""Columns with more labels are matched by frequency alone."""
MOST_COMPANY = 24
"""Labels of a column that still serves as company."""
COMPANY = 12
"""Columns that each column is compared with."""
ROUNDS = 4
DOUBT = 4.0
"""Categories that are less likely by this logarithm, beyond chance, are ruled out."""


class CategoryPairs(LabelAdversary):
    """Matches labels by joint frequencies with other columns, round by round."""

    name: ClassVar[str] = "category-pairs"
    levels: ClassVar[tuple[str, ...]] = ("sample",)
    gets: ClassVar[str] = ("matches labels by what they occur together with in a sample of "
                           "similar data")

    def match(self, seen: Labelled, known: Labelled, columns: tuple[int, ...]) -> dict[int, Ints]:
        """Return the most likely category of every label after some rounds."""
        matched = {column: by_frequency(seen.counts(column), known.counts(column))
                   for column in columns}
        company = _company(seen, known)
        joint = _Joint(seen, known)
        for _ in range(ROUNDS):
            again = {column: joint.rematch(column, [c for c in company if c != column], matched)
                     for column in columns if seen.sizes[column] <= MOST_LABELS}
            if all(np.array_equal(again[column], matched[column]) for column in again):
                break
            matched |= again
        return matched


def likely(seen: Labelled, known: Labelled, columns: tuple[int, ...],
           matched: dict[int, Ints]) -> dict[int, Bools]:
    """Return (labels, categories): what each label may stand for, given how all are matched.

    Every joint count adds chance to a likelihood; what lies within that is not ruled out.
    """
    company, joint = _company(seen, known), _Joint(seen, known)
    out = {}
    for column in columns:
        others = [c for c in company if c != column] if seen.sizes[column] <= MOST_LABELS else []
        lost = _lost(joint.gains(column, others, matched), matched[column])
        chance = 3 * np.sqrt(sum(known.sizes[c] for c in others))
        out[column] = np.asarray(lost[:, :known.sizes[column]] <= DOUBT + chance)
    return out


def _lost(gains: Floats, matched: Ints) -> Floats:
    """Return what it costs to take a label for another category, exchanged with that one's label.

    The last category is the unknown one, which any number of labels may have.
    """
    labels, unknown = np.arange(matched.size), gains.shape[1] - 1
    own = np.where(matched < 0, unknown, matched)
    owner = np.full(gains.shape[1], -1, np.int64)
    owner[own] = labels
    owner[unknown] = -1
    back = gains[owner, np.arange(gains.shape[1])][None, :] - gains[owner][:, own].T
    held = gains[labels, own][:, None] - gains
    return np.asarray(held + np.where(owner >= 0, back, 0.0))


def _company(seen: Labelled, known: Labelled) -> list[int]:
    """Return the most informative columns: ordered ones first, then those of most even labels."""
    fit = [c for c, size in enumerate(seen.sizes)
           if 2 <= size <= MOST_COMPANY and known.sizes[c] >= 2]
    return sorted(fit, key=lambda c: (not seen.ordered[c], -_entropy(seen.counts(c))))[:COMPANY]


def _entropy(counts: Ints) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())


class _Joint:
    """Joint likelihood of the labels of one column and the company they keep."""

    def __init__(self, seen: Labelled, known: Labelled) -> None:
        from scipy.special import gammaln

        self.seen, self.known = seen, known
        self.totals = seen.rows[0].size, known.rows[0].size
        self.table: Floats = gammaln(LOOSE + np.arange(sum(self.totals) + 1))

    def rematch(self, column: int, company: list[int], matched: dict[int, Ints]) -> Ints:
        """Return a new assignment of one column, given those of its company."""
        return assigned(self.gains(column, company, matched))

    def gains(self, column: int, company: list[int], matched: dict[int, Ints]) -> Floats:
        """Return how likely every label of a column is every category, given its company."""
        gains = frequency_gains(self.seen.counts(column), self.known.counts(column))
        for other in company:
            places = matched.get(other, np.arange(self.seen.sizes[other]))
            places = np.where(places < self.known.sizes[other], places, -1)
            held = places >= 0
            n = self.seen.pairs(column, other)[:, held]
            m = self.known.pairs(column, other)[:, places[held]]
            gains = gains + self._gain(n, m)
        return gains

    def _gain(self, n: Ints, m: Ints) -> Floats:
        """Return the gain of every label (n) as every category (m), the last being unknown."""
        m = np.vstack([m, np.zeros((1, m.shape[1]), m.dtype)])
        total = max(int(m.sum()), 1)
        share = (m.sum(axis=1, keepdims=True) + 0.5) * (m.sum(axis=0) + 0.5) / (total + 1) ** 2
        rate = np.log(LOOSE / share + sum(self.totals))
        both = self.table[n[:, None, :] + m[None, :, :]].sum(axis=2)
        return np.asarray(both - self.table[m].sum(axis=1) - n @ rate.T)

