"""Fitting and encoding, in memory and from Parquet to Parquet."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

import numpy as np

from data import big_parquet, covertype
from harness import SCRATCH, Row, best, task
from sizes import in_words, repeats, scaled

PAPER_SECONDS = 1.0
"""bu2007 section 6.2.1: 1 to 2 seconds per attribute; the kinder end is used."""


@task
def import_time() -> list[Row]:
    def run(code: str) -> float:
        return best(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)

    bare = run("pass")
    return [Row("import unspoken", "1 process", run("import unspoken"), "import pandas",
                run("import pandas"), "python -c pass", bare, note="must stay below 0.3 s")]


def _forms(data: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The same columns as small whole numbers, as whole floats, and as fractions."""
    floats = data.astype(np.float64, order="F")
    return [("int16", data), ("float64", floats), ("float64 fractions", floats / 7)]


@task
def fit_in_memory() -> list[Row]:
    from sklearn.preprocessing import OrdinalEncoder

    from unspoken.protect import PiecewiseEncoder

    _, data, labels = covertype()
    aspen = labels == 5
    rows = []
    for title, typed in _forms(data):
        encoder = PiecewiseEncoder().fit(typed)
        back = encoder.inverse_transform(encoder.transform(typed[:1000]))
        assert np.array_equal(back, typed[:1000])
        floor = best(lambda t=typed: [np.unique(t[:, i]) for i in range(10)])
        peer = best(lambda t=typed: OrdinalEncoder().fit(t), 2)
        size = f"{len(labels):,} x 10 {title}"
        ours = best(lambda t=typed: PiecewiseEncoder().fit(t))
        rows.append(Row("fit, strict", size, ours, "OrdinalEncoder.fit", peer, "np.unique", floor,
                        6, "floor"))
        ours = best(lambda t=typed: PiecewiseEncoder("max-mono").fit(t, aspen))
        rows.append(Row("fit, max-mono (Aspen)", size, ours, "OrdinalEncoder.fit", peer,
                        "np.unique", floor, 6, "floor"))
    ours = rows[0].ours / 10
    rows.append(Row("fit, strict, per attribute", f"{len(labels):,}", ours, "bu2007, 3 GHz Pentium",
                    PAPER_SECONDS, "np.unique", rows[0].floor_seconds / 10, 0.01, "peer"))
    return rows


@task
def encode_in_memory() -> list[Row]:
    from sklearn.preprocessing import OrdinalEncoder

    from unspoken.protect import PiecewiseEncoder

    _, data, _ = covertype()
    rows = []
    for title, typed in _forms(data):
        encoder = PiecewiseEncoder().fit(typed)
        ordinal = OrdinalEncoder().fit(typed)
        table = np.arange(1 << 16, dtype=np.float32)

        def bare(t: np.ndarray = typed, table: np.ndarray = table) -> np.ndarray:
            out = np.empty(t.shape, np.float32, order="F")
            for i in range(10):
                out[:, i] = table.take(t[:, i].astype(np.intp))
            return out

        ours = best(lambda t=typed, e=encoder: e.transform(t), 9)
        peer = best(lambda t=typed, o=ordinal: o.transform(t), 2)
        rows.append(Row("encode, strict", f"{len(data):,} x 10 {title}", ours,
                        "OrdinalEncoder.transform", peer, "bare take", best(bare, 9), 3, "floor"))
    return rows


MEASURE = """
import sys, time, resource, shutil, json
import unspoken
from unspoken.protect import PiecewiseEncoder
source, out, shuffle = sys.argv[1], sys.argv[2], sys.argv[3] == "yes"
start = time.perf_counter()
table = unspoken.read(source, target="Cover_Type", lazy=True, show=False)
release, key = PiecewiseEncoder(shuffle_rows=shuffle).protect(table)
fitted = time.perf_counter()
release.save(out, overwrite=True)
done = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([fitted - start, done - fitted, peak]))
"""


def _stream(source: str, shuffle: bool) -> tuple[float, float, float]:
    import json

    out = SCRATCH / "release"
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([sys.executable, "-c", MEASURE, source, str(out),
                           "yes" if shuffle else "no"], capture_output=True, text=True, check=True)
    fit, save, peak = json.loads(done.stdout)
    return fit, save, peak


@task
def parquet_to_parquet() -> list[Row]:
    import duckdb

    count = scaled(20_000_000, 200_000)
    source = big_parquet(count)
    copy = f"COPY (SELECT * FROM read_parquet('{source}')) TO '{SCRATCH / 'copy.parquet'}'"

    def duck() -> float:
        start = time.perf_counter()
        with duckdb.connect() as connection:
            connection.execute(f"{copy} (FORMAT parquet)")
        return time.perf_counter() - start

    rows = []
    for shuffle in (False, True):
        peers, ours, peaks = [], [], []
        for _ in range(repeats(3)):
            peers.append(duck())
            fit, save, peak = _stream(source, shuffle)
            ours.append(fit + save)
            peaks.append(peak)
        what = "rows shuffled" if shuffle else "row order kept"
        rows.append(Row(f"Parquet to Parquet, fit and encode, {what}", f"{in_words(count)} x 10",
                        min(ours), "DuckDB COPY", min(peers), "DuckDB COPY", min(peers),
                        3 if shuffle else 2, "peer", "memory must stay below 1,024 MiB",
                        max(peaks)))
    _check_stream(source)
    return rows


def _check_stream(source: str) -> None:
    """The released file holds the codes of the source, row for row."""
    import pyarrow.parquet as pq

    import unspoken
    from unspoken.protect import PiecewiseEncoder

    table = unspoken.read(source, target="Cover_Type", lazy=True, show=False)
    encoder = PiecewiseEncoder(shuffle_rows=False)
    release, _ = encoder.protect(table)
    release.save(SCRATCH / "release", overwrite=True)
    first = next(iter(pq.ParquetFile(SCRATCH / "release" / "data.parquet").iter_batches(100_000)))
    original = next(iter(pq.ParquetFile(source).iter_batches(100_000)))
    for code in encoder.book_.columns:
        assert np.array_equal(code.encode(original[code.name].to_numpy())[0],
                              first[code.name].to_numpy())


