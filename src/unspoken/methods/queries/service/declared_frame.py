"""The columns of a service as its policy declares them, whatever they were read as.

In a text file one word among numbers makes every cell a text. Where the policy declares bounds, or
values that are numbers, a column holds numbers, and what is none is missing. Where it declares
texts, it holds texts, and a cell that says a declared value is that value. Protected columns that
are not declared to hold numbers are compared cell by cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.table.declared_types import numbers_of, places_among, plain_texts_of

NUMERIC, CATEGORICAL = "numeric", "categorical"


def declared_kind(declared: Mapping[str, Any]) -> str | None:
    """Return what a policy says about the values of a column, None if nothing."""
    values = declared.get("values", ())
    if "bounds" in declared or (values and not any(isinstance(one, str) for one in values)):
        return NUMERIC
    return CATEGORICAL if values else None


def declared_texts(columns: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return the columns whose declared values are texts: they have no order."""
    return frozenset(name for name, one in columns.items() if declared_kind(one) == CATEGORICAL)


def declared_frame(frame: Any, columns: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return an Arrow table with its columns as declared."""
    for name, declared in columns.items():
        if name in frame.column_names and declared_kind(declared) is not None:
            place = frame.column_names.index(name)
            frame = frame.set_column(place, name, _as_declared(frame[name], declared))
    return frame


def compared_by_cell(frame: Any, columns: Mapping[str, Mapping[str, Any]],
                     public: Sequence[str]) -> frozenset[str]:
    """Return the protected columns that are compared cell by cell: all that hold no numbers.

    Dates and times in files with types are compared as such.
    """
    return frozenset(name for name in frame.column_names if name not in public
                     and declared_kind(columns.get(name, {})) != NUMERIC
                     and not pa.types.is_temporal(frame[name].type))


def _as_declared(column: Any, declared: Mapping[str, Any]) -> Any:
    if declared_kind(declared) == NUMERIC:
        return _numbers(column)
    values = [str(one) for one in declared["values"]]
    place = places_among(column, values)
    known = pa.array(values, pa.large_string()).take(pa.array(np.maximum(place, 0)))
    return pc.if_else(pa.array(place >= 0), known, plain_texts_of(column))


def _numbers(column: Any) -> Any:
    if pa.types.is_temporal(column.type):
        return pa.nulls(len(column), pa.float64())
    # Always float64: a missing value among whole numbers would change how large ones compare.
    return pa.array(numbers_of(column), from_pandas=True)
