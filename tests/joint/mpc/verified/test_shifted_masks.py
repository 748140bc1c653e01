"""A third that deals shifts what one owner knows, by so little that no bound notices it."""

from __future__ import annotations

import numpy as np
import pytest

from support.deviating import as_party, in_message, play
from unspoken.joint import declares, reveal, share
from unspoken.joint.mpc.authentic import auth_dealing
from unspoken.joint.mpc.verified import verified_sources
from unspoken.joint.mpc.verified.verified_sources import ProvedSource

MODE = "three-party-verified"
VALUES = np.array([5, 7, 9])


def opening(owner, to):
    @declares("answer")
    async def program(party, _):
        own = VALUES if party.name == owner else None
        x = await share(party, own, owner, (3,), 0, 1000)
        return await reveal(party, x, because="answer", to=[to])

    return program


def shift(monkeypatch, turn):
    """Let the dealer deal one mask that is one more than its party knows, with its right tag."""
    real, wishes = auth_dealing._fitting, []

    def fitting(need, draws, known):
        parts = real(need, draws, known)
        wishes.extend([need] if need.kind == "masks" else [])
        if need.kind == "masks" and len(wishes) == turn:
            parts[0] = parts[0] + np.uint64(1)
        return parts

    monkeypatch.setattr(auth_dealing, "_fitting", fitting)


@pytest.mark.parametrize(("owner", "to"), [("p0", "p1"), ("p1", "p0")])
@pytest.mark.parametrize("turn", [1, 2])
def test_a_mask_that_is_one_more_ends_the_run(monkeypatch, owner, to, turn):
    """The first belongs to the input, the second to the result."""
    shift(monkeypatch, turn)
    outcomes = play(opening(owner, to), MODE, data=[None] * 3)
    assert all(o.output is None and "deviated" in str(o.error) for o in outcomes[:2])
    with monkeypatch.context() as patch:
        patch.setattr(ProvedSource, "_compare", lambda *_: None)
        shift(monkeypatch, turn)
        outcomes = play(opening(owner, to), MODE, data=[None] * 3)
    wrong = outcomes[int(to[1])].output
    assert wrong is not None
    assert wrong.tolist() != VALUES.tolist()


def showing_two_things():
    """Return how a run ends in which the third shows the holders different things once."""
    def other(words):
        words[:1] ^= np.uint64(1)
        return words

    change = in_message("proof.open", other, 1)
    return play(as_party("p2", change, opening("p0", "p1")), MODE, data=[None] * 3)


def test_holders_compare_what_they_were_shown_itself(monkeypatch):
    """What is left of a proof might be made to fit by who knows both holders' masks."""
    monkeypatch.setattr(verified_sources, "rests", lambda *_, **__: [])
    assert all("deviated" in str(outcome.error) for outcome in showing_two_things()[:2])
