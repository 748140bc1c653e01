"""Random tables that try hard: ties, many classes, whole numbers, fractions, all scales."""

from __future__ import annotations

import numpy as np

KINDS = ("few", "whole", "fraction", "huge", "tiny", "signed", "offset", "constant", "sentinel")


def column(kind: str, rows: int, rng: np.random.Generator) -> np.ndarray:
    makers = {
        "few": lambda: rng.integers(0, 3, rows).astype(float),
        "whole": lambda: rng.integers(-40, 200, rows).astype(float),
        "fraction": lambda: rng.normal(size=rows).round(2),
        "huge": lambda: rng.normal(size=rows) * 1e30,
        "tiny": lambda: rng.integers(1, 60, rows) * 1e-6,
        "signed": lambda: rng.standard_cauchy(rows).round(3),
        "offset": lambda: 1e5 + rng.integers(0, 200, rows) / 1000,
        "constant": lambda: np.full(rows, 7.0),
        "sentinel": lambda: np.where(rng.random(rows) < 0.2, -999.0, rng.integers(0, 50, rows)),
    }
    return makers[kind]()


def random_table(seed: int, rows: int | None = None, nulls: bool = True,
                 classes: int | None = None, avoid: tuple[str, ...] = ()):
    rng = np.random.default_rng(seed)
    rows = rows or int(rng.integers(8, 160))
    kinds = rng.choice([k for k in KINDS if k not in avoid], int(rng.integers(1, 6)))
    data = np.column_stack([column(kind, rows, rng) for kind in kinds])
    if nulls and rng.random() < 0.5:
        data[rng.random(data.shape) < 0.1] = np.nan
    classes = classes or int(rng.choice([2, 2, 3, 8]))
    # Labels that follow a column in stretches give monochromatic pieces.
    follow = np.nan_to_num(data[:, 0]).argsort().argsort() * classes // rows
    noise = rng.integers(0, classes, rows)
    labels = np.where(rng.random(rows) < rng.choice([0.05, 0.3, 1.0]), noise, follow)
    labels[:2] = [0, 1]
    return data, labels, rng
