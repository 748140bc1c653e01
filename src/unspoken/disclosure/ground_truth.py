"""What the codes really stand for: the side of the audit that adversaries never see.

A column's truth is a list of pairs (value, code) with the records behind each. Where every value
has one code there is one pair per value; with codes per record there are more. Truths are built by
a function that each method names, see `release.method.Method`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import View
from unspoken.errors import DataError
from unspoken.numerics.rank_attack_bounds import range_width
from unspoken.numerics.value_lookup import Lookup
from unspoken.release.key import Key
from unspoken.release.method import method_of
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table


@dataclass(frozen=True)
class Truth:
    """Pairs of value and code of one column, ordered by value, and the records behind each.

    Attributes
    ----------
    name : str
        The original name of the column.
    released : str
        Its released name.
    values : array of float
        The distinct values, increasing.
    owner : array of int
        The position in `values` of each pair.
    where : array of int
        The position of each pair's code among the released codes.
    counts : array of int
        The number of records of each pair.
    pair_of_row : array of int or None, default None
        The pair of every row of the original table, -1 where the value is missing.
    """

    name: str
    released: str
    values: Floats
    owner: Ints
    where: Ints
    counts: Ints
    pair_of_row: npt.NDArray[np.int32] | None = field(default=None, repr=False)
    _rows_of: dict[int, tuple[Table, npt.NDArray[np.int32]]] = field(
        default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def truth(self) -> Floats:
        """Return the value of each pair."""
        return self.values[self.owner]

    @cached_property
    def by_value(self) -> Ints:
        """Return how often each distinct value occurs."""
        return np.bincount(self.owner, self.counts, self.values.size).astype(np.int64)

    @cached_property
    def weight(self) -> Floats:
        """Return how much of its value each pair is; pairs of one value sum to 1."""
        return np.asarray(self.counts / self.by_value[self.owner])

    @cached_property
    def counts_as_float(self) -> Floats:
        """Return the number of records of each pair, as products of matrices need it."""
        return self.counts.astype(np.float64)

    @cached_property
    def share(self) -> Floats:
        """Return the weight of each pair when distinct values count alike (Definition 1)."""
        return self.weight / max(self.values.size, 1)

    @cached_property
    def record_share(self) -> Floats:
        """Return the weight of each pair when records count alike."""
        return np.asarray(self.counts / max(int(self.counts.sum()), 1))

    @cached_property
    def width(self) -> float:
        """Return the width of the range: max - min + 1 for whole numbers, else max - min."""
        return range_width(self.values)

    @cached_property
    def one_each(self) -> bool:
        """Return True if pair i is code i, so that guesses need no rearranging."""
        return bool(np.array_equal(self.where, np.arange(self.where.size)))

    def rows(self, table: Table) -> npt.NDArray[np.int32]:
        """Return the pair of every row of the original table, -1 where the value is missing."""
        if self.pair_of_row is not None:
            return self.pair_of_row
        if id(table) not in self._rows_of:
            # Beside the table itself: no other can have its number as long as it is kept.
            self._rows_of[id(table)] = (table, self._found_in(table))
        return self._rows_of[id(table)][1]

    def _found_in(self, table: Table) -> npt.NDArray[np.int32]:
        data = to_numbers(table.arrow([self.name])[self.name])
        lookup = Lookup(self.values, np.arange(self.values.size, dtype=np.int32))
        places, missing, _ = lookup.find(data)
        if missing is not None:
            places[missing] = -1
        return np.asarray(places, np.int32)


@dataclass(frozen=True)
class Truths:
    """The columns that can be scored, and why the others cannot.

    Attributes
    ----------
    columns : mapping of str to Truth
        The truth by original name.
    unscored : mapping of str to str
        The reason by column.
    """

    columns: Mapping[str, Truth]
    unscored: Mapping[str, str]


def truths_of(table: Table, release: Release, view: View, key: Key | None) -> Truths:
    """Return what the codes of a release stand for, for scoring only.

    Parameters
    ----------
    table : Table
        The original.
    release : Release
        The release that is scored.
    view : View
        What an adversary sees of it.
    key : Key or None
        The key; without it only columns whose order was kept can be scored.

    Returns
    -------
    Truths
    """
    method = method_of(release.mechanism)
    if method.truths is None:
        reason = f"the columns of a release by '{method.name}' are not scored one by one"
        return Truths({}, dict.fromkeys(view.columns, reason))
    truths: Truths = method.truths(table, view, key)
    return truths


def row_count(table: Table, release: Release) -> None:
    """Refuse a release without data, or of another number of rows."""
    if release.table.rows == 0 or not release.schema.features:
        raise DataError("The release must hold data. Got no rows or no columns. Audit a release "
                        "with its data file.")
    partial = method_of(release.mechanism).partial and release.table.rows < table.rows
    if release.table.rows != table.rows and not partial:
        raise DataError(f"The table must be the one that was released ({release.table.rows:,} "
                        f"rows). Got {table.rows:,} rows. Pass the original table.")


__all__ = ["Truth", "Truths", "row_count", "truths_of"]
