"""Tables on which two questions of a tree are too close to call."""

from __future__ import annotations

import numpy as np

from unspoken.joint.tasks.tree import question_scores as scores
from unspoken.joint.tasks.tree.level_growth import Rows, Sapling


def near(layout, columns, rules, questions=None):
    """Say whether some node has two questions too close to call, but not equal.

    Then the documented bound, 6 J e, promises nothing; equals must fall to the first.
    """
    bound = 6 * ((questions or len(layout.questions)) + 1) * 3.5e-8
    tree = Sapling(layout, rules)
    rows = Rows(layout, layout.codes(columns), layout.labels(columns["class"]))
    while nodes := tree.tested():
        histograms = rows.histograms(nodes)
        counts = scores.branches(layout, histograms)
        size = np.maximum(1, counts[:, -1:].sum(axis=2))
        worth = scores.plain_x_log_x(counts.astype(float)).sum(axis=2) - scores.plain_x_log_x(
            counts.sum(axis=2).astype(float))
        found = scores.joined(layout.first_branch, worth) / size
        gap = found.max(axis=1, keepdims=True) - found
        if ((gap > 1e-12) & (gap < bound)).any():
            return True
        tree.split(nodes, scores.plain_best(layout, histograms, rules.min_records)[0])
        rows.move(tree)
    return False
