"""The same quantiles from all rows in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.tasks.column_quantiles.params import QuantileParams
from unspoken.joint.tasks.common.quantile_search import Grid, plain_quantiles


def pooled(parts: Sequence[Mapping[str, Any]], params: QuantileParams) -> dict[str, Any]:
    """Return the quantiles of each column over the rows of all owners; NaN is missing."""
    whole = {name: np.concatenate([np.asarray(part[name], np.float64) for part in parts])
             for name in params.columns}
    return params.described({name: _ends(values[~np.isnan(values)], params.grids[name],
                                         params.fewest) for name, values in whole.items()})


def _ends(values: Floats, grid: Grid, fewest: int) -> Floats:
    thin = [values.size * min(part, parts - part) < fewest * parts for part, parts in grid.wanted]
    return np.where(thin, np.nan, plain_quantiles(values, grid))
