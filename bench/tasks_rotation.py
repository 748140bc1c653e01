"""Rotate records, and rotate them back without the key."""

from __future__ import annotations

import numpy as np

from harness import Row, best, shared, task
from sizes import scaled

PAPER = {2: 143.109, 12: 124_420.0}
"""liu2006 section 4.4: seconds of the attack, 5,250 records, 250 of them the sample."""
ADULT = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


@task
def rotate() -> list[Row]:
    from sklearn.decomposition import PCA

    from unspoken.protect import Rotation

    rng = np.random.default_rng(0)
    data = rng.standard_normal((scaled(1_000_000, 10_000), 50))
    method = Rotation(random_state=0).fit(data)
    matrix = np.ascontiguousarray(method.motion_.matrix.T)
    turned = method.transform(data)
    assert np.allclose(turned[:100], data[:100] @ matrix, rtol=0, atol=1e-12)
    assert np.allclose(method.inverse_transform(turned[:100]), data[:100], rtol=0, atol=1e-12)
    del turned
    floor = best(lambda: data @ matrix, 5)
    pca = PCA(svd_solver="covariance_eigh").fit(data[:10_000])
    peer = best(lambda: pca.transform(data), 3)
    ours = best(lambda: method.transform(data), 5)
    return [Row("rotate", f"{len(data):,} x 50", ours, "PCA.transform", peer, "bare product", floor,
                2, "floor")]


def _attacked(columns: int, rng: np.random.Generator) -> tuple[object, object, np.ndarray]:
    """Return a view of turned Gaussian records, a sample of 250, and the truth."""
    from unspoken.attack import RotatedView, RowKnowledge
    from unspoken.numerics.orthogonal import haar

    root = rng.standard_normal((columns, columns)) / np.sqrt(columns)
    root = root * np.arange(1, columns + 1)
    mean = rng.standard_normal(columns) * 10
    count = scaled(5000, 500)
    data = rng.standard_normal((count + 250, columns)) @ root.T + mean
    seen = RotatedView({"name": "rotation"}, data[250:] @ haar(columns, rng).T, np.arange(count))
    return seen, RowKnowledge(columns, sample=data[:250]), data[250:]


@task
def turn_back_with_a_sample() -> list[Row]:
    from unspoken.attack import KnownSample

    rows = []
    for columns, search, goal in ((2, "all", 1 / 5000), (12, "all", 1 / 5000),
                                  (12, "moments", 1e-6), (20, "moments", None)):
        seen, told, truth = _attacked(columns, np.random.default_rng(columns))
        found = KnownSample(search=search).attack(seen, told)
        error = float(found.relative_errors(truth).mean())
        blind = float((np.linalg.norm(truth - found.baseline, axis=1)
                       / np.linalg.norm(truth, axis=1)).mean())
        many = 5 if search == "moments" else 1
        ours = best(lambda s=seen, t=told, h=search: KnownSample(search=h).attack(s, t), many)
        floor = best(lambda s=seen: np.linalg.eigh(s.records.T @ s.records), 5)
        paper = PAPER.get(columns, PAPER[12] * 2.0 ** (columns - 12))
        rows.append(Row(f"known sample, {search} signs", f"{len(truth) + 250:,} x {columns}", ours,
                        "liu2006, 3 GHz Xeon" if columns in PAPER else "the same, by 2^n", paper,
                        "eigenvectors", floor, goal, "peer",
                        f"relative error {error:.3f}, sample mean {blind:.3f}"))
    return rows


@task
def axes_from_differences() -> list[Row]:
    import pyarrow.parquet as pq

    from unspoken.attack import DifferenceDirections, RotatedView, RowKnowledge
    from unspoken.methods.rotation.adversaries.axis_directions import frequent_directions
    from unspoken.numerics.orthogonal import haar

    path = shared("adult_data.parquet")
    if path is None:
        return []
    table = pq.read_table(path)
    data = np.column_stack([table[name].to_numpy().astype(np.float64) for name in ADULT])
    matrix = haar(6, np.random.default_rng(0))
    seen = RotatedView({"name": "rotation"}, data @ matrix.T, np.arange(data.shape[0]))
    found = frequent_directions(seen.records, np.random.default_rng(0))
    assert np.allclose(np.sort(np.abs(matrix.T @ found.axes).max(axis=0)), 1.0, atol=1e-6)
    ours = best(lambda: DifferenceDirections().attack(seen, RowKnowledge(6)))
    floor = best(lambda: data @ matrix.T)
    return [Row("axes from differences", "Adult, 32,561 x 6", ours, "a second", 1.0,
                "bare product", floor, 1, "peer", "every axis found, nothing known")]
