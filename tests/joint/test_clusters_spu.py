"""k-means and outliers on SecretFlow's SPU, where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.joint.protocols.kmeans.central import central
from tacit.joint.protocols.kmeans.rules import Rules
from tacit.joint.protocols.kmeans.vertical import kmeans_vertical
from tacit.joint.protocols.outliers.central import central as central_outliers
from tacit.joint.protocols.outliers.horizontal import outliers_horizontal
from tacit.joint.protocols.outliers.rules import Rules as OutlierRules
from tacit.joint.spu.engine import spu_python

pytestmark = pytest.mark.skipif(spu_python() is None, reason="SPU is not installed")
DATA = np.random.default_rng(1).uniform(-7, 7, (20, 2))


def test_clusters_on_spu():
    parts, rules = [DATA[:, :1], DATA[:, 1:]], Rules(2, 1)
    found, _ = kmeans_vertical(parts, rules, "spu", way="assignments")
    assert np.array_equal(found[0].assigned, central(parts, rules)[1])


def test_outliers_on_spu():
    rules = OutlierRules(0.7, 6.0)
    found, _ = outliers_horizontal([DATA[:9], DATA[9:]], rules, "spu")
    flags = np.concatenate([part.flags for part in found])
    assert flags.tolist() == central_outliers(DATA, rules).flags.tolist()
    assert flags.any()
