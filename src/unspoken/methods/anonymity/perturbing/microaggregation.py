"""Microaggregator: alike records in groups of k, each published as the mean of its group.

Domingo-Ferrer and Torra (2005). Quasi-identifiers of a group become one: numbers their mean,
categories the commonest of the group. Means of whole columns stay as they are, deviations shrink.

Who learns what. Everybody shares all quasi-identifiers with k - 1 others, so that nobody is singled
out by them; sensitive columns and the target go out as they are, and what all records of a group
have in common is known of each. With `form="univariate"` every column is grouped on its own, which
loses least per column and promises no class: two columns together can single a person out. A value
that is missing there stays missing. In both forms what a group publishes comes from at least k
known values, and is missing where fewer have one; a category is published only if at least k people
of the table hold it.

With `target_weight` the groups of a column also look at the target: of all runs of neighbouring
values those are taken that lose least of both, the squared errors of the column and those of the
target (of classes: of their indicators), each as a share of all. The release then tells more about
the target, and more about who has which: the target must not be sensitive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, SchemaError
from unspoken.methods.anonymity.exact_numbers import refuse_inexact
from unspoken.methods.anonymity.masking.masking_method import (
    Anonymous,
    Demand,
    Masked,
    Roles,
    anonymous,
    made,
    roles_of,
)
from unspoken.methods.anonymity.masking.mondrian import MAX_CLASSES
from unspoken.methods.anonymity.masking.refuse_unchanged import refuse_unchanged
from unspoken.methods.anonymity.method import MICROAGGREGATION
from unspoken.methods.anonymity.perturbing.mdav import mdav, optimal_runs
from unspoken.methods.anonymity.record_transformer import ClassTransformer
from unspoken.numerics.random import fresh_seed
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.arrow_arrays import from_numbers, is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

OWNER = "Microaggregator"


class Microaggregator(ClassTransformer, BaseEstimator):  # type: ignore[misc]
    """Publish groups of k alike records as their means.

    Parameters
    ----------
    k : the least size of a group.
    form : "mdav" groups records by all quasi-identifiers together; "univariate" groups each
        numeric column on its own, optimally, and promises no class.
    target_weight : with "univariate", how much the groups look at the target: 0 not at all, 0.5 as
        much as at the values.
    columns, sensitive : names in place of the schema's roles.
    others : "refuse", "keep" or "drop" columns that are neither.
    shuffle_rows : release the rows in a random order.

    Attributes
    ----------
    owner_ : the group of every record ("mdav"). It stays with the custodian.
    information_loss_ : the squared errors within groups, as a share of all, of the numbers.

    Examples
    --------
    >>> release, _ = Microaggregator(k=5).protect(table)  # doctest: +SKIP
    """

    transformer_parameters: ClassVar[dict[str, Any]] = {"form": "mdav"}

    def __init__(self, k: int = 5, *, form: str = "mdav", target_weight: float = 0.0,
                 columns: Any = None, sensitive: Any = None, others: str = "refuse",
                 shuffle_rows: bool = True) -> None:
        self.k = k
        self.form = form
        self.target_weight = target_weight
        self.columns = columns
        self.sensitive = sensitive
        self.others = others
        self.shuffle_rows = shuffle_rows

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        MICROAGGREGATION.check(self, table)
        roles = roles_of(OWNER, table, self.columns, self.sensitive, self.others)
        if table.rows < self.k:
            raise DataError(f"{OWNER}: the table must have at least k = {self.k} records. It has "
                            f"{table.rows}.")
        values = {name: coded(table.arrow([name])[name]) for name in roles.quasi}
        refuse_inexact(OWNER, values)
        target = self._target(table)
        changed = self._together(values) if self.form == "mdav" else self._apart(values, target)
        refuse_unchanged(OWNER, table, changed, table.rows, "Ask for a larger k.")
        about = {name: {"form": "mean" if is_number(one.labels.type) else "value"}
                 for name, one in values.items()}
        mechanism = {"name": MICROAGGREGATION.name, "k": int(self.k), "groups": self.form,
                     "target_weight": float(self.target_weight), "columns": about}
        seed = fresh_seed()
        release = made(table, roles, changed, None, mechanism, self._promise(roles), seed, False)
        return keyed(release, table, seed, self.shuffle_rows)

    def _together(self, values: Mapping[str, Coded]) -> dict[str, Any]:
        points = [coordinates(one) for one in values.values()]
        self.owner_ = mdav(np.column_stack(points), int(self.k))
        numbers = [point for point, one in zip(points, values.values(), strict=True)
                   if is_number(one.labels.type)]
        self.information_loss_ = _lost(np.column_stack(numbers), self.owner_) if numbers else None
        return {name: _published(one, self.owner_, int(self.k)) for name, one in values.items()}

    def _apart(self, values: Mapping[str, Coded], target: Floats | None) -> dict[str, Any]:
        changed, losses = {}, []
        for name, one in values.items():
            if not is_number(one.labels.type):
                raise DataError(f"{OWNER}: '{name}' must be a number for form='univariate'. Name "
                                "the 'columns', or use form='mdav'.")
            shown, known = np.full(one.codes.size, np.nan), one.codes != one.missing
            if np.count_nonzero(known) >= self.k:
                points = coordinates(one)[known]
                owner = self._runs(points[:, 0], None if target is None else target[known])
                shown[known] = _means(_numbers(one)[known], owner)
                losses.append(_lost(points, owner))
            changed[name] = from_numbers(shown, one.labels.type)
        self.information_loss_ = float(np.mean(losses)) if losses else 1.0
        return changed

    def _runs(self, values: Floats, target: Floats | None) -> Ints:
        """Return the best runs of one column, the target weighed in where it is asked for."""
        if target is None:
            return optimal_runs(values, int(self.k))
        own, other = (np.sqrt(share / max(float(((part - part.mean(axis=0)) ** 2).sum()), 1e-300))
                      for share, part in ((1 - self.target_weight, values),
                                          (self.target_weight, target)))
        return optimal_runs(values * own, int(self.k), target * other)

    def _target(self, table: Table) -> Floats | None:
        """Return the target as numbers, or one column per class; None if it is not looked at."""
        if self.target_weight == 0:
            return None
        if self.form == "mdav" or table.schema.target is None:
            raise SchemaError(f"{OWNER}: 'target_weight' is for form='univariate' and a table with "
                              "a target. Declare it: unspoken.read(..., target=...).")
        column = table.arrow([table.target])[table.target]
        values = coded(column)
        if is_number(column.type) and values.missing > MAX_CLASSES:
            return coordinates(values)
        return np.asarray(np.eye(values.missing + 1)[values.codes])

    def _promise(self, roles: Roles) -> Anonymous | Masked:
        if self.form == "mdav":
            return anonymous(Demand(int(self.k)), roles, {"information_loss":
                                                          self.information_loss_})
        return Masked(f"Every published value is the mean of at least {self.k} known values.",
                      ("several columns together can single a person out",),
                      {"k": int(self.k), "information_loss": self.information_loss_})


def coordinates(column: Coded) -> Floats:
    """Return a number in units of its deviation, or a category as a corner of a simplex.

    A missing number stands at the mean, a missing category at a corner of its own.
    """
    if not is_number(column.labels.type):
        return np.asarray(np.eye(column.missing + 1)[column.codes] / np.sqrt(2.0))
    values = np.r_[np.asarray(to_numbers(column.labels), np.float64), np.nan][column.codes]
    centre = float(np.nanmean(values)) if column.missing else 0.0
    spread = float(np.nanstd(values)) if column.missing else 0.0
    return np.asarray(np.nan_to_num((values - centre) / (spread or 1.0))[:, None])


def _published(column: Coded, owner: Ints, k: int) -> Any:
    """Return the mean of every group, or its commonest category; none where fewer than k have one.

    The mean of one known value is that person's exact number, whoever else stands in the group.
    A category that fewer than k people of the table hold names them, so that it wins nowhere.
    """
    known = column.codes != column.missing
    size = int(owner.max()) + 1
    if is_number(column.labels.type):
        values = _numbers(column)
        count = np.bincount(owner, known, size)
        means = np.bincount(owner, np.where(known, values, 0.0), size) / np.maximum(count, 1)
        return from_numbers(np.where(count < k, np.nan, means)[owner], column.labels.type)
    counts = np.zeros((size, column.missing + 1), np.int64)
    np.add.at(counts, (owner, column.codes), 1)
    counts[:, -1] = 0
    few = counts.sum(axis=1) < k
    counts[:, counts.sum(axis=0) < k] = 0
    few |= counts.max(axis=1) == 0
    common = np.where(few, column.missing, counts.argmax(axis=1))
    texts = pa.array([*map(str, column.values()), None], pa.string())
    return texts.take(pa.array(common[owner]))


def _numbers(column: Coded) -> Floats:
    return np.asarray(np.r_[np.asarray(to_numbers(column.labels), np.float64), 0.0][column.codes])


def _means(values: Floats, owner: Ints) -> Floats:
    """Return everybody's group mean."""
    return np.asarray((np.bincount(owner, values) / np.bincount(owner))[owner])


def _lost(points: Floats, owner: Ints) -> float:
    """Return squared errors within groups over squared errors from the mean."""
    size, inside = np.bincount(owner), 0.0
    for column in points.T:
        means = np.bincount(owner, column) / size
        inside += float(((column - means[owner]) ** 2).sum())
    whole = float(((points - points.mean(axis=0)) ** 2).sum())
    return inside / whole if whole else 0.0
