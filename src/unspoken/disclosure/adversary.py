"""The contract of an adversary: what it sees, what it knows, what it returns.

An adversary sees a View, which is made from a Release alone and holds counts of codes, not the
release itself: the frame of a release that was not written yet still leads to the original
table. What it knows is Knowledge. It answers with a guess for every distinct released code, one
row per trial. It never sees a Key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError, SchemaError, explain, unknown
from unspoken.numerics.label_runs import colours
from unspoken.release.method import adversary_classes, method_of
from unspoken.release.release import Release

A = TypeVar("A", bound="Adversary")
MAX_CLASSES = 1000
"""Targets with more values are no classes; their codes show no monochromatic runs."""


@dataclass(frozen=True)
class ColumnView:
    """The distinct codes of one released column in increasing order, with counts by class.

    Attributes
    ----------
    name : str
        The released name of the column.
    codes : array of float
        The distinct codes, increasing.
    table : array of int, (codes, classes)
        How often each code occurs with each value of the target.
    cells : array of int
        The group of each code, in the order of the values behind the codes. Nothing is known about
        the order inside a group: a visible monochromatic run of a max-mono release is one group,
        everywhere else every code is a group of its own.
    per_record : bool, default False
        True if codes inside groups were drawn per record, so that their number says nothing.
    missing : int, default 0
        How many values are missing.
    """

    name: str
    codes: Floats
    table: Ints
    cells: Ints
    per_record: bool = False
    missing: int = 0

    @cached_property
    def counts(self) -> Ints:
        """Return how often each code occurs."""
        return np.asarray(self.table.sum(axis=1))

    @cached_property
    def cell_records(self) -> Ints:
        """Return how many records each group holds."""
        return np.bincount(self.cells, weights=self.counts).astype(np.int64)

    @cached_property
    def cell_codes(self) -> Ints:
        """Return how many codes each group holds."""
        return np.bincount(self.cells)

    @cached_property
    def share(self) -> Floats:
        """Return the share of records ranked below each code, counting half of its own group."""
        records = self.cell_records
        middle = np.cumsum(records) - records / 2
        return np.asarray((middle / max(int(records.sum()), 1))[self.cells])

    @cached_property
    def cell_values(self) -> Floats:
        """Return how many distinct values each group seems to hold.

        With a code per record that is estimated from the records per code of the other groups.
        """
        codes = self.cell_codes.astype(np.float64)
        groups = codes > 1
        if not self.per_record or not groups.any() or groups.all():
            return codes
        usual = max(1.0, float(np.median(self.cell_records[~groups])))
        return np.where(groups, np.clip(self.cell_records / usual, 2.0, codes), codes)

    @cached_property
    def rank(self) -> Floats:
        """Return the rank of each code among the distinct values, the middle of its group."""
        values = self.cell_values
        return np.asarray((np.cumsum(values) - (values + 1) / 2)[self.cells])

    @property
    def last_rank(self) -> float:
        """Return the rank of the largest value."""
        return float(self.cell_values.sum() - 1)

    def regrouped(self, cells: Ints) -> ColumnView:
        """Return the column with a finer order, learned elsewhere."""
        return replace(self, cells=cells)


@dataclass(frozen=True)
class View:
    """All that an adversary may see of a release; `View.of(release)` builds it.

    Attributes
    ----------
    mechanism : mapping
        The public description of the method.
    columns : mapping of str to ColumnView
        The numeric and ordinal columns by released name.
    rows : int
        The number of released rows.
    target : str or None, default None
        The released name of the target.
    table : pyarrow.Table or None, default None
        The released rows, if `View.of` was called with `rows=True`.

    Examples
    --------
    >>> View.of(release)["age"].codes  # doctest: +SKIP
    """

    mechanism: Mapping[str, Any]
    columns: Mapping[str, ColumnView]
    rows: int
    target: str | None = None
    table: Any | None = field(default=None, repr=False)

    @classmethod
    def of(cls, release: Release, rows: bool = False) -> View:
        """Look at a release; with `rows` also keep its rows, as an Arrow table in memory."""
        schema, table = release.schema, release.table
        names = schema.of_kind("numeric", "ordinal")
        target = schema.target
        by = target if target and table.engine.count_distinct(table.frame, target) <= MAX_CLASSES \
            else None
        counted = table.counts(names, by) if names else {}
        columns = {
            name: ColumnView(name, c.values, c.table, _cells(c.table, release.mechanism, by),
                             release.mechanism.get("monochromatic") == "record", c.missing)
            for name, c in counted.items()
        }
        return cls(dict(release.mechanism), columns, table.rows, target,
                   table.arrow() if rows else None)

    def __getitem__(self, name: str) -> ColumnView:
        if name not in self.columns:
            raise SchemaError(explain("Column", f"one of {list(self.columns)[:20]}", name))
        return self.columns[name]


def _cells(table: Ints, mechanism: Mapping[str, Any], by: str | None) -> Ints:
    """Group what has no visible order: monochromatic runs of a max-mono release (section 5.2)."""
    size = int(table.shape[0])
    mode = mechanism.get("mode")
    if mode == "anti":
        return np.arange(size - 1, -1, -1)
    if mode != "max-mono" or by is None or size == 0:
        return np.arange(size)
    colour = colours(table)
    new = (colour[1:] != colour[:-1]) | (colour[1:] < 0)
    return np.asarray(np.r_[0, np.cumsum(new)], np.int64)


class Adversary:
    """Base of every adversary.

    `needs` names the fields of Knowledge it works with. It lies in the folder of adversaries of a
    family, and attacks all methods of that family unless `attacks` names some.
    """

    name: ClassVar[str] = ""
    attacks: ClassVar[frozenset[str] | None] = None
    """The methods whose releases it attacks; None for all whose folder it lies in."""
    needs: ClassVar[frozenset[str]] = frozenset()
    measures: ClassVar[tuple[str, ...]] = ("domain", "records")
    gets: ClassVar[str] = ""
    """What it does, in plain words that continue 'An adversary who ...'."""

    def applies(self, release: Release | View) -> bool:
        """Return True if it attacks this very release, among those of its methods."""
        return True

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return a guess for every distinct code of a column: (trials, codes)."""
        raise NotImplementedError

    def further_shares(self, view: View, truth: Any, knowledge: Knowledge,
                       rng: np.random.Generator) -> dict[str, Floats]:
        """Return shares by measures of this adversary's own, one share per trial."""
        return {}

    def guess_at(self, view: View, column: str, knowledge: Knowledge, places: Floats,
                 rng: np.random.Generator) -> Floats:
        """Return guesses at places between codes, such as thresholds of a mined tree.

        A place inside the codes gets the middle of the guesses of its two neighbours.
        """
        codes = view[column].codes
        guesses = self.guess(view, column, knowledge, rng)
        right = np.clip(np.searchsorted(codes, places, side="left"), 0, codes.size - 1)
        left = np.clip(np.searchsorted(codes, places, side="right") - 1, 0, codes.size - 1)
        return np.asarray((guesses[:, left] + guesses[:, right]) / 2)


