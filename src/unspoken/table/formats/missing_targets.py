"""Records without a target, which no learner can use: left out where the custodian says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError, InputError, SchemaError
from unspoken.table.engines.duckdb_files import quote
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.table import Table

_PLACE = "t.place_of_target"


def without_missing_target(table: Table) -> Table:
    """Return the table without the records that have no target, and a note of how many."""
    target = table.schema.target
    if target is None:
        raise SchemaError("Records without a target can be left out only where a target is named. "
                          "Name it when reading: unspoken.read(source, target=...).")
    gone = table.engine.count_missing(table.frame, target)
    if gone == table.rows:
        raise DataError(f"The target '{target}' must have a value in some row. It has none.")
    if gone == 0:
        return table
    if not isinstance(table.engine, LocalEngine):
        raise InputError("'drop_missing_target' needs the local engine. Filter the rows before "
                         "reading.")
    frame, written = _kept(table.engine, table.frame, table.written, target)
    note = f"{gone:,} of {table.rows:,} records were left out: they have no '{target}'"
    return replace(table, frame=frame, written=written, notes=(*table.notes, note))


def _kept(engine: LocalEngine, frame: Any, written: Any, target: str) -> tuple[Any, Any]:
    if isinstance(frame, MemoryFrame):
        kept = pc.invert(pc.is_null(frame.table[target], nan_is_null=True))
        return (MemoryFrame(frame.table.filter(kept)),
                None if written is None else MemoryFrame(written.table.filter(kept)))
    name = quote(target)
    floating = pa.types.is_floating(engine.schema(frame).field(target).type)
    there = "{0} IS NOT NULL" + (" AND NOT isnan({0})" if floating else "")
    rows = f"(SELECT * FROM {frame.sql} WHERE {there.format(name)})"
    if written is None:
        return engine.scan(rows, None, frame.widest, frame.keep), None
    beside = (f"(SELECT w.* FROM (SELECT * FROM {written.sql}) w POSITIONAL JOIN (SELECT {name} AS "
              f"place_of_target FROM {frame.sql}) t WHERE {there.format(_PLACE)})")
    return (engine.scan(rows, None, frame.widest, frame.keep),
            engine.scan(beside, None, written.widest, written.keep))
