"""The same leverage and distances from all rows in one place, by QR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.joint.tasks.influence.params import FLAGS, Fitted, told_flags, told_values
from unspoken.joint.tasks.regression.params import RegressionTerms


def pooled(terms: RegressionTerms, parts: Sequence[Mapping[str, Any]], show: str = FLAGS,
           leverage: float = 2.0, distance: float = 4.0) -> list[dict[str, Any]]:
    """Return what every owner is told of its own rows, from those of all owners."""
    tables = [terms.table(part) for part in parts]
    table = np.vstack(tables)
    x = np.column_stack([np.ones(len(table)), table[:, :-1]])
    q, r = np.linalg.qr(x)
    beta, (rows, width) = np.linalg.solve(r, q.T @ table[:, -1]), x.shape
    fitted = Fitted(beta, rows, float(((table[:, -1] - x @ beta) ** 2).sum() / (rows - width)))
    h = (q**2).sum(axis=1)
    d = fitted.cook(fitted.residuals(table), h)
    ends = np.cumsum([len(one) for one in tables])[:-1]
    by_owner = list(zip(np.split(h, ends), np.split(d, ends), strict=True))
    if show != FLAGS:
        return [told_values(a, b) for a, b in by_owner]
    return [told_flags(a > leverage * width / rows, b > distance / rows) for a, b in by_owner]
