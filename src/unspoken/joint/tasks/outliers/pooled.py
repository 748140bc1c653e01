"""The same outliers on pooled data, exact, with the same edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.joint.tasks.outliers.params import OutlierParams, check_objects, powers, rounded
from unspoken.models.outliers import Outliers

ROWS = 1 << 22


def pooled(values: Any, rules: OutlierParams) -> Outliers:
    """Return the outliers among rows that one place has."""
    units = rounded(values, rules)
    objects, columns = units.shape
    check_objects(objects)
    limit, step = rules.limit(columns), max(1, ROWS // objects)
    counts = np.concatenate([
        (powers(units[start:start + step, None], units[None], rules.order) > limit).sum(axis=1)
        for start in range(0, objects, step)])
    return Outliers(np.asarray(counts >= rules.needed(objects)), rules.words())
