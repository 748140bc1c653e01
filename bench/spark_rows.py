"""Protecting a table on Spark beside the bare Spark job that moves the same rows.

    python bench/spark_rows.py 20000000

Both run in one session of two local workers. The bare job counts the same columns by class, maps
batches through a `mapInArrow` that changes nothing, shuffles the rows and writes them. The release
is then compared with the one that the local engine makes with the same seed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import warnings
from contextlib import contextmanager
from typing import Any

from data import big_parquet
from harness import SCRATCH

TARGET = "Cover_Type"
TIMES: dict[str, float] = {}


@contextmanager
def timed(name: str):
    start = time.perf_counter()
    yield
    TIMES[name] = round(time.perf_counter() - start, 1)
    print(f"{name}: {TIMES[name]} s", flush=True)


def same(batches: Any) -> Any:
    yield from batches


def session() -> Any:
    from pyspark.sql import SparkSession

    # The bare job would look for another Python without it.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return (builder.config("spark.driver.memory", "4g").config("spark.log.level", "ERROR")
            .config("spark.ui.showConsoleProgress", "false").getOrCreate())


def bare(spark: Any, source: str) -> None:
    from pyspark.sql import functions as sf

    rows = spark.read.parquet(source)
    with timed("bare: count by class"):
        for name in rows.columns:
            if name != TARGET:
                rows.groupBy(sf.col(name).cast("double"), TARGET).count().toArrow()
    with timed("bare: map"):
        rows.mapInArrow(same, rows.schema).write.format("noop").mode("overwrite").save()
    with timed("bare: map, shuffle and write"):
        mixed = rows.mapInArrow(same, rows.schema).withColumn("place", sf.rand())
        mixed = mixed.repartitionByRange(20, "place").sortWithinPartitions("place").drop("place")
        mixed.write.mode("overwrite").parquet(str(SCRATCH / "bare"))


def ours(source: str) -> str:
    import unspoken
    from unspoken.protect import PiecewiseEncoder

    with timed("unspoken: read"):
        table = unspoken.read(source, target=TARGET, engine="spark", show=False)
    with timed("unspoken: protect"):
        release, _ = PiecewiseEncoder("max-mono", random_state=1).protect(table)
    shutil.rmtree(SCRATCH / "on-spark", ignore_errors=True)
    with timed("unspoken: write"):
        return str(release.save(SCRATCH / "on-spark").data_sha256)


def here(source: str) -> str:
    import unspoken
    from unspoken.protect import PiecewiseEncoder

    table = unspoken.read(source, target=TARGET, lazy=True, show=False)
    with timed("local engine"):
        release, _ = PiecewiseEncoder("max-mono", random_state=1).protect(table)
        shutil.rmtree(SCRATCH / "local", ignore_errors=True)
        return str(release.save(SCRATCH / "local").data_sha256)


def main(rows: int) -> None:
    warnings.simplefilter("ignore")
    source = big_parquet(rows)
    spark = session()
    spark.range(10).mapInArrow(same, "id bigint").count()
    bare(spark, source)
    digest = ours(source)
    total = sum(TIMES[name] for name in TIMES if name.startswith("unspoken"))
    floor = TIMES["bare: count by class"] + TIMES["bare: map, shuffle and write"]
    print(json.dumps({"rows": rows, **TIMES, "unspoken": total, "bare": floor,
                      "ratio": round(total / floor, 2), "same file": digest == here(source)}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
