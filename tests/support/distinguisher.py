"""A statistical distinguisher between views of real runs and simulated ones.

A view is an array (runs, steps, words): everything that one party could compute from what it
received and what it knows. The simulator's view is uniform words (subject to the output). Each
test below is a two-sample test with a p-value; the smallest, times their number, decides.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from unspoken.joint.mpc.randomness import fresh_words

SUSPICIOUS = 1e-6


def uniform_like(view):
    return fresh_words(view.size).reshape(view.shape)


def tell_apart(real, simulated):
    """Return the corrected p-value of the best test; small means that they differ."""
    p_values = [p for test in (by_byte, by_last_element, by_step_difference,
                               by_element_difference, by_repetition)
                for p in test(real, simulated)]
    return min(1.0, min(p_values) * len(p_values))


def by_byte(real, simulated):
    """Each byte of the words: small fields, bits that are always set, biased bits."""
    a, b = (np.ascontiguousarray(v).reshape(-1, 1).view(np.uint8) for v in (real, simulated))
    yield from (same_histogram(a[:, i], b[:, i]) for i in range(8))
    yield from (same_extremes(a[:, i], b[:, i]) for i in range(8))


def by_last_element(real, simulated):
    """The last element alone: the mask that was forgotten there."""
    yield from by_byte(real[:, :, -1], simulated[:, :, -1])


def by_step_difference(real, simulated):
    """Differences of steps: masks that are used again."""
    if real.shape[1] > 1:
        yield from by_byte(np.diff(real, axis=1), np.diff(simulated, axis=1))


def by_element_difference(real, simulated):
    """Differences of elements: one mask for a whole vector."""
    if real.shape[2] > 1:
        yield from by_byte(np.diff(real, axis=2), np.diff(simulated, axis=2))


def by_repetition(real, simulated):
    """Words that come again; among uniform 64-bit words none does."""
    for view in (real, simulated):
        repeated = view.size - np.unique(view).size
        yield 1e-12 if repeated > 0 else 1.0


def same_histogram(a, b):
    table = np.array([np.bincount(a, minlength=256), np.bincount(b, minlength=256)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return 1.0
    return stats.chi2_contingency(table).pvalue


def same_extremes(a, b):
    """Bytes without a bit or with all: sums with a short mask have little else at the top.

    A histogram of 256 bins needs many words to see it, this needs some twenty.
    """
    table = [[int(np.isin(side, (0, 255)).sum()), side.size] for side in (a, b)]
    return stats.fisher_exact([[hits, size - hits] for hits, size in table]).pvalue
