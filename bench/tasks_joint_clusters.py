"""k-means and outliers by processes over TLS, against the bare comparisons that they need.

The floor and the peer are one: the same number of secure comparisons, as wide and in the same
batches, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import Row, task
from sizes import repeats, scaled

RECORDS, COLUMNS, SITES, K, ROUNDS = scaled(100_000, 600), 12, 3, 8, 10
OBJECTS = scaled(3_000, 120)
BARE = "the comparisons alone"
REPEATS = {"dealer": repeats(3), "two-party": 1}


def compared(batches: Sequence[tuple[int, int]], mode: str, parties: int) -> tuple[float, str]:
    """Return the seconds of comparisons alone, and those of processors in words."""
    import clusters_program
    from unspoken.joint import run_local

    runs = [run_local(clusters_program.comparisons, [list(batches)] * parties, mode, True)
            for _ in range(REPEATS[mode])]
    results = min(runs, key=lambda run: max(took for (took, _), _ in run))
    used = sum(busy for (_, busy), _ in results)
    return max(took for (took, _), _ in results), f"comparisons {used:.1f} s of processors"


def timed(program: Any, inputs: Sequence[Any], mode: str) -> tuple[list[Any], float, str]:
    """Return what came out, the seconds after the connections stood, and the bytes in words."""
    import clusters_program
    from unspoken.joint import run_local

    runs = [run_local(clusters_program.Timed(program), list(inputs), mode, True)
            for _ in range(REPEATS[mode])]
    results = min(runs, key=lambda run: max(took for (_, took, *_), _ in run))
    received = sum(row.bytes for _, ledger in results for row in ledger.rows
                   if row.direction == "received")
    found = [output for (output, *_), _ in results]
    seconds = max(took for (_, took, *_), _ in results)
    used, peak = sum(one[2] for one, _ in results), max(one[3] for one, _ in results)
    return found, seconds, (f"{received / 1e6:.0f} MB in all, a party {peak:.0f} MiB at most, "
                            f"{used:.1f} s of processors")


def levels(k: int) -> list[int]:
    """Return how many pairs each level of a tournament compares."""
    found = []
    while k > 1:
        found.append(k // 2)
        k -= k // 2
    return found


def _clusters(way: str) -> list[Row]:
    import clusters_program
    from unspoken.joint.tasks.kmeans.all_on_shares import FINER
    from unspoken.joint.tasks.kmeans.params import KMeansParams
    from unspoken.joint.tasks.kmeans.pooled import pooled
    from unspoken.joint.tasks.kmeans.program_columns import KMeansOverColumns, KMeansSite

    data = clusters_program.blobs(RECORDS, COLUMNS, K)
    parts, rules = np.split(data, SITES, axis=1), KMeansParams(K, ROUNDS)
    width = {f"p{i}": COLUMNS // SITES for i in range(SITES)}
    program = KMeansOverColumns(rules, width, ("p0", "p1"), way)
    found, seconds, note = timed(program, [KMeansSite(part) for part in parts], "dealer")
    differ = int((found[0].assigned != pooled(parts, rules)[1]).sum())
    assert differ <= (0 if way == "assignments" else RECORDS // 10_000), differ
    # As wide as the distances of this way; one assignment more than there are rounds.
    bound = rules.reach(COLUMNS) if way == "assignments" else (
        2 * COLUMNS * rules.units * (rules.units << FINER))
    batches = [(half * RECORDS, bound) for _ in range(ROUNDS + 1) for half in levels(K)]
    bare, more = compared(batches, "dealer", SITES)
    return [Row(f"k-means over columns, {way}", f"{RECORDS:,} x {COLUMNS}, k = {K}, {ROUNDS} "
                "rounds", seconds, BARE, bare, BARE, bare, 3, note=f"{note}, {more}; {differ} of "
                f"{RECORDS:,} assignments differ")]


@task
def kmeans_hidden() -> list[Row]:
    return _clusters("hidden")


@task
def kmeans_assignments() -> list[Row]:
    return _clusters("assignments")


def _outliers(mode: str, rows: bool, parties: int) -> list[Row]:
    import clusters_program
    from unspoken.joint.tasks.outliers.count_near import pairs_of
    from unspoken.joint.tasks.outliers.params import OutlierParams
    from unspoken.joint.tasks.outliers.pooled import pooled
    from unspoken.joint.tasks.outliers.program_columns import OutliersOverColumns
    from unspoken.joint.tasks.outliers.program_rows import OutliersOverRows

    data = np.clip(clusters_program.blobs(OBJECTS, 6, 4), -7.9, 7.9)
    rules, names = OutlierParams(0.99, 2.0), [f"p{i}" for i in range(parties)]
    program: Any = OutliersOverRows(rules, 6, names) if rows else OutliersOverColumns(
        rules, {name: 6 // parties for name in names})
    parts = np.array_split(data, parties, axis=0 if rows else 1)
    found, seconds, note = timed(program, parts, mode)
    flags = np.concatenate([part.flags for part in found]) if rows else found[0].flags
    assert np.array_equal(flags, pooled(data, rules).flags)
    each = OBJECTS // parties
    batches = [(each * each, rules.reach(6))] * (parties * (parties - 1) // 2) if rows else [
        (pairs.size, rules.reach(6)) for pairs in pairs_of(OBJECTS)]
    bare, more = compared(batches, mode, parties)
    kind = "rows" if rows else "columns"
    pairs = sum(count for count, _ in batches)
    return [Row(f"outliers over {kind}, {mode}", f"{OBJECTS:,} objects, {parties} owners, "
                f"{pairs:,} pairs", seconds, BARE, bare, BARE, bare, 2,
                note=f"{note}, {more}; {int(flags.sum())} outliers, the same")]


@task
def outliers_columns() -> list[Row]:
    return _outliers("dealer", False, 3)


@task
def outliers_rows() -> list[Row]:
    return _outliers("dealer", True, 3)


@task
def outliers_of_two() -> list[Row]:
    return _outliers("two-party", False, 2)
