"""The Spark session, workers that run this Python with this package, and errors in plain words."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unspoken import errors
from unspoken.errors import MissingExtraError, UnspokenError

_OURS = re.compile(r"unspoken\.errors\.(\w+): ([^\n]+)")
_SETTINGS = {"spark.ui.enabled": "false", "spark.log.level": "ERROR",
             "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "2g",
             "spark.driver.maxResultSize": "0"}
"""For sessions that are opened here; a session that runs already keeps its own."""


def is_frame(source: Any) -> bool:
    """Return True for a DataFrame of Spark, without importing Spark."""
    return type(source).__module__.startswith("pyspark.") and hasattr(source, "mapInArrow")


def session() -> Any:
    """Return the session that runs, or open one by Spark's own settings (local by default)."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("The Spark engine needs the package pyspark. Install it with: "
                                "pip install 'unspoken[spark]'.") from None
    running = SparkSession.getActiveSession()
    return running if running is not None else _opened(SparkSession.builder)


def _opened(builder: Any) -> Any:
    from pyspark.errors import PySparkRuntimeError

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    try:
        return builder.appName("unspoken").getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise MissingExtraError("The Spark engine needs Java 17 or newer. None was found, or it "
                                "did not start. Install it, such as Debian's "
                                "openjdk-17-jre-headless, or set JAVA_HOME.") from None


def prepare_workers(spark: Any) -> None:
    """Make workers run this interpreter where they run on this machine, and know this package."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        _send_package(spark, lambda path: spark.addArtifacts(path, pyfile=True))
        return
    context = spark.sparkContext
    if context.master.startswith("local"):
        # Spark would take the first python3 on the path, which may have none of the libraries.
        context.pythonExec = sys.executable
        context.environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    else:
        _send_package(context, context.addPyFile)


def _send_package(owner: Any, send: Any) -> None:
    if getattr(owner, "_unspoken_sent", False):
        return
    root = Path(errors.__file__).parent
    path = Path(tempfile.mkdtemp(prefix="unspoken-")) / "unspoken.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(root.rglob("*.py")):
            archive.write(file, Path(root.name) / file.relative_to(root))
    send(str(path))
    owner._unspoken_sent = True


def map_in_arrow(rows: Any, fn: Any, schema: Any) -> Any:
    """Describe the rows that workers make of the batches that they read."""
    with warnings.catch_warnings():
        # Spark warns of newer versions of pandas, which it asks for and does not use here.
        warnings.simplefilter("ignore", FutureWarning)
        return rows.mapInArrow(fn, schema)


@contextmanager
def plain_spark_errors() -> Iterator[None]:
    """Turn Spark's errors into sentences; its own quote rows and pages of Java, these do not."""
    try:
        yield
    except _error_classes() as error:
        raise _as_ours(error) from None


def _error_classes() -> tuple[type[Exception], ...]:
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:
        # A client of Spark Connect has no Java beside it.
        return PySparkException, EOFError, ConnectionError
    return PySparkException, Py4JError, EOFError, ConnectionError


def _as_ours(error: BaseException) -> UnspokenError:
    """Return the error that a worker raised on purpose, or a sentence about the failure."""
    text = str(error)
    ours = _OURS.search(text)
    kind = getattr(errors, ours[1], None) if ours else None
    if ours and isinstance(kind, type) and issubclass(kind, UnspokenError):
        return kind(ours[2].strip())
    return UnspokenError(f"The Spark job did not finish: {_reason(error, text)} Nothing was "
                         "released. Spark's own log says more.")


def _reason(error: BaseException, text: str) -> str:
    if "maxResultSize" in text:
        return ("what comes back to the driver is larger than spark.driver.maxResultSize. Set it "
                "higher, or to 0.")
    if "Python worker exited" in text or "Python worker failed" in text or "crashed" in text:
        return "a Python worker ended before its work was done, or could not start."
    if "ExecutorLost" in text or "executor" in text.lower():
        return "an executor was lost."
    condition = getattr(error, "getCondition", lambda: None)()
    return f"Spark calls the reason {condition}." if condition else \
        f"a task failed ({type(error).__name__})."
