"""Tables of any library in memory, as Arrow tables of plain columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.errors import DataError, SchemaError, explain
from unspoken.table.formats.header_names import check_names


def to_arrow(source: Any, columns: Sequence[str] | None = None) -> Any:
    """Turn an in-memory table of any library into an Arrow table."""
    try:
        return _to_arrow(source, columns)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"Every column must hold values of one type. {str(error)[:200]} "
            "Convert the column to numbers or to text first."
        ) from None


def _to_arrow(source: Any, columns: Sequence[str] | None) -> Any:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, np.ndarray):
        return _from_numpy(source, columns)
    if isinstance(source, Mapping):
        check_names([str(name) for name in source])
        return pa.table({str(name): pa.array(values) for name, values in source.items()})
    module = type(source).__module__.split(".")[0]
    if module == "pandas":
        check_names([str(name) for name in source.columns])
        return pa.Table.from_pandas(source, preserve_index=False)
    if hasattr(source, "collect") and module == "polars":
        source = source.collect()
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    raise DataError(
        explain("A source", "a path or an Arrow, pandas, polars, numpy or DuckDB table",
                f"an object of type {type(source).__name__}")
    )


def _from_numpy(source: np.ndarray[Any, Any], columns: Sequence[str] | None) -> Any:
    if source.dtype.names:
        return pa.table({name: np.ascontiguousarray(source[name]) for name in source.dtype.names})
    if source.ndim != 2:
        raise DataError(explain("A numpy source", "2-dimensional", f"{source.ndim} dimensions"))
    names = list(columns) if columns is not None else [f"x{i}" for i in range(source.shape[1])]
    if len(names) != source.shape[1]:
        raise SchemaError(explain("'columns'", f"{source.shape[1]} names", f"{len(names)} names"))
    check_names(names)
    parts = [pa.array(np.ascontiguousarray(source[:, i])) for i in range(len(names))]
    return pa.Table.from_arrays(parts, names)


def plain_rows(table: Any) -> Any:
    """Decode dictionaries and name what cannot be used."""
    check_names(table.column_names)
    for index, entry in enumerate(table.schema):
        if pa.types.is_dictionary(entry.type):
            table = table.set_column(index, entry.name, table[index].cast(entry.type.value_type))
        elif pa.types.is_string_view(entry.type):
            # Polars hands out views, for which pyarrow has few functions.
            table = table.set_column(index, entry.name, table[index].cast(pa.large_string()))
        elif pa.types.is_nested(entry.type):
            raise DataError(
                f"Column '{entry.name}' must hold one value a row. Got {entry.type}. Unnest it."
            )
    return table.replace_schema_metadata(None)
