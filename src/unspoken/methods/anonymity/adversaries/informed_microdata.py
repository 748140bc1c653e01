"""The well-informed adversary of microdata, and the one who knows an order.

vcz2006 section 2.1: an adversary knows that some targets are almost certainly in the sample, that
the sample comes from a pool of 20,000 people, their quasi-identifiers with some error and their
sensitive numbers within 10%. A record is named only where target and record are each other's best
match: no other record is as near to the target, nobody else of the pool is as near to the record.
Moore (1996) called 13% of correct and confident names acceptably low.

fu2010 section 3.3: an adversary who knows that a person has the smallest value of an attribute
finds the group of records with the smallest published value. At least k records share it if the
promise holds for that attribute alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.anonymity.adversaries.record_linking import candidates
from unspoken.methods.anonymity.adversaries.table_adversary import (
    ORDER,
    POOL_LEVEL,
    Matches,
    TableAdversary,
    TableKnowledge,
    TableView,
    believed,
)
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded

if TYPE_CHECKING:
    from unspoken.methods.anonymity.table_knowledge import People

_SAME = 1e-9


class InformedMicrodata(TableAdversary):
    """Names a record where target and record are each other's best match in sample and pool."""

    name: ClassVar[str] = "informed-microdata"
    needs: ClassVar[frozenset[str]] = frozenset({"people", "pool", "mine"})
    measures: ClassVar[tuple[str, ...]] = ("identified", "confident", "false matches")
    gets: ClassVar[str] = ("knows who is likely in the sample, the pool it comes from, their "
                           "quasi-identifiers with errors and sensitive numbers within 10%")

    def levels(self, people: People, view: TableView) -> Iterator[tuple[str, str]]:
        """Yield the levels of knowledge at which it is tried."""
        if people.row is not None:
            yield POOL_LEVEL, ""

    def _attack(self, view: TableView, knowledge: TableKnowledge) -> Matches:
        near = self._near(view, knowledge)
        weight = np.zeros((near.shape[0], view.sizes.size))
        np.add.at(weight.T, view.owner, near.T.astype(np.float64))
        weight /= view.sizes
        return Matches(weight, self.records(view, knowledge)[1], believed(view, weight))

    def records(self, view: TableView, knowledge: TableKnowledge) -> tuple[Ints, Any]:
        """Return the best record for every target, and whether it is named with confidence."""
        near = self._near(view, knowledge)
        nearest = near.argmax(axis=1)
        return nearest, (near.sum(axis=1) == 1) & self._mutual(view, knowledge, nearest)

    def _near(self, view: TableView, knowledge: TableKnowledge) -> Any:
        """Return (targets, records): which records are nearest to what is known."""
        distance = self._records(view, knowledge)
        return distance <= distance.min(axis=1, keepdims=True) + _SAME

    def _records(self, view: TableView, knowledge: TableKnowledge) -> Floats:
        """Return (targets, records): distances by quasi-identifiers and sensitive numbers."""
        out = view.distances(knowledge.people)[:, view.owner]
        for name, values in (knowledge.secrets or {}).items():
            shown = view.table[name]
            if is_number(shown.type):
                real = np.asarray(to_numbers(shown), np.float64)
                spread = float(np.ptp(real[np.isfinite(real)])) or 1.0
                out += np.nan_to_num(np.minimum(np.abs(values[:, None] - real) / spread, 1.0))
            else:
                out += (coded(shown).codes[None, :] != values[:, None]).astype(np.float64)
        return out

    def _mutual(self, view: TableView, knowledge: TableKnowledge, nearest: Ints) -> Any:
        """Return where nobody else of the pool is as near to the record as the target."""
        assert knowledge.mine is not None
        kinds, place = np.unique(view.owner[nearest], return_inverse=True)
        pool = view.distances(knowledge.pool, kinds)[:, place.reshape(-1)]
        own = pool[knowledge.mine, np.arange(nearest.size)].copy()
        pool[knowledge.mine, np.arange(nearest.size)] = np.inf
        return pool.min(axis=0) > own + _SAME


class KnownOrder(TableAdversary):
    """Sorts the released records by an attribute and counts down to the target's rank."""

    name: ClassVar[str] = "known-order"
    needs: ClassVar[frozenset[str]] = frozenset({"order", "ranks"})
    gets: ClassVar[str] = "knows where people stand in the order of one attribute"

    def levels(self, people: People, view: TableView) -> Iterator[tuple[str, str]]:
        """Yield the levels of knowledge at which it is tried."""
        for name in view.quasi:
            one = view.columns[name]
            if one.low is not None and one.found.missing > 1 and is_number(people.table[name].type):
                yield ORDER, name

    def _attack(self, view: TableView, knowledge: TableKnowledge) -> Matches:
        assert knowledge.ranks is not None
        one = view.columns[str(knowledge.order)]
        if one.low is None or one.high is None:
            middle = one.found.codes.astype(np.float64)
        else:
            ends = np.clip(one.low, -1e300, 1e300) / 2 + np.clip(one.high, -1e300, 1e300) / 2
            middle = ends[one.found.codes]
        order = np.argsort(middle, kind="stable")
        place = np.minimum((knowledge.ranks * view.rows).astype(np.int64), view.rows - 1)
        value = middle[order[place]]
        same = middle[view.first][None, :] == value[:, None]
        weight = same.astype(np.float64)
        return Matches(weight, weight @ view.sizes == 1, believed(view, weight))


def intersected(first: TableView, second: TableView, people: Any,
                sensitive: str) -> tuple[Floats, tuple[Any, ...]]:
    """Return what two releases of the same people together say about a sensitive value.

    A person's value is in both classes (Ganta et al. 2008), at most as often as in the smaller
    count; k and l of each release do not limit that.

    Parameters
    ----------
    first, second : TableView
        The two releases.
    people : pyarrow.Table
        The quasi-identifiers of the targets, one row per target.
    sensitive : str
        The sensitive column, which both releases hold.

    Returns
    -------
    tuple
        An array (targets, values) with the probability of each value, and the values.

    Examples
    --------
    >>> shares, values = intersected(one, two, rows, "disease")  # doctest: +SKIP
    """
    parts, labels = [], []
    for view in (first, second):
        parts.append(candidates(view.distances(people)) @ view.counts(sensitive))
        labels.append([str(value) for value in view.secrets[sensitive].values()] + [""])
    values = sorted(set(labels[0]) | set(labels[1]))
    wide = [np.zeros((part.shape[0], len(values))) for part in parts]
    for out, part, names in zip(wide, parts, labels, strict=True):
        out[:, [values.index(name) for name in names]] = part
    both = np.minimum(*wide)
    total = both.sum(axis=1, keepdims=True)
    alone = wide[0] / np.maximum(wide[0].sum(axis=1, keepdims=True), 1e-300)
    return np.where(total > 0, both / np.maximum(total, 1e-300), alone), tuple(values)
