"""Whether a release promises the same model: what a learner says before it is fitted, and after."""

from __future__ import annotations

import warnings
from typing import Any

from unspoken.errors import NotCoveredError
from unspoken.methods.encoding.covered_learners import judged_later
from unspoken.methods.encoding.learners.training_matrix import Matrix
from unspoken.release.guarantee import Guarantee, Verdict
from unspoken.release.release import Release
from unspoken.table.table import Table


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


def verdict_of(source: Release | Table, estimator: Any,
               matrix: Matrix) -> tuple[Verdict | None, bool]:
    """Return whether a release covers a learner, and whether that is better asked once fitted."""
    if not isinstance(source, Release):
        return None, False
    verdict = source.guarantee.covers(estimator, matrix.columns)
    return verdict, not verdict and decided_later(source.guarantee, estimator, matrix)


def enforce(verdict: Verdict | None, estimator: Any, anyway: bool) -> None:
    """Refuse a learner that is not covered, or warn where it is wanted anyway."""
    if verdict is None or verdict:
        return
    if not anyway:
        raise NotCoveredError(
            f"The release does not promise the same model for {type(estimator).__name__}: "
            f"{verdict.reason} Change the parameters, or use anyway=True if another model will do."
        )
    warnings.warn(f"Mined without a promise: {verdict.reason}", UserWarning, stacklevel=3)
