"""Persons with several rows: a budget counts a stated number of each, and checks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from unspoken.errors import DataError

if TYPE_CHECKING:
    from unspoken.table.table import Table


def check_persons(table: Table, unit: str, rows: int) -> None:
    """Refuse a table in which a person has more rows than stated, or a row belongs to nobody."""
    _ = table.schema[unit]
    ids = table.arrow([unit])[unit]
    missing = pc.sum(pc.is_null(ids, nan_is_null=True)).as_py() or 0
    if missing:
        raise DataError(f"Every row must have an id in column '{unit}'. {missing} have none. Leave "
                        "these rows out, or give them ids.")
    most = pc.max(pc.value_counts(ids.combine_chunks()).field("counts")).as_py() or 0
    if most > rows:
        raise DataError(f"A person must have at most {rows} rows. One id in column '{unit}' has "
                        f"{most}. State rows={most}, or leave rows out of the "
                        "table.")
