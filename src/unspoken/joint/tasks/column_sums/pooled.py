"""The same sums from all rows in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.joint.tasks.column_sums.params import SumParams


def pooled(parts: Sequence[Mapping[str, Any]], columns: Sequence[str],
           rules: SumParams | None = None) -> dict[str, float]:
    """Return the sum of each column, or its counts, over the rows of all owners, without noise."""
    rules = rules or SumParams(tuple(columns))
    whole = {name: np.concatenate([np.asarray(part[name], np.float64) for part in parts])
             for name in rules.columns}
    numbers = [rules.sums(name, values) for name, values in whole.items()]
    return dict(zip(rules.labels, np.concatenate(numbers).tolist(), strict=True))
