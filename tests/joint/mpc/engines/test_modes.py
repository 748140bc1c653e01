"""Every mode says what it needs, and an engine gives everybody the same steps."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from unspoken.errors import InputError
from unspoken.joint import declares, keep, less_than, reveal, run_local, share
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.engines.dealt_engine import DealtEngine
from unspoken.joint.mpc.engines.modes import MODE_NAMES, MODES, mode_of, usual_mode
from unspoken.joint.mpc.engines.spu import spu_handle
from unspoken.joint.mpc.engines.spu.spu_engine import SpuEngine
from unspoken.joint.mpc.engines.two_party.transfer_engine import TransferEngine
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.play import in_memory
from unspoken.joint.wire.endpoint import Roles
from unspoken.joint.wire.transports.memory import memory_transports

ENGINES = (DealtEngine, TransferEngine, SpuEngine)


def test_every_mode_has_a_name_of_its_own_and_is_found_by_it():
    assert len(set(MODE_NAMES)) == len(MODES)
    assert [mode_of(name) for name in MODE_NAMES] == list(MODES)
    with pytest.raises(InputError, match="sums, dealer, authenticated, two-party, three"):
        mode_of("magic")


def test_the_usual_mode_is_what_the_parties_can_run(monkeypatch):
    assert usual_mode(dealer=True, shares=True).dealer_outside
    monkeypatch.setattr("unspoken.joint.mpc.engines.spu.spu_engine.spu_python", lambda: None)
    assert not usual_mode(dealer=False, shares=True).has_shares
    monkeypatch.setattr("unspoken.joint.mpc.engines.spu.spu_engine.spu_python", lambda: "python")
    assert usual_mode(dealer=False, shares=True).first_holders == max(spu_handle.NAMES)
    assert not usual_mode(dealer=False, shares=False).has_shares


async def operations(engine):
    """Run every operation once; return the shapes of what comes out."""
    words, plane = np.zeros(70, np.uint64), np.zeros(2, np.uint64)
    return [found.shape for found in (
        await engine.multiply(words, words), await engine.truncate(words, 3),
        await engine.matmul(words.reshape(7, 10), words.reshape(10, 7)),
        await engine.below_zero(words, 8), await engine.is_zero(words, 8),
        await engine.both(plane, plane, 70), await engine.to_numbers(plane, 70),
        await engine.keep(plane, np.stack([words, words])))]


@pytest.mark.parametrize("kind", ENGINES)
def test_who_holds_no_shares_gets_zeros_of_the_same_shapes(kind):
    async def run():
        names = ("a", "b", "c")
        party = Party(memory_transports(names)["c"], Roles(names, names, ("a", "b"), "d"))
        party.engine = engine = kind(party)
        await engine.open()
        shapes = await operations(engine)
        await engine.finish()
        await engine.close()
        return shapes

    assert asyncio.run(run()) == [(70,), (70,), (7, 7), (2,), (2,), (2,), (70,), (2, 70)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["dealer", "two-party", "three-party"])
def test_bystanders_and_holders_take_the_same_steps(mode):
    if mode == "two-party":
        pytest.importorskip("rbcl")

    @declares("answer")
    async def program(party, data):
        x = await share(party, data if party.index == 0 else None, "p0", (3,), -9, 9)
        [kept] = await keep(party, await less_than(party, x, 0), [x])
        await reveal(party, kept, because="answer")
        return party.count

    steps = [count for count, _ in run_local(program, [np.array([-1, 0, 1]), None, None], mode)]
    assert len(set(steps)) == 1


def test_several_holders_without_a_dealer_are_refused():
    async def program(party, data):
        return None

    roles = Roles(("a", "b"), ("a", "b"), ("a", "b"))
    outcomes = asyncio.run(in_memory(program, [None, None], roles))
    # Whoever comes to it first refuses; the other may hear of that before.
    assert any(isinstance(outcome.error, RefusedError) for outcome in outcomes)
    assert all(outcome.error is not None for outcome in outcomes)
