"""Wide fixed point on shares: against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.computing import CIRCLES, on_shares, run
from unspoken.joint import (
    gram,
    lift,
    narrow,
    rescale,
    reveal,
    share_columns,
    share_sum_wide,
    share_wide,
    sum_product,
    wide_matmul,
    wide_multiply,
)
from unspoken.joint.joint_errors import RefusedError, RingError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.multi_limb import BASE, SMALL, WIDTH, Wide, digits, span
from unspoken.joint.mpc.ops.limb_sharing import carry
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.mpc.shared import LIMIT

few = settings(max_examples=10)
floats = st.floats(-1000, 1000, allow_subnormal=False, width=64)


def value_of(parts, scale):
    """Return digits as exact numbers."""
    return [sum(Fraction(int(d)) * 2 ** (WIDTH * j) for j, d in enumerate(column))
            / Fraction(2)**scale for column in np.reshape(parts, (len(parts), -1)).T]


@pytest.mark.slow
@given(values=hnp.arrays(np.float64, 5, elements=floats), scale=st.integers(0, 100))
def test_digits_are_the_number(values, scale):
    parts = digits(values, scale, 6)
    for got, value in zip(value_of(parts, scale), values, strict=True):
        assert abs(got - Fraction(value)) <= Fraction(1, 2 ** (scale + 1))
    assert np.abs(parts[:-1]).max() <= BASE // 2


@given(values=st.lists(st.integers(-(2**100), 2**100), min_size=1, max_size=5))
def test_digits_of_whole_numbers_are_exact(values):
    parts = digits(np.array(values, dtype=object), 7, 5)
    assert value_of(parts, 7) == values


async def exact(party, x):
    """Open every limb: only a test may."""
    limbs = [await reveal(party, limb, because="answer") for limb in x.limbs]
    return value_of(np.array([np.ravel(limb) for limb in limbs]), x.scale)


def openly(what, arrays, bounds, circle=(2, "dealer")):
    """Return exact values of wide results."""
    parties, mode = circle

    @declares("answer", ILL)
    async def program(party, _):
        shared = [await share_wide(party, array if party.index == i % parties else None,
                                   party.names[i % parties], np.shape(array), *bound)
                  for i, (array, bound) in enumerate(zip(arrays, bounds, strict=True))]
        return await exact(party, await what(party, *shared))

    return run(program, [None] * parties, mode)[0]


def exactly(values):
    return [Fraction(v) for v in np.ravel(values)]


@pytest.mark.slow
@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(pair=hnp.arrays(np.float64, (2, 4), elements=st.integers(-(2**20), 2**20).map(
    lambda i: i / 2**16)))
def test_adding_scaling_and_carrying_are_exact(circle, pair):
    async def what(party, x, y):
        total = (x + y) * 12345 - y.T
        for _ in range(12):
            total = await carry(party, total + total)
            assert all(span(limb) <= SMALL for limb in total.limbs[:-1])
        return total

    got = openly(what, pair, [(2.0**5, 60)] * 2, circle)
    wanted = [((a + b) * 12345 - b) * 4096 for a, b in zip(*map(exactly, pair), strict=True)]
    assert got == wanted


@pytest.mark.slow
@few
@given(data=st.data())
def test_matrix_products_are_exact(data):
    n, k, m = data.draw(st.tuples(*[st.integers(1, 4)] * 3))
    one, other = (data.draw(hnp.arrays(np.float64, shape, elements=floats))
                  for shape in ((n, k), (k, m)))
    got = openly(lambda party, x, y: wide_matmul(party, x, y), [one, other],
                 [(1024.0, 96), (1024.0, 80)])
    a = np.reshape(value_of(digits(one, 96, 6), 96), (n, k))
    b = np.reshape(value_of(digits(other, 80, 6), 80), (k, m))
    assert got == list(np.ravel(a.dot(b)))


@pytest.mark.slow
@few
@given(pair=hnp.arrays(np.float64, (2, 3), elements=floats), scale=st.integers(10, 96))
def test_products_of_elements_and_rescaling(pair, scale):
    got = openly(lambda party, x, y: wide_multiply(party, x, y, scale), pair, [(1024.0, 60)] * 2)
    parts = [value_of(digits(row, 60, 4), 60) for row in pair]
    for value, a, b in zip(got, *parts, strict=True):
        assert abs(value - a * b) <= Fraction(1001, 1000) / 2**scale


@pytest.mark.parametrize("circle", CIRCLES)
def test_lifting_and_narrowing(circle):
    x = np.array([0, 1, -1, 2**24, -(2**24), 2**47 + 5, LIMIT - 1, 1 - LIMIT])

    async def what(party, x):
        wide = await lift(party, x)
        finer = await rescale(party, wide, 30)
        return await narrow(party, wide, 0, LIMIT - 9), (await narrow(
            party, finer, 0, LIMIT - 9))

    back, again = on_shares(what, [x[:6]], [(1 - LIMIT, LIMIT - 1)], circle)
    assert np.array_equal(back, x[:6])
    assert np.array_equal(again, x[:6])
    [*ends] = on_shares(lambda party, x: narrow(party, x, 20, 4), [np.array([1.5, -3.25])],
                        [("wide", 4.0, 96)], circle)
    assert np.abs(np.array(ends) - [1.5, -3.25]).max() <= 1.001 * 2.0**-20


def test_sums_of_owners_and_of_axes():
    parts = np.random.default_rng(0).normal(size=(4, 3, 2))

    @declares("answer")
    async def program(party, data):
        total = await share_sum_wide(party, data, (3, 2), 8.0, 96)
        return (await reveal(party, await narrow(party, total, 44), because="answer"),
                await reveal(party, await narrow(party, total.sum(0), 44), because="answer"))

    for each, columns in run(program, list(parts)):
        assert np.abs(each - parts.sum(axis=0)).max() <= 2.0**-43
        assert np.abs(columns - parts.sum(axis=(0, 1))).max() <= 2.0**-43


def test_gram_of_a_long_table_is_cut_into_pieces():
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, (20_000, 3))
    got = on_shares(lambda party, x: _narrow(party, x, 40, 2.0**15), [x], [("wide", 1.0, 48)])
    assert np.abs(got - x.T @ x).max() <= 20_000 * 2.0**-48 + 2.0**-39


async def _narrow(party, x, scale, most):
    return await narrow(party, await gram(party, x), scale, most)


def test_columns_of_several_owners_are_one_table():
    tables = [np.random.default_rng(i).uniform(-1, 1, (7, i + 1)) for i in range(3)]

    @declares("answer")
    async def program(party, data):
        x = await share_columns(party, data, {"p2": 3, "p0": 1, "p1": 2}, 7, 1.0)
        return await reveal(party, await narrow(party, x, 47), because="answer")

    for output in run(program, tables, "three-party"):
        assert np.abs(output - np.column_stack([tables[2], *tables[:2]])).max() <= 2.0**-46


def test_a_sum_of_matrices_times_a_sum_of_matrices():
    rng = np.random.default_rng(6)
    one, other = rng.integers(-99, 99, (3, 2, 4)), rng.integers(-99, 99, (3, 4, 3))

    @declares("answer")
    async def program(party, data):
        found = await sum_product(party, *data, ((2, 4), (4, 3)), -99, 99)
        return await reveal(party, found, because="answer")

    for output in run(program, list(zip(one, other, strict=True)), "three-party"):
        assert np.array_equal(output, one.sum(axis=0) @ other.sum(axis=0))


def refused(what, bounds, match, array=None):
    with pytest.raises(RingError, match=match):
        on_shares(what, [np.ones((2, 2)) if array is None else array], [bounds])


def test_what_does_not_fit_is_refused():
    async def huge(party, x):
        x = (await rescale(party, x, 96)).within(2.0**40)
        return await wide_matmul(party, x * (1 << 30), x)

    async def added(party, x):
        return x + x.shifted(1)

    refused(lambda party, x: narrow(party, x, 40), ("wide", 2.0**40, 40), r"below 2\^62")
    refused(lambda party, x: wide_matmul(party, x, x[:1]), ("wide", 1.0, 96), "n x k")
    refused(added, ("wide", 1.0, 48), "scales")
    refused(lambda party, x: gram(party, x), ("wide", 0.5, 48), "at most 0.5")
    refused(lambda party, x: gram(party, x), ("wide", 1.0, 48), "finite", np.array([[np.nan]]))


def test_a_wide_value_does_not_come_out_by_itself():
    async def program(party, _):
        x = await share_wide(party, np.ones(2) if party.index == 0 else None, "p0", (2,), 1.0)
        with pytest.raises(TypeError, match="only through"):
            np.asarray(x)
        with pytest.raises(TypeError, match="Nobody knows"):
            bool(x)
        with pytest.raises(RefusedError, match="a shared value"):
            await reveal(party, x, because="answer")
        assert repr(x) == "Wide((2,), 2 limbs, scale 48)"
        assert isinstance(x, Wide)

    run(program, [None, None])
