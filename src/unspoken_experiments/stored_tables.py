"""From the file inside a package to the file that is stored: same values, same order."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from typing import Any

ADULT = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status",
         "occupation", "relationship", "race", "sex", "capital-gain", "capital-loss",
         "hours-per-week", "native-country", "income")
BOSTON = ("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX", "PTRATIO", "B",
          "LSTAT", "MEDV")
NUMBERS = 10


def covertype(content: bytes) -> bytes:
    """Store Covertype: ten attributes as int16, the rest as int8."""
    import pyarrow as pa

    names = content[:content.index(b"\n")].decode().strip().split(",")
    types = {name: pa.int16() if i < NUMBERS else pa.int8() for i, name in enumerate(names)}
    return parquet(_csv(content, types=types))


def adult(content: bytes) -> bytes:
    """Store Adult; missing values stay the text '?', the blank after each comma goes."""
    lines = [line for line in content.replace(b", ", b",").splitlines()
             if line and not line.startswith(b"|")]
    return parquet(_csv(b"\n".join(lines), ADULT))


def boston(content: bytes) -> bytes:
    """Store Boston housing; three of its columns are whole numbers."""
    import pyarrow as pa

    table = _csv(content, BOSTON)
    for name in ("CHAS", "RAD", "TAX"):
        table = table.set_column(BOSTON.index(name), name, table[name].cast(pa.int64()))
    return parquet(table)


def support(content: bytes) -> bytes:
    """Store SUPPORT2; empty fields are missing, and columns that have any hold float64."""
    import pyarrow as pa

    table = _csv(content, null=True)
    for place, field in enumerate(table.schema):
        if field.type == pa.int64() and table.column(place).null_count:
            table = table.set_column(place, field.name, table.column(place).cast(pa.float64()))
    return parquet(table)


def breast_cancer() -> bytes:
    """Store the breast cancer data that scikit-learn ships."""
    import pyarrow as pa
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    columns = {str(name): data.data[:, i] for i, name in enumerate(data.feature_names)}
    return parquet(pa.table({**columns, "target": data.target}))


def packed(content: bytes) -> bytes:
    """Store text as gzip, the same bytes every time."""
    return gzip.compress(content, mtime=0)


def parquet(table: Any) -> bytes:
    """Return a table as a Parquet file; text columns may be large."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    wide = pa.schema([(f.name, pa.large_string() if f.type == pa.string() else f.type)
                      for f in table.schema])
    file = io.BytesIO()
    pq.write_table(table.cast(wide), file, compression="zstd")
    return file.getvalue()


def _csv(content: bytes, names: Sequence[str] = (), types: dict[str, Any] | None = None,
         null: bool = False) -> Any:
    from pyarrow import csv

    return csv.read_csv(
        io.BytesIO(content), csv.ReadOptions(column_names=list(names) or None),
        convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=null,
                                           null_values=[""]))
