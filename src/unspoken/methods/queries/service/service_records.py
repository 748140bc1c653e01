"""The records behind a service: conditions, columns in steps, and groups with public labels.

Groups come from what was declared or from public columns, never from protected data; what is
missing and what was not declared are groups of their own. Where a person may have several rows,
those beyond the declared number are left out, so that a stated epsilon covers the person.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import InputError
from unspoken.methods.queries.fixed_cells import FixedCells
from unspoken.methods.queries.grid_columns import GridColumn, grid_column
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.predicates import All, Not, Predicate, Some
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.table.table import Table

MISSING, OTHER = None, "(other)"
MOST_GROUPS = 5000
_MASKS = 48
_GROUPINGS = 40
_EXACT = 1 << 53
_BINS = 10


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every record, and what the groups are called."""

    codes: Ints = field(repr=False)
    labels: tuple[tuple[Any, ...], ...]
    moving: bool
    """True if a person's protected values decide the group: a change then touches two groups."""


class ServiceRecords:
    """A table in memory, with what the policy declares about it."""

    def __init__(self, table: Table, policy: ServicePolicy, unit: str | None, rows: int) -> None:
        self.settings = policy.settings(table.schema)
        self._policy = policy
        self._rows = Rows(_limited(table, unit, rows))
        self._masks: OrderedDict[str, Bools] = OrderedDict()
        self._columns: dict[str, GridColumn] = {}
        self._groups: OrderedDict[Any, Any] = OrderedDict()
        self._guard = threading.Lock()
        self.count = self._rows.count
        self.schema = self._rows.schema
        self.cells = FixedCells(self._rows, self.settings)
        self.cell_labels: Ints | None = self._rows.labels(policy.cells) if policy.cells else None

    def check_names(self, names: frozenset[str]) -> None:
        """Refuse columns that are not there, or that name a person."""
        for name in sorted(names):
            if self.schema[name].role == "identifier":
                raise InputError(f"Column '{name}' is an identifier and cannot be asked about.")

    def public(self, names: Any) -> bool:
        """Return True if all of these columns are public."""
        return set(names) <= set(self.settings.public)

    def meet(self, predicate: Predicate | None) -> Bools:
        """Return which records meet a condition; parts of it are kept for the next one."""
        if predicate is None:
            return np.ones(self.count, np.bool_)
        if isinstance(predicate, Not):
            return ~self.meet(predicate.part)
        if isinstance(predicate, All | Some):
            join = np.logical_and if isinstance(predicate, All) else np.logical_or
            whole = self.meet(predicate.parts[0])
            for part in predicate.parts[1:]:
                whole = join(whole, self.meet(part))
            return whole
        return self._kept(predicate)

    def _kept(self, predicate: Predicate) -> Bools:
        text = str(predicate)
        with self._guard:
            if text in self._masks:
                self._masks.move_to_end(text)
                return self._masks[text]
        mask = self._rows.meet(predicate)
        with self._guard:
            self._masks[text] = mask
            while len(self._masks) > _MASKS:
                self._masks.popitem(last=False)
        return mask

    def column(self, name: str) -> GridColumn:
        """Return a column in steps inside its declared bounds."""
        with self._guard:
            if name not in self._columns:
                self._columns[name] = grid_column(self._rows, self.settings, name)
            return self._columns[name]

    def groups(self, names: Sequence[str]) -> Groups:
        """Return the groups by the combinations of some columns' values."""
        found: Groups = self.kept(tuple(names), lambda: self._combined(
            [self._by_value(name) for name in names]))
        return found

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was computed under a key before, or compute it; old things are dropped."""
        with self._guard:
            if key in self._groups:
                self._groups.move_to_end(key)
            else:
                self._groups[key] = make()
                while len(self._groups) > _GROUPINGS:
                    self._groups.popitem(last=False)
            return self._groups[key]

    def distances(self, name: str, middle: int, shrink: int) -> tuple[Floats, Floats]:
        """Return the distances of a column from the middle of its bounds, and their squares."""
        column = self.column(name)
        if (column.high - column.low) // shrink * self.count >= _EXACT:
            raise InputError(f"'{name}' has too many steps between its bounds for {self.count} "
                             "rows to be added up exactly. The custodian declares a coarser step.")

        def make() -> tuple[Floats, Floats]:
            off = np.where(column.present, (column.values - middle) // shrink, 0)
            return off.astype(np.float64), (off * off).astype(np.float64)

        found: tuple[Floats, Floats] = self.kept(("distances", name, shrink), make)
        return found

    def bins(self, name: str, edges: Sequence[float]) -> Groups:
        """Return the groups of a histogram."""
        if not edges and "values" in self._policy.columns.get(name, {}):
            return self.groups([name])
        column = self.column(name)
        found: Groups = self.kept((name, "edges", *edges),
                                  lambda: self._binned(name, column, edges))
        return found

    def _binned(self, name: str, column: GridColumn, edges: Sequence[float]) -> Groups:
        if not edges:
            edges = [float(e * column.step)
                     for e in np.linspace(column.low, column.high, _BINS + 1)]
        values = np.where(column.present, column.values * float(column.step), np.nan)
        inner = np.searchsorted(np.asarray(edges, np.float64), values, side="right")
        # The last bin holds its upper end, as histograms do.
        inner = np.where(values == edges[-1], len(edges) - 1, inner)
        codes = np.where(column.present, inner, len(edges) + 1)
        spans = [(f"below {edges[0]:g}",),
                 *((f"{a:g} .. {b:g}",) for a, b in itertools.pairwise(edges)),
                 (f"above {edges[-1]:g}",), (MISSING,)]
        return Groups(codes, tuple(spans), not self.public([name]))

    def _by_value(self, name: str) -> Groups:
        declared = self._policy.columns.get(name, {})
        if "values" in declared:
            return self._declared(name, declared["values"])
        if not self.public([name]):
            raise InputError(f"'{name}' cannot be grouped by before its values are declared. The "
                             f"custodian does that in [columns.{name}] of the policy.")
        labels = self._rows.distinct(name)
        if len(labels) > MOST_GROUPS:
            raise InputError(f"'{name}' has too many values to group by. Use a histogram.")
        return self._declared(name, labels)

    def _declared(self, name: str, values: Sequence[Any]) -> Groups:
        codes = np.full(self.count, len(values), np.int64)
        for place, value in enumerate(values):
            codes[self._rows.equal(name, value)] = place
        codes[self._rows.missing(name)] = len(values) + 1
        return Groups(codes, (*((value,) for value in values), (OTHER,), (MISSING,)),
                      not self.public([name]))

    def _combined(self, parts: Sequence[Groups]) -> Groups:
        whole = parts[0]
        for part in parts[1:]:
            if len(whole.labels) * len(part.labels) > MOST_GROUPS:
                raise InputError(f"A question must have at most {MOST_GROUPS} groups. Group by "
                                 "fewer columns.")
            codes = whole.codes * len(part.labels) + part.codes
            labels = tuple((*a, *b) for a in whole.labels for b in part.labels)
            whole = Groups(codes, labels, whole.moving or part.moving)
        return whole


def _limited(table: Table, unit: str | None, rows: int) -> Table:
    """Leave out the rows of a person beyond the declared number."""
    if unit is None:
        return table
    from unspoken.table.read import read

    whole = table.arrow()
    ids = whole[unit].combine_chunks().dictionary_encode()
    codes = np.asarray(ids.indices.fill_null(-1))
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order], side="left")
    nth = np.empty(codes.size, np.int64)
    nth[order] = np.arange(codes.size) - starts
    # A row without an id belongs to nobody in particular: it cannot be bounded.
    kept = whole.filter((nth < rows) & (codes >= 0))
    named = {*table.schema.with_role("identifier"), unit}
    return read(kept, identifiers=sorted(named), show=False,
                kinds={c.name: c.kind for c in table.schema.columns if c.name not in named},
                keep=[name for name in table.schema.names if name not in named])
