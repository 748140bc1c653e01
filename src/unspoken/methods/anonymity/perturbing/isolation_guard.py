"""IsolationGuard: released points that (c, t)-isolate nobody (vcz2006 section 2.1, Definition 2.2).

A guess q isolates the record y if the ball around q of radius c |q - y| holds fewer than t records.
Among all records the nearest is the easiest to isolate: q isolates nobody if the t-th nearest
record lies within c times the distance of the nearest. Alike records are put into groups of at
least t, and each group is released as the point nearest to its mean, of those tried, for which that
holds. A mean itself often does not do: somebody may stand on it. Far outside all records it always
holds, so that a point is found for every group.

Who learns what. No released row, used as a guess, isolates anybody, and everybody shares a row with
t - 1 others. The definition speaks about every adversary: one who knows more than the release can
still isolate with other guesses, such as a record that is known anyway. Distances are between
records whose columns have been brought to the same spread; a missing value counts as the mean.
Sensitive columns and the target go out as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from unspoken.arrays import Bools, Floats
from unspoken.errors import DataError
from unspoken.methods.anonymity.exact_numbers import refuse_huge, refuse_inexact
from unspoken.methods.anonymity.masking.masking_method import (
    Anonymous,
    Demand,
    Roles,
    anonymous,
    made,
    roles_of,
)
from unspoken.methods.anonymity.masking.refuse_unchanged import refuse_unchanged
from unspoken.methods.anonymity.method import ISOLATION_GUARD
from unspoken.methods.anonymity.perturbing.mdav import mdav
from unspoken.methods.anonymity.record_transformer import ClassTransformer
from unspoken.numerics.random import generator, seed_from
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

OWNER = "IsolationGuard"
_HAIR = 1e-9
_DIRECTIONS = 48
_STEPS = np.r_[0.0, np.geomspace(0.05, 16.0, 24)]
"""How far from the mean points are tried, in units of the distance of the t-th nearest record."""


class IsolationGuard(ClassTransformer, BaseEstimator):  # type: ignore[misc]
    """Release groups of t alike records as points that (c, t)-isolate nobody.

    Parameters
    ----------
    c : how many times as far as the record that is guessed the others may lie; above 1.
    t : how many records must lie that near, at least; groups have as many.
    columns, sensitive : names in place of the schema's roles; quasi-identifiers must be numbers.
    others : "refuse", "keep" or "drop" columns that are neither.
    shuffle_rows : release the rows in a random order.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    owner_ : the group of every record. It stays with the custodian.
    information_loss_ : squared distances of records from their released points, as a share of those
        from the mean.

    Examples
    --------
    >>> release, _ = IsolationGuard(c=4, t=5).protect(table)  # doctest: +SKIP
    """

    def __init__(self, c: float = 4.0, t: int = 5, *, columns: Any = None, sensitive: Any = None,
                 others: str = "refuse", shuffle_rows: bool = True,
                 random_state: Any = None) -> None:
        self.c = c
        self.t = t
        self.columns = columns
        self.sensitive = sensitive
        self.others = others
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        ISOLATION_GUARD.check(self, table)
        roles = roles_of(OWNER, table, self.columns, self.sensitive, self.others)
        values = {name: coded(table.arrow([name])[name]) for name in roles.quasi}
        self._refuse(table, values)
        seed = seed_from(self.random_state)
        changed = self._moved(values, generator(seed, "isolation guard"))
        refuse_unchanged(OWNER, table, changed, table.rows, "Use a larger t.")
        mechanism = {"name": ISOLATION_GUARD.name, "c": float(self.c), "t": int(self.t),
                     "columns": {name: {"form": "point"} for name in values}}
        release = made(table, roles, changed, None, mechanism, self._promise(roles), seed,
                       self.random_state is not None)
        return keyed(release, table, seed, self.shuffle_rows)

    def _refuse(self, table: Table, values: Mapping[str, Coded]) -> None:
        for name, one in values.items():
            if not is_number(one.labels.type) or pa.types.is_temporal(one.labels.type):
                raise DataError(f"{OWNER}: '{name}' must be a number, because isolation is about "
                                "distances. Name the 'columns', or use Microaggregator.")
        refuse_inexact(OWNER, values)
        refuse_huge(OWNER, values)
        if table.rows < self.t:
            raise DataError(f"{OWNER}: the table must have at least t = {self.t} records. It has "
                            f"{table.rows}.")

    def _moved(self, values: Mapping[str, Coded], rng: np.random.Generator) -> dict[str, Any]:
        data = np.column_stack([filled(one) for one in values.values()])
        scale = spreads(data)
        points = data / scale
        self.owner_ = mdav(points - points.mean(axis=0), int(self.t))
        shown = _Search(points, float(self.c), int(self.t), rng).around(self._means(points))
        released = shown * scale
        if isolating(points, released / scale, float(self.c), int(self.t)).any():
            raise DataError(f"{OWNER}: rounding takes the guard away: values are too close to each "
                            "other for their size. Subtract a constant from the columns.")
        away = points - shown[self.owner_]
        whole = float(((points - points.mean(axis=0)) ** 2).sum())
        self.information_loss_ = float((away * away).sum()) / whole if whole else 0.0
        return {name: pa.array(released[self.owner_, at]) for at, name in enumerate(values)}

    def _means(self, points: Floats) -> Floats:
        size = np.bincount(self.owner_)
        return np.column_stack([np.bincount(self.owner_, column) / size for column in points.T])

    def _promise(self, roles: Roles) -> Anonymous:
        promise = anonymous(Demand(int(self.t)), roles, {
            "isolation_c": float(self.c), "isolation_t": int(self.t),
            "information_loss": self.information_loss_})
        return replace(promise, statement=(
            f"No released row isolates anybody: within {self.c:g} times its distance from the "
            f"nearest original record lie at least {self.t}. {promise.statement}"))


class _Search:
    """Points near given ones that isolate nobody."""

    def __init__(self, points: Floats, c: float, t: int, rng: np.random.Generator) -> None:
        from scipy.spatial import cKDTree

        self.tree, self.c, self.t, self.rng = cKDTree(points), c, t, rng
        self.reach = float(np.linalg.norm(np.ptp(points, axis=0)))

    def fine(self, guesses: Floats) -> Bools:
        """Return which guesses isolate nobody, with room for rounding."""
        near = self.tree.query(guesses, k=[1, self.t])[0]
        return np.asarray(near[:, 1] * (1 + _HAIR) <= self.c * near[:, 0])

    def around(self, means: Floats) -> Floats:
        """Return for every mean the nearest point, of those tried, that isolates nobody."""
        out, left = means.copy(), np.ones(means.shape[0], np.bool_)
        unit = self.tree.query(means, k=[self.t])[0][:, 0]
        for step in _STEPS:
            at = np.flatnonzero(left)
            if at.size == 0:
                return out
            tried = self._tried(means[at], step * unit[at])
            fine = self.fine(tried.reshape(-1, means.shape[1])).reshape(at.size, -1)
            hit = fine.any(axis=1)
            out[at[hit]] = tried[hit, fine[hit].argmax(axis=1)]
            left[at[hit]] = False
        return self._outside(out, left)

    def _tried(self, means: Floats, radius: Floats) -> Floats:
        """Return (means, directions, columns): points at a distance from every mean."""
        shape = (means.shape[0], _DIRECTIONS, means.shape[1])
        drawn = self.rng.standard_normal(shape)
        drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
        return np.asarray(means[:, None, :] + drawn * radius[:, None, None])

    def _outside(self, out: Floats, left: Bools) -> Floats:
        """Move what is left so far outside that all records are about equally far."""
        away = 2.0 * self.reach * (self.c + 1.0) / (self.c - 1.0)
        out[left] = self._tried(out[left], np.full(int(left.sum()), away))[:, 0]
        return out


def filled(column: Coded) -> Floats:
    """Return numbers with the mean in place of missing ones."""
    known = np.asarray(to_numbers(column.labels), np.float64)
    counts = np.bincount(column.codes, minlength=known.size + 1)[:known.size]
    mean = float((known * counts).sum() / counts.sum()) if counts.sum() else 0.0
    return np.asarray(np.r_[known, mean][column.codes])


def spreads(data: Floats) -> Floats:
    """Return the deviation of every column, 1 for a constant."""
    spread = data.std(axis=0)
    return np.asarray(np.where(spread > 0, spread, 1.0))


def isolating(points: Floats, guesses: Floats, c: float, t: int) -> Bools:
    """Return which guesses (c, t)-isolate some point: the nearest is the easiest to isolate."""
    from scipy.spatial import cKDTree

    near = cKDTree(points).query(guesses, k=[1, t])[0]
    return np.asarray(near[:, 1] > c * near[:, 0])
