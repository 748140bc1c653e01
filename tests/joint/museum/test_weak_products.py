"""A'B of two owners: by shares, and by the book's weak protocols, which must be asked for."""

from __future__ import annotations

import numpy as np
import pytest

from support.computing import run
from unspoken.joint import narrow, reveal
from unspoken.joint.joint_errors import DisclosureError, RefusedError
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.randomness import Stream, fresh_seed
from unspoken.joint.museum.weak_products import WEAK, common_rotation, is_k_secure, matrix_product
from unspoken.joint.session.recorded_run import coalition, run_recorded
from unspoken.joint.wire.transports.recording import Recording

ROWS = 31
rng = np.random.default_rng(0)
A, B = rng.normal(size=(ROWS, 3)), rng.normal(size=(ROWS, 2))


def product(method, parties=2):
    @declares(WEAK, "answer")
    async def program(party, data):
        found = await matrix_product(party, data, ["p0", "p1"], ROWS, (3, 2), method=method,
                                     most=8.0)
        if method != "commodity":
            return found
        return await reveal(party, await narrow(party, found, 40, 2.0**12), because="answer")

    return program


def inputs(parties):
    return [A, B, None][:parties]


@pytest.mark.parametrize("parties", [2, 3])
def test_the_commodity_server_is_the_dealer_over_the_ring(parties):
    for output in run(product("commodity"), inputs(parties)):
        assert np.abs(output - A.T @ B).max() <= ROWS * 2.0**-38


@pytest.mark.parametrize("parties", [2, 3])
def test_protocol_one_leaves_a_part_with_each(parties):
    first, second, *rest = run(product("protocol-1"), inputs(parties))
    assert np.allclose(first + second, A.T @ B, atol=1e-10)
    assert not np.allclose(first, A.T @ B, atol=1e-3)
    assert rest == [None] * (parties - 2)


def test_protocol_two_tells_both_the_product():
    for output in run(product("protocol-2"), inputs(2)):
        assert np.allclose(output, A.T @ B, atol=1e-10)


@pytest.mark.parametrize("method", ["protocol-1", "protocol-2"])
@pytest.mark.parametrize("column", [rng.integers(0, 2, ROWS), rng.integers(0, 15, ROWS),
                                    np.where(np.arange(ROWS) < 17, 0.0, rng.normal(size=ROWS))])
def test_columns_whose_values_repeat_are_refused(method, column):
    with pytest.raises(RefusedError, match=r"a linear program find them\. Use method 'commodity'"):
        run(product(method), [np.column_stack([A[:, :2], column]), B])


def test_nothing_is_sent_before_the_refusal():
    outcomes, views = run_recorded(product("protocol-1"), [np.round(A), B])
    assert any(isinstance(outcome.error, RefusedError) for outcome in outcomes)
    assert not any(one.source == "p0" for one in views["p1"].received
                   if one.label.startswith("protocol"))


@pytest.mark.parametrize("method", ["protocol-1", "protocol-2"])
def test_what_they_give_away_must_be_declared_and_stands_in_the_ledger(method):
    program = product(method)
    outcomes, _ = run_recorded(program, inputs(2))
    assert all(WEAK in str(outcome.ledger.given()) for outcome in outcomes[:2])
    program.disclosures = ()
    with pytest.raises(DisclosureError, match="weak protocol"):
        run(program, inputs(2))


def test_an_unknown_method_is_refused():
    with pytest.raises(RefusedError, match="commodity, protocol-1, protocol-2"):
        run(product("protocol-3"), inputs(2))


def test_random_rotations_are_k_secure():
    m = common_rotation(Stream(fresh_seed()), 8)
    assert np.allclose(m.T @ m, np.eye(8))
    assert is_k_secure(m[:, :4], 4)
    assert not is_k_secure(m[:, :4], 5)
    assert not is_k_secure(np.eye(8)[:, :4], 1)


def test_runs_are_recorded_only_on_demand():
    outcomes, views = run_recorded(product("commodity"), inputs(3), "three-party")
    assert [outcome.error for outcome in outcomes] == [None] * 3
    for name, view in views.items():
        assert view.parties == (name,)
        assert {one.to for one in view.received} == {name}
        assert str(view.received[0].array.ravel()[0]) not in repr(view)
    both = coalition([views["p0"], views["p1"]])
    assert both.parties == ("p0", "p1")
    assert len(both.received) == len(views["p0"].received) + len(views["p1"].received)
    assert {one.source for one in both.labelled("deal.correction")} == {"p2"}

    @declares("answer")
    async def program(party, data):
        return isinstance(party.seam, Recording)

    assert run(program, [None, None]) == [False, False]
