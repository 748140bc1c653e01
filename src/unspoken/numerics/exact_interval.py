"""The interval of a share that holds for few people and rare answers, too."""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats


def exact_interval(hits: object, people: int) -> tuple[Floats, Floats]:
    """Return the 95% interval of Clopper and Pearson (Biometrika 26, 1934) of each share.

    `hits` is one count of `people`, or an array of them. The interval covers the true share at
    least 95 times in a hundred whatever it is; it says nothing that the counts do not.
    """
    from scipy.special import betaincinv

    counts = np.asarray(hits, np.float64)
    low = betaincinv(np.maximum(counts, 0.5), people - counts + 1, 0.025)
    high = betaincinv(counts + 1, np.maximum(people - counts, 0.5), 0.975)
    return np.where(counts > 0, low, 0.0), np.where(counts < people, high, 1.0)
