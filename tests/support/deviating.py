"""One party that does not follow the protocol, in a run in memory."""

from __future__ import annotations

import asyncio

import numpy as np

from support.hostile_party import unchecked
from unspoken.joint import (
    declares,
    equal,
    less_than,
    matmul,
    multiply,
    reveal,
    share,
    to_numbers,
    truncate,
)
from unspoken.joint.mpc.authentic.tagged import bare
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for

A, B = np.array([1, 2, 3, 4, 5, 6]), np.array([11, 22, 33, 444, 55, 66])


@declares("answer")
async def everything(party, data):
    """Use every primitive on the values of two owners, and open what comes out to the holders."""
    x = await share(party, data if party.name == "p0" else None, "p0", (6,), 0, 1000)
    y = await share(party, data if party.name == "p2" else None, "p2", (6,), 0, 1000)
    product = await multiply(party, x, y)
    matrix = await matmul(party, x.reshape(2, 3), y.reshape(3, 2))
    number = await to_numbers(party, await less_than(party, x, y))
    same = await to_numbers(party, await equal(party, x, y))
    small = await truncate(party, product, 2)
    found = product.sum() + matrix.sum() + number.sum() + same.sum() + small.sum()
    return await reveal(party, found, because="answer", to=["p1", "p2"])


def play(program, mode="authenticated", data=(A, None, B), holders=None):
    """Run for three parties, of which the first two hold shares; return how it ended for each."""
    roles = roles_for([f"p{i}" for i in range(len(data))], mode, holders)
    return asyncio.run(in_memory(program, list(data), roles))


def unchecking(party):
    """Let a party that deviates find nothing wrong: only the others may end the run."""
    party.refuse = lambda *_: None


def as_party(name, change, program=everything):
    """Return the program in which one party changes something about itself first."""

    @declares("answer")
    async def deviating(party, data):
        if party.name == name:
            unchecking(party)
            change(party)
        return await program(party, data)

    return deviating


def in_message(label, spoil, turn=0):
    """Spoil what is sent under a label, the given time that it is."""
    seen = {"count": -1}

    def change(party):
        swap, send = unchecked(party)

        async def spoiled_swap(peers, name, array, purpose):
            return await swap(peers, name, _spoiled(name, array), purpose)

        async def spoiled_send(to, name, array, purpose):
            await send(to, name, _spoiled(name, array), purpose)

        party.swap, party.send = spoiled_swap, spoiled_send

    def _spoiled(name, array):
        if name != label:
            return array
        seen["count"] += 1
        return spoil(array.copy()) if seen["count"] == turn else array

    return change


def in_share(label, spoil):
    """Spoil the own share before it is opened, so that the party itself goes on with the error."""

    def change(party):
        guarded = party.engine.guarded

        def spoiling(real):
            async def spoiled(name, own, *purpose):
                if name == label:
                    own = own.copy()
                    spoil(bare(own))
                return await real(name, own, *purpose)

            return spoiled

        # Numbers are opened by the second, wherever they come from; bits by the first alone.
        if label in ("multiply.open", "matmul.open"):
            guarded.open_long = spoiling(guarded.open_long)
        else:
            guarded.open = spoiling(guarded.open)

    return change


class AsParty:
    """A task's program in which one party changes something about itself first."""

    def __init__(self, program, name, change):
        self.program, self.name, self.change = program, name, change
        self.disclosures = program.disclosures

    async def __call__(self, party, data):
        if party.name == self.name:
            unchecking(party)
            self.change(party)
        return await self.program(party, data)


def watched_labels(sent):
    """Return what puts every label that a party sends under into a dictionary."""
    def watch(party):
        swap, send = unchecked(party)

        async def watched_swap(peers, label, array, purpose):
            sent[label] = True
            return await swap(peers, label, array, purpose)

        async def watched_send(to, label, array, purpose):
            sent[label] = True
            await send(to, label, array, purpose)

        party.swap, party.send = watched_swap, watched_send

    return watch


def labels(name="p1", program=everything, data=(A, None, B), mode="authenticated"):
    """Return everything that a party sends to others in an honest run."""
    sent = {}
    watch = watched_labels(sent)
    outcomes = play(as_party(name, watch, program), mode, data=data)
    assert all(outcome.error is None for outcome in outcomes)
    return set(sent)
