"""k-means and outliers on SecretFlow's SPU, where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken.joint.mpc.engines.spu.spu_handle import spu_python
from unspoken.joint.tasks.kmeans.params import KMeansParams
from unspoken.joint.tasks.kmeans.pooled import pooled
from unspoken.joint.tasks.kmeans.program_columns import kmeans_columns
from unspoken.joint.tasks.outliers.params import OutlierParams as OutlierRules
from unspoken.joint.tasks.outliers.pooled import pooled as pooled_outliers
from unspoken.joint.tasks.outliers.program_rows import outliers_rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(spu_python() is None, reason="SPU is not installed"),
]
DATA = np.random.default_rng(1).uniform(-7, 7, (20, 2))


def test_clusters_on_spu():
    parts, rules = [DATA[:, :1], DATA[:, 1:]], KMeansParams(2, 1)
    found, _ = kmeans_columns(parts, rules, "spu", way="assignments")
    assert np.array_equal(found[0].assigned, pooled(parts, rules)[1])


def test_outliers_on_spu():
    rules = OutlierRules(0.7, 6.0)
    found, _ = outliers_rows([DATA[:9], DATA[9:]], rules, "spu")
    flags = np.concatenate([part.flags for part in found])
    assert flags.tolist() == pooled_outliers(DATA, rules).flags.tolist()
    assert flags.any()
