"""Secure sums: right, refused where they would protect nobody, and drawn from fresh entropy."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.watching import masked_frames
from unspoken.errors import InputError
from unspoken.joint import secure_sum
from unspoken.joint.joint_errors import DisclosureError, RefusedError, RingError
from unspoken.joint.mpc import randomness as streams
from unspoken.joint.mpc.declared import Disclosure, declares
from unspoken.joint.mpc.ops.secure_sum import plain_sum, plan_masks
from unspoken.joint.mpc.shared import LIMIT
from unspoken.joint.museum.cycle_sum import cycle_sum, disjoint_cycles
from unspoken.joint.museum.ring_sum import ring_sum
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run import run_local, run_outcomes
from unspoken.joint.wire.endpoint import Roles
from unspoken.joint.wire.ledger import SENT

SUMS = {"masks": secure_sum, "ring": ring_sum, "cycles": cycle_sum}


def summing(method="masks", to=(), scale=0):
    @declares("total")
    async def program(party, data):
        return await SUMS[method](party, data, because="total", to=to, scale=scale)

    return program


def inputs(parties, elements):
    return st.integers(1, 6).flatmap(lambda n: st.lists(
        hnp.arrays(np.int64, (n,), elements=elements), min_size=parties, max_size=parties))


CASES = [("masks", 1), ("masks", 3), ("masks", 4), ("masks", 5), ("ring", 3), ("ring", 5),
         ("cycles", 5), ("cycles", 6)]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "parties"), CASES)
@settings(max_examples=15)
@given(data=st.data())
def test_the_sum_is_the_plain_sum(method, parties, data):
    bound = (LIMIT - 1) // parties
    given_ = data.draw(inputs(parties, st.integers(-bound, bound)))
    for output, ledger in run_local(summing(method), given_, "sums"):
        assert np.array_equal(output, plain_sum(given_))
        assert [opening.because for opening in ledger.learned()] == ["total"]


@given(inputs(3, st.integers(-1000, 1000)))
@settings(max_examples=10)
def test_fixed_point(given_):
    given_ = [array / 16 for array in given_]
    for output, _ in run_local(summing(scale=20), given_, "sums"):
        assert np.array_equal(output, plain_sum(given_))


def test_shapes_and_receivers():
    values = [np.full((2, 3), i) for i in range(4)]
    outputs = [output for output, _ in run_local(summing(to=["p2", "p0"]), values, "sums")]
    assert outputs[1] is None
    assert outputs[3] is None
    assert np.array_equal(outputs[0], np.full((2, 3), 6))
    assert np.array_equal(outputs[2], outputs[0])


def test_bytes_are_as_planned():
    results = run_local(summing(), [np.arange(50)] * 5, "sums")
    sent = sum(row.bytes for _, ledger in results for row in ledger.rows
               if row.direction == SENT and row.label.startswith("sum"))
    assert sent == plan_masks(5, 50, 5)["bytes"]


@pytest.mark.parametrize(("method", "parties", "why"), [
    ("masks", 2, "would subtract its own values"), ("ring", 2, "would subtract"),
    ("cycles", 4, "at least 5 owners"), ("cycles", 3, "at least 5 owners")])
def test_too_few_are_refused_with_the_reason(method, parties, why):
    with pytest.raises(RefusedError, match=why):
        run_local(summing(method), [np.arange(2)] * parties, "sums")


def test_what_is_refused_does_not_stand_in_the_ledger():
    for method, parties in (("masks", 2), ("cycles", 4)):
        for outcome in run_outcomes(summing(method), [np.arange(2)] * parties, "sums"):
            assert outcome.ledger.openings == []
            assert not any(row.label.startswith("sum") for row in outcome.ledger.rows)


def test_two_owners_may_open_their_total_to_a_third_without_data():
    roles = Roles(("a", "b", "c"), ("a", "b"))
    outcomes = asyncio.run(in_memory(summing(to=["c"]), [np.array([1]), np.array([2]),
                                                         np.array([0])], roles))
    assert [outcome.output for outcome in outcomes] == [None, None, np.array([3])]


@pytest.mark.parametrize("values", [np.array([LIMIT // 3 + 1]), np.array([np.inf]),
                                    np.array([0.5]), np.array(["x"]),
                                    np.array([2**64 - 1], np.uint64)])
def test_what_does_not_fit_is_refused_before_anything_is_sent(values):
    with pytest.raises(RingError) as caught:
        run_local(summing(), [values] * 3, "sums")
    assert str(int(values[0]) if values.dtype.kind in "iu" else "inf") not in str(caught.value)


def test_an_undeclared_total_is_refused():
    async def program(party, data):
        return await secure_sum(party, data, because="something")

    with pytest.raises(DisclosureError, match="'something' to p0, p1, p2 must be declared"):
        run_local(program, [np.arange(2)] * 3, "sums")


def test_a_total_declared_for_others_is_refused():
    @declares(Disclosure("total", ("p0",)))
    async def program(party, data):
        return await secure_sum(party, data, because="total", to=["p1"])

    with pytest.raises(DisclosureError, match="Declared: 'total' to p0"):
        run_local(program, [np.arange(2)] * 3, "sums")


def test_unknown_modes_are_refused():
    with pytest.raises(InputError, match="sums, dealer, authenticated, two-party, three-party"):
        run_local(summing(), [np.arange(2)] * 3, "magic")


@pytest.mark.parametrize("m", range(3, 20))
def test_cycles_have_no_edge_in_common(m):
    edges = [frozenset((cycle[i], cycle[i - 1])) for cycle in disjoint_cycles(m)
             for i in range(m)]
    assert len(disjoint_cycles(m)) == (m - 1) // 2
    assert all(sorted(cycle) == list(range(m)) for cycle in disjoint_cycles(m))
    assert len(set(edges)) == len(edges) == m * ((m - 1) // 2)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "parties"), [c for c in CASES if c[1] > 1])
def test_two_equal_runs_share_no_masked_frame(method, parties):
    given_ = [np.arange(4)] * parties
    one, _ = masked_frames(summing(method), given_)
    two, _ = masked_frames(summing(method), given_)
    assert one
    assert len(set(one)) == len(one)
    assert not set(one) & set(two)


def test_lengths_do_not_depend_on_values():
    _, zeros = masked_frames(summing(), [np.zeros(9, int)] * 4)
    _, large = masked_frames(summing(), [np.full(9, 2**58)] * 4)
    assert zeros == large


@pytest.mark.parametrize("method", ["ring", "cycles"])
def test_fresh_masks_come_from_the_operating_system(monkeypatch, method):
    drawn = []
    real = streams.secrets.token_bytes
    monkeypatch.setattr(streams.secrets, "token_bytes",
                        lambda n: drawn.append(n) or real(n))
    # numpy's generators must not be touched at all.
    for name in ("default_rng", "rand", "randint", "random", "bytes", "Generator"):
        monkeypatch.setattr(np.random, name, None)
    run_local(summing(method), [np.arange(3)] * 5, "sums")
    assert drawn.count(32) >= (1 if method == "ring" else 7)


def test_pair_keys_come_from_fresh_x25519_keys(monkeypatch):
    from unspoken.joint.mpc import party

    made = []

    class Watched:
        @staticmethod
        def generate():
            made.append(party_key.generate())
            return made[-1]

    party_key = party.X25519PrivateKey
    monkeypatch.setattr(party, "X25519PrivateKey", Watched)
    for _ in range(2):
        run_local(summing(), [np.arange(3)] * 3, "sums")
    assert len({key.private_bytes_raw() for key in made}) == 6
