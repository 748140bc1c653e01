"""A bit split between two parties modulo F: the parts add up, and each alone is uniform."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from support.computing import run
from support.watching import masked_frames
from unspoken.joint import less_than, share, split
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops.split_comparison import below

MODULI = [2, 3, 7, 256, 1009, 2**32, 2**60]


def splitting(modulus, between, values, mode):
    @declares()
    async def program(party, _):
        mine = values if party.index == 0 else None
        x = await share(party, mine, "p0", values.shape, -100, 100)
        return await split(party, await less_than(party, x, 0), modulus, between)

    return run(program, [None] * 3, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["dealer", "three-party"])
@pytest.mark.parametrize("between", [("p0", "p1"), ("p2", "p0"), ("p1", "p2")])
@pytest.mark.parametrize("modulus", MODULI)
def test_the_parts_add_up_to_the_comparison(mode, between, modulus):
    values = np.random.default_rng(0).integers(-100, 101, 200)
    outputs = dict(zip(("p0", "p1", "p2"), splitting(modulus, between, values, mode), strict=True))
    one, other = (outputs.pop(name) for name in between)
    assert list(outputs.values()) == [None]
    assert max(one.max(), other.max()) < modulus
    total = (one.astype(object) + other.astype(object)) % modulus
    assert np.array_equal(total, (values < 0).astype(int))


@pytest.mark.parametrize("modulus", [2, 3, 7])
@pytest.mark.parametrize("value", [-1, 1])
def test_each_part_alone_is_uniform(modulus, value):
    one, other, _ = splitting(modulus, ("p0", "p1"), np.full(4000, value), "dealer")
    for part in (one, other):
        counts = np.bincount(part.astype(int), minlength=modulus)
        assert stats.chisquare(counts).pvalue > 1e-6


def test_uniform_numbers_below_a_limit():
    limit = 3 << 61
    words = below(limit, 20_000)
    assert words.max() < limit
    # Taking words modulo the limit would hit the lowest third twice as often.
    low = np.mean(words < np.uint64(1 << 61))
    assert abs(low - 1 / 3) < 5 * np.sqrt(2 / 9 / 20_000)


def test_nonsense_is_refused():
    for modulus, between in ((1, ("p0", "p1")), (2**61, ("p0", "p1")), (5, ("p0", "p0"))):
        with pytest.raises(RefusedError, match="a modulus from 2"):
            splitting(modulus, between, np.zeros(2, int), "dealer")


@declares()
async def program_of_lengths(party, data):
    """Split one comparison."""
    x = await share(party, data if party.index == 0 else None, "p0", (4,), -100, 100)
    await split(party, await less_than(party, x, 0), 7, ("p0", "p1"))


def test_lengths_do_not_depend_on_values():
    runs = [masked_frames(program_of_lengths, [np.full(4, value)] * 2, "dealer")[1]
            for value in (-5, 0, 5)]
    assert runs[0] == runs[1] == runs[2]
