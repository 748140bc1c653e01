"""What L and t mean, once for every method: which classes are diverse, and close to the table.

    distinct    at least l different values
    entropy     exp of the entropy at least l
    recursive   r1 < c (r_l + ... + r_m), counts in decreasing order (Machanavajjhala et al. 2007)
    strong      the share of the commonest value strictly below 1 / l (fu2010 section 4.1)

A missing sensitive value counts as no value. l = None and t = None ask for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.method import DISTINCT, ENTROPY, RECURSIVE, STRONG
from unspoken.table.category_codes import coded

ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Secret:
    """One sensitive column: its codes, which code is missing, and how far its values lie apart.

    Ordered values lie apart by their ranks, those with a hierarchy (`above`) by how far they must
    climb to meet, others are all equally far apart.
    """

    name: str
    codes: stats.Codes
    missing: int
    ordered: bool = False
    above: Ints | None = None

    @classmethod
    def of(cls, name: str, column: Any, kind: str, tree: Hierarchy | None = None) -> Secret:
        """Read an Arrow column; its kind says whether its values are ordered."""
        values = coded(column)
        if tree is None:
            return cls(name, values.codes, values.missing, kind in ("numeric", "ordinal"))
        places = np.append(tree.places(name, values.values()), len(tree.rows))
        return cls(name, places[values.codes], len(tree.rows), False, tree.ancestors)

    @cached_property
    def overall(self) -> Floats:
        """Return the share of every value among the values of the whole table."""
        known = self.codes[self.codes != self.missing]
        return np.asarray(np.bincount(known, minlength=max(self.missing, 1)) / max(known.size, 1))

    def spread(self, owner: stats.Codes, rows: Ints | None = None) -> stats.Spread:
        """Count the values in every class of some records, by default of all."""
        return stats.spread(owner, self.codes if rows is None else self.codes[rows], self.missing)

    def apart(self, counted: stats.Spread) -> Floats:
        """Return for every class how far its values lie from those of the whole table."""
        if self.above is not None:
            return stats.closeness_in_tree(counted, self.above, self.overall)
        return stats.closeness(counted, self.ordered, self.overall)


def reached(counted: stats.Spread, form: str) -> Floats:
    """Return the L of every class."""
    measures = {DISTINCT: stats.distinct, ENTROPY: stats.entropy, STRONG: stats.strong}
    return np.asarray(measures[form](counted), np.float64)


def diverse(counted: stats.Spread, least: float, form: str, c: float = 3.0) -> Bools:
    """Return which classes have L; strong L is strict."""
    if form == RECURSIVE:
        return np.asarray(stats.recursive(counted, max(1, int(least))) < c)
    if form == STRONG:
        return np.asarray((counted.sizes > 0) & (counted.sizes > least * counted.commonest))
    return np.asarray(reached(counted, form) >= least - ROUNDING)


def close(one: Secret, counted: stats.Spread, most: float) -> Bools:
    """Return which classes lie within t of the whole table."""
    return np.asarray(one.apart(counted) <= most + ROUNDING)

