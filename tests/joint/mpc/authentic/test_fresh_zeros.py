"""What is opened as it is goes out under fresh zeros: no word is sent twice, and values stay."""

from __future__ import annotations

import numpy as np
import pytest

from support.computing import run
from unspoken.joint import declares, less_than, reveal, share
from unspoken.joint.mpc.authentic import auth_engine
from unspoken.joint.session.joint_views import joint_views

N = 256
VALUES = np.arange(N) * 37 % 200 - 100
HELD = [2, 3]


@declares("numbers", "bits")
async def opened_twice(party, data):
    """Open numbers and bits twice each, and return what was opened."""
    x = await share(party, VALUES if party.index == 0 else None, "p0", (N,), -100, 100)
    signs = await less_than(party, x, 0)
    return [[await reveal(party, x, because="numbers"), await reveal(party, signs, because="bits")]
            for _ in range(2)]


@pytest.mark.slow
@pytest.mark.parametrize("held", HELD)
def test_no_word_is_sent_twice(held):
    inputs, holders = [None] * held, [f"p{i}" for i in range(held)]
    assert joint_views(opened_twice, inputs, inputs, "authenticated", holders, runs=2) == []


@pytest.mark.slow
@pytest.mark.parametrize("held", HELD)
def test_values_stay_what_they_are(monkeypatch, held):
    monkeypatch.setattr(auth_engine, "BLOCK", 48)
    for output in run(opened_twice, [None] * 3, "authenticated", held):
        for numbers, signs in output:
            assert np.array_equal(numbers, VALUES)
            assert np.array_equal(signs, VALUES < 0)
