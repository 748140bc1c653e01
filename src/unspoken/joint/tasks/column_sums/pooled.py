"""The same sums from all rows in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def pooled(parts: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, float]:
    """Return the sum of each column over the rows of all owners."""
    return {name: float(sum(np.asarray(part[name], np.float64).sum() for part in parts))
            for name in columns}
