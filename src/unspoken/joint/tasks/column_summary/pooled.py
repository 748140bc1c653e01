"""The same numbers from all rows in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.joint.tasks.column_summary.params import SummaryParams


def pooled(parts: Sequence[Mapping[str, Any]], params: SummaryParams) -> dict[str, Any]:
    """Return what describes each column over the rows of all owners, without noise."""
    whole = {name: np.concatenate([np.asarray(part[name], np.float64) for part in parts])
             for name in params.columns}
    totals = np.stack([params.numbers(name, values, 1) for name, values in whole.items()], axis=1)
    shown = totals[:3].sum(axis=0) >= params.least
    return params.described(np.where(shown, totals, 0), 1)
