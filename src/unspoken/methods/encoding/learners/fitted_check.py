"""What a miner can see once a tree is fitted, and not before."""

from __future__ import annotations

from typing import Any

from unspoken.methods.encoding.covered_learners import judged_later
from unspoken.methods.encoding.learners.training_matrix import Matrix
from unspoken.release.guarantee import Guarantee, Verdict


def decided_later(promise: Guarantee, estimator: Any, matrix: Matrix) -> bool:
    """Return True if a learner is covered but for what can only be seen once it is fitted."""
    plain = judged_later(estimator) if all(matrix.flags) else None
    return plain is not None and bool(promise.covers(plain, matrix.columns))


def look(estimator: Any, before: Verdict) -> Verdict:
    """Return the verdict on a tree of categories alone; `before`: the one on its parameters.

    Categories have the same numbers in the original, so that its tree is the same; what cannot be
    decoded are thresholds that were drawn at random.
    """
    if estimator.tree_.node_count > 1:
        return before
    return Verdict(True, "The tree has no thresholds, and categories alone to ask about.")
