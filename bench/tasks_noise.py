"""Distorted data: reconstructing a distribution, growing trees, and adding noise to a file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np

from data import big_parquet
from harness import SCRATCH, Row, best, task
from sizes import in_words, scaled


@task
def reconstruct_one_column() -> list[Row]:
    """1e7 noisy values, 100 intervals, to the default stop."""
    from unspoken.methods.distortion.noise_laws import for_width
    from unspoken.mine import reconstruct

    rng = np.random.default_rng(0)
    values = rng.beta(2, 5, scaled(10_000_000, 200_000))
    rows = []
    for family in ("uniform", "gaussian", "laplace"):
        noise = for_width(family, 1.0)
        noisy = values + noise.quantile(rng.random(values.size))
        found = reconstruct(noisy, noise, bins=100, support=(0.0, 1.0))
        gap = np.abs(found.cdf(found.edges) - np.searchsorted(np.sort(values[:100_000]),
                                                              found.edges) / 100_000).max()
        assert gap < 0.02, gap
        floor = best(lambda w=noisy: np.histogram(w, 100), 3)
        ours = best(lambda w=noisy, n=noise: reconstruct(w, n, bins=100, support=(0.0, 1.0)), 3)
        rows.append(Row(f"reconstruct, {family} noise", f"{in_words(values.size)}, 100 intervals",
                        ours, "numpy.histogram", floor, "numpy.histogram", floor, 3, "peer"))
    return rows


@task
def trees_from_noisy_records() -> list[Row]:
    """100,000 people of as2000, nine columns, function 2, 100% privacy."""
    from sklearn.tree import DecisionTreeClassifier

    from unspoken.methods.distortion.noise_laws import for_width
    from unspoken.mine import ReconstructingTreeClassifier
    from unspoken_experiments.as2000.quest import COLUMNS, RANGES, group, matrix, people

    count = scaled(100_000, 5_000)
    train, rng = people(count, 1), np.random.default_rng(0)
    laws = [for_width("gaussian", RANGES[c][1] - RANGES[c][0]) for c in COLUMNS]
    noisy = matrix(train) + np.column_stack([law.quantile(rng.random(count)) for law in laws])
    labels, support = group(train, 2), [RANGES[c] for c in COLUMNS]
    test = people(5000, 2)
    peer = best(lambda: DecisionTreeClassifier(random_state=0).fit(noisy, labels), 2)
    rows = []
    for strategy, goal in (("refined", 5), ("local", 50)):
        learner = ReconstructingTreeClassifier(laws, strategy, support=support)
        right = (learner.fit(noisy, labels).predict(matrix(test)) == group(test, 2)).mean()
        assert right > 0.75, right
        ours = best(lambda m=learner: m.fit(noisy, labels), 2)
        rows.append(Row(f"tree, {strategy}", f"{count:,} x 9", ours, "scikit-learn tree", peer,
                        "scikit-learn tree", peer, goal, "peer",
                        f"{100 * right:.1f}% of new people right"))
    return rows


MEASURE = """
import json, resource, sys, time
import unspoken
from unspoken.protect import NoiseAdder
start = time.perf_counter()
table = unspoken.read(sys.argv[1], target="Cover_Type", lazy=True, show=False)
release, _ = NoiseAdder("laplace", shuffle_rows=False).protect(table)
release.save(sys.argv[2], overwrite=True)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([time.perf_counter() - start, peak]))
"""


@task
def noise_parquet_to_parquet() -> list[Row]:
    """1e7 x 10 through the engine, in bounded memory."""
    import time

    import duckdb
    import pyarrow.parquet as pq

    count = scaled(10_000_000, 200_000)
    source, out = big_parquet(count), SCRATCH / "noisy"
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([sys.executable, "-c", MEASURE, str(source), str(out)],
                          capture_output=True, text=True, check=True)
    ours, peak = json.loads(done.stdout)
    file = pq.ParquetFile(out / "data.parquet")
    assert file.metadata.num_rows == count
    law = json.loads((out / "manifest.json").read_text())["mechanism"]["columns"]
    name = next(iter(law))
    first = next(iter(file.iter_batches(100_000)))[name].to_numpy()
    original = next(iter(pq.ParquetFile(source).iter_batches(100_000)))[name].to_numpy()
    spread = np.abs(first - original).mean()
    assert abs(spread / law[name]["scale"] - 1) < 0.02, spread
    start = time.perf_counter()
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM read_parquet('{source}')) TO "
                           f"'{SCRATCH / 'copy.parquet'}' (FORMAT parquet)")
    peer = time.perf_counter() - start
    return [Row("Parquet to Parquet, Laplace noise", f"{in_words(count)} x 10", ours,
                "DuckDB COPY", peer, "DuckDB COPY", peer,
                note="row order kept, memory must stay below 2,048 MiB",
                peak_mib=peak)]
