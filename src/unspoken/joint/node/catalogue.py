"""The data catalogue: which tables an organisation has, with their schemas, never a row.

A peer sees the tables whose `show_to` names it. Of a column it sees name, kind, role and whether
values are missing; unit and range as the owner declared them; and categories where the owner listed
them, or allowed the list to be read from the data (`categories = "data"`). Of identifiers it sees
nothing but the name. What comes from a peer is checked field by field and bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from unspoken.errors import UnspokenError, explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.node.node_config import NodeConfig, OwnTable
from unspoken.joint.node.node_log import NodeLog, words_of
from unspoken.joint.node.node_state import NodeState
from unspoken.joint.session.study_fields import line_of_text, list_of_texts, only_keys
from unspoken.joint.tasks.param_rules import is_number
from unspoken.joint.wire.credentials import check_name
from unspoken.table.formats.read_options import ReadOptions
from unspoken.table.read import read_file
from unspoken.table.schema import KINDS, ROLES
from unspoken.table.table import Table

MOST_TABLES, MOST_COLUMNS, MOST_CATEGORIES = 1000, 10_000, 1000


@dataclass(frozen=True)
class ColumnView:
    """What others may know of a column; `categories` is None where they are not shown."""

    name: str
    kind: str
    role: str = "plain"
    missing: bool = False
    unit: str = ""
    range: tuple[float, float] | None = None
    categories: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"name": self.name, "kind": self.kind, "role": self.role, "missing": self.missing,
                "unit": self.unit, "range": None if self.range is None else list(self.range),
                "categories": None if self.categories is None else list(self.categories)}

    @classmethod
    def from_json(cls, data: Any) -> ColumnView:
        """Check a column of a peer's catalogue."""
        only_keys("column", data, ("name", "kind", "role", "missing", "unit", "range",
                                   "categories"))
        name = line_of_text("column", data.get("name"))
        span, categories = data.get("range"), data.get("categories")
        if data.get("kind") not in KINDS or data.get("role") not in ROLES:
            raise StudyError(f"Column '{name}' of a catalogue has no kind or role that is known.")
        if span is not None and not (isinstance(span, list) and len(span) == 2
                                     and all(map(is_number, span)) and span[0] < span[1]):
            raise StudyError(explain(f"The range of column '{name}'", "two increasing numbers",
                                     span))
        words = None if categories is None else tuple(
            line_of_text("categories", word) for word in list_of_texts("categories", categories))
        if words is not None and len(words) > MOST_CATEGORIES:
            raise StudyError(f"Column '{name}' of a catalogue has too many categories.")
        return cls(name, data["kind"], data["role"], bool(data.get("missing")),
                   line_of_text("unit", data.get("unit", "")),
                   None if span is None else (span[0], span[1]), words)


@dataclass(frozen=True)
class TableView:
    """What others may know of a table."""

    name: str
    columns: tuple[ColumnView, ...] = ()
    readable: bool = True

    def column(self, name: str) -> ColumnView | None:
        """Return a column, or None."""
        return next((column for column in self.columns if column.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"name": self.name, "columns": [column.to_json() for column in self.columns],
                "readable": self.readable}

    @classmethod
    def from_json(cls, data: Any) -> TableView:
        """Check a table of a peer's catalogue."""
        only_keys("table", data, ("name", "columns", "readable"))
        columns = data.get("columns")
        if not isinstance(columns, list) or len(columns) > MOST_COLUMNS:
            raise StudyError("A table of a catalogue has no list of columns, or too long a one.")
        return cls(check_name(data.get("name", ""), "A table's name"),
                   tuple(ColumnView.from_json(column) for column in columns),
                   bool(data.get("readable", True)))

    def text(self) -> str:
        """Return the table for people."""
        if not self.readable:
            return f"{self.name}: cannot be read at that node now; its people see why in its log"
        return "\n".join([f"{self.name}:", *(f"  {_words(column)}" for column in self.columns)])


def _words(column: ColumnView) -> str:
    parts = [f"{column.name}: {column.kind}", *([column.role] if column.role != "plain" else []),
             *([f"in {column.unit}"] if column.unit else []),
             *([f"{column.range[0]:g} to {column.range[1]:g}"] if column.range else []),
             *(["one of " + ", ".join(column.categories)] if column.categories else []),
             *(["with missing values"] if column.missing else [])]
    return ", ".join(parts)


class Catalogue:
    """The catalogue of this node; a file is read again when it has changed."""

    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        self._views: dict[str, tuple[tuple[int, int], TableView]] = {}
        self._reading = threading.Lock()

    def shown_to(self, peer: str | None) -> list[TableView]:
        """Return the tables that a peer may see; None is this organisation itself."""
        return [self._view(table) for table in self._tables(peer)]

    def _tables(self, peer: str | None) -> list[OwnTable]:
        return [table for table in self._config.tables if peer is None or peer in table.show_to]

    async def answer(self, peer: str, state: NodeState, log: NodeLog) -> dict[str, Any]:
        """Return what a peer is told: the tables that it may see, and the services it may ask.

        Tables are read beside everything else that the node does: a large one takes its time.
        """
        tables = [await asyncio.to_thread(self._told, table, log) for table in self._tables(peer)]
        offers = []
        for service in self._config.services:
            # What is wrong with a model here is no business of others: it is not offered.
            with contextlib.suppress(UnspokenError):
                if peer in service.askers:
                    offers.append(service.offer(
                        service.records - state.records_by(service.words(peer))))
        return {"tables": [view.to_json() for view in tables], "services": offers}

    def _told(self, table: OwnTable, log: NodeLog) -> TableView:
        """Return a table; what is wrong with its file is for this node's own people alone."""
        try:
            return self._view(table)
        except Exception as error:
            log.event("unreadable table", table=table.name, why=words_of(error))
            return TableView(table.name, readable=False)

    def _view(self, table: OwnTable) -> TableView:
        with self._reading:
            stat = table.path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            if self._views.get(table.name, ((0, 0), None))[0] != stamp:
                self._views[table.name] = (stamp, describe(table))
            return self._views[table.name][1]


def describe(table: OwnTable) -> TableView:
    """Return what others may know of a table; baskets and models have no columns."""
    if table.path.suffix == ".dat" or table.is_model:
        return TableView(table.name)
    rows = read_file(table.path, ReadOptions.of(**table.reading))
    return TableView(table.name, tuple(_view_of(table, rows, name) for name in rows.schema.names))


def _view_of(table: OwnTable, rows: Table, name: str) -> ColumnView:
    column, facts = rows.schema[name], table.columns.get(name)
    if column.role == "identifier":
        return ColumnView(name, column.kind, column.role)
    missing = rows.arrow([name])[name].null_count > 0
    if facts is None:
        return ColumnView(name, column.kind, column.role, missing)
    words = occurring(rows, name) if facts.categories == "data" else facts.categories
    return ColumnView(name, "categorical" if words else column.kind, column.role, missing,
                      facts.unit, facts.range, tuple(words) or None)


def occurring(rows: Table, name: str) -> tuple[str, ...]:
    """Return the values of a column that occur, as texts in order."""
    values: Iterable[Any] = pc.unique(rows.arrow([name])[name]).to_pylist()
    words = sorted(str(value) for value in values if value is not None)
    if len(words) > MOST_CATEGORIES:
        raise StudyError(f"Column '{name}' has {len(words)} different values. A catalogue lists "
                         f"at most {MOST_CATEGORIES}.")
    return tuple(words)
