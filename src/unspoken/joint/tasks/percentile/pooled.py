"""The same places from all owners' numbers in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.joint.tasks.percentile.params import PercentileParams


def pooled(parts: Mapping[str, Any], params: PercentileParams) -> dict[str, Any]:
    """Return what every owner is told of its own numbers, from those of all, by owner."""
    units = np.array([params.units(values) for values in parts.values()])
    balance = np.sign(units[:, None] - units[None]).sum(axis=1)
    if params.groups:
        balance = params.groups * (len(units) + balance) // (2 * len(units))
    return {name: params.standing(row, len(units))
            for name, row in zip(parts, balance, strict=True)}
