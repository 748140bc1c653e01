"""Checkpoints: taken up together, bound to the ledgers, refused where they are old or others."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from support.broken_attempts import CODE, STUDY, Attempts, Mortal, outputs
from unspoken.joint import reveal, secure_sum, share_sum
from unspoken.joint.joint_errors import PartyError, PeerGarbageError, RefusedError, StudyError
from unspoken.joint.mpc.checkpoints import (
    Checkpoints,
    in_batches,
    kept,
    kept_secret,
    recalled_shares,
    remember_shares,
)
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.randomness import fresh_seed

ROUNDS = 5


@declares("total of a round")
async def rounds(party, data):
    """Open a total in every round, each of which begins with the one before."""
    total = np.zeros(2, np.int64)
    for number in range(ROUNDS):
        own = np.asarray(data) + number + total % 7
        total = np.asarray(await kept(party, "a round", lambda own=own: secure_sum(
            party, own, because="total of a round")))
    return total


@declares("total")
async def hidden_rounds(party, data):
    """Add up on shares for some rounds; nothing is opened before the end."""
    total = await share_sum(party, data, (2,), 0, 100)
    for _ in range(ROUNDS):
        known = recalled_shares(party, "a round", [total * 2])
        if known is not None:
            [total] = known
            continue
        total = total * 2
        await remember_shares(party, "a round", [total])
    return np.asarray(await reveal(party, total, because="total"))


INPUTS = [np.array([1, 2]), np.array([3, 4]), np.array([5, 6])]
RIGHT = np.array([9, 12]) * 2**ROUNDS


@pytest.fixture
def attempts(tmp_path):
    return Attempts(tmp_path, rounds, INPUTS, "sums")


def totals_opened(outcome):
    return sum(one.because == "total of a round" for one in outcome.ledger.openings)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 3, 5])
def test_an_attempt_goes_on_where_the_one_before_ended(attempts, at, after):
    broken = attempts.run("p1", at, after)
    assert all(outcome.error is not None for outcome in broken)
    again = attempts.run()
    whole = outputs(attempts.whole(), 3)
    np.testing.assert_array_equal(outputs(again, 3), whole)
    # p1 had written its last checkpoint, or had not: the others may lack it.
    reached = int(again[0].ledger.continues.split()[1]) if again[0].ledger.continues else 0
    assert reached in (at - 1, at)
    assert {totals_opened(outcome) for outcome in again} == {ROUNDS - reached}
    assert len({outcome.ledger.continues for outcome in again}) == 1


@pytest.mark.slow
def test_several_attempts_may_end_early(attempts):
    for lost, at in (("p0", 2), ("p2", 3), ("p1", 4), ("p0", 5)):
        assert attempts.run(lost, at, after=lost == "p2")[0].error is not None
    np.testing.assert_array_equal(outputs(attempts.run(), 3), outputs(attempts.whole(), 3))


def test_checkpoints_are_for_their_owner_alone(attempts):
    attempts.run("p1", 3)
    files = [path for path in attempts.folder.rglob("*") if path.is_file()]
    assert files
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {path.parent.stat().st_mode & 0o777 for path in files} == {0o700}


def test_a_party_with_an_old_copy_is_refused_by_name(attempts, tmp_path):
    attempts.run("p1", 2)
    shutil.copytree(attempts.home("p2"), tmp_path / "old")
    attempts.run("p1", 5)
    shutil.rmtree(attempts.home("p2"))
    shutil.copytree(tmp_path / "old", attempts.home("p2"))
    ends = attempts.run()
    for outcome in (ends[0], ends[1]):
        assert isinstance(outcome.error, PartyError)
        assert outcome.error.party == "p2"
        assert "older checkpoints" in outcome.error.what
        assert totals_opened(outcome) == 0
    assert isinstance(ends[2].error, StudyError)


def test_a_party_that_lost_everything_is_refused_too(attempts):
    attempts.run("p1", 4)
    shutil.rmtree(attempts.home("p0"))
    ends = attempts.run()
    assert "older than those of the others" in str(ends[0].error)
    assert {outcome.error.party for outcome in ends[1:]} == {"p0"}


def test_checkpoints_of_another_run_are_refused(attempts, tmp_path):
    other = Attempts(tmp_path / "other", rounds, INPUTS, "sums")
    for one in (attempts, other):
        one.run("p1", 3)
    shutil.rmtree(attempts.home("p2"))
    shutil.copytree(other.home("p2"), attempts.home("p2"))
    ends = attempts.run()
    assert isinstance(ends[0].error, PeerGarbageError)
    assert ends[0].error.party == "p2"
    assert "does not have" in ends[0].error.what
    assert all(totals_opened(outcome) == 0 for outcome in ends)


def test_what_one_had_alone_must_be_opened_again_as_it_was(attempts):
    attempts.run("p1", 3, after=False)
    changed = [INPUTS[0], INPUTS[1], INPUTS[2] + 1]
    ends = attempts.run(inputs=changed)
    assert any(isinstance(outcome.error, RefusedError) for outcome in ends)
    assert all(outcome.error is not None for outcome in ends)
    # What was set aside is still there to be compared with in the next attempt.
    assert any(isinstance(end.error, RefusedError) for end in attempts.run(inputs=changed))


def test_a_checkpoint_that_was_changed_is_found_out(attempts):
    attempts.run("p1", 3)
    [first, *_] = sorted(attempts.home("p0").rglob("*.npz"))
    first.write_bytes(first.read_bytes()[:-30])
    with pytest.raises(StudyError, match="cannot be read"):
        attempts.run()


def test_other_code_begins_from_the_start(tmp_path):
    Attempts(tmp_path, rounds, INPUTS, "sums").run("p1", 3)
    assert len(Checkpoints(tmp_path / "p0", STUDY, CODE)) > 0
    assert len(Checkpoints(tmp_path / "p0", STUDY, "other code")) == 0
    assert len(Checkpoints(tmp_path / "p0", "another study", CODE)) == 0


def test_the_ledger_says_what_was_reached_and_what_it_goes_on_from(attempts, tmp_path):
    broken = attempts.run("p1", 3)
    marks = [[line for line in outcome.ledger.chain.text().splitlines() if b'"checkpoint"' in line
              and b'"mark"' in line] for outcome in broken]
    assert len(marks[0]) in (2, 3)
    again = attempts.run()[0].ledger
    assert "of session " in again.continues
    assert "goes on from: checkpoint" in again.table()
    again.save(tmp_path / "again.ledger")
    assert type(again).load(tmp_path / "again.ledger").continues == again.continues


@pytest.mark.parametrize("mode", ["dealer", "three-party"])
def test_shares_are_taken_up_fresh(tmp_path, mode):
    attempts = Attempts(tmp_path, hidden_rounds, INPUTS, mode)
    attempts.run("p1", 4)
    files = {name: sorted(attempts.home(name).rglob("*.npz")) for name in attempts.names}
    kept_words = [np.load(files[name][1])["array0"] for name in attempts.names]
    np.testing.assert_array_equal(np.sum(kept_words, axis=0, dtype=np.uint64),
                                  np.array([9, 12], np.uint64) * 4)
    again = attempts.run()
    np.testing.assert_array_equal(outputs(again, 3), [RIGHT] * 3)
    assert again[0].ledger.continues


def test_shares_with_tags_are_not_kept(tmp_path):
    attempts = Attempts(tmp_path, hidden_rounds, INPUTS, "authenticated")
    ends = attempts.run("p1", 2)
    np.testing.assert_array_equal(outputs(ends, 3), [RIGHT] * 3)
    assert not list(tmp_path.rglob("*.npz"))


def test_a_stored_share_is_never_one_that_is_computed_with(tmp_path):
    """Not the one before it was written, nor the one after it was taken up."""
    used = []

    @declares("total")
    async def watched(party, data):
        total = await share_sum(party, data, (2,), 0, 100)
        for _ in range(ROUNDS):
            known = recalled_shares(party, "a round", [total * 2])
            if known is None:
                total = total * 2
                await remember_shares(party, "a round", [total])
            else:
                [total] = known
            used.append((party.name, tuple(total.share.tolist())))
        return np.asarray(await reveal(party, total, because="total"))

    attempts = Attempts(tmp_path, watched, INPUTS, "dealer")
    attempts.run("p1", 4)
    attempts.run()
    holders = ("p0", "p1")
    stored = {(name, tuple(np.load(path)["array0"].tolist())) for name in holders
              for path in attempts.home(name).rglob("*.npz")}
    assert len(stored) == 2 * ROUNDS
    assert not stored & set(used)
    of_holders = [one for one in used if one[0] in holders]
    assert len(set(of_holders)) == len(of_holders)


@declares("total of a round")
async def with_own_seed(party, data):
    """Draw a secret of one's own, and open a total that depends on it, in two rounds."""
    seed = await kept_secret(party, "own draw", fresh_seed)
    first = np.asarray(await kept(party, "a round", lambda: secure_sum(
        party, np.asarray(data) + seed[0], because="total of a round")))
    again = np.asarray(await kept(party, "a round", lambda: secure_sum(
        party, np.asarray(data) + seed[0], because="total of a round")))
    return first, again


def test_an_own_seed_stays_the_same(tmp_path):
    attempts = Attempts(tmp_path, with_own_seed, INPUTS, "sums")
    attempts.run("p1", 3)
    ends = attempts.run()
    for first, again in outputs(ends, 3):
        np.testing.assert_array_equal(first, again)
    assert {totals_opened(outcome) for outcome in ends} == {1}


def test_batches_are_at_most_sixteen_and_lose_nothing():
    for count in (0, 1, 15, 16, 17, 1000):
        work = list(range(count))
        parts = in_batches(work)
        assert len(parts) <= 16
        assert [one for part in parts for one in part] == work


class Misled(Mortal):
    """A party whose record of what it learned is another."""

    async def agree(self, party):
        await super().agree(party)
        party.learned(("p0", "p1", "p2"), [1])


def test_what_parties_learned_is_compared_at_every_barrier(attempts, monkeypatch):
    monkeypatch.setattr("support.broken_attempts.Mortal", Misled)
    ends = attempts.run("p1", 99)
    assert all(isinstance(outcome.error, PartyError) for outcome in ends)
    assert "has learned something else" in str(ends[0].error)
    assert not list(attempts.folder.rglob("*.npz"))