def known(name: str) -> Adversary:
    """Return an adversary that attacks some method, by name.

    Parameters
    ----------
    name : str
        The name in the column `adversary` of an audit, such as "rank".

    Returns
    -------
    Adversary
        A new object with default settings.
    """
    return _named(name, adversary_classes())


def _named(name: str, listed: Mapping[str, type[Any]]) -> Adversary:
    if name not in listed:
        raise InputError(unknown("An adversary", name, sorted(listed)))
    adversary: Adversary = listed[name]()
    return adversary


def adversaries_for(release: Release | View,
                    chosen: Iterable[str | Adversary] | None = None) -> tuple[Adversary, ...]:
    """Return the adversaries of the method of a release, or those that were chosen.

    Parameters
    ----------
    release : Release or View
        What is attacked.
    chosen : iterable of str or Adversary, default None
        Names or objects; all that apply if None. An adversary that does not attack this release
        raises InputError: left out silently, it would read as harmless.

    Returns
    -------
    tuple of Adversary

    Examples
    --------
    >>> [one.name for one in adversaries_for(release)]  # doctest: +SKIP
    """
    return chosen_of(Adversary, release, chosen)


def named_for(release: Release | View,
              chosen: Iterable[str | Adversary]) -> tuple[str | Adversary, ...]:
    """Return what was chosen; a name that does not attack its method is refused."""
    listed = adversary_classes([method_of(release.mechanism)])
    picked = tuple(chosen)
    for one in picked:
        if not isinstance(one, Adversary):
            _named(one, listed)
    return picked


def chosen_of(kind: type[A], release: Release | View,
              chosen: Iterable[str | Adversary] | None = None) -> tuple[A, ...]:
    """Return those adversaries, of the kind that an audit can run."""
    listed = adversary_classes([method_of(release.mechanism)])
    picked = [one if isinstance(one, Adversary) else _named(one, listed)
              for one in (sorted(listed) if chosen is None else chosen)]
    fitting = tuple(one for one in picked if isinstance(one, kind) and one.applies(release))
    left_out = [one for one in picked if one not in fitting]
    if left_out and chosen is not None:
        raise InputError(f"The adversary '{left_out[0].name}' does not attack this release. "
                         f"These do: {', '.join(sorted(listed))}.")
    return fitting
