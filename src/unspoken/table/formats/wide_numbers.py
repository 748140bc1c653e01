"""Numbers that float64 cannot hold: refused by methods that compute with it.

Whole numbers beyond 2**53, and decimals of more digits than float64 has, would be rounded by the
arithmetic of every method, so that two of them could become one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import SchemaError
from unspoken.table.engines.duckdb_files import quote
from unspoken.table.engines.local import LocalEngine, MemoryFrame, ScanFrame
from unspoken.table.table import Table

LARGEST = 1 << 53
S = TypeVar("S")
R = TypeVar("R")


def wide_columns(engine: Any, frame: Any) -> tuple[str, ...]:
    """Return the columns of whole numbers or decimals that float64 cannot hold exactly."""
    if not isinstance(engine, LocalEngine):
        return ()
    names = [entry.name for entry in engine.schema(frame) if _may_be_wide(entry.type)]
    if isinstance(frame, MemoryFrame):
        return tuple(name for name in names if _is_wide(frame.table[name]))
    scanned = names and isinstance(frame, ScanFrame)
    return _wide_in_scan(engine, frame, names) if scanned else ()


def _may_be_wide(kind: Any) -> bool:
    return bool(pa.types.is_int64(kind) or pa.types.is_uint64(kind) or pa.types.is_decimal(kind))


def _is_wide(column: Any) -> bool:
    if column.null_count == len(column):
        return False
    if not pa.types.is_decimal(column.type):
        ends = pc.min_max(column)
        return bool(ends["min"].as_py() < -LARGEST or ends["max"].as_py() > LARGEST)
    try:
        again = column.cast(pa.float64()).cast(column.type)
    except pa.ArrowInvalid:
        return True
    return bool(pc.any(pc.not_equal(again, column)).as_py())


def _wide_in_scan(engine: LocalEngine, frame: ScanFrame, names: Sequence[str]) -> tuple[str, ...]:
    parts = []
    for name in names:
        kind, cell = frame.schema.field(name).type, quote(name)
        if pa.types.is_decimal(kind):
            shape = f"DECIMAL({kind.precision}, {kind.scale})"
            parts.append(f"bool_or(TRY_CAST(CAST({cell} AS DOUBLE) AS {shape}) "
                         f"IS DISTINCT FROM {cell})")
        else:
            parts.append(f"min({cell}) < -{LARGEST} OR max({cell}) > {LARGEST}")
    row = engine.first_row(f"SELECT {', '.join(parts)} FROM {frame.sql}")
    return tuple(name for name, wide in zip(names, row, strict=True) if wide)


def refuse_wide(owner: str, table: Table) -> None:
    """Refuse such a column where it is a quantity that would be released."""
    for name in wide_columns(table.engine, table.frame):
        column = table.schema[name]
        if column.kind in ("numeric", "ordinal") and name in table.schema.features:
            raise SchemaError(
                f"{owner}: column '{name}' must hold numbers that float64 can hold. It has whole "
                "numbers beyond 2**53, or decimals of more than 15 digits, which would be rounded. "
                f'Read it as labels (kinds={{"{name}": "categorical"}}) or as an identifier, or '
                "round it first.")


def of_floats(protect: Callable[[S, Table], R]) -> Callable[[S, Table], R]:
    """Return a method that computes with float64, and refuses what that cannot hold."""
    @wraps(protect)
    def checked(self: S, table: Table) -> R:
        refuse_wide(type(self).__name__, table)
        return protect(self, table)

    return checked
