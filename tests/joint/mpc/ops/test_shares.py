"""Shared arrays: every operation against its plain reference, and nothing comes out by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.joint_programs import everything
from support.shared_pairs import close, compute, small
from support.watching import masked_frames
from unspoken.errors import InputError
from unspoken.joint import (
    argmin,
    dot,
    equal,
    less_than,
    matmul,
    multiply,
    reveal,
    share,
    share_sum,
    to_numbers,
    truncate,
)
from unspoken.joint.joint_errors import DisclosureError, RefusedError, RingError
from unspoken.joint.mpc.declared import Disclosure, declares
from unspoken.joint.mpc.ops.argmin import plain_argmin
from unspoken.joint.mpc.ops.less_than import plain_equal, plain_less_than, tree, width_of
from unspoken.joint.mpc.ops.products import plain_multiply
from unspoken.joint.mpc.ops.shared_bits import both
from unspoken.joint.mpc.ops.truncation import plain_truncate
from unspoken.joint.mpc.shared import LIMIT, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.wire.ledger import RECEIVED

pytestmark = pytest.mark.slow

# How many parties, and how many of them hold shares; in three-party mode one of them deals.
CIRCLES = [(1, 1), (2, 2), (3, 2), (3, 3), (5, 2), (5, 5), (3, "three-party")]
few = settings(max_examples=12)


@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(pair=small)
def test_sharing_adding_and_scaling(circle, pair):
    async def what(party, x, y):
        return x + y, x - y, -x, x * 3 - 5, (2 - x).sum(), x.reshape(-1, 1).sum(axis=1)

    x, y = pair
    got = compute(what, x, y, circle)
    for value, expected in zip(got, (x + y, x - y, -x, x * 3 - 5, (2 - x).sum(), x), strict=True):
        assert np.array_equal(value, expected)


@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(pair=small)
def test_multiply(circle, pair):
    [got] = compute(lambda party, x, y: multiply(party, x, y), *pair, circle)
    assert np.array_equal(got, plain_multiply(*pair))


@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(data=st.data())
def test_matmul_and_dot(circle, data):
    n, k, m = data.draw(st.tuples(*[st.integers(1, 4)] * 3))
    cells = st.integers(-(2**20), 2**20)
    one = data.draw(hnp.arrays(np.int64, (n, k), elements=cells))
    other = data.draw(hnp.arrays(np.int64, (k, m), elements=cells))

    async def what(party, x, y):
        return await matmul(party, x, y), await dot(party, x[0], y[:, 0])

    product, scalar = compute(what, one, other, circle)
    assert np.array_equal(product, one @ other)
    assert scalar == one[0] @ other[:, 0]


@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(pair=st.one_of(small, close))
def test_comparisons(circle, pair):
    async def what(party, x, y):
        less, same = await less_than(party, x, y), await equal(party, x, y)
        return (less, same, ~less, less ^ same, await both(party, less, ~same),
                await to_numbers(party, same))

    x, y = pair
    less, same, not_less, either, and_not, number = compute(what, x, y, circle)
    assert np.array_equal(less, plain_less_than(x, y))
    assert np.array_equal(same, plain_equal(x, y))
    assert np.array_equal(not_less, x >= y)
    assert np.array_equal(either, x <= y)
    assert np.array_equal(and_not, (x < y) & (x != y))
    assert np.array_equal(number, (x == y).astype(int))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 9, 17, 31, 32, 33, 47, 61, 62])
def test_comparisons_at_every_width(width):
    high = 2 ** (width - 1) - 1
    ends = np.array([-high - 1, -high, -1, 0, 1, high - 1, high])
    x = np.clip(np.repeat(ends, 7), -high - 1, high)

    async def what(party, x, y):
        return (await less_than(party, x, 0), await equal(party, x, 0), await less_than(party, x, 1)
                if width > 1 else await equal(party, x, -1))

    less, same, third = compute(what, x, x, (2, 2), (-high - 1, high))
    assert np.array_equal(less, x < 0)
    assert np.array_equal(same, x == 0)
    assert np.array_equal(third, x < 1 if width > 1 else x == -1)


def test_the_width_is_the_least():
    assert [width_of(*interval) for interval in
            ((0, 0), (-1, 0), (0, 1), (-2, 1), (-3, 1), (-128, 127), (0, 128))] == \
        [1, 1, 2, 2, 3, 8, 9]
    assert tree(63) == [31, 16, 8, 4, 2, 1]
    assert sum(tree(63)) == 62


def test_bytes_of_a_comparison_are_as_the_sheet_says():
    n = 6400

    @declares("answer")
    async def program(party, data):
        x = await share(party, data if party.index == 0 else None, "p0", (n,), -2**61, 2**61)
        await less_than(party, x, 0)

    results = run_local(program, [np.zeros(n, int)] * 2)
    opened = sum(row.bytes for _, ledger in results for row in ledger.rows
                 if row.direction == RECEIVED and row.label.startswith("compare"))
    dealt = sum(row.bytes for _, ledger in results for row in ledger.rows
                if row.direction == RECEIVED and row.label == "deal.correction")
    # 63 bits here: 62.5 and 23.5 bytes are for 64; headers are a few bytes a comparison.
    assert opened / n < 62.5
    assert dealt / n < 23.5


@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(data=st.data())
def test_argmin_finds_the_first_of_the_least(circle, data):
    shape = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 9)))
    values = data.draw(hnp.arrays(np.int64, shape, elements=st.integers(-4, 4)))
    place, least = compute(lambda party, x, y: argmin(party, x), values, values, circle)
    assert np.array_equal(place, plain_argmin(values))
    assert np.array_equal(least, values.min(axis=-1))


@pytest.mark.parametrize("circle", CIRCLES)
@few
@given(values=hnp.arrays(np.int64, (50,), elements=st.integers(1 - LIMIT, LIMIT - 1)),
       bits=st.integers(1, 61))
def test_truncation_is_off_by_at_most_one(circle, values, bits):
    [got] = compute(lambda party, x, y: truncate(party, x, bits), values, values, circle,
                    (1 - LIMIT, LIMIT - 1))
    assert set(np.unique(got - plain_truncate(values, bits))) <= {0, 1}


def test_fixed_point_products():
    @declares("answer")
    async def program(party, data):
        x = await share(party, data if party.index == 0 else None, "p0", (3,), -2**24, 2**24, 16)
        product = await multiply(party, x, x)
        assert product.scale == 32
        return await reveal(party, await truncate(party, product, 16), because="answer")

    values = np.array([1.5, -2.25, 100.0])
    for output, _ in run_local(program, [values] * 2):
        assert np.abs(output - values**2).max() <= 2**-16


def test_share_sum_is_the_sum_of_all_owners():
    @declares("answer")
    async def program(party, data):
        total = await share_sum(party, data, (2, 2), 0, 10)
        assert (total.low, total.high) == (0, 10 * len(party.names))
        return await reveal(party, total, because="answer", to=["p1"])

    outputs = [output for output, _ in run_local(program, [np.full((2, 2), i) for i in range(5)])]
    assert np.array_equal(outputs[1], np.full((2, 2), 10))
    assert outputs[:1] + outputs[2:] == [None] * 4


def refused(what, one=(1, 2), bounds=(-(2**40), 2**40), error=RingError, match=""):
    with pytest.raises(error, match=match):
        compute(what, np.array(one), np.array(one), (2, 2), bounds)


def test_overflow_is_refused_when_it_is_planned():
    async def added(party, x, y):
        for _ in range(30):
            x = x + x
        return x

    async def scaled(party, x, y):
        return x * 2**30

    refused(lambda party, x, y: multiply(party, x, y), match=r"2\^62")
    refused(lambda party, x, y: matmul(party, x.reshape(1, 2), y.reshape(2, 1)), match=r"2\^62")
    refused(added, match=r"2\^62")
    refused(scaled, match=r"2\^62")
    refused(added, bounds=(-LIMIT, LIMIT), match=r"2\^62")


def test_values_outside_their_bounds_are_refused_and_not_named():
    with pytest.raises(RingError, match="must lie between -10 and 10") as caught:
        compute(lambda party, x, y: multiply(party, x, y), np.array([4711]), np.array([1]), (2, 2),
                (-10, 10))
    assert "4711" not in str(caught.value)


def test_a_wrong_shape_is_refused():
    async def program(party, data):
        await share(party, np.zeros(3) if party.index == 0 else None, "p0", (2,), 0, 1)

    with pytest.raises(RingError, match="of shape"):
        run_local(program, [None, None])


def test_scales_must_match_and_products_must_fit():
    async def program(party, data):
        x = await share(party, data if party.index == 0 else None, "p0", (2,), 0, 99, 4)
        y = await share(party, data if party.index == 0 else None, "p0", (2,), 0, 99, 5)
        with pytest.raises(RingError, match="scales"):
            x + y
        with pytest.raises(RingError, match="scales"):
            concatenate([x, y])
        with pytest.raises(RingError, match="n x k"):
            await matmul(party, x, y)
        with pytest.raises(RingError, match="between 1 and 61"):
            await truncate(party, x, 0)

    run_local(program, [np.zeros(2, int)] * 2)


def test_nothing_comes_out_of_a_shared_value_by_itself():
    async def program(party, data):
        x = await share(party, data if party.index == 0 else None, "p0", (2,), 0, 9)
        bits = await less_than(party, x, 3)
        for value in (x, bits):
            with pytest.raises(TypeError, match="only through"):
                np.asarray(value)
            with pytest.raises(TypeError, match="Nobody knows"):
                bool(value)
            assert str(int(x.share.ravel()[0])) not in repr(value)
        with pytest.raises(TypeError, match="Two shared values"):
            x * x

    run_local(program, [np.array([1, 2])] * 2)


def test_an_undeclared_value_stays_inside():
    async def program(party, data):
        x = await share(party, data if party.index == 0 else None, "p0", (1,), 0, 9)
        return await reveal(party, x, because="curiosity")

    with pytest.raises(DisclosureError, match="'curiosity' to p0, p1 must be declared"):
        run_local(program, [np.array([1])] * 2)


def test_the_ledger_names_every_opening():
    @declares(Disclosure("the sum", ("p1",)))
    async def program(party, data):
        x = await share_sum(party, data, (3,), 0, 9)
        await reveal(party, x, because="the sum", to=["p1"])

    ledgers = [ledger for _, ledger in run_local(program, [np.arange(3)] * 3)]
    assert [len(ledger.learned()) for ledger in ledgers] == [0, 1, 0]
    assert [len(ledger.given()) for ledger in ledgers] == [1, 0, 1]


@pytest.mark.parametrize(("parties", "holders"), [(2, None), (4, None), (3, ["p0"])])
def test_three_party_mode_is_for_three(parties, holders):
    async def program(party, data):
        pass

    with pytest.raises(InputError, match=r"exactly 3 parties|two of p0, p1, p2"):
        run_local(program, [None] * parties, "three-party", holders=holders)


def test_in_three_party_mode_nobody_else_takes_part():
    @declares("answer")
    async def program(party, data):
        x = await share_sum(party, data, (4,), 0, 9)
        return await reveal(party, await less_than(party, x, 5), because="answer")

    results = run_local(program, [np.arange(4)] * 3, "three-party", holders=["p2", "p0"])
    for output, ledger in results:
        assert list(output) == [True, True, False, False]
        assert {row.peer for row in ledger.rows} == {"p0", "p1", "p2"} - {ledger.party}
        assert not any(row.label == "deal.ask" for row in ledger.rows)


MODES = [("dealer", None), ("dealer", ["p0", "p1", "p2"]), ("three-party", None)]


@pytest.mark.parametrize(("mode", "holders"), MODES)
def test_lengths_do_not_depend_on_values(mode, holders):
    lengths = [masked_frames(everything, [np.full(5, value)] * 3, mode, holders)[1]
               for value in (0, -1000, 1000)]
    assert lengths[0] == lengths[1] == lengths[2]


@pytest.mark.parametrize(("mode", "holders"), MODES)
def test_two_equal_runs_share_no_masked_frame(mode, holders):
    one, two = (masked_frames(everything, [np.arange(5)] * 3, mode, holders)[0] for _ in range(2))
    assert len(one) == len(two)
    # Two narrow values may be the same by chance; eight bytes are not.
    assert not {frame for frame in one if len(frame) >= 8} & set(two)


def test_shares_need_two_holders():
    async def program(party, data):
        await share(party, None, "p0", (1,), 0, 9)

    with pytest.raises(RefusedError, match="A single holder would see every value"):
        run_local(program, [None] * 3, holders=["p1"])
    with pytest.raises(RefusedError, match="Mode 'sums' has none"):
        run_local(program, [None] * 3, "sums")
