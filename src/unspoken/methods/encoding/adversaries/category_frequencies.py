"""Relabelled categories, matched by how often they occur.

A random label hides the name of a category and not its frequency. With a sample of similar data
labels and categories are matched one to one so that all frequencies together are most likely.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.encoding.adversaries.release_adversary import (
    LabelAdversary,
    Labelled,
    ReleaseAdversary,
)
from unspoken.numerics.monotone_likelihood import pairwise_gains

MOST_LABELS = 300
"""Columns with more labels are matched by the rank of their frequencies."""


class CategoryFrequencies(LabelAdversary):
    """Matches the frequencies of labels with those of categories in a sample."""

    name: ClassVar[str] = "category-frequencies"
    levels: ClassVar[tuple[str, ...]] = ("sample", "histogram")
    gets: ClassVar[str] = "matches how often labels occur with the categories of similar data"

    def match(self, seen: Labelled, known: Labelled, columns: tuple[int, ...]) -> dict[int, Ints]:
        """Return the most likely category of every label."""
        return {column: by_frequency(seen.counts(column), known.counts(column))
                for column in columns}


class CategoryRecords(ReleaseAdversary):
    """Reads the labels of records that are known in full."""

    name: ClassVar[str] = "category-records"
    levels: ClassVar[tuple[str, ...]] = ("records",)
    gets: ClassVar[str] = "finds records known in full and reads every label that they carry"


class LabelOrder(ReleaseAdversary):
    """Numbers the categories in sorted order, which neutral class labels keep."""

    name: ClassVar[str] = "label-order"
    levels: ClassVar[tuple[str, ...]] = ("names",)
    gets: ClassVar[str] = "sorts the names of the categories and takes labels in the same order"


def by_frequency(labels: Ints, categories: Ints) -> Ints:
    """Return the category of every label by frequency alone; -1 where none is left."""
    if max(labels.size, categories.size) > MOST_LABELS:
        return _by_rank(labels, categories)
    return assigned(frequency_gains(labels, categories))


def frequency_gains(labels: Ints, categories: Ints) -> Floats:
    """Return how likely every label is each category; the last column is one not in the sample."""
    sample = int(categories.sum())
    share = np.full(categories.size + 1, 1.0 / max(labels.size, categories.size, 1))
    share[-1] = 0.5 / (sample + 1)
    return pairwise_gains(labels, np.r_[categories, 0], share, (int(labels.sum()), sample))


def assigned(gains: Floats) -> Ints:
    """Return the assignment of highest total gain; -1 for the last column, which takes many."""
    from scipy.optimize import linear_sum_assignment

    known = gains.shape[1] - 1
    unseen = np.repeat(gains[:, -1:], gains.shape[0], axis=1)
    _, columns = linear_sum_assignment(np.hstack([gains[:, :-1], unseen]), maximize=True)
    return np.where(columns < known, columns, -1)


def filled(matched: Ints, labels: Ints, categories: Ints) -> Ints:
    """Give labels without a category the most frequent ones that are left, by rank.

    A label that stands for several categories is like none of them; its best guess is one of the
    frequent ones, which a guess costs nothing to try.
    """
    out = matched.copy()
    free = np.setdiff1d(np.arange(categories.size), matched)
    free = free[np.argsort(-categories[free], kind="stable")]
    bare = np.flatnonzero(matched < 0)
    bare = bare[np.argsort(-labels[bare], kind="stable")][:free.size]
    out[bare] = free[:bare.size]
    return out


def _by_rank(labels: Ints, categories: Ints) -> Ints:
    out = np.full(labels.size, -1)
    both = min(labels.size, categories.size)
    out[np.argsort(-labels, kind="stable")[:both]] = np.argsort(-categories, kind="stable")[:both]
    return out
