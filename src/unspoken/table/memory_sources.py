"""Tables of any library in memory, as Arrow tables of plain columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.errors import DataError, SchemaError, explain
from unspoken.table.formats.header_names import check_names
from unspoken.table.library_frames import FAILURES, from_pandas, from_polars, unreadable
from unspoken.table.plain_columns import plain_column


def to_arrow(source: Any, columns: Sequence[str] | None = None) -> Any:
    """Turn an in-memory table of any library into an Arrow table."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, np.ndarray):
        return _from_numpy(source, columns)
    if isinstance(source, Mapping):
        return _from_mapping(source)
    module = type(source).__module__.split(".")[0]
    if module == "pandas":
        return from_pandas(source)
    if module == "polars" and type(source).__name__ in ("DataFrame", "LazyFrame"):
        return from_polars(source.collect() if hasattr(source, "collect") else source)
    if hasattr(source, "__arrow_c_stream__"):
        return _from_stream(source)
    raise DataError(
        explain("A source", "a path or an Arrow, pandas, polars, numpy or DuckDB table",
                f"an object of type {type(source).__name__}")
    )


def _from_stream(source: Any) -> Any:
    try:
        return pa.table(source)
    except FAILURES as error:
        raise DataError(explain("A source", "a table of Arrow columns", type(source).__name__,
                                " ".join(str(error).split())[:200])) from None


def _from_mapping(source: Mapping[Any, Any]) -> Any:
    names = [str(name) for name in source]
    check_names(names)
    columns = [_array(name, values) for name, values in zip(names, source.values(), strict=True)]
    lengths = {name: len(column) for name, column in zip(names, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {rows:,}" for name, rows in list(lengths.items())[:5])
        raise DataError(f"All columns must have as many rows. Got {shown}.")
    return pa.Table.from_arrays(columns, names)


def _array(name: str, values: Any) -> Any:
    try:
        return pa.array(values)
    except FAILURES as error:
        raise unreadable(name, type(values).__name__, error) from None


def _from_numpy(source: np.ndarray[Any, Any], columns: Sequence[str] | None) -> Any:
    if source.dtype.names:
        return _from_mapping({name: np.ascontiguousarray(source[name])
                              for name in source.dtype.names})
    if source.ndim != 2:
        raise DataError(explain("A numpy source", "2-dimensional", f"{source.ndim} dimensions"))
    names = list(columns) if columns is not None else [f"x{i}" for i in range(source.shape[1])]
    if len(names) != source.shape[1]:
        raise SchemaError(explain("'columns'", f"{source.shape[1]} names", f"{len(names)} names"))
    check_names(names)
    parts = [_array(name, np.ascontiguousarray(source[:, i])) for i, name in enumerate(names)]
    return pa.Table.from_arrays(parts, names)


def value_orders(table: Any) -> dict[str, tuple[str, ...]]:
    """Return the values of ordered categorical columns in their order, which decoding loses."""
    kinds = {entry.name: entry.type for entry in table.schema}
    return {name: tuple(map(str, table[name].unify_dictionaries().chunk(0).dictionary.to_pylist()))
            for name, kind in kinds.items()
            if pa.types.is_dictionary(kind) and kind.ordered and table[name].num_chunks}


def plain_rows(table: Any) -> Any:
    """Return a table of plain columns (`plain_columns`); what cannot be used is named."""
    check_names(table.column_names)
    for index, name in enumerate(table.column_names):
        plain = plain_column(name, table[index])
        if plain is not table[index]:
            table = table.set_column(index, name, plain)
    return table.replace_schema_metadata(None)
