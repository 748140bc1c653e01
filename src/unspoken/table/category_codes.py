"""Columns of any type as whole-number codes, for counting what agrees with what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Ints


@dataclass(frozen=True)
class Coded:
    """Each row's place among the sorted distinct values; missing has the place after the last."""

    codes: Ints
    labels: Any
    """The distinct values in increasing order, an Arrow array."""

    @property
    def missing(self) -> int:
        """Return the code of missing values, whether there are any or not."""
        return len(self.labels)

    def values(self) -> list[Any]:
        """Return the distinct values as Python objects."""
        return list(self.labels.to_pylist())


def coded(column: Any) -> Coded:
    """Number the values of an Arrow column in their order; null and NaN are missing."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    encoded = array.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(order.size + 1, np.int64)
    rank[order] = np.arange(order.size)
    rank[-1] = order.size
    places = encoded.indices.fill_null(order.size).to_numpy(zero_copy_only=False)
    return Coded(rank[places], encoded.dictionary.take(pa.array(order)))


def coded_array(values: npt.ArrayLike) -> Coded:
    """Number the values of a numpy array, or of a list."""
    array = np.asarray(values)
    return coded(pa.array(array.tolist() if array.dtype == object else array))
