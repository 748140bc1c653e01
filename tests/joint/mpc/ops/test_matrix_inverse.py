"""Least squares, inverse, determinant and norm on shares: against numpy, within stated bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.computing import ALL_HOLD, CIRCLES, on_shares, run
from support.watching import masked_frames
from unspoken.joint import (
    determinant,
    gram,
    inverse,
    log_determinant,
    narrow,
    norm,
    public_wide,
    reveal,
    share_wide,
    wide_matmul,
)
from unspoken.joint.joint_errors import DisclosureError, RefusedError, RingError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.multi_limb import join_wide
from unspoken.joint.mpc.ops.matrix_inverse import ILL, RESIDUAL, newton_schulz, steps_for

pytestmark = pytest.mark.slow

few = settings(max_examples=10)


def standard(x):
    x = x - x.mean(axis=0)
    return x / np.sqrt((x * x).mean(axis=0))


def coefficients(x, y, condition, circle=(2, "dealer")):
    """Return least squares of columns that lie with two owners."""
    n, p = x.shape
    half = p // 2

    async def what(party, a, b):
        both = await gram(party, join_wide([a, b], 1))
        both = both.within(n)
        inverted = await inverse(party, both[:p, :p], n * p, condition)
        beta = await wide_matmul(party, inverted, both[:p, p:], 96)
        return await narrow(party, beta, 44, 2.0**12)

    most = 2.0 ** np.ceil(np.log2(max(np.abs(x).max(), np.abs(y).max())))
    return on_shares(what, [x[:, :half], np.column_stack([x[:, half:], y])],
                     [("wide", most, 44)] * 2, circle)[:, 0]


@pytest.mark.parametrize("circle", CIRCLES)
def test_regression_on_boston(shared, circle):
    import pyarrow.parquet as pq

    table = pq.read_table(shared("boston_housing.parquet"))
    data = standard(np.column_stack([table[name].to_numpy() for name in table.column_names]
                                    ).astype(float))
    x, y = data[:, :-1], data[:, -1]
    exact = np.linalg.lstsq(x, y, rcond=None)[0]
    got = coefficients(x, y, 2.0**12, circle)
    assert np.abs(got - exact).max() <= 1e-11 * np.abs(exact).max()
    assert np.abs(got / exact - 1).max() <= 1e-9


@pytest.mark.parametrize(("rows", "columns", "near"),
                         [(40, 2, 1.0), (300, 5, 1e-2), (900, 9, 1e-3)])
def test_regression_on_random_designs(rows, columns, near):
    rng = np.random.default_rng(rows)
    x = rng.normal(size=(rows, columns))
    x[:, -1] = x[:, 0] + near * x[:, -1]
    x, y = standard(x), standard(x @ rng.normal(size=columns) + rng.normal(size=rows))
    exact = np.linalg.lstsq(x, y, rcond=None)[0]
    got = coefficients(x, y, 2.0**26)
    assert np.abs(got - exact).max() <= 1e-8 * np.abs(exact).max()


def spectrum(values, seed=0):
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))
    return (q * values) @ q.T


@pytest.mark.parametrize(("least", "passes"), [(2.0**-10, True), (2.0**-13, False), (0.0, False)])
def test_one_bit_refuses_what_is_ill_conditioned(least, passes):
    matrix = spectrum([1.0, 0.7, 0.1, least])

    async def what(party, m):
        return await narrow(party, await inverse(party, m, 1.0, 2.0**10), 30, 2.0**11)

    if passes:
        got = on_shares(what, [matrix], [("wide", 1.0, 96)])
        assert np.abs(got - np.linalg.inv(matrix)).max() <= 1e-7
        return
    with pytest.raises(RefusedError, match="learned this one bit"):
        on_shares(what, [matrix], [("wide", 1.0, 96)])


@few
@given(values=hnp.arrays(np.float64, 3, elements=st.integers(0, 2**20).map(
    lambda i: (i / 2**20)**3)), seed=st.integers(0, 99))
def test_nothing_overflows_whatever_the_spectrum(values, seed):
    """The bound 2^k on the iterates holds for every matrix: intervals are checked when opened."""
    async def what(party, m):
        found, small = await newton_schulz(party, m, 1.0, 2.0**8)
        return await narrow(party, found, 40, 2.0**15), small

    matrix = spectrum(values * (1 - 2**-40), seed)
    got, small = on_shares(what, [matrix], [("wide", 2.0, 96)])
    if values.min() >= 2.0**-8:
        assert small == 1
    if small == 1:
        assert np.abs(np.eye(3) - matrix @ got).max() <= 2.0 ** (1 - RESIDUAL) + 2.0**-38
    steps = steps_for(2.0**8)
    limit = np.array([(1 - (1 - v) ** 2**steps) / v if v > 2.0**-30 else 2.0**steps
                      for v in values])
    assert np.allclose(got, spectrum(limit, seed), atol=1e-3 * 2**steps)


def test_the_bit_must_be_declared():
    async def program(party, _):
        m = await share_wide(party, np.eye(2) if party.index == 0 else None, "p0", (2, 2), 1.0, 96)
        await inverse(party, m, 1.0, 4.0)

    with pytest.raises(DisclosureError, match="ill-conditioned"):
        run(program, [None, None])


@pytest.mark.parametrize("values", [[3.0], [2.0, 0.5], [7.0, 1.0, 0.01], [1.0, 0.3, 1e-3, 1e-5]])
def test_determinants(values):
    matrix = spectrum(values, 3)
    exact = np.prod(values)

    async def what(party, m):
        found = await determinant(party, m, 8.0)
        return (await narrow(party, found, 56 - 3 * len(values), 8.0 ** len(values)),
                await log_determinant(party, m, 8.0))

    got, log = on_shares(what, [matrix], [("wide", 8.0, 96)])
    assert abs(got - exact) <= 1e-9 * exact + 2.0 ** (3 * len(values) - 55)
    assert abs(log - np.log(exact)) <= 4e-8 * len(values) + 1e-9


def test_a_singular_matrix_has_no_determinant_to_speak_of():
    got = on_shares(lambda party, m: log_determinant(party, m, 4.0), [np.ones((3, 3))],
                    [("wide", 4.0, 96)])
    assert got <= np.log(3) + 2 * np.log(4 * 2.0**-40) + 1e-6


def test_norms():
    x = np.random.default_rng(8).normal(size=(6, 5))
    got = on_shares(lambda party, x: norm(party, x), [x], [("wide", 4.0, 60)])
    greatest = 4 * np.sqrt(30)
    assert abs(got - np.linalg.norm(x)) <= 1e-8 * np.linalg.norm(x) + 4 * greatest * 2.0**-29


def refused(what, match):
    with pytest.raises(RingError, match=match):
        on_shares(what, [np.ones((2, 2))], [("wide", 1.0, 96)])


def test_what_has_no_inverse_is_refused_before_anything_is_computed():
    refused(lambda party, x: inverse(party, x, 1.0, 2.0**40), "condition")
    refused(lambda party, x: inverse(party, x[:1], 1.0), "square")
    refused(lambda party, x: determinant(party, x[:1], 1.0), "square")


@declares("answer", ILL)
async def every_matrix_step(party, data):
    """Use every step of this file once."""
    x = await share_wide(party, data if party.index == 0 else None, party.names[0], (6, 2), 4.0, 44)
    square = (await gram(party, x)).within(256) + public_wide(party, np.eye(2))
    inverted = await inverse(party, square, 256, 2.0**8)
    found = await determinant(party, square, 256)
    for value in (await narrow(party, inverted, 30, 2), await narrow(party, found, 20, 2.0**16),
                  await norm(party, inverted.within(2))):
        await reveal(party, value, because="answer")


@pytest.mark.parametrize(("parties", "mode"), CIRCLES)
def test_lengths_do_not_depend_on_values_and_masks_are_fresh(parties, mode):
    tables = [np.zeros((6, 2)), np.zeros((6, 2)), np.arange(12.0).reshape(6, 2) / 3]
    runs = [masked_frames(every_matrix_step, [table] * parties, mode) for table in tables]
    assert all(lengths == runs[0][1] for _, lengths in runs)
    seen = [{frame for frame in frames if len(frame) >= 8} for frames, _ in runs]
    assert not seen[0] & seen[1]


@pytest.mark.parametrize("circle", [(2, "two-party"), ALL_HOLD])
def test_an_inverse_without_a_dealer_and_with_three_holders(circle):
    if circle[1] == "two-party":
        pytest.importorskip("rbcl")

    async def what(party, m):
        return await narrow(party, await inverse(party, m, 2.0, 8.0), 30, 2.0**4)

    got = on_shares(what, [np.array([[1.0, 0.25], [0.25, 0.5]])], [("wide", 2.0, 96)], circle)
    assert np.abs(got - np.linalg.inv([[1.0, 0.25], [0.25, 0.5]])).max() <= 2.0**-29
