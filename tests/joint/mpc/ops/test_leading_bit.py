"""Where shared numbers start, and the first greatest of a few: exact, and nothing shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.broken_streams import BROKEN, spoiled
from support.computing import CIRCLES, on_shares, run
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.watching import frames_to
from unspoken import joint
from unspoken.joint import reveal, share, to_numbers
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops import normalise as normal
from unspoken.joint.mpc.ops.leading_bit import leading_bits, prefix_steps
from unspoken.joint.mpc.ops.normalise import last_exponent
from unspoken.joint.tasks.tree import first_greatest as choosing


def thresholds(top):
    return np.array([max(1, -(-3 * 2**k // 4)) for k in range(top + 1)])


@pytest.mark.slow
@pytest.mark.parametrize("high", [1, 2, 3, 5, 64, 100, 2**15, 2**20 - 1, 2**40 + 3, 2**59])
@pytest.mark.parametrize("circle", CIRCLES)
def test_every_threshold_is_met_exactly(high, circle):
    edges = [max(0, 3 * 2**k // 4 + step) for k in range(60) for step in (-1, 0, 1)]
    edges += [2**k - step for k in range(60) for step in (0, 1)]
    values = np.unique(np.minimum(np.array([0, *edges], object), high)).astype(np.int64)
    top = last_exponent(high)

    async def found(party, x):
        return await to_numbers(party, await leading_bits(party, x, top))

    got = on_shares(found, [values], [(0, high)], circle)
    assert np.array_equal(got, values >= thresholds(top)[:, None])


@pytest.mark.slow
@pytest.mark.parametrize("low", [0, 1])
@pytest.mark.parametrize("name", ["log", "x_log_x", "sqrt", "reciprocal"])
def test_functions_of_many_values_keep_their_bounds(name, low):
    values = np.random.default_rng(9).integers(low, 2**20, normal.MANY + 5)
    values[:3] = low, 1, 2**20

    async def found(party, x):
        return await getattr(joint, name)(party, x)

    many = on_shares(found, [values], [(low, 2**20)])
    few = on_shares(found, [values[:60]], [(low, 2**20)])
    exact = {"log": np.log(np.maximum(1, values)), "sqrt": np.sqrt(values),
             "x_log_x": values * np.log(np.maximum(1, values)),
             "reciprocal": 1 / np.maximum(1, values)}[name]
    error = {"log": 3.5e-8, "x_log_x": 3.5e-8 * values, "reciprocal": 5e-9 / np.maximum(1, values)
             + 2.0**-30, "sqrt": 8e-9 * np.sqrt(values) + 2.0**-28 * 1025}[name]
    assert np.all(np.abs(many - exact) <= error)
    assert np.all(np.abs(few - exact[:60]) <= np.broadcast_to(error, many.shape)[:60])


def test_prefixes_reach_every_earlier_place():
    for count in range(1, 40):
        reach = [{i} for i in range(count)]
        for high, low in prefix_steps(count):
            reach = [reach[i] | (reach[low[high.index(i)]] if i in high else set())
                     for i in range(count)]
        assert reach == [set(range(i + 1)) for i in range(count)]


@declares("answer")
async def many(party, data):
    x = await share(party, data, "p0", (64,), 0, 2**59)
    for _ in range(4):
        await leading_bits(party, x, 59)


def view(runs=6):
    found = []
    for _ in range(runs):
        got, _ = frames_to(many, [np.full(64, 7), None], {"p1"}, "dealer")
        found.append(np.concatenate([np.array(got["p0", "p1", f"leading.{label}"]).reshape(4, -1)
                                     for label in ("borrow0", "borrow3", "zero1", "half")], axis=1))
    return np.array(found)


@pytest.mark.slow
def test_what_is_opened_looks_uniform():
    seen = view()
    assert tell_apart(seen, uniform_like(seen)) > SUSPICIOUS


@pytest.mark.slow
@pytest.mark.parametrize("name", ["left out", "32 bits", "63 bits"])
def test_broken_masks_are_caught(monkeypatch, name):
    monkeypatch.setattr(sources, "Stream", spoiled(BROKEN[name]))
    seen = view()
    assert tell_apart(seen, uniform_like(seen)) < SUSPICIOUS


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_the_first_of_the_greatest_is_found(rows, columns, least, seed):
    random = np.random.default_rng(seed)
    values, sizes = random.integers(-3, 4, (rows, columns)), random.integers(0, 6, rows)

    async def found(party, x, size):
        return (await choosing.first_greatest(party, x),
                await choosing.first_greatest(party, x, size, least))

    plain, gated = on_shares(found, [values, sizes], [(-3, 3), (0, 5)])
    assert np.array_equal(plain, values.argmax(axis=1))
    assert np.array_equal(gated, np.where(sizes < least, 0, values.argmax(axis=1)))


def test_both_ways_of_choosing_agree(monkeypatch):
    values = np.random.default_rng(0).integers(-9, 9, (7, 6))

    @declares("answer")
    async def program(party, data):
        x = await share(party, data, "p0", (7, 6), -9, 9)
        return await reveal(party, await choosing.first_greatest(party, x), because="answer")

    first = run(program, [values, None])[0]
    monkeypatch.setattr(choosing, "MOST_PAIRS", 0)
    assert np.array_equal(first, run(program, [values, None])[0])
    assert np.array_equal(first, values.argmax(axis=1))
