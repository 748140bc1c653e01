"""The columns that a model asks for, by name, out of whatever table they come in.

Columns may stand in any order and others are ignored, as long as names are there. A bare array has
no names: it must have exactly the model's columns, in the model's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats
from unspoken.errors import DataError, explain
from unspoken.models.category_groups import NONE, Groups, category_numbers, column_of
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

Named = Mapping[str, Any]
_REFUSED = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError)


def by_name(data: Any, names: Sequence[str], more: Sequence[str] = ()) -> Named:
    """Return the columns of a table by name; of a bare array, its columns under these names.

    Parameters
    ----------
    data : Table, pandas or polars frame, Arrow table, mapping of columns, or array
        Where the columns come from.
    names : sequence of str
        The model's columns in the model's order, which is what an array must have.
    more : sequence of str
        Other columns that a model may do with.

    Returns
    -------
    mapping
        Each name with its column, as it came. A Table gives only the model's columns.
    """
    known = named(data, [*names, *more])
    if known is None:
        return dict(zip(names, _matrix(data, len(names)).T, strict=True))
    return known


def check_there(known: Named, names: Sequence[str], data: Any = None) -> None:
    """Refuse the first column that is missing, by its name; `data`: where they were looked for."""
    missing = next((name for name in names if name not in known), None)
    if missing is not None:
        # Of a Table only what the model asks for was read.
        there = data.schema.names if isinstance(data, Table) else known
        shown = ", ".join(map(str, there)) or "nothing"
        raise DataError(f"The data must come with a column '{missing}': the model predicts from "
                        f"it. What is there: {shown[:200]}.")


def number_rows(data: Any, names: Sequence[str], groups: Groups = NONE) -> Floats:
    """Return the columns of these names as rows of float64, NaN where missing.

    Texts are refused even if they spell numbers: the caller must convert them. Columns in `groups`
    are categories, whose numbers those are. A model that names a column twice is refused: its
    places would be others than those of the data.
    """
    _check_once(names)
    behind = {name: column_of(name, groups[name]) if name in groups else name for name in names}
    asked = list(dict.fromkeys(behind.values()))
    known = named(data, asked) if not groups or len(asked) < len(names) else by_name(data, names)
    if known is None:
        return _as_numbers(_matrix(data, len(names)))
    check_there(known, asked, data)
    columns = {name: category_numbers(known[behind[name]], groups[name]) if name in groups
               else numbers_of(name, known[name]) for name in names}
    rows = count_rows(columns, known)
    return np.column_stack(list(columns.values())) if columns else np.zeros((rows, 0))


def count_rows(columns: Mapping[str, Any], known: Named) -> int:
    """Return how many records some columns have; where a model asks for none, those of the data."""
    sizes = {name: len(column) for name, column in (columns or _first(known)).items()}
    if len(set(sizes.values())) != 1:
        shown = ", ".join(f"{size} in '{name}'" for name, size in sizes.items()) or "no column"
        raise DataError(explain("The columns", "of one length", shown))
    return next(iter(sizes.values()))


def _first(known: Named) -> dict[str, Any]:
    return dict(list(known.items())[:1])


def numbers_of(name: str, column: Any) -> Floats:
    """Return one column as float64; dates become days, times seconds, as in a Table."""
    try:
        values = _arrow(column)
    except _REFUSED:
        raise DataError(_not_numbers(name, "values of several types")) from None
    if values.null_count == len(values):
        return np.full(len(values), np.nan)
    if not is_number(values.type):
        raise DataError(_not_numbers(name, f"values of type {values.type}"))
    return np.asarray(to_numbers(values), np.float64)


def values_of(column: Any) -> list[Any]:
    """Return one column of categories as they are, None where missing."""
    try:
        values = _arrow(column).to_pylist()
    except _REFUSED:
        values = np.asarray(column, object).tolist()
    return [None if _is_missing(value) else value for value in values]


def texts_of(column: Any) -> list[str | None]:
    """Return one column of categories as texts, None where missing."""
    return [None if value is None else str(value) for value in values_of(column)]


def _not_numbers(name: str, got: str) -> str:
    return explain(f"The column '{name}'", "numbers", got, "Convert it to numbers first.")


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def named(data: Any, names: Sequence[str]) -> Named | None:
    """Return what the data holds by name, or None if it has no names."""
    if isinstance(data, Mapping):
        return {str(name): column for name, column in data.items()}
    if isinstance(data, Table):
        there = [name for name in dict.fromkeys(names) if name in data.schema.names]
        return _from_arrow(data.arrow(there or data.schema.names[:1]))
    if isinstance(data, np.ndarray) and data.dtype.names:
        return {name: data[name] for name in data.dtype.names}
    if type(data).__module__.partition(".")[0] == "pandas":
        return _from_pandas(data)
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):
        data = data.collect()
    if isinstance(data, pa.RecordBatch | pa.Table):
        return _from_arrow(data)
    return _from_arrow(pa.table(data)) if hasattr(data, "__arrow_c_stream__") else None


def _from_arrow(table: Any) -> Named:
    _check_once(table.column_names)
    return dict(zip(table.column_names, table.columns, strict=True))


def _from_pandas(frame: Any) -> Named | None:
    if not hasattr(frame, "columns"):
        return None
    names = [str(name) for name in frame.columns]
    _check_once(names)
    return {name: frame.iloc[:, place] for place, name in enumerate(names)}


def _check_once(names: Sequence[str]) -> None:
    twice = next((name for name in names if list(names).count(name) > 1), None) \
        if len(set(names)) != len(names) else None
    if twice is not None:
        raise DataError(f"There are two columns '{twice}'. Rename one of them.")


def _matrix(data: Any, width: int) -> Any:
    rows = np.asarray(data)
    if rows.ndim != 2 or rows.shape[1] != width:
        raise DataError(explain("The data", f"of shape (records, {width})", str(rows.shape),
                                "Pass columns by name to select them."))
    return rows


def _as_numbers(rows: Any) -> Floats:
    texts = rows.dtype.kind == "O" and any(isinstance(v, str | bytes) for v in rows.flat)
    if texts or rows.dtype.kind not in "biufO":
        raise DataError(explain("The data", "numbers", "texts" if texts else str(rows.dtype),
                                "Convert it to numbers first."))
    return np.asarray(rows, np.float64)


def _arrow(column: Any) -> Any:
    """Return a column as an Arrow array, without dictionaries and views."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        values = column
    elif hasattr(column, "__arrow_c_stream__"):
        values = pa.chunked_array(column)
    else:
        values = pa.array(_flat(column), from_pandas=True)
    if pa.types.is_dictionary(values.type):
        return values.cast(values.type.value_type)
    return values


def _flat(column: Any) -> Any:
    values = column if isinstance(column, list | tuple) else np.asarray(column)
    if getattr(values, "ndim", 1) != 1:
        raise TypeError("one value per record")
    return values
