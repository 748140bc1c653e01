"""A sum that nobody can change: what others try ends the run, or is only their own input."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.computing import run
from support.deviating import as_party, in_message, labels, play
from support.hostile_party import force_send
from support.watching import masked_frames
from unspoken.joint import declares, secure_sum
from unspoken.joint.mpc.authentic.auth_sources import RELEASE
from unspoken.joint.mpc.correlated.sources import ASK
from unspoken.joint.wire.frames import Purpose, text_array

DATA = (np.arange(5), np.arange(5) * 10, np.arange(5) * 100)
TOTAL = np.arange(5) * 111


def summing(to=()):
    @declares("answer")
    async def program(party, data):
        return await secure_sum(party, data, because="answer", to=to)

    return program


@pytest.mark.slow
@pytest.mark.parametrize("to", [(), ("p0",), ("p2",), ("p1", "p2")])
@pytest.mark.parametrize("held", [2, 3])
def test_receivers_get_the_total(to, held):
    outputs = run(summing(to), list(DATA), "authenticated", held)
    for place, output in enumerate(outputs):
        if not to or f"p{place}" in to:
            assert output.tolist() == TOTAL.tolist()
        else:
            assert output is None


def plus_one(words):
    words.ravel()[0] += words.dtype.type(1)
    return words


def test_these_are_all_messages_of_a_holder():
    for name, sent in (("p0", {RELEASE}), ("p1", {"deal.ask"})):
        assert labels(name, summing(("p2",)), DATA) - {"agree"} == sent | {
            "sum.masked", "check.tags", "reveal"}


@pytest.mark.parametrize(("name", "label"), [
    ("p2", "sum.masked"), ("p0", RELEASE), ("p1", "reveal"), ("p0", "reveal"),
    ("p1", "check.tags"), ("p0", "check.tags")])
def test_whoever_sends_something_else_ends_the_run(name, label):
    change = in_message(label, plus_one)
    outcomes = play(as_party(name, change, summing(("p2",))), data=DATA)
    honest = [o for o in outcomes if o.name not in (name, "dealer")]
    if name == "p2":
        assert all(o.error is not None for o in honest)
    assert all(o.output is None for o in outcomes)


def test_the_key_of_a_total_waits_for_all_holders():
    """A holder that asks for the release alone is sent nothing."""
    def change(party):
        async def never(*_):
            raise RuntimeError("this holder has noticed something")

        party.engine.tagged.release = never

    outcomes = play(as_party("p0", change, summing()), data=DATA)
    assert all(o.output is None and o.error is not None for o in outcomes[:3])


OTHERS = {"another number": lambda wish: [wish.number + 1, wish.step, [["totals", 5]]],
          "another size": lambda wish: [wish.number, wish.step, [["totals", 6]]],
          "more than a total": lambda wish: [wish.number, wish.step, [["totals", 5],
                                                                      ["triple", 1]]]}


@pytest.mark.parametrize("what", OTHERS)
def test_a_holder_that_wishes_for_another_total_ends_the_run(what):
    def change(party):
        source = party.engine.tagged
        real = source._ask

        async def asked(wishes):
            if wishes[0].needs[0].kind != "totals":
                return await real(wishes)
            await force_send(party, "dealer", ASK, text_array(json.dumps(
                [OTHERS[what](wishes[0])])), Purpose.CONTROL)
            source._asked.extend(wishes)
            return None

        source._ask = asked

    outcomes = play(as_party("p1", change, summing()), data=DATA)
    assert all(o.output is None and o.error is not None for o in outcomes[:3])


def test_what_is_sent_is_masked():
    one, other = (masked_frames(summing(), list(DATA), "authenticated") for _ in range(2))
    assert one[1] == other[1]
    assert one[0]
    assert not set(map(bytes, one[0])) & set(map(bytes, other[0]))
