"""Columns that are neither quasi-identifiers nor sensitive: kept, left out, or asked about."""

from __future__ import annotations

from dataclasses import replace

from unspoken.errors import SchemaError
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.table import Table


def loose_columns(table: Table) -> tuple[str, ...]:
    """Return features that are neither quasi-identifiers nor sensitive where some are declared."""
    schema = table.schema
    roles = (*schema.with_role("quasi"), *schema.with_role("sensitive"))
    return tuple(n for n in schema.features if n not in roles) if schema.with_role("quasi") else ()


def with_others(owner: str, table: Table, others: str) -> Table:
    """Return a table as a method is to see it: with its loose columns, or without them."""
    loose = loose_columns(table) if others != "keep" else ()
    if not loose:
        return table
    if others == "refuse":
        raise SchemaError(
            f"{owner}: column '{loose[0]}' is neither a quasi-identifier nor sensitive. Use "
            "others='drop' to leave such columns out, or others='keep' to release them, made "
            "coarser only where a tree asks about them.")
    kept = tuple(column for column in table.schema.columns if column.name not in loose)
    rows = table.arrow([column.name for column in kept])
    return replace(table, schema=replace(table.schema, columns=kept), frame=MemoryFrame(rows),
                   engine=LocalEngine())
