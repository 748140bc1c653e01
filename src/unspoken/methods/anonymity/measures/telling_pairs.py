"""Which pairs of columns single people out: who is the only one with both of their values.

A column of many values singles out by itself; a pair counts by what it adds to the worse of its
two columns.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.measure import Names, columns_of
from unspoken.table.category_codes import coded
from unspoken.table.table import Table


@dataclass(frozen=True)
class TellingPair:
    """Two columns, the share of people whom both together single out, and each by itself."""

    columns: tuple[str, str]
    unique: float
    alone: tuple[float, float]

    @property
    def added(self) -> float:
        """Return what the pair adds to the worse of the two."""
        return self.unique - max(self.alone)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def telling_pairs(table: Table, quasi: Names = None, *, most: int = 10) -> tuple[TellingPair, ...]:
    """Return the pairs of quasi-identifiers that single most people out, the worst first."""
    names, _ = columns_of(table, quasi, ())
    rows, often = table.engine.groups(table.frame, list(names))
    codes = {name: np.asarray(coded(rows[name]).codes, np.int64) for name in names}
    alone = {name: _unique([one], often) for name, one in codes.items()}
    pairs = [TellingPair((one, other), _unique([codes[one], codes[other]], often),
                         (alone[one], alone[other])) for one, other in combinations(names, 2)]
    return tuple(sorted(pairs, key=lambda pair: -pair.unique)[:most])


def _unique(codes: list[Any], often: Ints | None) -> float:
    sizes = stats.sizes(stats.classes(codes), often)
    return float((sizes == 1).sum() / sizes.sum())
