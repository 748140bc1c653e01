"""Small numbers that are zero: by a table where a dealer serves, by comparing elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from support.computing import ALL_HOLD, on_shares
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.masks import break_masks
from support.watching import masked_frames
from unspoken.joint import reveal, share
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops.zero_test import MOST, is_zero


@pytest.mark.slow
@pytest.mark.parametrize("high", [0, 1, 2, 7, 8, 45, 200, MOST - 1, MOST, 10**6])
@pytest.mark.parametrize("circle", [(2, "dealer"), (3, "three-party"), (2, "two-party"), ALL_HOLD])
def test_every_small_number(high, circle):
    x = np.unique(np.r_[0, np.arange(min(high, 70)), high])
    got = on_shares(is_zero, [x], [(0, high)], circle)
    assert np.array_equal(got, x == 0)


def test_shapes():
    x = np.arange(24).reshape(2, 3, 4) % 5
    assert np.array_equal(on_shares(is_zero, [x], [(0, 4)]), x == 0)


@declares("answer")
async def program(party, x):
    shared = await share(party, x, party.roles.owners[0], (512,), 0, 255)
    return await reveal(party, await is_zero(party, shared), because="answer")


def views(runs=6):
    """Return what passes between holders: one byte a value, the whole ring."""
    found = []
    for _ in range(runs):
        frames, _ = masked_frames(program, [np.arange(512) % 3, None, None], "dealer")
        found.append([np.frombuffer(f, np.uint64) for f in frames if len(f) == 512])
    return np.array(found)


@pytest.mark.slow
def test_what_is_opened_looks_uniform():
    assert tell_apart(views(), uniform_like(views())) > SUSPICIOUS


# Masks of 32 bits are none too short for what has 8.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["left out", "one word for all"])
def test_broken_masks_are_caught(monkeypatch, name):
    break_masks(monkeypatch, name)
    assert tell_apart(views(), uniform_like(views())) < SUSPICIOUS
