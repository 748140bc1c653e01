"""SimilarityOutsourcing: a store holds and searches the data, and sees rotated records only.

The storage outsourcing scenario of liu2006 section 2.1. The owner moves records and queries by one
secret rigid motion; the store compares distances; the owner maps the answers back. The store
learns every distance between records and queries, which queries repeat, and how often each record
is an answer; what breaks a rotation breaks this too, and every query is one more record.

Answers are exactly those of the plain data: the store returns everything that may belong to an
answer within rounding, and the owner decides on the values mapped back. Values with at most six
decimals come back to the last bit, so their ties are ties, and go to the lower row number; where
columns hold longer fractions, distances closer than the tolerance may be ordered by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.methods.rotation.guarantee import tolerance_for
from unspoken.methods.rotation.method import SIMILARITY_OUTSOURCING
from unspoken.methods.rotation.whole_rotation import Rotation
from unspoken.release.method import Method
from unspoken.release.record_key import original_rows, released_rows
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table


@dataclass(frozen=True)
class Candidates:
    """What the store sends back for one rotated query: rows of the release and their records."""

    rows: Ints
    records: Floats


@dataclass(frozen=True)
class Answer:
    """What the owner makes of it: rows of the original table, nearest first, and values."""

    rows: Ints
    records: Floats
    distances: Floats


class Store:
    """The store's side: holds a release, knows no key, answers by distance.

    It learns every distance between records and queries, which queries repeat, and how often
    each record is an answer (liu2006 section 2.1).

    Parameters
    ----------
    release : Release
        A release made by SimilarityOutsourcing.

    Examples
    --------
    >>> candidates = Store(release).nearest(owner.rotated(queries), 5)  # doctest: +SKIP
    """

    def __init__(self, release: Release) -> None:
        facts = release.guarantee.facts
        self._records = release.table.numbers(facts["columns"])
        self._squares = (self._records**2).sum(axis=1)
        self._known = np.flatnonzero(~np.isnan(self._squares))
        self._share = tolerance_for(self._records.shape[1])

    @property
    def columns(self) -> int:
        """Return the number of released columns."""
        return int(self._records.shape[1])

    def nearest(self, queries: Floats, count: int) -> list[Candidates]:
        """Return for each query the nearest records, and all that tie within rounding."""
        if count < 1:
            raise InputError(explain("'count'", "an int >= 1", count))
        return [self._near(query, min(count, self._known.size)) for query in _rows(queries)]

    def within(self, queries: Floats, radius: float) -> list[Candidates]:
        """Return for each query all records within a radius, and those just beyond."""
        if not radius >= 0:
            raise InputError(explain("'radius'", "a number >= 0", radius))
        return [self._reach(query, float(radius)) for query in _rows(queries)]

    def _near(self, query: Floats, count: int) -> Candidates:
        distances = self._distances(query)
        if count == 0:
            return self._reach(query, -np.inf)
        last = float(np.partition(distances, count - 1)[count - 1])
        return self._chosen(query, distances, last)

    def _reach(self, query: Floats, radius: float) -> Candidates:
        return self._chosen(query, self._distances(query), radius)

    def _chosen(self, query: Floats, distances: Floats, radius: float) -> Candidates:
        longest = float(self._squares[self._known].max(initial=0.0))
        size = max(longest, float(query @ query)) ** 0.5
        near = self._known[distances <= radius + 4 * self._share * size]
        return Candidates(near, self._records[near])

    def _distances(self, query: Floats) -> Floats:
        rest = self._records[self._known] - query
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", rest, rest)))


def _rows(queries: Any) -> Floats:
    data = np.asarray(queries, np.float64)
    if data.ndim != 2 or not np.isfinite(data).all():
        raise InputError("Queries must be an array of finite numbers with one row per query. "
                         f"Got an array of shape {data.shape}.")
    return data


class SimilarityOutsourcing(Rotation):
    """The owner's side of a similarity search on another party's machine (liu2006 section 2.1).

    The release goes to the store, where `Store` runs; the key stays with the owner.
    `nearest` and `within` rotate the queries, ask the store, and map its answers back. Records
    may be added later with `transform`. The store learns every distance; what breaks a rotation
    breaks this too, and every query is one more known distance.

    Parameters
    ----------
    proper : bool, default False
        Rotations only; otherwise reflections too.
    translation : bool, default False
        Also move the records by a secret vector.
    standardise : bool, default False
        Bring columns to mean 0 and variance 1 first.
    missing : {"refuse", "blank", "mean"}, default "refuse"
        What happens to records with missing values.
    categorical : {"refuse", "drop", "embed"}, default "refuse"
        What happens to categorical features; embedded ones are `category_weight` apart.
    category_weight : float, default 1.0
        The distance of two categories that are embedded.
    shuffle_rows : bool, default True
        Release the rows in a random order; the key can restore it.
    known_rows : sequence of int, optional
        Rows that the store may know in full.
    withhold : float, optional
        Leave out other records that a store which knows these rows finds with a greater chance.
    random_state : int, optional
        For tests and experiments only; a release made with it says so.

    Examples
    --------
    >>> owner = SimilarityOutsourcing()
    >>> release, key = owner.protect(table)  # doctest: +SKIP
    >>> store = Store(release)  # doctest: +SKIP
    >>> answers = owner.nearest(store, queries, 5)  # doctest: +SKIP
    """

    method: ClassVar[Method] = SIMILARITY_OUTSOURCING

    def rotated(self, queries: Any) -> Floats:
        """Return queries as they are sent to the store."""
        return self.motion_.apply(_rows(queries))

    def nearest(self, store: Store, queries: Any, count: int = 1) -> list[Answer]:
        """Return the nearest records of the plain data; ties go to the lower row number."""
        plain = _rows(queries)
        candidates = store.nearest(self.rotated(plain), count)
        return [self.chosen(q, c, count, np.inf) for q, c in zip(plain, candidates, strict=True)]

    def within(self, store: Store, queries: Any, radius: float) -> list[Answer]:
        """Return all records of the plain data within a radius, nearest first."""
        plain = _rows(queries)
        candidates = store.within(self.rotated(plain), radius)
        return [self.chosen(q, c, c.rows.size, float(radius))
                for q, c in zip(plain, candidates, strict=True)]

    def chosen(self, query: Floats, candidates: Candidates, count: int, radius: float) -> Answer:
        """Return those of the candidates that are the answer, mapped back and in order."""
        records = self.motion_.invert(candidates.records)
        rows = self._order()[candidates.rows]
        distances = self._lengths(records - query)
        order = np.lexsort((rows, distances))
        order = order[distances[order] <= radius][:count]
        return Answer(rows[order], records[order], distances[order])

    def _lengths(self, differences: Floats) -> Floats:
        """Return how far records are from a query, of which these are the differences."""
        scaled = differences / self.motion_.scale
        if self.embedding_ is None:
            return plain_distances(scaled)
        squares = plain_distances(scaled[:, : len(self.embedding_.numbers)], root=False)
        return self.embedding_.lengths(differences, squares)

    def _order(self) -> Ints:
        # The order is made once, for the release at hand.
        if not hasattr(self, "order_"):
            raise InputError("SimilarityOutsourcing: no release is open. Call protect(table), or "
                             "from_key(key).opened(release).")
        order: Ints = self.order_
        return order

    @from_any_table
    def protect(self, table: Any) -> Any:
        """Return the release for the store, and the key."""
        release, key = super().protect(table)
        self.order_ = original_rows(key, release.table.rows)
        return release, key

    def ready(self) -> SimilarityOutsourcing:
        """Make ready to read answers after `from_key`, the release being at the store."""
        self.order_ = original_rows(self.key_, released_rows(self.key_))
        return self

    def opened(self, release: Release) -> SimilarityOutsourcing:
        """Make ready to ask about a release, after `from_key`."""
        self.key_.fits(release)
        self.order_ = original_rows(self.key_, release.table.rows)
        return self


def plain_distances(differences: Floats, root: bool = True) -> Floats:
    """Return lengths, or their squares, summed column by column: equal records, equal numbers."""
    total = np.zeros(differences.shape[0])
    for column in range(differences.shape[1]):
        total += differences[:, column] ** 2
    return np.sqrt(total) if root else total
