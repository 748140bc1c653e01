"""The columns of a service as its policy declares them, whatever they were read as.

In a text file one word among numbers makes every cell a text. Where the policy declares bounds, or
values that are numbers, a column holds numbers, and what is none is missing. Where it declares
texts, it holds texts, and a cell that says a declared value is that value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.table.arrow_arrays import is_number
from unspoken.table.declared_types import numbers_of, places_among, texts_of

NUMERIC, CATEGORICAL = "numeric", "categorical"


def declared_kind(declared: Mapping[str, Any]) -> str | None:
    """Return what a policy says about the values of a column, None if nothing."""
    values = declared.get("values", ())
    if "bounds" in declared or (values and not any(isinstance(one, str) for one in values)):
        return NUMERIC
    return CATEGORICAL if values else None


def declared_frame(frame: Any, columns: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return an Arrow table with its columns as declared."""
    for name, declared in columns.items():
        if name in frame.column_names and declared_kind(declared) is not None:
            place = frame.column_names.index(name)
            frame = frame.set_column(place, name, _as_declared(frame[name], declared))
    return frame


def _as_declared(column: Any, declared: Mapping[str, Any]) -> Any:
    if declared_kind(declared) == NUMERIC:
        return _numbers(column)
    values = [str(one) for one in declared["values"]]
    place = places_among(column, values)
    known = pa.array(values, pa.large_string()).take(pa.array(np.maximum(place, 0)))
    return pc.if_else(pa.array(place >= 0), known, texts_of(column))


def _numbers(column: Any) -> Any:
    if pa.types.is_temporal(column.type):
        return pa.nulls(len(column), pa.float64())
    if is_number(column.type):
        return column
    return pa.array(numbers_of(column), from_pandas=True)
