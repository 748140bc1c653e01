"""The order in which a tree sees randomised categories, and the names behind its numbers.

A tree asks `number <= threshold`. With two classes the best division of categories into two sets is
one of those along the order of their shares of a class (Breiman et al. 1984), so the categories are
numbered in that order, as far as the answers tell it. The order only says which sets are tried:
shares inside nodes are reconstructed as everywhere else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats, Ints
from unspoken.methods.distortion.known_laws import Answers
from unspoken.methods.distortion.learners.learner_inputs import Records
from unspoken.models.category_groups import Groups, category_texts


def in_order_of_classes(records: Records) -> Records:
    """Return the records with categories numbered by their estimated share of the first class."""
    laws, data = dict(records.laws), records.data.copy()
    first = records.labels == np.unique(records.labels)[0]
    for index, name in enumerate(records.names):
        law = laws[name]
        if isinstance(law, Answers):
            order = _order(data[:, index], first, law.matrix)
            laws[name] = Answers(tuple(law.values[place] for place in order),
                                 law.matrix[np.ix_(order, order)])
            data[:, index] = _renumbered(data[:, index], order)
    return replace(records, laws=laws, data=data)


def _order(codes: Floats, first: Any, matrix: Floats) -> Ints:
    """Return the categories by their share of the first class; unseen ones stay in the middle."""
    size = matrix.shape[0]
    known = ~np.isnan(codes)
    counts = [np.bincount(codes[known & part].astype(np.int64), minlength=size)
              for part in (first, ~first)]
    # Answers have the distribution of the truth times the matrix; what is negative is chance.
    true = [np.clip(np.linalg.lstsq(matrix.T, one.astype(np.float64), rcond=None)[0], 0.0, None)
            for one in counts]
    total = true[0] + true[1]
    share = np.where(total > 0, true[0] / np.maximum(total, 1e-300), 0.5)
    return np.asarray(np.argsort(share, kind="stable"))


def _renumbered(codes: Floats, order: Ints) -> Floats:
    place = np.empty(order.size)
    place[order] = np.arange(order.size)
    out = np.full(codes.shape, np.nan)
    known = ~np.isnan(codes)
    out[known] = place[codes[known].astype(np.int64)]
    return out


def category_names(records: Records) -> Groups:
    """Return the categories behind the numbers of every column of answers."""
    return {name: tuple(() if text is None else (text,)
                        for text in category_texts(pa.array(law.values)).to_pylist())
            for name, law in records.laws.items() if isinstance(law, Answers)}
