"""Where the time of a release goes, method by method, over a Parquet file with the local engine.

    python bench/method_costs.py 2000000 100000

The first number is the rows for methods that work where the rows are, the second those for methods
that hold all rows in memory. Writes one Markdown line a method: seconds in all and per million
rows, and the shares of fitting, of the digests for the key, of mapping and writing, and of hashing
and sealing what was written.
"""

from __future__ import annotations

import shutil
import sys
import time
import warnings
from typing import Any

from data import big_parquet
from harness import SCRATCH

TARGET = "Cover_Type"
FEW = ["Elevation", "Aspect", "Slope"]


def streaming() -> dict[str, Any]:
    from unspoken import protect

    return {
        "piecewise": protect.PiecewiseEncoder(),
        "piecewise, max-mono": protect.PiecewiseEncoder("max-mono"),
        "noise": protect.NoiseAdder(privacy=0.5, others="drop"),
        "discretize, quantile": protect.Discretizer(strategy="quantile", others="drop"),
        "randomized-response": protect.RandomizedResponse(columns=["Slope"], others="drop"),
        "rotation": protect.Rotation(),
        "random-projection": protect.RandomProjection(columns=8),
    }


def in_memory() -> dict[str, Any]:
    from unspoken import protect

    return {
        "multiplicative-noise": protect.MultiplicativeNoise(others="drop"),
        "mondrian": protect.MondrianAnonymizer(k=10, columns=FEW, others="drop"),
        "optimal-recoding": protect.OptimalRecoder(k=10, columns=FEW, others="drop"),
        "microaggregation": protect.Microaggregator(k=10, columns=FEW, others="drop"),
        "swap": protect.DataSwapper(columns=FEW, others="drop"),
        "post-randomization": protect.PostRandomizer(columns=["Slope"], others="drop"),
    }


def measured(name: str, method: Any, source: str, rows: int) -> None:
    import unspoken
    from unspoken.release.original_records import Original

    table = unspoken.read(source, target=TARGET, lazy=True, show=False)
    start = time.perf_counter()
    release, _ = method.protect(table)
    fitted = time.perf_counter()
    Original.of(table, [n for n in table.schema.names if n in release.schema.names] or
                list(table.schema.names), bytes(32))
    digested = time.perf_counter()
    release.table.engine.write(release.table.frame, str(SCRATCH / "rows.parquet"))
    written = time.perf_counter()
    shutil.rmtree(SCRATCH / "costs", ignore_errors=True)
    release.save(SCRATCH / "costs")
    saved = time.perf_counter()
    digest, write = digested - fitted, written - digested
    parts = [max(part, 0.0) for part in (fitted - start - digest, digest, write,
                                         saved - written - write)]
    total = (fitted - start) + (saved - written)
    shares = " | ".join(f"{100 * part / sum(parts):.0f} %" for part in parts)
    print(f"| {name} | {rows:,} | {total:.1f} | {total / rows * 1e6:.2f} | {shares} |", flush=True)


def main(many: int, few: int) -> None:
    warnings.simplefilter("ignore")
    print("| method | rows | s | s per million rows | fit | digests | map and write | seal |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    for rows, methods in ((many, streaming()), (few, in_memory())):
        for name, method in methods.items():
            measured(name, method, big_parquet(rows), rows)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
