"""What mode 'authenticated' refuses before a run, and functions on shares that it gets right."""

from __future__ import annotations

import numpy as np
import pytest

from support.computing import on_shares, run
from unspoken.joint import declares, equal, less_than, log, matmul, share, share_sum, split
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.authentic.auth_engine import TagEngine
from unspoken.joint.mpc.engines.modes import mode_of, usual_mode
from unspoken.joint.mpc.ops.choice import argmax, floor
from unspoken.joint.mpc.ops.division import RECIPROCAL_ERROR, divide
from unspoken.joint.mpc.ops.matrix_inverse import inverse
from unspoken.joint.mpc.ops.sharing import rerandomised
from unspoken.joint.wire.credentials import Member

TAGS = (3, "authenticated")


def test_it_is_the_default_of_a_study_with_a_dealer():
    assert usual_mode(dealer=True, shares=True).name == "authenticated"
    assert usual_mode(dealer=True, shares=False).name == "authenticated"


def test_the_semi_honest_mode_says_what_it_is():
    [note] = mode_of("dealer").notes(2)
    assert "semi-honest" in note
    assert "mode 'authenticated' ends the run" in note


def test_a_ledger_says_that_shares_had_tags():
    @declares("answer")
    async def program(party, _):
        return party.ledger.engine

    for engine in run(program, [None] * 2, "authenticated"):
        assert "with tags" in engine
        assert "not reviewed" in engine


def test_one_holder_is_refused():
    alone = Member("a", "127.0.0.1:1", ("owner", "holder"), "0" * 64, "")
    dealer = Member("d", "127.0.0.1:2", ("dealer",), "1" * 64, "")
    with pytest.raises(StudyError, match="two parties with the role 'holder'"):
        mode_of("authenticated").check([alone, dealer])


@pytest.mark.parametrize("between", [["p0", "p1"], ["p1", "p0"], ["p0", "p2"]])
def test_bits_are_split_between_two_parties(between):
    @declares("answer")
    async def program(party, _):
        own = np.array([1, 0, 1]) if party.index == 0 else None
        bits = await share(party, own, "p0", (3,), 0, 1)
        return await split(party, bits, 101, between)

    outputs = run(program, [None] * 3, "authenticated")
    one, other = (outputs[int(name[1])] for name in between)
    assert ((one + other) % np.uint64(101) == [1, 0, 1]).all()
    assert [out is None for out in outputs] == [f"p{i}" not in between for i in range(3)]


def test_shares_are_not_kept_beyond_the_run():
    @declares("answer")
    async def program(party, _):
        own = np.ones(2, np.int64) if party.index == 0 else None
        return rerandomised(party, await share(party, own, "p0", (2,), 0, 1))

    with pytest.raises(RefusedError, match="cannot be kept beyond their run"):
        run(program, [None, None], "authenticated")


@pytest.mark.slow
def test_functions_are_as_near_as_in_mode_dealer():
    x, y = np.array([3, 50, 700, 1]), np.array([7, 9, 11, 1000])
    bounds = [(0, 1000), (1, 1000)]
    quotient = on_shares(divide, [x, y], bounds, TAGS)
    # What `divide` promises: 5e-9 of itself, and a unit in the last place.
    assert (np.abs(quotient - x / y) <= RECIPROCAL_ERROR * x / y + 2.0**-29).all()

    async def logs(party, one, other):
        return await log(party, other)

    assert np.abs(on_shares(logs, [x, y], bounds, TAGS) - np.log(y)).max() < 1e-7

    async def floors(party, one, other):
        return await floor(party, one, 2)

    assert (on_shares(floors, [x, y], bounds, TAGS) == x >> 2).all()
    place, most = on_shares(lambda party, one, other: argmax(party, one), [x, y], bounds, TAGS)
    assert (place, most) == (2, 700)


def test_logarithms_of_many_values_come_from_their_bits():
    values = np.arange(1, 1100)

    async def logs(party, one):
        return await log(party, one)

    assert np.abs(on_shares(logs, [values], [(1, 5000)], TAGS) - np.log(values)).max() < 1e-7


@pytest.mark.slow
def test_a_matrix_is_inverted():
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])

    async def inverted(party, wide):
        from unspoken.joint import narrow

        return await narrow(party, await inverse(party, wide, 8.0, 2.0**8), 30, 4)

    found = on_shares(inverted, [matrix], [("wide", 8.0, 48)], TAGS)
    assert np.abs(found - np.linalg.inv(matrix)).max() < 1e-7


@pytest.mark.slow
def test_comparisons_in_several_blocks_are_asked_for_at_once(monkeypatch):
    monkeypatch.setattr(TagEngine, "block", 64)
    x, y = np.arange(200) % 17, np.arange(200) % 13

    async def compared(party, one, other):
        return await less_than(party, one, other), await equal(party, one, other)

    less, same = on_shares(compared, [x, y], [(0, 20), (0, 20)], TAGS)
    assert np.array_equal(less, x < y)
    assert np.array_equal(same, x == y)


def test_long_inner_axes_are_exact():
    one = np.arange(3000).reshape(2, 1500) - 700
    other = np.arange(3000).reshape(1500, 2) * 3

    @declares("answer")
    async def program(party, _):
        from unspoken.joint import reveal

        x = await share_sum(party, one if party.index == 0 else one * 0, one.shape, -3000, 3000)
        y = await share_sum(party, other if party.index else other * 0, other.shape, 0, 9000)
        return await reveal(party, await matmul(party, x, y), because="answer")

    for output in run(program, [None, None], "authenticated"):
        assert np.array_equal(output, one @ other)
