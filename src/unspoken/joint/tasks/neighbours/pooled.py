"""The same classes from all rows in one place, exact, with the same ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.joint.tasks.common.grid_distances import powers, rounded
from unspoken.joint.tasks.neighbours.params import NeighbourParams


def pooled(asked: Any, rows: Any, labels: Sequence[Any], classes: Sequence[str],
           rules: NeighbourParams) -> npt.NDArray[Any]:
    """Return the class of most of the k nearest rows, for every record."""
    records, known = rounded(asked, rules), rounded(rows, rules)
    codes = np.array([list(classes).index(str(label)) for label in labels])
    chosen = []
    for record in records:
        near = np.argsort(powers(record, known, rules.order), kind="stable")[:rules.k]
        chosen.append(np.bincount(codes[near], minlength=len(classes)).argmax())
    return np.array(classes, object)[chosen]
