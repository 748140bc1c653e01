"""Modes with tags against those without, every party a process of its own over TLS.

    python bench/authenticated.py [--three] [FIRST LETTERS OF A ROW ...]

Mode 'authenticated' against mode 'dealer'; with `--three`, 'three-party-verified' against
'three-party', with three owners in every row.

Prints one line per operation: seconds in both modes, their ratio, and processor seconds of the
holders. For an idle machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
MODES = ("dealer", "authenticated")
THREE = ("three-party", "three-party-verified")
MILLION = 1_000_000


def programs() -> dict[str, tuple[Any, list[Any]]]:
    """Return every operation with its program and inputs."""
    import tagged_program as tagged

    return {"sums of two, opened to both": (tagged.opened_sums, [MILLION] * 2),
            "secure sum of three": (tagged.secure_sums, [MILLION] * 3),
            "products": (tagged.products, [MILLION] * 2),
            "X'X of 1,000 x 50": (tagged.gram, [1000] * 2),
            "X'X of 10,000 x 50": (tagged.gram, [10_000] * 2),
            "less than, 131,072": (tagged.comparisons, [131_072] * 2),
            "less than, 1,048,576": (tagged.comparisons, [1 << 20] * 2),
            "tree over rows": tree(), "k-means over columns": clusters(),
            "regression over columns": regression()}


def tree() -> tuple[Any, list[Any]]:
    """Return a tree of depth 4 over 6,000 records of three owners, 12 attributes."""
    from tasks_joint_trees import spread_columns
    from tree_program import TimedRows
    from unspoken.joint.tasks.tree.params import TreeParams
    from unspoken.joint.tasks.tree.program_rows import Given

    layout, columns, _ = spread_columns(6000)
    codes, labels = layout.codes(columns), layout.labels(columns["class"])
    return (TimedRows(layout, TreeParams(4, 50, 1 << 13)),
            [Given(codes[:, i::3], labels[i::3]) for i in range(3)])


def clusters() -> tuple[Any, list[Any]]:
    """Return k-means of 4,000 records of three sites, everything on shares."""
    import clusters_program
    from unspoken.joint.tasks.kmeans.params import KMeansParams
    from unspoken.joint.tasks.kmeans.program_columns import KMeansOverColumns, KMeansSite

    parts = np.split(clusters_program.blobs(4000, 6, 4), 3, axis=1)
    program = KMeansOverColumns(KMeansParams(4, 5), {f"p{i}": 2 for i in range(3)}, ("p0", "p1"))
    return clusters_program.Timed(program), [KMeansSite(part) for part in parts]


def regression() -> tuple[Any, list[Any]]:
    """Return least squares of a response on nine columns of three owners, 5,000 records."""
    import clusters_program
    from unspoken.joint.tasks.regression.column_blocks import Given, OwnedColumns
    from unspoken.joint.tasks.regression.params import RegressionParams
    from unspoken.joint.tasks.regression.program_columns import RegressionOverColumns

    random = np.random.default_rng(3)
    columns = {f"p{i}": {f"x{i}{j}": random.normal(0, 1, 5000) for j in range(3)}
               for i in range(3)}
    columns["p2"]["y"] = sum(v for part in columns.values() for v in part.values())
    owned = OwnedColumns({name: tuple(n for n in part if n != "y")
                          for name, part in columns.items()}, "y", "p2")
    program = RegressionOverColumns(owned, RegressionParams(condition=64.0))
    return clusters_program.Timed(program), [Given(part) for part in columns.values()]


def measured(program: Any, inputs: list[Any], mode: str) -> tuple[float, float]:
    """Return wall seconds of the slowest party, and processor seconds of all but the dealer."""
    from unspoken.joint import run_local

    outputs = [output for output, _ in run_local(program, inputs, mode, True)]
    pairs = [out if len(out) == 2 else out[1:3] for out in outputs]
    return max(wall for wall, _ in pairs), sum(busy for _, busy in pairs)


def rows(wanted: list[str], modes: tuple[str, str]) -> Iterator[str]:
    """Yield one line for each operation."""
    for name, (program, inputs) in programs().items():
        if wanted and not any(name.startswith(each) for each in wanted):
            continue
        owners = inputs + inputs[-1:] * (3 - len(inputs)) if modes is THREE else inputs
        (plain, busy), (tagged, busier) = (measured(program, owners, mode) for mode in modes)
        yield (f"| {name} | {plain:.3f} | {tagged:.3f} | {tagged / plain:.1f} | {busy:.2f} | "
               f"{busier:.2f} |")


if __name__ == "__main__":
    chosen = THREE if "--three" in sys.argv else MODES
    print(f"| operation | {chosen[0]}, s | {chosen[1]}, s | ratio | processors | processors |")
    for line in rows([each for each in sys.argv[1:] if each != "--three"], chosen):
        print(line, flush=True)
