"""A value outside its declared bounds ends the run, whoever says it was checked."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from support.computing import run
from support.deviating import as_party, play
from support.hostile_party import unchecked
from unspoken.joint import declares, reveal, share, share_sum
from unspoken.joint.mpc.authentic import auth_engine, input_bounds
from unspoken.joint.mpc.ops import sharing

WORDS = {"one above": 1001, "one below": -1, "far above": 1 << 40, "top bit": 1 << 63,
         "far below": -(1 << 62)}


def lying(values):
    """Return what an owner shares that does not check its own values."""
    return np.array([int(v) % (1 << 64) for v in values], np.uint64)


def unchecked_owner(monkeypatch, word):
    """Let an owner share a word that its own code would have refused."""
    real = sharing.to_ring

    def forged(values, *rest):
        if values is not None and np.shape(values) == (3,) and int(values[1]) == 7:
            return lying([values[0], word, values[2]])
        return real(values, *rest)

    monkeypatch.setattr(sharing, "to_ring", forged)


def bounded(low, high, data):
    @declares("answer")
    async def program(party, _):
        x = await share(party, data if party.name == "p2" else None, "p2", (3,), low, high)
        return await reveal(party, x.sum(), because="answer")

    return program


@pytest.mark.parametrize("what", WORDS)
def test_a_value_outside_its_bounds_ends_the_run(monkeypatch, what):
    unchecked_owner(monkeypatch, WORDS[what])
    outcomes = play(bounded(0, 1000, np.array([5, 7, 9])), data=[None] * 3)
    for outcome in outcomes[:2]:
        assert outcome.output is None
        assert "'p2' shared a value outside its bounds" in str(outcome.error)


@pytest.mark.parametrize("word", [2, -1, 1 << 63, (1 << 63) + 1, 1 << 32])
def test_a_bit_that_is_none_ends_the_run(monkeypatch, word):
    unchecked_owner(monkeypatch, word)
    outcomes = play(bounded(0, 1, np.array([1, 7, 0])), data=[None] * 3)
    for outcome in outcomes[:2]:
        assert outcome.output is None
        assert "'p2' shared a value outside its bounds" in str(outcome.error)


def long_array(word):
    @declares("answer")
    async def program(party, _):
        own = np.full(2000, 7) if party.name == "p2" else None
        x = await share(party, own, "p2", (2000,), 0, 10)
        return await reveal(party, x[1], because="answer")

    return program


@pytest.mark.slow
@pytest.mark.parametrize("word", [1 << 16, -(1 << 16), 1 << 62, 1 << 63, -(1 << 62)])
def test_a_value_far_outside_is_found_in_a_long_array(monkeypatch, word):
    real = sharing.to_ring

    def forged(values, *rest):
        words = real(values, *rest)
        words[1999] = np.uint64(word % (1 << 64))
        return words

    assert all(o.error is None for o in play(long_array(word), data=[None] * 3))
    monkeypatch.setattr(sharing, "to_ring", forged)
    outcomes = play(long_array(word), data=[None] * 3)
    for outcome in outcomes[:2]:
        assert outcome.output is None
        assert "'p2' shared a value outside its bounds" in str(outcome.error)


def test_a_coin_is_tossed_after_promises():
    def change(party):
        swap, _ = unchecked(party)
        turns = {"bounds": 0}

        async def later(peers, label, array, purpose):
            if label == "check.tags" and party.count == turns.get("at", party.count):
                turns["bounds"] += 1
                turns["at"] = party.count
                if turns["bounds"] == 2:
                    array = array ^ np.uint8(1)
            return await swap(peers, label, array, purpose)

        party.swap = later

    outcomes = play(as_party("p1", change, long_array(0)), data=[None] * 3)
    assert "common coin is not the one it promised" in str(outcomes[0].error)


def halves_of_two_runs(monkeypatch):
    """Return the random words by which two runs choose the values of their sums."""
    chosen, real = [], input_bounds._half

    def half(piece, stream):
        kept = SimpleNamespace(words=lambda count: chosen.append(stream.words(count)) or chosen[-1])
        return real(piece, kept)

    with monkeypatch.context() as patch:
        patch.setattr(input_bounds, "_half", half)
        for _ in range(2):
            assert all(o.error is None for o in play(long_array(0), data=[None] * 3))
    one, *others = chosen[::2]
    return [np.array_equal(chosen[0], chosen[1]), np.array_equal(one, others[0])]


def test_sums_choose_values_by_a_coin_of_their_run(monkeypatch):
    """Both holders choose alike; who knew before which, could let values outside cancel."""
    assert halves_of_two_runs(monkeypatch) == [True, False]
    monkeypatch.setattr(input_bounds, "derive", lambda *_: bytes(32))
    assert halves_of_two_runs(monkeypatch) == [True, True]


def test_without_the_check_it_is_believed(monkeypatch):
    async def nothing(guarded):
        return None

    unchecked_owner(monkeypatch, 1 << 40)
    monkeypatch.setattr(auth_engine, "check_bounds", nothing)
    outcomes = play(bounded(0, 1000, np.array([5, 7, 9])), data=[None] * 3)
    assert outcomes[0].output == 5 + (1 << 40) + 9


@pytest.mark.parametrize(("low", "high"), [(1 - (1 << 61), (1 << 61) - 1), (0, 0), (-5, 3), (0, 1)])
def test_values_at_their_bounds_are_taken(low, high):
    @declares("answer")
    async def program(party, _):
        x = await share_sum(party, np.array([low, high]), (2,), low, high)
        return await reveal(party, x, because="answer")

    for output in run(program, [None] * 2, "authenticated"):
        assert output.tolist() == [2 * low, 2 * high]


def test_many_values_are_tested_in_blocks(monkeypatch):
    monkeypatch.setattr(auth_engine.TagEngine, "block", 64)

    @declares("answer")
    async def program(party, _):
        own = np.arange(200) if party.index == 0 else None
        x = await share(party, own, "p0", (200,), 0, 199)
        return await reveal(party, x, because="answer")

    for output in run(program, [None] * 2, "authenticated"):
        assert np.array_equal(output, np.arange(200))
