"""The same clustering on pooled data, with the same rounding and the same tie rule.

`sites` is a list of column blocks, because squared distances are rounded at each site. Data that
lie in rows are one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.tasks.kmeans.params import (
    KMeansParams,
    as_floats,
    distances,
    first_records,
    means,
    movement,
    rounded,
    threshold,
    totals,
)


def pooled(sites: Sequence[Any], rules: KMeansParams, start: Any = None) -> tuple[Floats, Ints]:
    """Return the centres over all columns and the cluster of every record."""
    units = [rounded(part, rules) for part in sites]
    rows = [as_floats(part, rules) for part in units]
    if start is None:
        places = first_records(rules, rows[0].shape[0])
        centres = [part[places] for part in rows]
    else:
        centres = np.split(np.asarray(start, np.float64),
                           np.cumsum([part.shape[1] for part in rows])[:-1], axis=1)
    for _ in range(rules.iterations):
        assigned = nearest(rows, centres, rules)
        after = [_means(part, assigned, rules, old)
                 for part, old in zip(units, centres, strict=True)]
        moved = sum(movement(new, old, rules) for new, old in zip(after, centres, strict=True))
        centres = after
        if rules.tolerance is not None and moved <= threshold(rules):
            break
    return np.concatenate(centres, axis=1), nearest(rows, centres, rules)


def nearest(rows: Sequence[Floats], centres: Sequence[Floats], rules: KMeansParams) -> Ints:
    """Return the nearest centre of every record, the first among equals."""
    squared = sum(distances(part, own, rules) for part, own in zip(rows, centres, strict=True))
    return np.asarray(np.asarray(squared).argmin(axis=0), np.int64)


def _means(units: Ints, assigned: Ints, rules: KMeansParams, before: Floats) -> Floats:
    sums, counts = totals(units, assigned, rules.k)
    return means(as_floats(sums, rules), counts.astype(np.float64), before)
