"""Two holders and no dealer: every method against plain numpy, and who may run it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.computing import on_shares
from support.dealt import EXAMPLES, holds
from support.joint_programs import of_two
from support.shared_pairs import close, compute, small
from unspoken.joint import (
    argmax,
    argmin,
    divide,
    dot,
    equal,
    floor,
    inverse,
    keep,
    less_than,
    log,
    matmul,
    maximum,
    multiply,
    narrow,
    reveal,
    share,
    to_numbers,
    truncate,
)
from unspoken.joint.joint_errors import RefusedError, RingError
from unspoken.joint.mpc.correlated import transfer_source
from unspoken.joint.mpc.correlated import transfers as transfer
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops import millionaires
from unspoken.joint.mpc.ops.logarithm import LOG_ERROR
from unspoken.joint.mpc.ops.selection import plain_keep
from unspoken.joint.mpc.ops.shared_bits import both
from unspoken.joint.mpc.shared import LIMIT
from unspoken.joint.session.run import run_local

pytestmark = pytest.mark.slow

pytest.importorskip("rbcl", reason="rbcl is not installed")
TWO, THREE = (2, "two-party"), (3, "two-party")


@pytest.mark.parametrize("circle", [TWO, THREE])
@settings(max_examples=8)
@given(pair=st.one_of(small, close))
def test_every_method_on_vectors(circle, pair):
    async def what(party, x, y):
        less, same = await less_than(party, x, y), await equal(party, x, y)
        return (await multiply(party, x, y), less, same, await both(party, less, ~same),
                await to_numbers(party, less), await dot(party, x, y), x - y * 3,
                *await argmin(party, x))

    x, y = pair
    product, less, same, and_not, number, scalar, line, place, least = compute(what, x, y, circle)
    assert np.array_equal(product, x * y)
    assert np.array_equal(less, x < y)
    assert np.array_equal(same, x == y)
    assert np.array_equal(and_not, (x < y) & (x != y))
    assert np.array_equal(number, (x < y).astype(int))
    assert scalar == x @ y
    assert np.array_equal(line, x - 3 * y)
    assert (place, least) == (np.argmin(x), x.min())


@pytest.mark.parametrize("circle", [TWO, THREE, (2, 2), (3, 3), (3, "three-party")])
@settings(max_examples=4)
@given(pair=close)
def test_keep(circle, pair):
    async def what(party, x, y):
        return tuple(await keep(party, await less_than(party, x, y), [x * 5 - 7, y]))

    x, y = pair
    one, other = compute(what, x, y, circle)
    assert np.array_equal(one, plain_keep(x < y, x * 5 - 7))
    assert np.array_equal(other, plain_keep(x < y, y))


def test_keep_keeps_bounds_and_scales_and_refuses_other_shapes():
    async def program(party, data):
        x = await share(party, data if party.index == 0 else None, "p0", (3,), 2, 9, 1)
        bits = await less_than(party, x, 5)
        [kept] = await keep(party, bits, [x])
        assert (kept.low, kept.high, kept.scale) == (0, 9, 1)
        with pytest.raises(RingError, match="of the bits' shape"):
            await keep(party, bits, [x[:2]])

    for mode in ("dealer", "two-party"):
        run_local(program, [np.array([1, 2, 3])] * 2, mode)


@settings(max_examples=8)
@given(data=st.data())
def test_matrices(data):
    n, k, m = data.draw(st.tuples(*[st.integers(1, 5)] * 3))
    cells = st.integers(-(2**20), 2**20)
    one = data.draw(hnp.arrays(np.int64, (n, k), elements=cells))
    other = data.draw(hnp.arrays(np.int64, (k, m), elements=cells))
    [got] = compute(lambda party, x, y: matmul(party, x, y), one, other, TWO)
    assert np.array_equal(got, one @ other)


def test_matrices_in_pieces(monkeypatch):
    # So few words at a time that pieces end in the middle of rows.
    monkeypatch.setattr(transfer_source, "_ROOM", 64 * 3 * 5)
    rng = np.random.default_rng(0)
    one, other = rng.integers(-(2**20), 2**20, (7, 4)), rng.integers(-(2**20), 2**20, (4, 3))
    [got] = compute(lambda party, x, y: matmul(party, x, y), one, other, TWO)
    assert np.array_equal(got, one @ other)


@settings(max_examples=8)
@given(values=hnp.arrays(np.int64, (50,), elements=st.integers(1 - LIMIT, LIMIT - 1)),
       bits=st.integers(1, 61))
def test_truncation_is_off_by_at_most_one(values, bits):
    [got] = compute(lambda party, x, y: truncate(party, x, bits), values, values, TWO,
                    (1 - LIMIT, LIMIT - 1))
    assert set(np.unique(got - (values >> bits))) <= {0, 1}


def test_truncation_is_unbiased():
    # A quarter in the last place: one in four is rounded up, and half a thousand of 2,000.
    values = np.full(2000, (5 << 20) + (1 << 18))
    [got] = compute(lambda party, x, y: truncate(party, x, 20), values, values, TWO,
                    (-LIMIT // 2, LIMIT // 2))
    assert abs((got == 6).sum() - 500) < 6 * np.sqrt(2000 * 3 / 16)


def test_functions_that_stand_on_these():
    x, y = np.array([1, 3, 1000, 12345]), np.array([2, 7, 3, 100])

    async def what(party, x, y):
        return (await log(party, x), await divide(party, x, y), await maximum(party, x, y),
                await floor(party, x, 3), (await argmax(party, x))[0])

    logs, ratio, most, down, place = on_shares(what, [x, y], [(0, 2**14), (1, 2**7)], TWO)
    assert np.abs(logs - np.log(x)).max() <= LOG_ERROR
    assert np.allclose(ratio, x / y, rtol=0, atol=1e-5)
    assert np.array_equal(most, np.maximum(x, y))
    assert np.array_equal(down, x >> 3)
    assert place == 3


def test_an_inverse_on_wide_shares():
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])

    async def what(party, m):
        return await narrow(party, await inverse(party, m, 4.0, 2.0**4), 30, 2.0**5)

    got = on_shares(what, [matrix], [("wide", 4.0, 48)], TWO)
    assert np.allclose(got, np.linalg.inv(matrix), rtol=0, atol=1e-8)


def test_comparisons_at_every_width():
    widths = [*range(1, 19), 31, 32, 33, 47, 61, 62]

    @declares("answer")
    async def program(party, data):
        out = []
        for width in widths:
            x = edges(width)
            low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
            shared = await share(party, x if party.index == 1 else None, "p1", x.shape, low, high)
            for bits in (await less_than(party, shared, 0), await equal(party, shared, 0)):
                out.append(await reveal(party, bits, because="answer"))
        return out

    for output, _ in run_local(program, [None] * 2, "two-party"):
        for place, width in enumerate(widths):
            assert np.array_equal(output[2 * place], edges(width) < 0)
            assert np.array_equal(output[2 * place + 1], edges(width) == 0)


def edges(width):
    high = 2 ** (width - 1) - 1
    ends = np.array([-high - 1, -high, -2, -1, 0, 1, 2, high - 1, high])
    return np.clip(np.repeat(ends, 9), -high - 1, high)


def test_blocks_and_pieces_do_not_change_comparisons(monkeypatch):
    monkeypatch.setattr(millionaires, "BLOCK", 128)
    monkeypatch.setattr(transfer, "PIECE", 3)
    x, y = np.random.default_rng(1).integers(-(2**20), 2**20, (2, 300))
    y[::7] = x[::7]
    less, same = compute(_both_tests, x, y, TWO)
    assert np.array_equal(less, x < y)
    assert np.array_equal(same, x == y)


async def _both_tests(party, x, y):
    return await less_than(party, x, y), await equal(party, x, y)


def test_nothing_to_compare_is_no_error():
    none = np.zeros(0, int)
    less, same = compute(_both_tests, none, none, TWO)
    assert less.size == same.size == 0


def test_every_kind_of_correlation_fits_together():
    async def program(party, data):
        return await party.draw(EXAMPLES)

    one, other = (output for output, _ in run_local(program, [None] * 2, "two-party"))
    for need, mine, theirs in zip(EXAMPLES, one, other, strict=True):
        assert [part.size for part in mine] == list(need.lengths)
        sums = [a + b for a, b in zip(mine, theirs, strict=True)]
        xors = [a ^ b for a, b in zip(mine, theirs, strict=True)]
        assert holds(need, sums, xors), need


def test_kinds_that_only_a_dealer_makes_are_refused():
    async def program(party, data):
        return await party.draw([Need("zeros", (3, 2))])

    with pytest.raises(RefusedError, match="kind 'zeros'"):
        run_local(program, [None] * 2, "two-party")


@pytest.mark.parametrize("count", [1, 2])
def test_odd_numbers_of_ands(count):
    async def program(party, data):
        return await party.draw([Need("ands", (count,))])

    (one, _), (other, _) = run_local(program, [None] * 2, "two-party")
    a, b, c = (x ^ y for x, y in zip(one[0], other[0], strict=True))
    assert np.array_equal(a & b, c)


def test_processes_over_tls():
    results = run_local(of_two, [np.arange(5), np.array([4, 1, 2, 0, 9])], "two-party",
                        processes=True)
    for less, product in (output for output, _ in results):
        assert list(less) == [True, False, False, False, True]
        assert list(product) == [0, 1, 4, 0, 36]
    for _, ledger in results:
        assert ledger.mode == "two-party"
        assert {row.peer for row in ledger.rows} == {"p0", "p1"} - {ledger.party}
