"""Between Arrow columns and numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError

DAY = 86_400.0
UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def is_number(kind: Any) -> bool:
    """Return True if an Arrow type counts as a number here (dates and times do)."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_temporal(kind)
        or pa.types.is_null(kind)
    )


def to_numbers(column: Any) -> npt.NDArray[Any]:
    """Return a column as numbers: its own type where nothing is missing, else float64 with NaN.

    Dates become days, times of day and timestamps seconds since their epoch.
    """
    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_date(kind):
        column = column.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_temporal(kind):
        return _seconds(column)
    elif pa.types.is_decimal(kind):
        # Arrow multiplies by a power of ten, which makes 0.3 another number than the text 0.3.
        column = column.cast(pa.string()).cast(pa.float64())
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.float64())
    if column.null_count:
        column = column.cast(pa.float64(), safe=False)
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return numpy_of(column)


def arrow_of(values: npt.NDArray[Any]) -> Any:
    """Return numbers as an Arrow array over the same memory; `pa.array` would load pandas."""
    plain = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(plain.dtype), plain.size,
                                 [None, pa.py_buffer(plain)])


def numpy_of(column: Any) -> npt.NDArray[Any]:
    """Return numbers without gaps as an array over the same memory, without loading pandas."""
    kind = np.dtype(column.type.to_pandas_dtype())
    if not len(column):
        return np.zeros(0, kind)
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)


def binary_of(values: npt.NDArray[Any]) -> Any:
    """Return an Arrow array of one cell, which holds the bytes of an array."""
    plain = np.ascontiguousarray(values)
    ends = pa.py_buffer(np.array([0, plain.nbytes], np.int64))
    return pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(plain)])


def from_numbers(values: npt.NDArray[np.float64], kind: Any) -> Any:
    """Return numbers, NaN being missing, as dates or times where the type is one of these.

    Dates are rounded to days, times to the unit of their type; other types become float64. What
    would lie beyond midnight is no time of day, and refused.
    """
    if not pa.types.is_temporal(kind):
        return pa.array(values, from_pandas=True)
    gone = np.isnan(values)
    day = pa.types.is_date(kind)
    steps = np.rint(np.where(gone, 0.0, values) * (1.0 if day else UNITS[kind.unit]))
    if pa.types.is_time(kind) and ((steps < 0) | (steps >= DAY * UNITS[kind.unit])).any():
        raise DataError("Times of day must lie between midnight and midnight. Some would be "
                        "released that lie beyond. Write times as numbers of minutes.")
    small = day or pa.types.is_time32(kind)
    whole = pa.array(steps.astype(np.int32 if small else np.int64), mask=gone)
    return whole.cast(pa.date32()).cast(kind) if day else whole.cast(kind)


def _seconds(column: Any) -> npt.NDArray[np.float64]:
    unit = UNITS[column.type.unit]
    small = pa.types.is_time32(column.type)
    whole = column.cast(pa.int32() if small else pa.int64()).cast(pa.float64(), safe=False)
    return np.asarray(whole.to_numpy(zero_copy_only=False)) / unit


def to_labels(column: Any) -> tuple[tuple[Any, ...], npt.NDArray[np.int32]]:
    """Return the sorted distinct labels of a column and the position of each row's label."""
    encoded = pc.dictionary_encode(column)
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    labels = encoded.dictionary
    order = pc.sort_indices(labels).to_numpy()
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return tuple(labels.take(pa.array(order)).to_pylist()), rank[codes.astype(np.intp)]
