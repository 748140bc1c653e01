"""Condenser: groups of k alike records, replaced by draws with their means and covariances.

Condensation (Aggarwal and Yu 2004). Of every group only its mean and its covariance are used: new
records are drawn uniformly along its main axes, with the same variances, and centred on its mean.
Categories, and which values are missing, are dealt at random within the group. Where fewer than k
values of a column are known in a group, the column is missing in all of it: a mean of few values is
close to each of them, and that of one is the value itself.

Who learns what. Every published number is drawn from the mean and covariance of at least k known
values, and the mean of a column is exactly that of the groups that are published in it. A group of
very similar people is drawn close to them: what all records of a group have in common is disclosed
of each. Sensitive columns and the target go out as they are, beside numbers that were drawn. No
class is promised: it is not k-anonymity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.methods.anonymity.exact_numbers import refuse_inexact
from unspoken.methods.anonymity.masking.masking_method import Masked, made, roles_of
from unspoken.methods.anonymity.masking.refuse_unchanged import refuse_unchanged
from unspoken.methods.anonymity.method import CONDENSATION
from unspoken.methods.anonymity.perturbing.mdav import mdav
from unspoken.methods.anonymity.perturbing.microaggregation import coordinates
from unspoken.numerics.random import generator, seed_from
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.arrow_arrays import from_numbers, is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

OWNER = "Condenser"
_EDGE = np.sqrt(3.0)
"""Uniform draws on [-edge, edge] have variance one."""


class Condenser(BaseEstimator):  # type: ignore[misc]
    """Replace groups of k alike records by draws with their means and covariances.

    Parameters
    ----------
    k : the least size of a group.
    columns, sensitive : names in place of the schema's roles.
    others : "refuse", "keep" or "drop" columns that are neither.
    shuffle_rows : release the rows in a random order.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    owner_ : the group of every record. It stays with the custodian.

    Examples
    --------
    >>> release, _ = Condenser(k=10).protect(table)  # doctest: +SKIP
    """

    def __init__(self, k: int = 10, *, columns: Any = None, sensitive: Any = None,
                 others: str = "refuse", shuffle_rows: bool = True,
                 random_state: Any = None) -> None:
        self.k = k
        self.columns = columns
        self.sensitive = sensitive
        self.others = others
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        CONDENSATION.check(self, table)
        roles = roles_of(OWNER, table, self.columns, self.sensitive, self.others)
        if table.rows < self.k:
            raise DataError(f"{OWNER}: the table must have at least k = {self.k} records. It has "
                            f"{table.rows}.")
        values = {name: coded(table.arrow([name])[name]) for name in roles.quasi}
        refuse_inexact(OWNER, values)
        self.owner_ = mdav(np.column_stack([coordinates(one) for one in values.values()]),
                           int(self.k))
        seed = seed_from(self.random_state)
        changed = self._drawn(values, generator(seed, "condense"))
        refuse_unchanged(OWNER, table, changed, table.rows, "Ask for a larger k.")
        about = {name: {"form": "drawn", "kept": _kept(one, self.owner_, int(self.k)),
                        "left_out": _left_out(one, changed[name])}
                 for name, one in values.items()}
        promise = Masked(
            f"Every number is drawn with the mean and covariance of at least {self.k} known "
            "values; where a group has fewer, none is released.",
            ("no class is promised: a group of very similar people is drawn close to them",),
            {"group_size": int(self.k), "groups": int(self.owner_.max()) + 1})
        mechanism = {"name": CONDENSATION.name, "group_size": int(self.k), "columns": about}
        release = made(table, roles, changed, None, mechanism, promise, seed,
                       self.random_state is not None)
        return keyed(release, table, seed, self.shuffle_rows)

    def _drawn(self, values: Mapping[str, Coded], rng: np.random.Generator) -> dict[str, Any]:
        order = np.argsort(self.owner_, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(self.owner_))[:-1])
        changed: dict[str, Any] = {}
        numeric = [name for name, one in values.items() if is_number(one.labels.type)]
        numbers = np.column_stack([_floats(values[name]) for name in numeric]) if numeric else None
        if numbers is not None:
            shown = np.empty(numbers.shape)
            for rows in groups:
                shown[rows] = condensed(numbers[rows], rng, int(self.k))
            changed |= {name: from_numbers(shown[:, at], values[name].labels.type)
                        for at, name in enumerate(numeric)}
        for name, one in values.items():
            if name not in changed:
                dealt = np.empty(one.codes.size, np.int64)
                for rows in groups:
                    dealt[rows] = _dealt(one, rows, rng, int(self.k))
                texts = pa.array([*map(str, one.values()), None], pa.string())
                changed[name] = texts.take(pa.array(dealt))
        return changed


def _dealt(column: Coded, rows: Ints, rng: np.random.Generator, k: int) -> Ints:
    """Return the categories of a group in another order, all missing where few are known."""
    codes = column.codes[rows]
    few = np.count_nonzero(codes != column.missing) < k
    return np.full(rows.size, column.missing, np.int64) if few else rng.permutation(codes)


def condensed(group: Floats, rng: np.random.Generator, k: int = 1) -> Floats:
    """Draw as many records as a group has, with its means and, on average, its covariance.

    A missing value counts as the mean; as many are missing afterwards, dealt at random. Columns
    with fewer than k values are missing in all records.
    """
    few = (~np.isnan(group)).sum(axis=0) < k
    group = np.where(few, np.nan, group)
    gone = np.isnan(group)
    count = (~gone).sum(axis=0)
    means = np.where(gone, 0.0, group).sum(axis=0) / np.maximum(count, 1)
    centred = np.where(gone, 0.0, group - means)
    spread, axes = np.linalg.eigh(centred.T @ centred / group.shape[0])
    drawn = rng.uniform(-_EDGE, _EDGE, group.shape) * np.sqrt(np.maximum(spread, 0.0)) @ axes.T
    drawn[:, np.abs(centred).max(axis=0) == 0] = 0.0
    dealt = np.column_stack([rng.permutation(column) for column in gone.T])
    off = np.where(dealt, 0.0, drawn).sum(axis=0) / np.maximum(count, 1)
    return np.asarray(np.where(dealt, np.nan, drawn - off + means))


def _floats(column: Coded) -> Floats:
    known = np.asarray(to_numbers(column.labels), np.float64)
    return np.asarray(np.r_[known, np.nan][column.codes])


def _left_out(column: Coded, released: pa.Array) -> int:
    """Return how many known values are missing in the release."""
    return int(released.null_count - np.count_nonzero(column.codes == column.missing))


def _kept(column: Coded, owner: Ints, k: int) -> float:
    """Return the share of values that are expected to stay: those of groups of one value."""
    size = int(owner.max()) + 1
    pairs, counts = np.unique(owner * (column.missing + 1) + column.codes, return_counts=True)
    group, gone = pairs // (column.missing + 1), pairs % (column.missing + 1) == column.missing
    held = np.bincount(owner, minlength=size)[group]
    few = np.bincount(owner[column.codes != column.missing], minlength=size)[group] < k
    stay = counts**2 / held
    if is_number(column.labels.type):
        stay = np.where(gone | (counts == held), stay, 0.0)
    return float(np.where(few, counts * gone, stay).sum() / owner.size)
