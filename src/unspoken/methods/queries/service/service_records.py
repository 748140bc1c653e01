"""The records behind a service: conditions, columns in steps, and groups with public labels.

Groups come from what was declared or from public columns, never from protected data; what is
missing and what was not declared are groups of their own. Where a person may have several rows,
those beyond the declared number are left out, so that a stated epsilon covers the person.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Bools, Ints, Words
from unspoken.errors import InputError
from unspoken.methods.queries.fixed_cells import FixedCells
from unspoken.methods.queries.grid_columns import Advice, GridColumn, grid_column
from unspoken.methods.queries.guarded_records import Rows
from unspoken.methods.queries.predicates import All, Not, Predicate, Some
from unspoken.methods.queries.service.declared_frame import (
    compared_by_cell,
    declared_frame,
    declared_kind,
    declared_texts,
)
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.methods.queries.service.summed_planes import Planes
from unspoken.numerics.record_bitsets import pack, unpack
from unspoken.table.identify.named_roles import named_roles
from unspoken.table.table import Table

MISSING, OTHER = None, "(other)"
MOST_GROUPS = 5000
_MASKS = 400
_GROUPINGS = 40
_EXACT = 1 << 53
_BINS = 10
_ADVICE = Advice("", "The custodian does that in [columns.{name}] of the policy.",
                 "The custodian declares a coarser step.")
"""Whoever asks over HTTP can declare nothing, and knows nothing of Python."""


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
        # What can be asked about must not follow from the values.
        table = replace(table, schema=named_roles(table.schema, tuple(policy.columns)))
        self.settings = policy.settings(table.schema)
        self._policy = policy
        kept = _kept_rows(table, unit, rows)
        bounded = table if kept is None else _only(table, str(unit), kept)
        frame = _written(table, kept, bounded.arrow(), policy)
        frame = declared_frame(frame, policy.columns)
        self._rows = Rows(bounded, frame,
                          compared_by_cell(frame, policy.columns, self.settings.public),
                          declared_texts(policy.columns))
        self._masks: OrderedDict[str, Words] = OrderedDict()
        self._everybody = pack(np.ones(self._rows.count, np.bool_))
        self._columns: dict[str, GridColumn] = {}
        self._groups: OrderedDict[Any, Any] = OrderedDict()
        self._fixed: dict[Any, Any] = {}
        self._guard = threading.RLock()
        self.count = self._rows.count
        self.table_rows = table.rows
        self.schema = self._rows.schema
        self.cells = FixedCells(self._rows, self.settings)
        self.cell_labels: Ints | None = self._rows.labels(policy.cells) if policy.cells else None

    def check_names(self, names: frozenset[str]) -> None:
        """Refuse columns that are not there, or that name a person."""
        for name in sorted(names):
            if self.schema[name].role == "identifier":
                raise InputError(f"Column '{name}' is an identifier and cannot be asked about.")

    @property
    def asked_about(self) -> tuple[str, ...]:
        """Return the columns that can be asked about."""
        hidden = self.schema.with_role("identifier")
        return tuple(name for name in self.schema.names if name not in hidden)

    def public(self, names: Any) -> bool:
        """Return True if all of these columns are public."""
        return set(names) <= set(self.settings.public)

    def meet(self, predicate: Predicate | None) -> Bools:
        """Return which records meet a condition."""
        return unpack(self.members(predicate), self.count)

    def members(self, predicate: Predicate | None) -> Words:
        """Return which records meet a condition, packed; parts of it are kept for the next one."""
        if predicate is None:
            return self._everybody
        if isinstance(predicate, Not):
            return self.members(predicate.part) ^ self._everybody
        if isinstance(predicate, All | Some):
            join = np.bitwise_and if isinstance(predicate, All) else np.bitwise_or
            whole = self.members(predicate.parts[0])
            for part in predicate.parts[1:]:
                whole = join(whole, self.members(part))
            return whole
        return self._kept(predicate)

    def _kept(self, predicate: Predicate) -> Words:
        text = str(predicate)
        with self._guard:
            if text in self._masks:
                self._masks.move_to_end(text)
                return self._masks[text]
        mask = pack(self._rows.meet(predicate))
        with self._guard:
            self._masks[text] = mask
            while len(self._masks) > _MASKS:
                self._masks.popitem(last=False)
        return mask

    def column(self, name: str) -> GridColumn:
        """Return a column in steps inside its declared bounds."""
        with self._guard:
            if name not in self._columns:
                self._columns[name] = grid_column(self._rows, self.settings, name, _ADVICE)
            return self._columns[name]

    def groups(self, names: Sequence[str]) -> Groups:
        """Return the groups by the combinations of some columns' values."""
        found: Groups = self.kept(("groups", *names), lambda: self._combined(
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

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was computed about a column, or compute it; columns are few."""
        with self._guard:
            if key not in self._fixed:
                self._fixed[key] = make()
            return self._fixed[key]

    def present(self, name: str) -> Words:
        """Return which records have a value in a column, packed."""
        column = self.column(name)
        found: Words = self.once(("present", name), lambda: pack(column.present))
        return found

    def offsets(self, name: str, middle: int, shrink: int) -> Ints:
        """Return how far the values of a column are from the middle, 0 where there is none."""
        column = self.column(name)
        return np.where(column.present, (column.values - middle) // shrink, 0)

    def planes(self, name: str, middle: int, shrink: int, power: int) -> Planes:
        """Return the planes of those offsets, or of their squares."""
        column = self.column(name)
        low, high = (column.low - middle) // shrink, (column.high - middle) // shrink
        if (high - low) ** power * self.count >= _EXACT:
            raise InputError(f"'{name}' has too many steps between its bounds for {self.count} "
                             f"rows to be added up exactly. {_ADVICE.step}")
        ends = (min(low, 0), max(high, 0)) if power == 1 else (0, max(low * low, high * high))
        found: Planes = self.once(("planes", name, middle, shrink, power), lambda: Planes.of(
            self.offsets(name, middle, shrink) ** power, *ends))
        return found

    def each_group(self, groups: Groups) -> Words:
        """Return the records of every group, packed, one row each."""
        return np.stack([pack(groups.codes == k) for k in range(len(groups.labels))])

    def bins(self, name: str, edges: Sequence[float]) -> Groups:
        """Return the groups of a histogram."""
        if not edges and "values" in self._policy.columns.get(name, {}):
            return self.groups([name])
        column = self.column(name)
        found: Groups = self.kept(("bins", name, *edges),
                                  lambda: self._binned(name, column, edges))
        return found

    def _binned(self, name: str, column: GridColumn, edges: Sequence[float]) -> Groups:
        # Edges are compared in whole steps: 3 * 0.1 is not 0.3 in floating point.
        in_steps = [Fraction(repr(float(edge))) / column.step for edge in edges] \
            or [Fraction(e) for e in np.linspace(column.low, column.high, _BINS + 1).tolist()]
        edges = edges or [float(e * column.step) for e in in_steps]
        ends = [min(max(math.ceil(e), column.low - 1), column.high + 1) for e in in_steps]
        inner = np.searchsorted(ends, column.values, side="right")
        # The last bin holds its upper end, as histograms do.
        inner = np.where((column.values == ends[-1]) & (in_steps[-1] == ends[-1]),
                         len(edges) - 1, inner)
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
            raise InputError(f"'{name}' cannot be grouped by before its values are declared. "
                             + _ADVICE.bounds.format(name=name))
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


def _written(table: Table, kept: Bools | None, frame: Any, policy: ServicePolicy) -> Any:
    """Return the rows with protected and declared columns as they are written in a text file."""
    names = [name for name in table.schema.names
             if not (one := policy.columns.get(name, {})).get("public") or declared_kind(one)]
    texts: Any = table.as_written(names) if names else None
    for name in names:
        column = texts[name] if kept is None else texts[name].filter(pa.array(kept))
        frame = frame.set_column(frame.column_names.index(name), name, column)
    return frame


def _kept_rows(table: Table, unit: str | None, rows: int) -> Bools | None:
    """Return which rows of a person are within the declared number; None where all are."""
    if unit is None:
        return None
    ids = table.arrow([unit])[unit].combine_chunks().dictionary_encode()
    codes = np.asarray(ids.indices.fill_null(-1))
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order], side="left")
    nth = np.empty(codes.size, np.int64)
    nth[order] = np.arange(codes.size) - starts
    # A row without an id belongs to nobody in particular: it cannot be bounded.
    return np.asarray((nth < rows) & (codes >= 0))


def _only(table: Table, unit: str, kept: Bools) -> Table:
    """Leave out the other rows."""
    from unspoken.table.read import read

    named = {*table.schema.with_role("identifier"), unit}
    return read(table.arrow().filter(pa.array(kept)), identifiers=sorted(named), show=False,
                kinds={c.name: c.kind for c in table.schema.columns if c.name not in named},
                keep=[name for name in table.schema.names if name not in named])
