"""A holder of three parties deviates: the run ends, as with a dealer, and coins cannot be bent."""

from __future__ import annotations

import numpy as np
import pytest

from support.deviating import as_party, in_message, in_share, labels, play
from unspoken.joint import declares, multiply, reveal, share
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.authentic.fresh_zeros import Zeros
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.authentic.tagged import bare

MODE = "three-party-verified"
OPENED = ["multiply.open", "matmul.open", "compare.open", "compare.level0", "numbers.open",
          "truncate.open", "bounds.open", "reveal"]
LEVELS = {f"compare.level{level}" for level in range(5)}


def first_bit(words):
    words.ravel()[0] ^= words.dtype.type(1)
    return words


def ended(outcomes, cheat):
    assert not any(isinstance(o.error, RefusedError) for o in outcomes)
    return all(o.error is not None and o.output is None for o in outcomes if o.name != cheat)


def test_these_are_all_messages_of_holders():
    assert labels("p0", mode=MODE) == {*OPENED, *LEVELS, "check.tags", "proof.coin", "share"}
    assert labels("p1", mode=MODE) == {*OPENED, *LEVELS, "check.tags", "proof.coin", "proof.ready"}


@pytest.mark.slow
@pytest.mark.parametrize("cheat", ["p0", "p1"])
@pytest.mark.parametrize("label", [*OPENED, "compare.level4", "check.tags", "proof.coin"])
def test_a_wrong_message_ends_the_run(label, cheat):
    outcomes = play(as_party(cheat, in_message(label, first_bit)), MODE)
    assert ended(outcomes, cheat)
    assert "deviated" in " ".join(str(o.error) for o in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("label", OPENED)
def test_a_changed_share_ends_the_run(label):
    outcomes = play(as_party("p1", in_share(label, first_bit)), MODE)
    assert ended(outcomes, "p1")


@pytest.mark.slow
@pytest.mark.parametrize("label", [*OPENED, "check.tags", "proof.coin", "proof.ready"])
def test_a_message_of_another_length_ends_the_run(label):
    outcomes = play(as_party("p1", in_message(label, lambda words: words[:-1])), MODE)
    assert ended(outcomes, "p1")


def test_a_bent_coin_is_refused_before_anything_is_shown():
    outcomes = play(as_party("p1", in_message("proof.coin", first_bit)), MODE)
    assert "different coins" in str(outcomes[2].error)
    rows = outcomes[2].ledger.rows
    assert not any(row.label == "proof.open" for row in rows)


def test_an_opening_sent_again_ends_the_run():
    kept = {}

    def replay(words):
        kept.setdefault("first", words)
        return kept["first"]

    def change(party):
        in_message("numbers.open", replay)(party)
        in_message("numbers.open", replay, turn=1)(party)

    assert ended(play(as_party("p1", change), MODE), "p1")


def test_a_wrong_sharing_of_zero_ends_the_run(monkeypatch):
    real = Zeros.on_numbers

    def wrong(self, share):
        zeroed = real(self, share)
        if self._party_name == "p1":
            bare(zeroed)[:1] += np.uint64(1)
        return zeroed

    begin = Zeros.__init__

    def named(self, party, label):
        begin(self, party, label)
        self._party_name = party.name

    monkeypatch.setattr(Zeros, "__init__", named)
    monkeypatch.setattr(Zeros, "on_numbers", wrong)
    assert ended(play(added(0), MODE), "p1")


def added(amount):
    @declares("answer")
    async def program(party, data):
        """Add to the own share of one value, and open a sum of products to everybody."""
        x = await share(party, data if party.name == "p0" else None, "p0", (6,), 0, 1000)
        y = await share(party, data if party.name == "p2" else None, "p2", (6,), 0, 1000)
        if party.name == "p1":
            changed = x.share.copy()
            bare(changed)[3:4] += np.uint64(amount)
            x = x.with_share(changed)
        return await reveal(party, (await multiply(party, x, y)).sum(), because="answer")

    return program


@pytest.mark.parametrize("amount", [1, 1 << 40, 1 << 63])
def test_adding_to_a_share_opens_nothing(amount):
    outcomes = play(added(amount), MODE)
    assert outcomes[0].error is not None
    assert all(outcome.output is None for outcome in outcomes)


def test_without_the_check_the_same_holder_reads_another_owners_record(monkeypatch):
    async def nothing(self):
        return None

    monkeypatch.setattr(TagCheck, "verify", nothing)
    assert int(play(added(1 << 40), MODE)[1].output) >> 40 == 444
