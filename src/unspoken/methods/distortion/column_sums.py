"""Facts about the columns of a table that are worked out where its rows are, in one pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.release.distorted import finite
from unspoken.table.table import Table

Ends = tuple[float, float]
_WIDEST = 1e150
_ENDS = pa.schema([("low", pa.list_(pa.float64())), ("high", pa.list_(pa.float64()))])
_COUNTS = pa.schema([("counts", pa.list_(pa.int64()))])


def beyond(values: Floats, ends: Ends) -> int:
    """Return how many values lie outside a range."""
    return int(np.count_nonzero((values < ends[0]) | (values > ends[1])))


def refuse_extremes(name: str, low: float, high: float) -> None:
    """Refuse a range whose square float64 cannot hold: the law of the noise would be lost."""
    width = max(high - low, abs(low), abs(high))
    if width > _WIDEST or 0 < high - low < 1 / _WIDEST:
        raise DataError(f"Column '{name}' must have a range between {1 / _WIDEST:g} and "
                        f"{_WIDEST:g}, because noise is measured against it. Got values from "
                        f"{low:g} to {high:g}. Rescale the column, or leave it out.")


def table_ends(table: Table, names: Sequence[str]) -> dict[str, Ends]:
    """Return the least and the greatest value of columns; (0, 0) for one without values."""
    parts = list(table.engine.gather(table.frame, list(names), _Ends(tuple(names)), _ENDS)) \
        if names else []
    rows = [row for batch in parts for row in batch.to_pylist()]
    limits = {name: (min((row["low"][i] for row in rows), default=math.inf),
                     max((row["high"][i] for row in rows), default=-math.inf))
              for i, name in enumerate(names)}
    return {name: ends if ends[0] <= ends[1] else (0.0, 0.0) for name, ends in limits.items()}


def table_beyond(table: Table, ranges: Mapping[str, Ends]) -> dict[str, int]:
    """Return how many values of each column lie outside its range."""
    parts = list(table.engine.gather(table.frame, list(ranges), _Beyond(dict(ranges)), _COUNTS)) \
        if ranges else []
    rows = [row["counts"] for batch in parts for row in batch.to_pylist()]
    return {name: sum(row[i] for row in rows) for i, name in enumerate(ranges)}


@dataclass(frozen=True)
class _Ends:
    names: tuple[str, ...]

    def __call__(self, batch: Any, start: int) -> Any:
        ends = [_known_ends(name, batch.column(name)) for name in self.names]
        return pa.RecordBatch.from_pylist(
            [{"low": [low for low, _ in ends], "high": [high for _, high in ends]}], _ENDS)


def _known_ends(name: str, column: Any) -> Ends:
    values, missing = finite(name, column)
    known = values[~missing] if missing.any() else values
    return (float(known.min()), float(known.max())) if known.size else (math.inf, -math.inf)


@dataclass(frozen=True)
class _Beyond:
    ranges: Mapping[str, Ends]

    def __call__(self, batch: Any, start: int) -> Any:
        counts = [beyond(finite(name, batch.column(name))[0], ends)
                  for name, ends in self.ranges.items()]
        return pa.RecordBatch.from_pylist([{"counts": counts}], _COUNTS)
