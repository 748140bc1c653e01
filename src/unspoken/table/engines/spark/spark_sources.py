"""Tables that Spark reads, with every row numbered in a stated order.

Parquet files: by the path of the file, then by the row's place in it. Any other DataFrame: by a
column without gaps or repetitions, which the caller names. Neither depends on how Spark parts the
rows, so the same row draws the same randomness in every run, on every cluster and on one machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from unspoken.errors import DataError, InputError, SchemaError, explain
from unspoken.table.engines.spark.spark_session import plain_spark_errors
from unspoken.table.engines.spark.worker_rows import ROW
from unspoken.table.formats.header_names import check_names, unknown_name

_SCHEME = "^file:/+"
_FILE, _FIRST = "__unspoken_file", "__unspoken_first"
_STRETCH = 1 << 20
_MOST_STRETCHES = 200


@dataclass(frozen=True)
class SparkFrame:
    """Rows that Spark reads: `plain` as they are, for counting, `numbered` with their number."""

    plain: Any = field(compare=False)
    numbered: Any = field(compare=False)
    schema: Any = field(compare=False)
    rows: int


def parquet_frame(spark: Any, path: Path) -> SparkFrame:
    """Return the rows of a Parquet file, or of all Parquet files in a folder, by path and place."""
    from pyspark.sql import functions as sf

    files = _parquet_files(path)
    counts = _row_counts(files)
    first = {str(file.absolute()): start for file, start in
             zip(files, accumulate([0, *counts[:-1]]), strict=True)}
    with plain_spark_errors():
        plain = spark.read.parquet(*[str(file.absolute()) for file in files])
        place = sf.col("_metadata.row_index").cast("long")
        if len(files) == 1:
            return _frame(plain, plain.select("*", place.alias(ROW)), sum(counts))
        # Spark writes the address of a file with one slash or three, and special signs escaped.
        names = [re.sub(_SCHEME, "/", name) for name in plain.inputFiles()]
        starts = spark.createDataFrame(pa.table({
            _FILE: names, _FIRST: pa.array([first[unquote(name)] for name in names], pa.int64())}))
        file = sf.regexp_replace("_metadata.file_path", _SCHEME, "/")
        here = plain.select("*", file.alias(_FILE), place.alias(ROW))
        numbered = here.join(sf.broadcast(starts), _FILE).select(
            *[sf.col(quoted(name)) for name in plain.columns],
            (sf.col(_FIRST) + sf.col(ROW)).alias(ROW))
        return _frame(plain, numbered, sum(counts))


def _parquet_files(path: Path) -> list[Path]:
    if not path.exists():
        raise DataError(f"There is no file '{path}'. Check the path.")
    files = [path] if path.is_file() else sorted(
        (file for file in path.rglob("*.parquet") if _visible(file.relative_to(path))), key=str)
    if any("=" in part for file in files for part in file.parts[len(path.parts):-1]):
        raise DataError(f"'{path}' is parted by the values of columns, which its folders name. "
                        "Read it with Spark yourself and pass the DataFrame with order=.")
    if not files or any(file.suffix.lower() not in (".parquet", ".pq") for file in files):
        raise DataError(explain("A file for the Spark engine", "Parquet, or a folder of it",
                                str(path), "Read it with the local engine, or write it as Parquet "
                                "first; or pass a DataFrame of Spark with order=."))
    return files


def _visible(file: Path) -> bool:
    """Return True unless a name begins as those of logs and unfinished files do."""
    return not any(part.startswith(("_", ".")) for part in file.parts)


def _row_counts(files: Sequence[Path]) -> list[int]:
    """Return the rows of every file; files that are not of one table are refused.

    Spark would fill a column that is missing in a file with nulls, and read another type as if it
    were the first file's or stop half way.
    """
    import pyarrow.parquet as pq

    counts: list[int] = []
    whole = None
    for file in files:
        try:
            footer = pq.read_metadata(file)
        except (pa.ArrowInvalid, OSError):
            raise DataError(f"'{file}' must be a Parquet file. It cannot be read.") from None
        schema = footer.schema.to_arrow_schema().remove_metadata()
        whole = schema if whole is None else whole
        _refuse_other(schema, whole, file, files[0])
        counts.append(int(footer.num_rows))
    return counts


def _refuse_other(schema: Any, whole: Any, file: Path, first: Path) -> None:
    for name in [n for n in whole.names if n not in schema.names]:
        raise DataError(f"All files must have the same columns. Column '{name}' of '{first}' is "
                        f"not in '{file}'. Add it there, or read that file by itself.")
    for name in [n for n in schema.names if n not in whole.names]:
        raise DataError(f"All files must have the same columns. Column '{name}' of '{file}' is "
                        f"not in '{first}'. Leave it out there, or read that file by itself.")
    for entry in schema:
        if entry.type != whole.field(entry.name).type:
            raise DataError(f"A column must have one type in all files. '{entry.name}' is "
                            f"{whole.field(entry.name).type} in '{first}' and {entry.type} in "
                            f"'{file}'. Write one of them again.")


def ordered_frame(source: Any, order: Any) -> SparkFrame:
    """Return the rows of a DataFrame in the order of a column that differs in every row."""
    if not isinstance(order, str):
        raise InputError("A DataFrame of Spark has no order of rows. Name a column that differs in "
                         "every row, such as a key: unspoken.read(frame, order='id').")
    if order not in source.columns:
        raise SchemaError(unknown_name(order, source.columns))
    with plain_spark_errors():
        rows = _refuse_repeated(source, order)
        return _frame(source, _ranked(source, order, rows), rows)


def _refuse_repeated(source: Any, order: str) -> int:
    from pyspark.sql import functions as sf

    key = sf.col(quoted(order))
    counted = source.agg(sf.count(sf.lit(1)).alias("rows"), sf.count(key).alias("known"),
                         sf.countDistinct(key).alias("distinct")).first()
    if counted["known"] < counted["rows"] or counted["distinct"] < counted["rows"]:
        raise DataError(f"The column '{order}' must have another value in every row to give them "
                        f"an order. It has {counted['distinct']:,} values for "
                        f"{counted['rows']:,} rows. Name another column.")
    return int(counted["rows"])


def _ranked(source: Any, order: str, rows: int) -> Any:
    """Return the rows with their rank: by stretches of the key, so that no task sorts them all."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    key = sf.col(quoted(order))
    stretch = sf.lit(0)
    for end in _ends(source, order, rows):
        stretch = stretch + (key >= sf.lit(end)).cast("int")
    counts = {row["stretch"]: row["rows"] for row in source.groupBy(stretch.alias("stretch")).agg(
        sf.count(sf.lit(1)).alias("rows")).collect()}
    sizes = [counts.get(index, 0) for index in range(max(counts, default=0) + 1)]
    first = sf.array(*[sf.lit(start) for start in accumulate([0, *sizes[:-1]])])
    place = sf.row_number().over(Window.partitionBy(stretch).orderBy(key)) - 1
    return source.select("*", (sf.element_at(first, stretch + 1) + place).cast("long").alias(ROW))


def _ends(source: Any, order: str, rows: int) -> list[Any]:
    """Return values of the key that part it into stretches of about equally many rows."""
    parts = min(_MOST_STRETCHES, rows // _STRETCH + 1)
    if parts == 1:
        return []
    share = min(1.0, 100.0 * parts / rows)
    sample = sorted(row[0] for row in source.select(quoted(order)).sample(share, 0).collect())
    return [sample[len(sample) * part // parts] for part in range(1, parts)] if sample else []


def _frame(plain: Any, numbered: Any, rows: int) -> SparkFrame:
    check_names(plain.columns)
    schema = plain.limit(0).toArrow().schema.remove_metadata()
    for entry in schema:
        if pa.types.is_nested(entry.type):
            raise DataError(f"Column '{entry.name}' must hold one value a row. Got {entry.type}. "
                            "Unnest it.")
    return SparkFrame(plain, numbered, schema, rows)


def quoted(name: str) -> str:
    """Quote a column name for Spark."""
    return "`" + name.replace("`", "``") + "`"
