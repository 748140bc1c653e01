"""The same bins, counts and weights from all rows in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.joint.tasks.column_bins.evidence_weights import OwnRows, counted, described
from unspoken.joint.tasks.column_bins.hidden_bins import plain_shown
from unspoken.joint.tasks.column_bins.params import BinParams
from unspoken.joint.tasks.common.quantile_search import plain_quantiles


def pooled(parts: Sequence[OwnRows], params: BinParams) -> dict[str, Any]:
    """Return bins and weights of the rows of all owners, without noise."""
    whole = OwnRows({name: np.concatenate([part.columns[name] for part in parts])
                     for name in params.columns}, np.concatenate([part.labels for part in parts]))
    edges = params.edges({name: _ends(whole, params, name) for name in params.grids})
    counts = counted(whole, params, edges)
    ends = np.cumsum([params.cells(name) for name in params.columns])[:-1]
    shown = np.concatenate([plain_shown(part, params.least)
                            for part in np.split(counts.sum(axis=1), ends)])
    return described(params, edges, np.where(shown[:, None], counts, 0))


def _ends(whole: OwnRows, params: BinParams, name: str) -> Any:
    values, grid = whole.known(name), params.grids[name]
    thin = [values.size * min(part, parts - part) < max(1, params.least) * parts
            for part, parts in grid.wanted]
    return np.where(thin, np.nan, plain_quantiles(values, grid))
