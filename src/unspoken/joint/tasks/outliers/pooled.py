"""The same outliers on pooled data, exact, with the same edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.joint.tasks.common.grid_distances import powers, rounded
from unspoken.joint.tasks.outliers.params import OutlierParams, check_objects
from unspoken.models.outliers import Outliers

ROWS = 1 << 22


def pooled(values: Any, rules: OutlierParams) -> Outliers:
    """Return the outliers among rows that one place has."""
    units = rounded(values, rules)
    objects, columns = units.shape
    check_objects(objects, rules)
    step = max(1, ROWS // objects)
    blocks = (powers(units[start:start + step, None], units[None], rules.order)
              for start in range(0, objects, step))
    if rules.top is not None:
        return Outliers(_farthest(blocks, rules.neighbours or 0, rules.top), rules.words())
    limit = rules.limit(columns)
    counts = np.concatenate([(block > limit).sum(axis=1) for block in blocks])
    return Outliers(np.asarray(counts >= rules.needed(objects)), rules.words())


def _farthest(blocks: Iterable[Ints], k: int, top: int) -> Bools:
    """Return the objects whose k-th neighbour is farthest; each is its own nearest."""
    distances = np.concatenate([np.sort(block, axis=1)[:, k] for block in blocks])
    flags = np.zeros(distances.size, np.bool_)
    flags[np.argsort(-distances, kind="stable")[:top]] = True
    return flags
