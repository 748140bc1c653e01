"""How often each value of a column occurs, counted where the rows are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unspoken.table.table import Table


def value_counts(table: Table, name: str) -> Counter[Any]:
    """Return how often each value of a column of plain values occurs, missing ones as None."""
    kind = table.engine.schema(table.frame).field(name).type
    schema = pa.schema([("value", kind), ("count", pa.int64())])
    counts: Counter[Any] = Counter()
    for part in table.engine.gather(table.frame, [name], _Counting(schema), schema):
        for value, count in zip(part.column(0).to_pylist(), part.column(1).to_pylist(),
                                strict=True):
            counts[value] += count
    return counts


@dataclass(frozen=True)
class _Counting:
    schema: Any

    def __call__(self, batch: Any, start: int) -> Any:
        counted = pc.value_counts(batch.column(0))
        return pa.RecordBatch.from_arrays([counted.field("values"), counted.field("counts")],
                                          schema=self.schema)
