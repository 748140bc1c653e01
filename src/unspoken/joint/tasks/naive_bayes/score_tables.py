"""A naive Bayes model as numbers to add up: one table a class, in the clear.

score(class) = start + sum of logs of the record's categories - half the sum of ((z - mean) root)^2,
where root is one over the standard deviation and start holds the prior and the logarithms of
deviations. A deviation below 1/256 of the unit of z counts as that, and a class that has no
records loses against every other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, BayesParams, Numeric
from unspoken.joint.tasks.tree.params import Attribute
from unspoken.models.mixed_bayes import MixedBayes, Nominal, Normal

LEAST_VARIANCE = 2.0**-16
MOST_LOG = 40
MOST_SQUARE = 2.0**18


def worst(nominal: int, numeric: int) -> float:
    """Return a bound on scores, whatever the record and the model."""
    return MOST_LOG * (nominal + 1) + (MOST_SQUARE / 2 + MOST_LOG) * numeric


@dataclass(frozen=True)
class Table:
    """Start (classes), logs (categories, classes), means and roots (numbers, classes)."""

    start: Floats
    logs: Floats
    means: Floats
    roots: Floats

    def scores(self, hot: Ints, z: Floats) -> Floats:
        """Return the score of every record for every class; z is (rows, numbers)."""
        gaps = (z[:, :, None] - self.means) * self.roots
        return np.asarray(self.start + hot @ self.logs - (gaps**2).sum(axis=1) / 2)


def learned(counts: Floats, sizes: tuple[int, ...], means: Floats, variances: Floats,
            extra: Floats, rules: BayesParams) -> Table:
    """Return the table of counts (classes first), and of means and variances of z.

    `extra`: what smoothing adds to the variance of each column.
    """
    alpha = rules.smoothing
    widths = np.repeat(sizes, sizes)[:, None]
    logs = np.log(counts[1:] + alpha) - np.log(counts[0] + alpha * widths)
    spread = np.maximum(variances + extra[:, None], LEAST_VARIANCE)
    prior = np.log(np.maximum(1.0, counts[0]))
    start = prior - np.log(spread).sum(axis=0) / 2
    empty = 2 * worst(len(sizes), means.shape[0])
    return Table(start - empty * (counts[0] == 0), logs, means, 1 / np.sqrt(spread))


def table_of(model: MixedBayes, layout: BayesLayout) -> Table:
    """Return the table of a model whose columns are those of a layout."""
    if model.features != tuple(c.name for c in layout.columns) or model.classes != layout.classes:
        raise DataError("The model must have the agreed columns and classes, in their order. It "
                        "has others. Agree on the model's own.")
    logs = [np.zeros((0, len(layout.classes)))]
    means, spreads = logs.copy(), logs.copy()
    for column, agreed in zip(model.columns, layout.columns, strict=True):
        if isinstance(column, Nominal) and isinstance(agreed, Attribute):
            logs.append(_category_logs(column, agreed))
        elif isinstance(column, Normal) and isinstance(agreed, Numeric):
            means.append((column.means[None] - agreed.middle) / agreed.half)
            spreads.append(column.variances[None] / agreed.half**2)
        else:
            raise DataError(f"Column '{column.name}' of the model must be of the agreed kind, "
                            "categories or numbers. It is not.")
    narrow = (np.vstack(spreads)[:, model.prior > 0] < LEAST_VARIANCE).any(axis=1)
    if narrow.any():
        raise DataError(f"The model's deviations must be at least 1/256 of half the agreed range. "
                        f"Those of '{layout.numeric[int(narrow.argmax())].name}' are smaller. "
                        "Agree on a narrower range, or learn with more smoothing of variances.")
    spread, middle = np.maximum(np.vstack(spreads), LEAST_VARIANCE), np.vstack(means)
    if np.abs(middle).max(initial=0.0) > 1 or spread.max(initial=0.0) > 1:
        raise DataError("The agreed ranges must hold the model's means and deviations. They do "
                        "not. Agree on wider ones.")
    prior = np.log(np.maximum(model.prior, np.exp(-float(MOST_LOG))))
    start = prior - np.log(spread).sum(axis=0) / 2
    start -= 2 * worst(len(layout.nominal), len(layout.numeric)) * (model.prior == 0)
    return Table(start, np.vstack(logs), middle, 1 / np.sqrt(spread))


def _category_logs(column: Nominal, agreed: Attribute) -> Floats:
    if column.values != agreed.categories:
        raise DataError(f"Column '{column.name}' of the model must have the agreed categories. It "
                        "has others.")
    return np.asarray(np.log(np.maximum(column.shares.T, np.exp(-float(MOST_LOG)))))
