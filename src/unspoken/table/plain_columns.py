"""Every type that a library or a file may bring, as one that the toolkit counts with.

Numbers, booleans, texts, dates, times and durations stay, moments of any time zone as those of UTC.
Categories become texts, whatever their values were. What would need a decision of the custodian
(nested values) is refused by name. Bytes are identifiers, which are never released.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError
from unspoken.table.schema import Schema


def plain_column(name: str, column: Any) -> Any:
    """Return a column of a plain type that holds the same values; any other type is refused."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = _without_extension(name, column)
    elif pa.types.is_run_end_encoded(kind):
        column = pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks],
                                  kind.value_type)
    elif pa.types.is_dictionary(kind):
        column = _categories(name, column)
    refuse_type(name, column.type)
    if pa.types.is_null(column.type):
        return column.cast(pa.float64())
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.large_binary())
    if pa.types.is_string_view(column.type):
        # Polars hands out views, for which pyarrow has few functions.
        return column.cast(pa.large_string())
    if pa.types.is_timestamp(column.type) and column.type.tz not in (None, "UTC"):
        # Labels show a moment; the same one must have the same label from every source.
        return column.cast(pa.timestamp(column.type.unit, "UTC"))
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def _categories(name: str, column: Any) -> Any:
    """Return categories as texts: numbers that stand for categories are no quantities."""
    inner = column.type.value_type
    if pa.types.is_string_view(inner):
        # pyarrow decodes no dictionary of views.
        inner = pa.large_string()
        column = pa.chunked_array([pa.DictionaryArray.from_arrays(
            chunk.indices, chunk.dictionary.cast(inner)) for chunk in column.chunks])
    if isinstance(inner, pa.BaseExtensionType):
        raise _refused(name, f"categories of the extension type {inner.extension_name}")
    refuse_type(name, inner)
    decoded = column.cast(inner)
    if pa.types.is_string(inner) or pa.types.is_large_string(inner):
        return decoded
    return decoded.cast(pa.string())


def _without_extension(name: str, column: Any) -> Any:
    known = column.type.extension_name
    if known == "arrow.uuid":
        texts = [None if one is None else str(one) for one in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.large_string())])
    if known == "arrow.bool8":
        return column.cast(pa.bool_())
    if known == "arrow.json":
        return column.cast(column.type.storage_type)
    raise _refused(name, f"the extension type {known}")


def refuse_type(name: str, kind: Any) -> None:
    """Refuse a column whose cells are no single value, or none that a method could read."""
    if pa.types.is_nested(kind):
        raise DataError(f"Column '{name}' must hold one value per row. Got {kind}. Unnest it.")
    if pa.types.is_interval(kind):
        raise _refused(name, str(kind))


def holds_bytes(kind: Any) -> bool:
    """Return True if cells of a type are bytes, such as pictures."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or (
        pa.types.is_fixed_size_binary(kind) and not pa.types.is_decimal(kind)))


def refuse_released_bytes(schema: Schema, rows: Any) -> None:
    """Refuse bytes that would be released: no method reads them, and nobody sees what they hold."""
    for entry in rows:
        if holds_bytes(entry.type) and schema[entry.name].role != "identifier":
            raise _refused(entry.name, "bytes")


def _refused(name: str, got: str) -> DataError:
    return DataError(f"Column '{name}' must hold numbers, texts, dates, times or booleans. Got "
                     f"{got}. Convert it to one of these, or leave the column out.")
