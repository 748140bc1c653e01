"""Naive Bayes of pooled rows in one place, and models from opened numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.joint.tasks.naive_bayes.class_tallies import class_counts, one_hot
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams, Given
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.models.mixed_bayes import MixedBayes, Nominal, Normal


def pooled(
    layout: BayesLayout, columns: Mapping[str, Any], rules: BayesParams | None = None
) -> MixedBayes:
    """Return the model of pooled columns, the class among them."""
    rules, coded = rules or BayesParams(), layout.rows(columns)
    counts = class_counts(coded, layout).astype(np.float64)
    means, variances = two_pass(coded, layout)
    prior, shares = ratios(counts, layout, rules)
    return built(layout, rules, prior, shares, means, variances, coded.rows)


def two_pass(coded: Given, layout: BayesLayout) -> tuple[Floats, Floats]:
    """Return means and variances of z, (columns, classes), with differences from the mean."""
    classes = one_hot(coded.labels[None], (len(layout.classes),)).astype(np.float64)
    count = np.maximum(1.0, classes.sum(axis=0))
    means = coded.numbers @ classes / count
    gaps = (coded.numbers - means[:, coded.labels]) ** 2
    return means, gaps @ classes / count


def ratios(counts: Floats, layout: BayesLayout, rules: BayesParams) -> tuple[Floats, Floats]:
    """Return the shares of classes, and of categories in each class, from counts of both."""
    total = counts[0].sum()
    prior = counts[0] / max(1.0, total)
    sizes = np.repeat(layout.sizes, layout.sizes)[:, None]
    alpha = rules.smoothing
    return prior, (counts[1:] + alpha) / (counts[0] + alpha * sizes)


def from_sums(layout: BayesLayout, rules: BayesParams, counts: Floats, sums: Floats) -> MixedBayes:
    """Return the model of opened counts and sums."""
    columns = len(layout.numeric)
    each = np.maximum(1.0, counts[0])
    means = sums[:columns] / each
    prior, shares = ratios(counts, layout, rules)
    variances = np.maximum(0.0, sums[columns:] / each - means**2)
    return built(layout, rules, prior, shares, means, variances, int(counts[0].sum()))


def built(layout: BayesLayout, rules: BayesParams, prior: Floats, shares: Floats, means: Floats,
          variances: Floats, records: int = 0) -> MixedBayes:
    """Return the model; `var_smoothing` of the greatest variance of a whole column is added."""
    if prior.sum() <= 0:
        raise DataError("There must be records to learn from. All owners together have none.")
    prior = prior / prior.sum()
    inside = prior @ (variances + means**2).T - (prior @ means.T) ** 2
    halves = np.array([c.half for c in layout.numeric])
    extra = rules.var_smoothing * float((inside * halves**2).max(initial=0.0))
    starts = np.cumsum([0, *layout.sizes])
    columns: list[Nominal | Normal] = []
    for column in layout.columns:
        if isinstance(column, Attribute):
            at = layout.nominal.index(column)
            part = np.maximum(0.0, shares[starts[at]:starts[at + 1]].T)
            columns.append(Nominal(column.name, column.categories,
                                   part / part.sum(axis=1, keepdims=True)))
        else:
            at = layout.numeric.index(column)
            columns.append(Normal(column.name, column.middle + column.half * means[at],
                                  np.maximum(0.0, variances[at]) * column.half**2 + extra))
    return MixedBayes(layout.target, layout.classes, prior, tuple(columns), records)
