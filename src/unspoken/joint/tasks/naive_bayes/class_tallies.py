"""What one owner counts by class: records, categories, sums of numbers and of their squares."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, Given


def one_hot(codes: Ints, sizes: tuple[int, ...]) -> Ints:
    """Return (rows, all categories): 1 in each column's place of a row's category."""
    starts = np.cumsum([0, *sizes])
    out = np.zeros((codes.shape[1], int(starts[-1])), np.int64)
    for column, start in zip(codes, starts, strict=False):
        out[np.arange(column.size), start + column] = 1
    return out


def class_counts(coded: Given, layout: BayesLayout) -> Ints:
    """Return (1 + all categories, classes): the records of each class, and of each category."""
    kinds = len(layout.classes)
    parts = [np.bincount(coded.labels, minlength=kinds)]
    parts += [np.bincount(column * kinds + coded.labels, minlength=size * kinds)
              for column, size in zip(coded.codes, layout.sizes, strict=True)]
    return np.concatenate(parts).reshape(-1, kinds)


def class_sums(coded: Given, layout: BayesLayout) -> Floats:
    """Return (2 columns, classes): sums of numbers by class, then sums of their squares."""
    classes = one_hot(coded.labels[None], (len(layout.classes),)).astype(np.float64)
    both = np.vstack([coded.numbers, coded.numbers**2])
    return np.asarray(both @ classes)
