"""The training rows where they stood when they were released, found by the records of the key.

Codes and labels are replayed in the released order, which the key gives for the order in which the
table was protected. The key also holds a digest of every record, so that a table in any other order
is put back, and another table is refused before anything is decoded from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.errors import DataError, DecodeError, UnspokenError
from unspoken.models.named_columns import named
from unspoken.release.key import Key
from unspoken.release.original_records import ORIGINAL, RECORDS, Original
from unspoken.release.record_key import taken
from unspoken.table.read import read
from unspoken.table.table import Table

WEIGHT = "sample_weight"


def in_place(key: Key, data: Any, y: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return features and target in the order in which they were protected.

    Weights in `options` follow. What has no names, or not all released columns, is taken as it
    stands: its records cannot be told.
    """
    if data is None or RECORDS not in key.arrays or ORIGINAL not in key.secrets:
        return data, y
    original = Original.from_key(key)
    table = _whole(data, y, original, key)
    if table is None:
        return data, y
    try:
        rows = original.rows_in(table)
    except DataError as error:
        raise DecodeError(f"This is not the data that was released. {error}") from None
    if np.array_equal(rows, np.arange(rows.size)):
        return data, y
    if options.get(WEIGHT) is not None:
        options[WEIGHT] = _weights(options[WEIGHT], rows, original.records)
    # A table keeps its schema; a frame becomes one.
    return taken(data if isinstance(data, Table) else table, rows), \
        None if y is None else _moved(y, rows)


def _weights(values: Any, rows: Ints, records: Ints) -> Any:
    """Return weights in the order of the records; equal records cannot be told from each other."""
    weight = _moved(values, rows)
    order = np.argsort(records, kind="stable")
    same = np.diff(records[order]) == 0
    if np.any(same & (np.diff(np.asarray(weight)[order]) != 0)):
        raise DecodeError("Some equal records have different weights, and the rows stand in "
                          "another order than when they were released: nothing says which weight "
                          "is whose. Pass the rows in their original order.")
    return weight


def _moved(values: Any, rows: Ints) -> Any:
    array = np.asarray(values)
    return array[rows] if array.shape[:1] == rows.shape else values


def _whole(data: Any, y: Any, original: Original, key: Key) -> Table | None:
    """Return all released columns as a table, the target from `y` where it stands apart."""
    if isinstance(data, Table) and set(original.columns) <= set(data.schema.names):
        return data
    columns = named(data, tuple(original.columns))
    if columns is None:
        return None
    held = {name: columns[name] for name in original.columns if name in columns}
    held |= _target(original, key, y, held)
    if set(held) != set(original.columns):
        return None
    try:
        return read(pa.table(held), show=False, keep=list(held))
    except (UnspokenError, pa.ArrowException, ValueError, TypeError):
        return None


def _target(original: Original, key: Key, y: Any, held: dict[str, Any]) -> dict[str, Any]:
    target = key.secrets.get("target")
    name = target[0] if isinstance(target, list | tuple) and target else None
    if y is None or name is None or name in held or name not in original.columns:
        return {}
    return {name: pa.array(np.asarray(y))}
