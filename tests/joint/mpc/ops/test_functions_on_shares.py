"""ln x, division, choice on shares: against numpy, within the bounds that are stated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.computing import ALL_HOLD, CIRCLES, around_powers, on_shares
from support.watching import masked_frames
from unspoken.joint import (
    absolute,
    argmax,
    divide,
    floor,
    less_than,
    log,
    maximum,
    minimum,
    public,
    reciprocal,
    reveal,
    select,
    share,
    share_sum,
    sign,
    sqrt,
    sums_less,
    to_numbers,
    x_log_x,
)
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops.choice import plain_floor
from unspoken.joint.mpc.ops.division import RECIPROCAL_ERROR, plain_divide, spare_bits
from unspoken.joint.mpc.ops.logarithm import LOG_ERROR, ROOT_ERROR, plain_log, plain_x_log_x
from unspoken.joint.mpc.ops.normalise import last_exponent

pytestmark = pytest.mark.slow

few = settings(max_examples=10)


def random(low, high, size=500, seed=1):
    return np.random.default_rng(seed).integers(low, high, size, endpoint=True)


@pytest.mark.parametrize("circle", CIRCLES)
def test_log_of_every_small_number(circle):
    x = np.arange(1 << 13)
    got = on_shares(lambda party, x: log(party, x), [x], [(0, x[-1])], circle)
    assert np.abs(got - plain_log(x)).max() <= LOG_ERROR


@pytest.mark.parametrize("top", [1, 2, 3, 30, 31, 32, 45, 60])
def test_log_of_big_numbers(top):
    high = 2**top - 1
    x = np.unique(np.r_[around_powers(top), 0, 1, high, random(0, high)])
    got = on_shares(lambda party, x: log(party, x), [x], [(0, high)])
    assert np.abs(got - plain_log(x)).max() <= LOG_ERROR


def test_log_of_fractions_and_of_positive_ones():
    x = np.r_[0.0, 2.0**-16, 1.0, 3.75, np.random.default_rng(2).random(300)]
    got = on_shares(lambda party, x: log(party, x), [x], [(0, 2**18, 16)])
    assert np.abs(got - plain_log(np.rint(x * 2**16) / 2**16)).max() <= LOG_ERROR
    whole = np.arange(5, 900)
    got = on_shares(lambda party, x: log(party, x, scale=20), [whole], [(5, 900)])
    assert np.abs(got - np.log(whole)).max() <= LOG_ERROR + 2.0**-20


@pytest.mark.parametrize("circle", CIRCLES)
def test_x_log_x(circle):
    x = np.r_[np.arange(700), random(0, 2**26)]
    got = on_shares(lambda party, x: x_log_x(party, x), [x], [(0, 2**26)], circle)
    assert (np.abs(got - plain_x_log_x(x)) <= LOG_ERROR * x + 1e-15 * np.abs(got)).all()
    assert got[0] == 0


@pytest.mark.parametrize("top", [2, 16, 30, 40])
def test_square_roots(top):
    x = np.unique(np.r_[around_powers(top), random(0, 2**top - 1)])
    got = on_shares(lambda party, x: sqrt(party, x), [x], [(0, 2**top - 1)])
    unit = 2.0 ** (top / 2 - 29)
    assert (np.abs(got - np.sqrt(x)) <= ROOT_ERROR * np.sqrt(x) + 2 * unit).all()
    assert got[0] == 0


@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(data=st.data())
def test_quotients_of_counts(circle, data):
    n, high = data.draw(st.integers(1, 40)), data.draw(st.sampled_from([1, 7, 5000, 2**20]))
    b = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, high)))
    a = np.minimum(b, data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, high))))
    got = on_shares(lambda party, a, b: divide(party, a, b, most=1), [a, b],
                    [(0, high), (0, high)], circle)
    assert np.abs(got - plain_divide(a, b)).max() <= RECIPROCAL_ERROR + 2.0**-30


@pytest.mark.parametrize(("high", "scale"), [(2**10, 0), (2**16, 0), (2**20, 12), (2**28, 20)])
def test_quotients_without_a_bound_lose_what_is_stated(high, scale):
    a, b = random(-high, high), np.r_[0, random(0, 2**15, 499, 3)]
    a_value = np.ldexp(a.astype(float), -scale)
    got = on_shares(lambda party, a, b: divide(party, a, b), [a_value, b],
                    [(-high, high, scale), (0, 2**15)])
    exact = plain_divide(a_value, b)
    bits = 30 + last_exponent(2**15)
    spared = bits - spare_bits(high * 2.0**-scale, bits + scale)
    allowed = (RECIPROCAL_ERROR * np.abs(exact) + 2.0**-30 + np.abs(a_value) * 2.0**-spared)
    assert (np.abs(got - exact) <= allowed).all()


def test_reciprocals():
    x = np.arange(4097)
    got = on_shares(lambda party, x: reciprocal(party, x), [x], [(0, 4096)])
    assert np.abs(got - plain_divide(1, x)).max() <= RECIPROCAL_ERROR + 2.0**-30
    x = 0.01 + np.random.default_rng(4).random(300)
    got = on_shares(lambda party, x: reciprocal(party, x), [x], [(2**13, 2**21, 20)])
    exact = 1 / (np.rint(x * 2**20) / 2**20)
    assert (np.abs(got - exact) <= RECIPROCAL_ERROR * exact + 2.0**-30 + 2.0**-40).all()


@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(data=st.data())
def test_choices(circle, data):
    n = data.draw(st.integers(1, 70))
    cells = st.integers(-5, 5) | st.integers(-(2**40), 2**40)
    x, y = (data.draw(hnp.arrays(np.int64, n, elements=cells)) for _ in range(2))

    async def what(party, x, y):
        bits = await less_than(party, x, y)
        return (await select(party, bits, x, y), await select(
            party, await to_numbers(party, bits), y, x), await maximum(party, x, y),
            await minimum(party, x, y), await sign(party, x), await absolute(party, x),
            *await argmax(party, x), await floor(party, x, 3), await floor(party, x, 33))

    got = on_shares(what, [x, y], [(-(2**40), 2**40)] * 2, circle)
    wanted = [np.minimum(x, y), np.maximum(x, y), np.maximum(x, y), np.minimum(x, y), np.sign(x),
              np.abs(x), np.argmax(x), x.max(), plain_floor(x, 3), plain_floor(x, 33)]
    for one, other in zip(got, wanted, strict=True):
        assert np.array_equal(one, other)


def test_floor_of_fixed_point_keeps_its_scale():
    x = np.array([-1.5, -1.0, -0.25, 0.0, 0.25, 1.75])
    got = on_shares(lambda party, x: floor(party, x, 6), [x], [(-(2**10), 2**10, 8)])
    assert np.array_equal(got, np.floor(x * 4) / 4)


@few
@given(parts=hnp.arrays(np.int64, (3, 2, 6), elements=st.integers(-20, 20)))
def test_add_and_compare(parts):
    @declares("answer")
    async def program(party, data):
        bits = await sums_less(party, data[0], data[1], (6,), -20, 20)
        return await reveal(party, await to_numbers(party, bits), because="answer")

    from support.computing import run

    expected = parts[:, 0].sum(axis=0) < parts[:, 1].sum(axis=0)
    for output in run(program, list(parts)):
        assert np.array_equal(output, expected)


def refused(what, bounds, match):
    with pytest.raises(RingError, match=match):
        on_shares(what, [np.array([1, 2])], [bounds])


def test_what_does_not_fit_is_refused_with_the_remedy():
    refused(lambda party, x: log(party, x), (-1, 5), r"values must not be negative.*within")
    refused(lambda party, x: log(party, x), (0, 2**61), r"below 2\^60")
    refused(lambda party, x: log(party, x, scale=31), (0, 9), "between 1 and 30")
    refused(lambda party, x: x_log_x(party, x), (0, 2**40), r"2\^62")
    refused(lambda party, x: reciprocal(party, x), (0, 2**31), r"below 2\^31")
    refused(lambda party, x: reciprocal(party, x), (-3, 5), "divide: values must not be negative")
    refused(lambda party, x: divide(party, x, x, most=-1), (0, 5), "positive")
    refused(lambda party, x: divide(party, x, x, scale=62), (0, 5), r"2\^62")
    refused(lambda party, x: select(party, x, x, x), (0, 2), "can only be 0 or 1")
    refused(lambda party, x: sqrt(party, x, scale=31), (0, 2), "between 0 and")


async def _public(party, x):
    return x + public(party, np.array([1, -2])), x - public(party, [3, 4]), public(
        party, [0.5, -0.25], 4)


def test_public_values_and_promises():
    one, two, three = on_shares(_public, [np.array([1, 2])], [(0, 5)], (3, "three-party"))
    assert [list(one), list(two), list(three)] == [[2, 0], [-2, -2], [0.5, -0.25]]


@declares("answer")
async def every_function(party, data):
    """Use every function once."""
    x = await share(party, data if party.index == 0 else None, party.names[0], (4,), 0, 1000)
    y = await share_sum(party, data, (4,), 0, 1000)
    for found in (await log(party, x), await x_log_x(party, y), await sqrt(party, x),
                  await divide(party, x, y), await maximum(party, x, y), await sign(party, x),
                  await floor(party, x, 3), (await argmax(party, x))[0]):
        await reveal(party, found, because="answer")


@pytest.mark.parametrize(("parties", "mode"), CIRCLES)
def test_lengths_do_not_depend_on_values_and_masks_are_fresh(parties, mode):
    runs = [masked_frames(every_function, [np.full(4, value)] * parties, mode)
            for value in (0, 0, 3, 1000)]
    assert all(lengths == runs[0][1] for _, lengths in runs)
    seen = [{frame for frame in frames if len(frame) >= 8} for frames, _ in runs]
    assert not seen[0] & seen[1]


@pytest.mark.parametrize("circle", [(2, "two-party"), ALL_HOLD])
def test_functions_without_a_dealer_and_with_three_holders(circle):
    if circle[1] == "two-party":
        pytest.importorskip("rbcl")
    x = np.arange(0, 90, 3)

    async def what(party, x):
        return await log(party, x), await divide(party, x, x + 1, most=1), await floor(party, x, 2)

    logs, quotient, down = on_shares(what, [x], [(0, 127)], circle)
    assert np.abs(logs - plain_log(x)).max() <= LOG_ERROR
    assert np.abs(quotient - x / (x + 1)).max() <= RECIPROCAL_ERROR + 2.0**-30
    assert np.array_equal(down, x >> 2)


@pytest.mark.parametrize("x", [np.zeros(0, int), np.array(7), np.arange(6).reshape(2, 3)])
@pytest.mark.parametrize("parties", [1, 2])
def test_every_shape_and_a_single_party(x, parties):
    async def what(party, x):
        return (await log(party, x), await divide(party, x, x + 1, most=1),
                await floor(party, x, 1), await sign(party, x), await maximum(party, x, x))

    logs, quotient, down, signs, most = on_shares(what, [x], [(0, 9)], (parties, "dealer"))
    assert np.allclose(logs, plain_log(x), atol=LOG_ERROR)
    assert np.allclose(quotient, x / (x + 1), atol=1e-8)
    assert [down.shape, signs.shape, most.shape] == [x.shape] * 3


def test_quotients_broadcast_and_ends_of_intervals_work():
    async def rows(party, a, b):
        return await divide(party, a, b.reshape(2, 1), most=1)

    a, b = np.array([[1, 2], [3, 4]]), np.array([3, 7])
    assert np.allclose(on_shares(rows, [a, b], [(0, 9)] * 2), a / b[:, None], atol=1e-8)
    for value in (0, 1):
        got = on_shares(lambda party, x: log(party, x), [np.array([value])], [(value, value)])
        assert abs(got[0]) <= LOG_ERROR


def test_an_impossible_promise_is_refused():
    async def promised(party, x):
        return x.within(7, 9)

    refused(promised, (0, 5), "Values between 0 and 5 cannot lie within")
