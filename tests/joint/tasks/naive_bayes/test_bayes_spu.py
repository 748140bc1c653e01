"""Bayes methods and mixtures computed by SPU: the same as by our own engine."""

from __future__ import annotations

import numpy as np
import pytest

from support.bayes_data import LAYOUT, table
from support.mixture_data import SPACE, START, apart, cloud, columns_of, thirds
from support.network_data import dependent, spread
from unspoken.joint.mpc.engines.spu.spu_handle import VARIABLE, spu_python
from unspoken.joint.tasks.classify.program_bayes import classify_privately
from unspoken.joint.tasks.mixture.params import MixtureParams
from unspoken.joint.tasks.mixture.pooled import pooled as in_one_place
from unspoken.joint.tasks.mixture.program_rows import mine_mixture_rows
from unspoken.joint.tasks.naive_bayes.pooled import pooled
from unspoken.joint.tasks.network.pooled import pooled as network
from unspoken.joint.tasks.network.program_columns import mine_network_columns

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(spu_python() is None,
                       reason=f"SPU is not installed and {VARIABLE} names no Python that has it"),
]


def test_private_classification():
    model, new = pooled(LAYOUT, table(200, 8)), table(10, 9)
    found, _ = classify_privately(model, new, LAYOUT, "spu")
    logs = np.sort(model.log_joint(new), axis=1)
    sure = logs[:, -1] - logs[:, -2] > 1e-3
    assert (found[1] == model.predict(new))[sure].all()


def test_networks_are_the_same_bit_for_bit():
    sites, order = spread(dependent(20, (2, 2, 2), 4), (2, 2, 2), (0, 1, 0))
    assert mine_network_columns(sites, order, mode="spu")[0] == network(sites, order)


def test_mixtures():
    points, rules = cloud(90), MixtureParams(max_iter=2, stop="padded")
    found, _ = mine_mixture_rows(thirds(points), SPACE, START, rules, "spu")
    assert apart(found, in_one_place(SPACE, START, columns_of(points), rules)) < 1e-8
