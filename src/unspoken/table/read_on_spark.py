"""Which sources Spark reads, and opening them; Spark itself is imported by its engine alone."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from unspoken.errors import InputError, explain
from unspoken.table.atomic_files import named_path
from unspoken.table.formats.opened_file import OpenedFile
from unspoken.table.formats.read_options import ReadOptions

if TYPE_CHECKING:
    from unspoken.table.engines.protocol import Engine

ENGINES = ("local", "spark")


def wants_spark(source: Any, engine: str | None) -> bool:
    """Return True for a DataFrame of Spark, and for a file that is to be read there."""
    from unspoken.table.engines.spark.spark_session import is_frame

    if engine is not None and engine not in ENGINES:
        raise InputError(explain("'engine'", "'local' or 'spark'", engine))
    if is_frame(source):
        if engine == "local":
            raise InputError("A DataFrame of Spark is read on Spark. Got engine='local'. Leave it "
                             "out, or pass source.toArrow().")
        return True
    return engine == "spark"


def open_on_spark(source: Any, order: Any, options: ReadOptions) -> tuple[OpenedFile, Engine]:
    """Open a Parquet file, a folder of them, or a DataFrame with a column that orders its rows."""
    from unspoken.table.engines.spark.spark_engine import SparkEngine
    from unspoken.table.engines.spark.spark_session import is_frame, session
    from unspoken.table.engines.spark.spark_sources import ordered_frame, parquet_frame

    if options != ReadOptions():
        raise InputError("delimiter=, encoding=, decimal=, missing= and table= are about files "
                         "that Spark does not read here. Leave them out.")
    if is_frame(source):
        return OpenedFile(ordered_frame(source, order), 0), SparkEngine(source.sparkSession)
    if not isinstance(source, str | PathLike):
        raise InputError("Only files and DataFrames of Spark are read on Spark. Got "
                         f"{type(source).__name__}. Leave engine= out.")
    if order is not None:
        raise InputError("order= is about DataFrames of Spark: rows of files stand in the order of "
                         "their files. Leave it out.")
    spark = session()
    return OpenedFile(parquet_frame(spark, named_path(source)), 0), SparkEngine(spark)
