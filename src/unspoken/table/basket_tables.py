"""How baskets travel in a release: a table with a column of kind basket, lists of item codes.

The names of the items stand in the public mechanism under `items`, so that the fingerprint of the
release covers them; the data holds codes, which are small however many items were inserted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unspoken.errors import InputError, ReleaseError, explain, reason
from unspoken.table.basket_files import known_items
from unspoken.table.baskets import Baskets
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.formats.expansion import fixed_size, parquet_metadata, refuse_bomb
from unspoken.table.schema import Column, Schema
from unspoken.table.table import Table
from unspoken.table.write_baskets import COLUMN, arrow_lists

SIZE = "size"
_COLUMNS = {COLUMN: Column(COLUMN, "basket"), SIZE: Column(SIZE, "numeric")}


def to_table(baskets: Baskets, sizes: npt.ArrayLike | None = None) -> Table:
    """Return baskets as a table; with public sizes of the originals as a second column."""
    columns = {COLUMN: arrow_lists(baskets)}
    if sizes is not None:
        columns[SIZE] = pa.array(np.asarray(sizes, np.int32))
    return _table(pa.table(columns))


def as_table(source: Table | Baskets, mechanism: Mapping[str, Any]) -> Table:
    """Return a table as it is, and baskets as one over the items that a release names."""
    if not isinstance(source, Baskets):
        return source
    items = mechanism.get("items")
    return to_table(known_items(source, items) if isinstance(items, list | tuple) else source)


def _table(rows: Any) -> Table:
    schema = Schema(tuple(_COLUMNS[name] for name in rows.column_names))
    return Table(schema, MemoryFrame(rows), LocalEngine())


def read_table(path: Path) -> Table:
    """Read the data file of a basket release."""
    import pyarrow.parquet as pq

    metadata = parquet_metadata(path)
    refuse_bomb(path, fixed_size(path, metadata))
    try:
        rows = pq.read_table(path)
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise ReleaseError(f"'{path}' must be a Parquet file. {reason(error)}") from None
    if rows.column_names not in ([COLUMN], [COLUMN, SIZE]) \
            or not pa.types.is_large_list(rows.schema.field(0).type):
        raise ReleaseError(explain(f"'{path}'", f"a column '{COLUMN}' of lists of codes, and "
                                   f"'{SIZE}' where sizes are public", str(rows.schema)))
    return _table(rows)


def original_sizes(table: Table) -> npt.NDArray[np.int64] | None:
    """Return the public sizes of the original baskets, where they were released."""
    if SIZE not in table.schema.names:
        return None
    column = table.arrow([SIZE])[SIZE]
    sizes = np.asarray(column.to_numpy(), np.float64)
    if column.null_count or not np.all((sizes >= 0) & (sizes == np.floor(sizes))):
        raise ReleaseError("Public sizes of baskets must be whole numbers.")
    return sizes.astype(np.int64)


def from_table(table: Table, mechanism: Mapping[str, Any]) -> Baskets:
    """Return the baskets of a release, checked against the items that its mechanism names."""
    items = mechanism.get("items")
    if COLUMN not in table.schema.names or not isinstance(items, list | tuple):
        raise ReleaseError("This is not a release of baskets. Its mechanism is "
                           f"'{mechanism.get('name')}'.")
    column = table.arrow([COLUMN])[COLUMN].combine_chunks()
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    flat = [part.flatten().to_numpy(zero_copy_only=False) for part in chunks]
    sizes = [np.asarray(part.value_lengths().to_numpy(zero_copy_only=False)) for part in chunks]
    offsets = np.r_[0, np.cumsum(np.concatenate([np.zeros(0, np.int64), *sizes]))]
    codes = np.concatenate([np.zeros(0, np.int32), *flat])
    try:
        return Baskets(offsets.astype(np.int64), codes, tuple(items))
    except InputError as error:
        raise ReleaseError(f"The released baskets do not fit their manifest. {error}") from None
