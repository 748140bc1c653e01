"""Does a rotated table give the same clusters and neighbours? Run both and compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError
from unspoken.methods.rotation.category_embedding import embedding_of, spread_as_in
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.release.key import Key
from unspoken.release.record_key import KEPT, original_rows
from unspoken.release.release import Release
from unspoken.table.table import Table

ROWS = 1000
"""Records on which both sides are mined; all pairs of them are compared."""
_CLUSTERS = 3
_NEIGHBOURS = 5


@dataclass(frozen=True)
class Finding:
    """One comparison: what was compared, whether both sides agree, and in numbers."""

    what: str
    same: bool
    detail: str


@dataclass(frozen=True)
class Verification:
    """All comparisons; true in a condition exactly if every one of them agrees."""

    findings: tuple[Finding, ...]
    rows: int

    def __bool__(self) -> bool:
        return all(finding.same for finding in self.findings)

    def __getitem__(self, what: str) -> Finding:
        return {finding.what: finding for finding in self.findings}[what]

    def summary(self) -> str:
        """Return the comparisons as text."""
        head = f"Compared on {self.rows:,} records:"
        return "\n".join([head, *(f"  {'same' if f.same else 'DIFFERENT'}  {f.what}: {f.detail}"
                                  for f in self.findings)])


def verify_distances(table: Table, release: Release, key: Key | None,
                     tolerance: float) -> Verification:
    """Compare distances and four miners on the original and on the release."""
    plain, rotated = both_sides(table, release, key)
    step = max(1, plain.shape[0] // ROWS)
    plain, rotated = plain[::step][:ROWS], rotated[::step][:ROWS]
    if plain.shape[0] < 2:
        raise DataError("A comparison needs at least 2 records without missing values. "
                        f"Got {plain.shape[0]}.")
    findings = [_distances(plain, rotated, tolerance)]
    for what, mine in _MINERS.items():
        findings.append(_agreed(what, mine(plain), mine(rotated)))
    return Verification(tuple(findings), int(plain.shape[0]))


def both_sides(table: Table, release: Release, key: Key | None) -> tuple[Floats, Floats]:
    """Return original and released records row by row, blank ones left out."""
    rotated = release.table.numbers(release.guarantee.facts.get("columns"))
    if key is not None:
        plain = _in_released_order(table, release, key)
    elif release.mechanism.get("rows_shuffled"):
        raise InputError("The rows of this release were shuffled. Pass 'key', which holds "
                         "their order.")
    else:
        plain = table.numbers()
        _check_rows(plain.shape[0], rotated.shape[0])
    full = ~np.isnan(rotated).any(axis=1)
    return _compared(plain[full], release, key), rotated[full]


def _in_released_order(table: Table, release: Release, key: Key) -> Floats:
    motion = Motion.from_key(key)
    plain = spread_as_in(key, table).numbers(motion.features)
    if KEPT not in key.arrays:
        _check_rows(plain.shape[0], release.table.rows)
    key.fits(release)
    rows = original_rows(key, release.table.rows)
    if rows.max(initial=-1) >= plain.shape[0]:
        _check_rows(plain.shape[0], int(rows.max()) + 1)
    plain = plain[rows]
    return plain if motion.fill is None else np.where(np.isnan(plain), motion.fill, plain)


def _check_rows(rows: int, wanted: int) -> None:
    if rows != wanted:
        raise DataError(f"The table has {rows:,} rows and the release {wanted:,}. Pass the table "
                        "that was released.")


def _compared(plain: Floats, release: Release, key: Key | None) -> Floats:
    """Return records in the units in which distances are stated."""
    embedding = None if key is None else embedding_of(key)
    if embedding is None:
        return standardised(plain) if release.guarantee.facts.get("standardised") else plain
    numbers = plain[:, : len(embedding.numbers)]
    if release.guarantee.facts.get("standardised"):
        numbers = standardised(numbers)
    return embedding.measured(np.column_stack([numbers, plain[:, numbers.shape[1]:]]))


def standardised(records: Floats) -> Floats:
    """Return columns with mean 0 and variance 1; constant columns become 0."""
    spread = records.std(axis=0)
    return np.asarray((records - records.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def pair_distances(records: Floats) -> Floats:
    """Return all distances, from differences, which do not cancel."""
    out = np.empty((records.shape[0], records.shape[0]))
    for row in range(records.shape[0]):
        out[row] = np.sqrt(((records - records[row]) ** 2).sum(axis=1))
    return out


def _distances(plain: Floats, rotated: Floats, tolerance: float) -> Finding:
    worst = float(np.abs(pair_distances(plain) - pair_distances(rotated)).max())
    size = float(np.sqrt(np.maximum((plain**2).sum(1).max(), (rotated**2).sum(1).max())))
    allowed = tolerance * max(size, np.finfo(np.float64).tiny)
    return Finding("distances", worst <= allowed,
                   f"largest change {worst:.2g}, allowed {allowed:.2g}")


def _kmeans(records: Floats) -> Ints:
    from sklearn.cluster import KMeans

    start = records[: min(_CLUSTERS, records.shape[0])]
    model = KMeans(start.shape[0], init=start, n_init=1, max_iter=100)
    return np.asarray(model.fit(records).labels_)


def _knn(records: Floats) -> Ints:
    """Predict a label that is fixed by row number: both sides get the same one."""
    from unspoken.methods.rotation.even_miners import EvenNeighbours

    labels = np.arange(records.shape[0]) * 7919 % 5 % 2
    half = max(1, records.shape[0] // 2)
    model = EvenNeighbours(min(_NEIGHBOURS, half))
    return np.asarray(model.fit(records[:half], labels[:half]).predict(records[half:]))


def _hierarchical(records: Floats) -> Ints:
    from sklearn.cluster import AgglomerativeClustering

    clusters = AgglomerativeClustering(min(_CLUSTERS, records.shape[0]), linkage="average")
    return np.asarray(clusters.fit(records).labels_)


def _dbscan(records: Floats) -> Ints:
    """Cluster with the median distance to the fifth neighbour, nudged off exact distances."""
    from sklearn.cluster import DBSCAN

    near = np.sort(pair_distances(records), axis=1)[:, min(_NEIGHBOURS, records.shape[0] - 1)]
    eps = float(np.median(near)) * 1.001
    if eps <= 0:
        return np.zeros(records.shape[0], np.int64)
    return np.asarray(DBSCAN(eps=eps, min_samples=_NEIGHBOURS).fit(records).labels_)


_MINERS: dict[str, Callable[[Floats], Ints]] = {
    "k-means from the same start": _kmeans,
    "k-nearest-neighbour predictions": _knn,
    "hierarchical clusters": _hierarchical,
    "DBSCAN labels": _dbscan,
}


def _agreed(what: str, one: Ints, two: Ints) -> Finding:
    differ = np.flatnonzero(one != two)
    if differ.size == 0:
        return Finding(what, True, f"{one.size:,} of {one.size:,} equal")
    return Finding(what, False, f"{differ.size:,} of {one.size:,} differ, first at row "
                   f"{int(differ[0])}; ties and rounding can do that on data with equal distances")


__all__ = ["Finding", "Verification", "both_sides", "pair_distances", "standardised",
                      "verify_distances"]
