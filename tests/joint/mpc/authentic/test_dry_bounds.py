"""Plans of authenticated studies: blank inputs pass the tests, which cost what they really do."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from unspoken.joint import declares, reveal, share
from unspoken.joint.session.dry_run import dry_run
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.hollow_arrays import hollow
from unspoken.joint.wire.ledger import SENT


def summed(size, low, high):
    """Return a program that shares values and opens their sum."""
    @declares("answer")
    async def program(party, data):
        x = await share(party, data, "p0", (size,), low, high)
        return await reveal(party, x.sum(), because="answer")

    return program


def sent(ledgers):
    """Return the bytes of programs' messages, by label."""
    rows = [(row.label, row.bytes) for ledger in ledgers for row in ledger.rows
            if row.direction == SENT and row.label]
    return {label: sum(size for name, size in rows if name == label) for label, _ in rows}


@pytest.mark.slow
@pytest.mark.parametrize("held", [2, 3])
@pytest.mark.parametrize(("size", "low", "high"), [
    (3, 1, 10), (900, -10, -5), (3, 0, 1), (5000, 0, 1), (5000, 1, 10)])
def test_a_plan_takes_blank_inputs_and_says_what_runs_cost(held, size, low, high):
    names = [f"p{i}" for i in range(held)]
    roles, program = roles_for(names, "authenticated", names), summed(size, low, high)
    dry = dry_run(program, {"p0": np.zeros(size)}, roles, program.disclosures)
    inputs = [np.full(size, high), *[None] * (held - 1)]
    outcomes = asyncio.run(in_memory(program, inputs, roles))
    assert [outcome.error for outcome in outcomes] == [None] * (held + 1)
    costs = sent(dry.ledgers.values())
    assert costs["bounds.open"]
    assert costs == sent(outcome.ledger for outcome in outcomes)


def test_bits_of_a_hollow_matrix_lie_along_their_axis():
    assert np.unpackbits(hollow((6, 5), np.uint8), axis=1).shape == (6, 40)
    assert np.unpackbits(hollow((6, 5), np.uint8), axis=0, count=7).shape == (7, 5)
    assert np.unpackbits(hollow((6, 5), np.uint8)).shape == (240,)
