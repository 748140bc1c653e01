"""What several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support import repeatable_entropy
from unspoken_experiments.data_sets import find as find_data
from unspoken_experiments.data_sets import how_to_get

# What is merged was tried on the same examples as before; new ones are looked for elsewhere.
settings.register_profile(
    "unspoken", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("unspoken")
repeatable_entropy.install()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give every test secrets of its own, which are the same in every run."""
    repeatable_entropy.begin(item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that share what a module sets up in one process: else each process sets it up."""
    for item in items:
        used = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        shares = any(one.scope == "module" for defined in used.values() for one in defined)
        if shares and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.fixture(scope="session")
def shared():
    """Return the path of a big data set, or skip the test by name."""

    def find(name: str) -> Path:
        path = find_data(name)
        if path is None:
            pytest.skip(f"{name} is not here. {how_to_get(name)}")
        return path

    return find


@pytest.fixture(scope="session")
def covtype(shared):
    """The ten numeric Covertype attributes, the seven classes, and Aspen against the rest."""
    import numpy as np
    import pyarrow.parquet as pq

    table = pq.read_table(shared("covtype.parquet"))
    names = table.column_names[:10]
    data = np.column_stack([table[name].to_numpy() for name in names])
    labels = table["Cover_Type"].to_numpy()
    return names, data, labels


@pytest.fixture(scope="session")
def spark():
    """Return one Spark session for all tests, in which a failed task is tried once more."""
    pytest.importorskip("pyspark")
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2",
                "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
                "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g",
                "spark.sql.files.maxPartitionBytes": "100k", "spark.sql.files.openCostInBytes": "0",
                "spark.sql.execution.arrow.maxRecordsPerBatch": "700"}
    builder = SparkSession.builder.master("local[2,2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except PySparkRuntimeError:
        pytest.skip("Spark did not start: it needs Java 17 or newer")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this test run alone, or skip the test by name."""
    from support.postgres_server import find_programs, running_server

    pytest.importorskip("adbc_driver_postgresql")
    if find_programs() is None:
        pytest.skip("no PostgreSQL server is installed (make postgres)")
    with running_server() as server:
        yield server
