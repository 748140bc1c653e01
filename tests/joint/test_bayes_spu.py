"""Bayes methods and mixtures computed by SPU: the same as by our own engine."""

from __future__ import annotations

import numpy as np
import pytest
from bayes_data import LAYOUT, table
from test_mixtures import SPACE, START, apart, cloud, columns_of, thirds
from test_networks import dependent, spread

from tacit.joint.protocols.bayes.central import central
from tacit.joint.protocols.bayes.private import classify_privately
from tacit.joint.protocols.mixtures.central import central as pooled
from tacit.joint.protocols.mixtures.em import mine_mixture_horizontal
from tacit.joint.protocols.mixtures.terms import Rules
from tacit.joint.protocols.networks.central import central as network
from tacit.joint.protocols.networks.k2 import mine_network_vertical
from tacit.joint.spu.engine import VARIABLE, spu_python

pytestmark = pytest.mark.skipif(
    spu_python() is None, reason=f"SPU is not installed and {VARIABLE} names no Python that has it")


def test_private_classification():
    model, new = central(LAYOUT, table(200, 8)), table(10, 9)
    found, _ = classify_privately(model, new, LAYOUT, "spu")
    logs = np.sort(model.log_joint(new), axis=1)
    sure = logs[:, -1] - logs[:, -2] > 1e-3
    assert (found[1] == model.predict(new))[sure].all()


def test_networks_are_the_same_bit_for_bit():
    sites, order = spread(dependent(20, (2, 2, 2), 4), (2, 2, 2), (0, 1, 0))
    assert mine_network_vertical(sites, order, mode="spu")[0] == network(sites, order)


def test_mixtures():
    points, rules = cloud(90), Rules(max_iter=2, stop="padded")
    found, _ = mine_mixture_horizontal(thirds(points), SPACE, START, rules, "spu")
    assert apart(found, pooled(SPACE, START, columns_of(points), rules)) < 1e-8
