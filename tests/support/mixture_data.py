"""A cloud of three clusters, its owners, and where EM starts."""

from __future__ import annotations

import numpy as np

from unspoken.joint.tasks.mixture.params import Space, Start
from unspoken.joint.tasks.naive_bayes.params import Numeric

SPACE = Space((Numeric("x", -15, 15), Numeric("y", -15, 15)))
START = Start(np.full(3, 1 / 3), np.array([[0.0, 1], [3, 3], [-2, 4]]),
              np.repeat(4 * np.eye(2)[None], 3, axis=0))


def cloud(rows=300, seed=0):
    random = np.random.default_rng(seed)
    centres = np.array([[0.0, 0], [4, 3], [-3, 5]])[np.arange(rows) % 3]
    points = centres + random.normal(size=(rows, 2)) * [1.0, 1.5]
    return np.clip(points, -15, 15)


def parts_of(points, owner, owners):
    return [{"x": points[owner == i, 0], "y": points[owner == i, 1]} for i in range(owners)]


def thirds(points):
    """Three owners, each with a third of every cluster."""
    return parts_of(points, np.arange(len(points)) // 3 % 3, 3)


def columns_of(points):
    return {"x": points[:, 0], "y": points[:, 1]}


def apart(one, other):
    return max(np.abs(one.means - other.means).max(), np.abs(one.weights - other.weights).max(),
               np.abs(one.covariances - other.covariances).max())
