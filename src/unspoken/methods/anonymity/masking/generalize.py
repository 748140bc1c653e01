"""Generalizer: every value of a column on one level, or in bands (vcz2006 section 2.1).

Who learns what. The level that was chosen for everybody alike; with `k` what is still too small is
left out, up to a limit.

As a transformer it recodes new records too, because levels and bands do not depend on the records:
a band of numbers becomes its middle, everything else a label. A category that its hierarchy does
not have is refused. Where k is asked for, a record that stands in no class that was fitted is
missing in every column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import validate_data

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError
from unspoken.methods.anonymity.exact_bands import (
    band_label,
    band_starts,
    exact,
    exact_numbers,
)
from unspoken.methods.anonymity.exact_numbers import refuse_narrow
from unspoken.methods.anonymity.hierarchy import Hierarchy
from unspoken.methods.anonymity.label_forms import label_form, spelled
from unspoken.methods.anonymity.masking.hierarchy_parameters import (
    hierarchies_of,
    refuse_strange,
)
from unspoken.methods.anonymity.masking.masking_method import (
    Masked,
    Roles,
    anonymous,
    demand_of,
    keyed_with_members,
    made,
    roles_of,
)
from unspoken.methods.anonymity.masking.refuse_unchanged import refuse_same_rows
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.method import GENERALIZE
from unspoken.methods.anonymity.recoding.new_labels import own_labels, raised, relabelled
from unspoken.methods.anonymity.recoding.released_names import renamed
from unspoken.methods.anonymity.record_transformer import (
    ClassTransformer,
    Records,
    as_records,
    columns_from,
    known_only,
    records_of,
    refuse_unknown,
    table_from,
)
from unspoken.numerics.random import fresh_seed
from unspoken.release.distorted import of_column
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.arrow_arrays import from_numbers, is_number
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

_DAY = 86_400.0
"""Seconds."""


class Generalizer(ClassTransformer, BaseEstimator):  # type: ignore[misc]
    """Bring every value of a column to one level of its hierarchy, or into bands of one width.

    Parameters
    ----------
    hierarchies : mapping from column to a Hierarchy or the path of its file (ARX form).
    levels : the level of each column; one for all, or a mapping. 0 keeps the value.
    widths : bands of numbers; one width for all, or a mapping. They start at multiples of it; those
        of dates are in days.
    k, l, diversity, c, t : records in classes that do not satisfy these are left out.
    suppression : the share of records that may be left out; more are refused.
    columns, sensitive, others, shuffle_rows : as for MondrianAnonymizer.

    Attributes
    ----------
    owner_, rows_ : the class of every record, -1 for those left out; the rows that were released.
    """

    def __init__(self, hierarchies: Any = None, levels: Any = 1, *, widths: Any = None,  # noqa: PLR0913
                 k: Any = None, l: Any = None, diversity: str = "distinct",  # noqa: E741
                 c: float = 3.0, t: Any = None, suppression: float = 0.0, columns: Any = None,
                 sensitive: Any = None, others: str = "refuse",
                 shuffle_rows: bool = True) -> None:
        self.hierarchies = hierarchies
        self.levels = levels
        self.widths = widths
        self.k = k
        self.l = l
        self.diversity = diversity
        self.c = c
        self.t = t
        self.suppression = suppression
        self.columns = columns
        self.sensitive = sensitive
        self.others = others
        self.shuffle_rows = shuffle_rows

    @from_any_table
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        GENERALIZE.check(self, table)
        roles = roles_of("Generalizer", table, self.columns, self.sensitive, self.others)
        trees = hierarchies_of(self.hierarchies)
        refuse_strange(trees, roles.quasi, roles.sensitive)
        rows = table.arrow(roles.quasi)
        parts = {name: self._level(name, rows[name], trees.get(name)) for name in roles.quasi}
        kept = self._kept(table, roles, {name: part[0] for name, part in parts.items()})
        self._refuse_nothing(roles, trees, kept)
        if kept is not None:
            trees = {name: renamed(tree, coded(rows[name]), kept) if name in roles.quasi else tree
                     for name, tree in trees.items()}
            parts = {name: self._level(name, rows[name], trees.get(name)) for name in roles.quasi}
        self.rows_ = np.arange(table.rows) if kept is None else kept
        self.owner_ = _owners({name: part[0] for name, part in parts.items()}, self.rows_)
        changed = {name: part[0] if kept is None else part[0].take(pa.array(kept))
                   for name, part in parts.items()}
        about = {name: part[1] for name, part in parts.items()}
        mechanism = {"name": GENERALIZE.name, "columns": about}
        seed = fresh_seed()
        promise = self._promise(table, roles, about)
        release = made(table, roles, changed, kept, mechanism, promise, seed, False)
        refuse_same_rows("Generalizer", table, release, "Raise the 'levels', or use wider bands "
                         "('widths').")
        return keyed_with_members(release, table, seed, self.shuffle_rows, kept, mechanism,
                                  promise)

    def _level(self, name: str, column: Any, tree: Hierarchy | None) -> tuple[Any, dict[str, Any]]:
        values, width = coded(column), of_column(self.widths, name)
        if tree is not None:
            return _raised(name, values, tree, int(of_column(self.levels, name) or 0))
        if width is not None and is_number(column.type):
            refuse_narrow("Generalizer", name, values, float(width))
            return _banded(values, float(width)), {"form": "interval", "width": float(width)}
        return column, {"form": "value"}

    def _refuse_nothing(self, roles: Roles, trees: Mapping[str, Hierarchy],
                        kept: Ints | None) -> None:
        """Refuse parameters that would leave every record as it is."""
        lifted = any(name in trees and of_column(self.levels, name) for name in roles.quasi)
        banded = any(of_column(self.widths, name) is not None for name in roles.quasi)
        if not (lifted or banded) and kept is None:
            raise InputError("Generalizer: nothing would change, because there are neither "
                             "'widths' nor 'hierarchies' with levels above 0. Use widths={'age': "
                             "10} for bands, hierarchies={'city': 'city.csv'}, or "
                             "OptimalRecoder(k=5), which builds hierarchies and finds the levels.")

    def _asks_nothing(self) -> bool:
        return self.k is None and self.l is None and self.t is None

    def _kept(self, table: Table, roles: Roles, changed: Mapping[str, Any]) -> Ints | None:
        """Return the rows in classes that satisfy the demand; None for all."""
        if self._asks_nothing():
            return None
        demand = demand_of(self, table, roles)
        owner = stats.classes(coded(changed[name]).codes for name in roles.quasi)
        fine = demand(np.arange(owner.size), owner)[owner]
        out = int((~fine).sum())
        if out > self.suppression * table.rows:
            raise DataError(
                f"Generalizer: {out / table.rows:.2%} of the records are in classes that are too "
                f"small, and at most {self.suppression:.2%} may be left out ('suppression'). "
                "Raise the levels or widths, or allow more to be left out.")
        return np.flatnonzero(fine) if out else None

    def _promise(self, table: Table, roles: Roles, about: Mapping[str, Any]) -> Any:
        if self._asks_nothing():
            return Masked("Values were brought to one level of coarseness.",
                          ("no size of a group is promised: set k",), {"columns": list(about)})
        left = table.rows - self.rows_.size
        return anonymous(demand_of(self, table, roles), roles, {"left_out": int(left)})

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Records:
        """Return the records of X on their levels and in their bands."""
        X = as_records(type(self).__name__, X)
        validate_data(self, X, skip_check_array=True)
        columns, secret = columns_from(X), [*(self.sensitive or ())]
        refuse_unknown("Generalizer", [*(self.columns or ()), *secret], columns)
        worker: Any = clone(self).set_params(others="keep", shuffle_rows=False)
        worker.protect(table_from(columns, y, secret))
        self.owner_, self.rows_ = worker.owner_, worker.rows_
        self.records_ = records_of(self._recoded(columns))
        self.records_[self.owner_ < 0] = None if self.records_.dtype == object else np.nan
        return self.records_.copy()

    def _transformed(self, columns: Any) -> Records:
        rows = self._recoded(columns)
        if self._asks_nothing():
            return records_of(rows)
        return known_only(rows, self.records_[self.owner_ >= 0])

    def _recoded(self, columns: Any) -> Any:
        """Return new records on the levels and in the bands that were chosen for all."""
        trees, shown = hierarchies_of(self.hierarchies), {}
        for name in columns.column_names:
            values, width = coded(columns[name]), of_column(self.widths, name)
            level = int(of_column(self.levels, name) or 0)
            if name in (self.sensitive or ()) or name not in (self.columns or [name]):
                shown[name] = columns[name]
            elif name in trees:
                shown[name] = relabelled(name, values, trees[name], level) if level else \
                    own_labels(columns[name], trees[name])
            elif width is not None and is_number(columns[name].type):
                shown[name] = _middles(values, float(width))
            else:
                shown[name] = columns[name]
        return pa.table(shown)


def _raised(name: str, values: Coded, tree: Hierarchy, level: int) -> tuple[Any, dict[str, Any]]:
    if level > tree.levels:
        raise InputError(f"Generalizer: the hierarchy of '{name}' has {tree.levels} levels. "
                         f"Got level {level} in 'levels'.")
    return raised(name, values, tree, level), label_form(values.labels.type, tree.leaves(level))


def _owners(columns: Mapping[str, Any], rows: Ints) -> Ints:
    """Return the class of every record; -1 for those left out."""
    owner = stats.classes(coded(column).codes for column in columns.values())
    out = np.full(owner.size, -1, np.int64)
    out[rows] = stats.dense(owner[rows])
    return out


def _banded(column: Coded, width: float) -> Any:
    step = exact(width)
    starts = band_starts(exact_numbers(column.labels), step)
    texts = [band_label(low, step) for low in starts]
    if pa.types.is_temporal(column.labels.type):
        ends = zip(_times(starts, column), _times([low + step for low in starts], column),
                   strict=True)
        texts = [f"[{low}, {high})" for low, high in ends]
    return pa.array([*texts, None], pa.string()).take(pa.array(column.codes))


def _times(values: Sequence[Fraction], column: Coded) -> list[str]:
    """Return ends of bands as they are read: dates and times as such."""
    numbers = np.array([float(value) for value in values], np.float64)
    # After the last second of a day a clock begins again at nought.
    over = (numbers >= _DAY) & pa.types.is_time(column.labels.type)
    ends = map(spelled, from_numbers(np.where(over, 0.0, numbers), column.labels.type).to_pylist())
    return ["24:00:00" if late else end for end, late in zip(ends, over, strict=True)]


def _middles(column: Coded, width: float) -> Any:
    """Return the middle of everybody's band, in the type of the column where it has one."""
    step = exact(width)
    starts = band_starts(exact_numbers(column.labels), step)
    middle = np.array([*(float(low + step / 2) for low in starts), np.nan], np.float64)
    return from_numbers(middle[column.codes], column.labels.type)
