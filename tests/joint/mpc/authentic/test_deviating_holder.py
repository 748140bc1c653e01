"""A holder that deviates ends the run: nobody gets a result, and nothing wrong is called right."""

from __future__ import annotations

import numpy as np
import pytest

from support.deviating import A, B, as_party, everything, in_message, in_share, labels, play
from support.hostile_party import unchecked
from unspoken.joint import declares, multiply, reveal, share
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.authentic.tagged import bare

BIG = np.uint64(1 << 40)
OPENED = ["multiply.open", "matmul.open", "compare.open", "compare.level0", "compare.level1",
          "compare.level2", "compare.level3", "compare.level4", "numbers.open", "truncate.open",
          "bounds.open", "reveal"]
SENT = [*OPENED, "check.tags", "deal.ask"]


def first_bit(words):
    words.ravel()[0] ^= words.dtype.type(1)
    return words


def plus_big(words):
    words.ravel()[0] += BIG
    return words


def top_bit(words):
    words.ravel()[0] ^= np.uint64(1 << 63)
    return words


def ended(outcomes, cheat="p1"):
    """Say whether every honest party that computes ended with an error and without a result."""
    # It must have been the others who noticed, not this party's own toolkit.
    assert not any(isinstance(o.error, RefusedError) for o in outcomes)
    honest = [o for o in outcomes if o.name not in (cheat, "dealer")]
    return all(o.error is not None and o.output is None for o in honest)


def reasons(outcomes):
    return " ".join(str(o.error) for o in outcomes)


def test_honest_parties_get_the_result():
    outcomes = play(everything)
    assert [outcome.error for outcome in outcomes] == [None] * 4
    product = A * B
    true = (product.sum() + (A.reshape(2, 3) @ B.reshape(3, 2)).sum() + (A < B).sum()
            + (A == B).sum())
    # Truncation gives the floor or one more.
    assert 0 <= outcomes[2].output - true - (product >> 2).sum() <= 6
    assert outcomes[1].output == outcomes[2].output
    assert outcomes[0].output is None


def test_these_are_all_messages_of_a_holder():
    assert labels() == set(SENT)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [first_bit, plus_big, top_bit])
@pytest.mark.parametrize("label", OPENED)
def test_a_wrong_opening_ends_the_run(label, spoil):
    outcomes = play(as_party("p1", in_message(label, spoil)))
    assert ended(outcomes)
    assert "deviated" in reasons(outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [first_bit, plus_big, top_bit])
@pytest.mark.parametrize("label", OPENED)
def test_a_changed_share_ends_the_run(label, spoil):
    outcomes = play(as_party("p1", in_share(label, spoil)))
    assert ended(outcomes)
    assert "deviated" in reasons(outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("label", SENT)
def test_a_message_of_another_length_ends_the_run(label):
    assert ended(play(as_party("p1", in_message(label, lambda words: words[:-1]))))


@pytest.mark.slow
@pytest.mark.parametrize("label", SENT)
def test_omitted_words_end_the_run(label):
    assert ended(play(as_party("p1", in_message(label, lambda words: words * 0))))


def test_an_opening_sent_again_ends_the_run():
    kept = {}

    def replay(words):
        kept.setdefault("first", words)
        return kept["first"]

    def change(party):
        in_message("numbers.open", replay)(party)
        in_message("numbers.open", replay, turn=1)(party)

    outcomes = play(as_party("p1", change))
    assert ended(outcomes)


def test_repeating_the_others_check_does_not_help():
    """A holder that waits for the other's check and sends it back is not believed."""

    def change(party):
        swap, send = unchecked(party)

        async def echo(peers, label, array, purpose):
            if label != "check.tags":
                return await swap(peers, label, first_bit(array.copy()) if label
                                  == "multiply.open" else array, purpose)
            got = [await party.receive(peer, label, "|u1", array.shape, purpose)
                   for peer in peers]
            for peer in peers:
                await send(peer, label, got[0], purpose)
            return got

        party.swap = echo

    assert ended(play(as_party("p1", change)))


def added(amount):
    @declares("answer")
    async def program(party, data):
        """Add to the own share of one value, and get another owner's record in the upper bits."""
        x = await share(party, data if party.name == "p0" else None, "p0", (6,), 0, 1000)
        y = await share(party, data if party.name == "p2" else None, "p2", (6,), 0, 1000)
        if party.name == "p1":
            changed = x.share.copy()
            bare(changed)[3:4] += np.uint64(amount)
            x = x.with_share(changed)
        product = await multiply(party, x, y)
        return await reveal(party, product.sum(), because="answer", to=["p1"])

    return program


@pytest.mark.slow
@pytest.mark.parametrize("amount", [1, 1 << 40, 1 << 63])
@pytest.mark.parametrize("holders", [None, ["p0", "p1", "p2"]])
def test_adding_to_a_share_opens_nothing(amount, holders):
    outcomes = play(added(amount), holders=holders)
    assert outcomes[0].error is not None
    assert outcomes[1].output is None


def test_without_the_check_the_same_holder_reads_another_owners_record(monkeypatch):
    async def nothing(self):
        return None

    monkeypatch.setattr(TagCheck, "verify", nothing)
    assert int(play(added(1 << 40))[1].output) >> 40 == 444
    assert int(play(added(1 << 40), "dealer")[1].output) >> 40 == 444


@pytest.mark.parametrize("holders", [None, ["p0", "p1", "p2"]])
def test_an_owner_that_shares_differently_ends_the_run(holders):
    data = (A, None, B) if holders is None else (A, A, B)

    def change(party):
        in_message("share", first_bit)(party)

    outcomes = play(as_party("p2", change), data=data, holders=holders)
    assert ended(outcomes, "p2")


def test_a_holder_that_hands_on_another_result_ends_the_run():
    def change(party):
        # The opening is called reveal, too; what is handed on comes after it.
        in_message("reveal", plus_big, turn=1)(party)

    outcomes = play(as_party("p1", change))
    assert outcomes[2].output is None
    assert "different results" in str(outcomes[2].error)


@pytest.mark.slow
@pytest.mark.parametrize("label", OPENED)
def test_one_of_three_holders_is_noticed(label):
    outcomes = play(as_party("p1", in_message(label, first_bit)), data=(A, A, B),
                    holders=["p0", "p1", "p2"])
    assert ended(outcomes)
