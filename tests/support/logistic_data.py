"""Small data for logistic regressions."""

from __future__ import annotations

import numpy as np

from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms

TERMS = RegressionTerms("yes", ("u", "v"))
EASY = RegressionParams(condition=2.0**8)


def made(rows, seed, strength=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=rows) + offset, 100 * rng.normal(size=rows)
    odds = strength * ((u - offset) - v / 80) - 0.5
    return {"u": u, "v": v, "yes": (rng.uniform(size=rows) < 1 / (1 + np.exp(-odds))).astype(float)}
