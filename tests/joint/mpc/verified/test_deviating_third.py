"""The third owner deals wrongly: whatever it does, both holders end the run, and nothing leaves."""

from __future__ import annotations

import numpy as np
import pytest

from support.deviating import A, B, as_party, everything, in_message, labels, play
from unspoken.joint import multiply, reveal, share, truncate
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.authentic import auth_dealing, input_bounds
from unspoken.joint.mpc.verified import verified_sources
from unspoken.joint.mpc.verified.verified_engine import ProvedEngine
from unspoken.joint.mpc.verified.verified_sources import ProvedSource, ProverSource

MODE = "three-party-verified"
SENT = ["deal.correction", "proof.deal", "proof.open", "share"]
TRUE = (A * B).sum() + (A.reshape(2, 3) @ B.reshape(3, 2)).sum() + (A < B).sum() + (A == B).sum()


def first_word(words):
    words.ravel()[0] ^= words.dtype.type(1)
    return words


def last_word(words):
    words.ravel()[-1] ^= np.uint64(1 << 63)
    return words


def middle_word(words):
    words.ravel()[words.size // 2] += np.uint64(1 << 40)
    return words


def ended(outcomes, cheat="p2"):
    assert not any(isinstance(o.error, RefusedError) for o in outcomes)
    honest = [o for o in outcomes if o.name != cheat]
    return all(o.error is not None and o.output is None for o in honest)


def right(outcomes):
    """Say whether the result is the true one; truncation gives the floor or one more."""
    low = TRUE + ((A * B) >> 2).sum()
    return all(low <= outcomes[place].output <= low + 6 for place in (1, 2))


def test_honest_parties_get_the_result():
    outcomes = play(everything, MODE)
    assert [outcome.error for outcome in outcomes] == [None] * 3
    assert right(outcomes)
    assert outcomes[0].output is None
    assert all("tags and proofs" in outcome.ledger.engine for outcome in outcomes)
    assert all("proofs of what is dealt" in outcome.ledger.own_primitives for outcome in outcomes)


def test_these_are_all_messages_of_the_third():
    assert labels("p2", mode=MODE) == set(SENT)


@pytest.mark.slow
@pytest.mark.parametrize(("label", "turn"), [*(("deal.correction", turn) for turn in range(7)),
                                              ("proof.deal", 0), ("proof.deal", 1),
                                              *(("proof.open", turn) for turn in range(4))])
@pytest.mark.parametrize("spoil", [middle_word, last_word])
def test_a_wrong_message_ends_the_run(label, spoil, turn):
    outcomes = play(as_party("p2", in_message(label, spoil, turn)), MODE)
    assert ended(outcomes)
    assert "deviated" in " ".join(str(o.error) for o in outcomes)


@pytest.mark.parametrize("label", SENT)
def test_a_message_of_another_length_ends_the_run(label):
    assert ended(play(as_party("p2", in_message(label, lambda words: words[:-1])), MODE))


def test_an_old_proof_sent_again_ends_the_run():
    kept = {}

    def replay(words):
        kept.setdefault(words.size, words)
        return kept[words.size]

    def change(party):
        for turn in range(20):
            in_message("proof.open", replay, turn)(party)

    outcomes = play(as_party("p2", change, again), MODE)
    assert ended(outcomes)


async def again(party, data):
    """Multiply and open; the last two proofs before an opening are of the same length."""
    x = await share(party, data if party.name == "p0" else None, "p0", (6,), 0, 1000)
    y = await share(party, data if party.name == "p2" else None, "p2", (6,), 0, 1000)
    for _ in range(3):
        answer = await reveal(party, await multiply(party, x, y), because="answer")
    return answer


def test_showing_the_holders_different_things_ends_the_run():
    sent = {"count": 0}

    def second(words):
        sent["count"] += 1
        return first_word(words)

    outcomes = play(as_party("p2", in_message("proof.open", second, 1)), MODE)
    assert sent["count"] == 1
    assert ended(outcomes)


@pytest.mark.parametrize("place", [0, 1])
def test_other_seeds_than_it_uses_end_the_run(monkeypatch, place):
    real = verified_sources.send_seeds

    async def other(dealer, seeds):
        changed = list(seeds)
        changed[place] = bytes([changed[place][0] ^ 1]) + changed[place][1:]
        await real(dealer, changed)

    monkeypatch.setattr(verified_sources, "send_seeds", other)
    assert ended(play(everything, MODE))


def test_another_owners_mask_cannot_be_shifted(monkeypatch):
    """The owner's own seed is another than the dealer uses: its input would be another one."""
    async def swapped(self):
        party, own = self._party, list(self._own)
        self._own[0] = bytes(32)
        await real(self)
        self._own = own
        assert party.name == "p2"

    real = ProverSource.open
    monkeypatch.setattr(ProverSource, "open", swapped)
    assert ended(play(everything, MODE))


def wrongly(monkeypatch, kind, place):
    """Let the dealer deal one kind wrongly once, with tags that belong to what it dealt."""
    real, wishes = auth_dealing._fitting, []

    def fitting(need, draws, known):
        parts = real(need, draws, known)
        if need.kind == kind and not wishes:
            wishes.append(need)
            parts[place] = parts[place].copy()
            parts[place][:1] ^= np.uint64(4 if kind in ("ladders", "pairs", "ands") else 1 << 20)
        return parts

    monkeypatch.setattr(auth_dealing, "_fitting", fitting)


KINDS = [("triple", 0), ("matrix", 0), ("ladders", 0), ("ladders", 1), ("pairs", 0), ("pairs", 1),
         ("ands", 0), ("dabits", 0), ("cuts", 0), ("cuts", 1), ("masks", 0)]


@pytest.mark.parametrize(("kind", "place"), KINDS)
def test_what_is_dealt_wrongly_with_right_tags_ends_the_run(monkeypatch, kind, place):
    wrongly(monkeypatch, kind, place)
    outcomes = play(everything, MODE)
    assert ended(outcomes)
    assert outcomes[2].output is None


async def nothing(self):
    return None


def without_proofs(monkeypatch):
    """Leave the proof out, and what notices that it is."""
    monkeypatch.setattr(ProvedEngine, "prove", nothing)
    monkeypatch.setattr(ProvedSource, "waits", False)


@pytest.mark.parametrize("kind", ["triple", "matrix", "dabits"])
def test_without_the_proof_the_same_dealer_gets_a_wrong_result_through(monkeypatch, kind):
    """The mutant that leaves the proof out: everybody is told something wrong."""
    wrongly(monkeypatch, kind, 0)
    without_proofs(monkeypatch)
    outcomes = play(everything, MODE)
    assert [outcome.error for outcome in outcomes] == [None] * 3
    assert not right(outcomes)


def spoiled_tag(monkeypatch, kind="cuts", place=2):
    """Let the dealer give one number the tag of another one."""
    real = auth_dealing.deal

    def deal(need, draws, *rest):
        real(need, draws, *rest)
        if need.kind == kind:
            draws[-1][place].tags[0] ^= np.uint64(1)

    monkeypatch.setattr(auth_dealing, "deal", deal)


async def halved(party, data):
    """Open half of one value."""
    x = await share(party, data[:1] if party.name == "p0" else None, "p0", (1,), 0, 1000)
    return await reveal(party, await truncate(party, x, 1), because="answer")


def halves():
    return play(as_party("nobody", lambda party: None, halved), MODE)


@pytest.mark.parametrize(("kind", "place"), [("cuts", 2), ("cuts", 0), ("masks", 0), ("tops", 0)])
def test_a_wrong_tag_ends_the_run_whatever_the_values_are(monkeypatch, kind, place):
    spoiled_tag(monkeypatch, kind, place)
    for _ in range(4):
        assert ended(halves())


@pytest.mark.slow
def test_without_the_proof_whether_the_run_ends_tells_the_dealer_a_bit(monkeypatch):
    """Why tags are proved: this one counts where x plus a mask that the dealer knows has a bit."""
    spoiled_tag(monkeypatch)
    without_proofs(monkeypatch)
    assert {halves()[0].error is not None for _ in range(24)} == {True, False}


async def long_input(party, data):
    """Use an array whose bounds are tested by sums, for which holders toss a coin."""
    x = await share(party, data[:5] if party.name == "p0" else None, "p0", (5,), 0, 1000)
    half = await truncate(party, x[:1], 1)
    return await reveal(party, await multiply(party, half, half), because="answer")


@pytest.mark.slow
def test_a_coin_is_tossed_over_nothing_that_is_not_proved(monkeypatch):
    """The coin compares what was opened: where the run ends would tell how x lies to the mask."""
    monkeypatch.setattr(input_bounds, "EXACT", 4)
    spoiled_tag(monkeypatch)
    for _ in range(9):
        outcomes = play(as_party("nobody", lambda party: None, long_input), MODE)
        assert ended(outcomes)
        assert any(row.label == "proof.open" for row in outcomes[2].ledger.rows)


def coins(monkeypatch):
    """Return the coins that the dealer was sent in two runs, proof by proof."""
    came, real = [], ProverSource._coin

    async def coin(self):
        came.append(await real(self))
        return came[-1]

    with monkeypatch.context() as patch:
        patch.setattr(ProverSource, "_coin", coin)
        for _ in range(2):
            assert all(outcome.error is None for outcome in halves())
    return came


def test_every_proof_has_a_coin_of_its_own(monkeypatch):
    """Who deals must not know it before; it is as long as a key, and no run has another's."""
    came = coins(monkeypatch)
    assert len(came) == len(set(came)) > 2
    assert {len(coin) for coin in came} == {32}
    assert all(len(set(coin)) > 8 for coin in came)


def test_holders_compare_nothing_that_is_not_proved(monkeypatch):
    monkeypatch.setattr(ProvedEngine, "prove", nothing)
    assert any(isinstance(outcome.error, RuntimeError) for outcome in halves())


def test_everybody_is_told_who_may_have_deviated():
    outcomes = play(as_party("p2", in_message("deal.correction", middle_word)), MODE)
    assert any("'p1 or p2' deviated" in str(outcome.error) for outcome in outcomes)
    assert not any("cannot be read" in str(outcome.error) for outcome in outcomes)


@pytest.mark.slow
def test_two_runs_have_nothing_in_common(monkeypatch):
    """Seeds, and with them keys and masks, are drawn for each run; one that is kept is noticed."""
    def keys():
        seen = []
        real = ProverSource.__init__

        def noting(self, party):
            real(self, party)
            seen.append((self._keys.number, tuple(self._keys.bit), *self._seeds, *self._own))

        with monkeypatch.context() as patch:
            patch.setattr(ProverSource, "__init__", noting)
            for _ in range(2):
                halves()
        return seen

    def fresh():
        one, other = keys()
        return not set(one) & set(other)

    assert fresh()
    monkeypatch.setattr(verified_sources, "fresh_seed", lambda: bytes(range(32)))
    assert not fresh()
