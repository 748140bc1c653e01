"""What L and t mean, once for every method: which classes are diverse, and close to the table.

    distinct    at least l different values
    entropy     exp of the entropy at least l
    recursive   r1 < c (r_l + ... + r_m), counts in decreasing order (Machanavajjhala et al. 2007)
    strong      the share of the commonest value strictly below 1 / l (fu2010 section 4.1)

Values that say the same in another spelling count as one. A missing sensitive value counts as none,
and so does a text that says nothing.
l = None and t = None ask for nothing. Entropy and strong take every l; distinct and recursive count
values, so that a fraction of one is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import InputError, UnseenValueError, explain
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.same_meaning import alike, said_by, silent
from unspoken.methods.anonymity.method import DISTINCT, ENTROPY, RECURSIVE, STRONG
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import Coded, coded

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
    order: tuple[str, ...] = ()
    """The values of an ordinal text column, least first."""
    lacks_order: bool = False
    """True for an ordinal text column of which nobody stated the order."""
    spellings: int = 0
    """How many values count as another one because they say the same."""

    @classmethod
    def of(cls, name: str, column: Any, kind: str, tree: Hierarchy | None = None,
           order: Sequence[str] = ()) -> Secret:
        """Read an Arrow column; its kind says whether its values are ordered, `order` how."""
        written = coded(column)
        values = alike(written)
        same = written.missing - values.missing - silent(written)
        if tree is not None:
            places = np.append(tree.places(name, values.values()), len(tree.rows))
            return cls(name, places[values.codes], len(tree.rows), False, tree.ancestors,
                       spellings=same)
        ordered, texts = kind in ("numeric", "ordinal"), not is_number(values.labels.type)
        if ordered and texts and order:
            return cls._in_order(name, values, order, same)
        return cls(name, values.codes, values.missing, ordered and not texts,
                   lacks_order=ordered and texts, spellings=same)

    @classmethod
    def _in_order(cls, name: str, values: Coded, order: Sequence[str], same: int) -> Secret:
        rank = {said_by(value): at for at, value in reversed([*enumerate(order)])}
        strange = [value for value in values.values() if said_by(value) not in rank]
        if strange:
            raise UnseenValueError(f"Value '{strange[0]}' of '{name}' is not in the order that was "
                                   "stated. State the order of all values.")
        ranks = np.array([rank[said_by(value)] for value in values.values()], np.int64)
        place = np.append(np.argsort(np.argsort(ranks)), values.missing)
        texts = [str(values.values()[at]) for at in np.argsort(ranks).tolist()]
        return cls(name, place[values.codes], values.missing, True, order=tuple(texts),
                   spellings=same)

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
        if self.lacks_order:
            raise InputError(
                f"'t' of the ordinal column '{self.name}' needs the order of its values, and the "
                "alphabet is none. State it: kinds={'" + self.name + "': 'ordinal:low<high'} (or "
                f"--kind '{self.name}=ordinal:low<high'), read an ordered categorical, or declare "
                "the column categorical.")
        if self.above is not None:
            return stats.closeness_in_tree(counted, self.above, self.overall)
        return stats.closeness(counted, self.ordered, self.overall)


def refuse_fraction(owner: str, least: float | None, form: str) -> None:
    """Refuse a fraction of a value where l says how many values there must be."""
    if least is not None and form in (DISTINCT, RECURSIVE) and least != round(least):
        raise InputError(explain(f"'l' of {owner}", f"a whole number for diversity='{form}', which "
                                 "counts values", least, f"Use {math.ceil(least)}, or "
                                 f"diversity='{ENTROPY}', which takes fractions."))


def reached(counted: stats.Spread, form: str) -> Floats:
    """Return the L of every class."""
    measures = {DISTINCT: stats.distinct, ENTROPY: stats.entropy, STRONG: stats.strong}
    return np.asarray(measures[form](counted), np.float64)


def diverse(counted: stats.Spread, least: float, form: str, c: float = 3.0) -> Bools:
    """Return which classes have L; strong L is strict."""
    if form == RECURSIVE:
        return np.asarray(stats.recursive(counted, max(1, math.ceil(least))) < c)
    if form == STRONG:
        return np.asarray((counted.sizes > 0) & (counted.sizes > least * counted.commonest))
    return np.asarray(reached(counted, form) >= least - ROUNDING)


def close(one: Secret, counted: stats.Spread, most: float) -> Bools:
    """Return which classes lie within t of the whole table."""
    return np.asarray(one.apart(counted) <= most + ROUNDING)

