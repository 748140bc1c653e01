"""The last steps of a release: nothing goes out unchanged, and no row keeps its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from unspoken.errors import DataError
from unspoken.numerics.random import derive
from unspoken.numerics.shuffle import permutation
from unspoken.release.release import Release
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.table import Table


def shuffled(release: Release, seed: bytes, wanted: bool = True) -> tuple[Release, None]:
    """Return the release with its rows in a random order; there is no key."""
    if not wanted:
        return release, None
    rows = release.table.arrow()
    order = permutation(derive(seed, "order"), rows.num_rows)
    table = Table(release.schema, MemoryFrame(rows.take(pa.array(order))), LocalEngine())
    return replace(release, table=table), None


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
