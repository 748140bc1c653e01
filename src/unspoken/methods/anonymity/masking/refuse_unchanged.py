"""A release that changes nothing is refused: nobody would be hidden by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from unspoken.errors import DataError
from unspoken.table.table import Table


def refuse_unchanged(owner: str, table: Table, changed: Mapping[str, Any], rows: int,
                     advice: str) -> None:
    """Refuse to send a table out as it came: nobody would be hidden by it."""
    if rows == table.rows and all(_same(column, table.arrow([name])[name])
                                  for name, column in changed.items()):
        raise DataError(f"{owner}: nothing would change; the release would be the table as it is. "
                        f"{advice}")


def _same(released: Any, original: Any) -> bool:
    one, two = (column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
                for column in (released, original))
    return bool(one.equals(two if one.type == two.type else two.cast(pa.string())
                           if pa.types.is_string(one.type) else two.cast(one.type)))
