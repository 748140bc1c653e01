"""Data for benchmarks: real where it is there, and big tables made of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness import SCRATCH, shared
from sizes import spread

NAMES = 10


def covertype() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the ten attributes as int16 columns and the seven classes."""
    path = shared("covtype.parquet")
    if path is None:
        raise SystemExit("covtype.parquet is not here, so there is nothing to "
                         "measure. Type: unspoken reproduce --fetch")
    table = pq.read_table(path)
    table = table.take(pa.array(spread(table.num_rows, 5_000)))
    names = table.column_names[:NAMES]
    data = np.empty((table.num_rows, NAMES), np.int16, order="F")
    for index, name in enumerate(names):
        data[:, index] = table[name].to_numpy()
    return names, data, table["Cover_Type"].to_numpy()


def adult(least: int) -> pa.Table:
    """Return Adult, of which at least that many rows."""
    path = shared("adult_data.parquet")
    if path is None:
        raise SystemExit("adult_data.parquet is not here, so there is nothing to "
                         "measure. Type: unspoken reproduce --fetch")
    table = pq.read_table(path)
    return table.take(pa.array(spread(table.num_rows, least)))


def big_parquet(rows: int) -> str:
    """Return a Parquet file of that many rows drawn from Covertype, made once."""
    path = SCRATCH / f"covertype-{rows}.parquet"
    if path.exists():
        return str(path)
    SCRATCH.mkdir(exist_ok=True)
    names, data, labels = covertype()
    table = pa.table({**{n: data[:, i] for i, n in enumerate(names)}, "Cover_Type": labels})
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, table.schema) as writer:
        for start in range(0, rows, 1_000_000):
            size = min(1_000_000, rows - start)
            writer.write_table(table.take(pa.array(rng.integers(0, len(labels), size))))
    return str(path)
