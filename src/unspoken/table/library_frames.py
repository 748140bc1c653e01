"""Frames of pandas and polars as Arrow tables: what Arrow has no type for, and what it would drop.

Periods and intervals become ordered categories, which show the same texts as the frame does, and so
do categories that are tuples. Sparse
columns are filled. A column that Arrow cannot hold is refused by its name.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from unspoken.errors import DataError
from unspoken.table.formats.header_names import check_names

FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)


def from_pandas(frame: Any) -> Any:
    """Return a pandas frame as an Arrow table, column by column, without its index."""
    if not hasattr(frame, "columns"):
        raise DataError("A source must be a table. Got a single column of pandas. Use "
                        "frame[['NAME']] or to_frame().")
    names = [str(name) for name in frame.columns]
    check_names(names)
    columns = [_pandas_column(name, frame.iloc[:, i]) for i, name in enumerate(names)]
    return pa.Table.from_arrays(columns, names)


_BY_TEXT = ("PeriodDtype", "IntervalDtype")
"""Types of pandas that Arrow has no type for."""


def _pandas_column(name: str, column: Any) -> Any:
    kind = type(column.dtype).__name__
    if kind in _BY_TEXT:
        column = _as_ordered(column)
    elif kind == "CategoricalDtype" and _shown_as_text(column.cat.categories):
        # What `pandas.cut` returns: categories that are intervals.
        column = _by_text(column)
    elif kind == "SparseDtype":
        column = column.sparse.to_dense()
    try:
        return pa.array(column, from_pandas=True)
    except FAILURES as error:
        raise unreadable(name, str(column.dtype), error) from None


def _shown_as_text(categories: Any) -> bool:
    """Return True for categories that are periods, intervals or tuples, of which Arrow has none."""
    return type(categories.dtype).__name__ in _BY_TEXT or (
        len(categories) > 0 and all(isinstance(one, tuple) for one in categories))


def _as_ordered(column: Any) -> Any:
    """Return periods or intervals as categories in their order, by the texts that they show."""
    return _by_text(column.astype("category").cat.as_ordered())


def _by_text(column: Any) -> Any:
    return column.cat.rename_categories([str(one) for one in column.cat.categories])


def index_note(frame: Any) -> tuple[str, ...]:
    """Return a note where a frame has a named index, which is not read."""
    if type(frame).__module__.split(".")[0] != "pandas" or not hasattr(frame, "columns"):
        return ()
    names = [str(name) for name in frame.index.names if name is not None]
    return (f"the index ({', '.join(names)}) is not read; reset_index() makes it a column",) \
        if names else ()


def from_polars(frame: Any) -> Any:
    """Return a polars frame as an Arrow table."""
    for name, kind in frame.schema.items():
        if str(kind) == "Object":
            # Polars would hand out the addresses of the objects.
            raise unreadable(name, "Python objects", None)
    try:
        return pa.table(frame)
    except FAILURES as error:
        raise _blame(frame, error) from None


def _blame(frame: Any, error: Exception) -> DataError:
    """Return the refusal of the first column that cannot be handed over on its own."""
    for name, kind in frame.schema.items():
        try:
            pa.table(frame.select([name]))
        except FAILURES as own:
            return unreadable(name, str(kind), own)
    return DataError(f"A source must be a table that Arrow can hold. {str(error)[:200]}")


def unreadable(name: str, kind: str, error: Exception | None) -> DataError:
    """Return the refusal of a column that Arrow has no type for, or that mixes types."""
    said = error.args[0] if error is not None and error.args else ""
    why = f" ({' '.join(str(said).split())[:150]})" if said else ""
    return DataError(f"Every column must hold values of one type. Column '{name}' holds "
                     f"{kind}{why}. Convert the column to numbers or to text first.")
