"""One attempt of one node: which data it gets, what is booked, what others read of a failure."""

from __future__ import annotations

import json

import pytest

from support.node_fleet import Fleet
from unspoken.errors import DataError
from unspoken.joint.joint_errors import PeerGarbageError, PeerLostError, StudyError
from unspoken.joint.node.study_process import _own_data, agreed_attempt, failure
from unspoken.joint.wire.ledger import Ledger
from unspoken.release.budget import Budget
from unspoken.table.read import read


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


def attempt_at_south(fleet, n=1, parameters=None, columns=""):
    """Return an attempt to which everybody has agreed, as the process of 'south' gets it."""
    proposal = fleet.proposal(parameters=parameters)
    state = fleet.state("south")
    state.keep(proposal)
    for name in fleet.names:
        state.answer(fleet.verdict(name, proposal), columns=columns if name == "south" else "")
    state.close()
    return agreed_attempt(fleet.configs["south"], proposal.id, n)


def data_of(attempt):
    return _own_data(attempt, attempt.config.identity)


def test_without_everybodys_consent_there_is_no_attempt(fleet):
    proposal = fleet.proposal()
    state = fleet.state("south")
    state.keep(proposal)
    state.answer(fleet.verdict("south", proposal))
    with pytest.raises(StudyError, match="no consent of north, east, dora"):
        agreed_attempt(fleet.configs["south"], proposal.id, 1)


@pytest.mark.slow
def test_a_consent_to_columns_gives_no_others(fleet):
    allowed = attempt_at_south(fleet, columns=json.dumps(["age"]))
    assert data_of(allowed)[0] > 0
    other = attempt_at_south(fleet, columns=json.dumps(["smoker"]))
    with pytest.raises(Exception, match="age"):
        data_of(other)
    assert not list(other.folder.glob("*.parquet")), "the copy is gone"


@pytest.mark.slow
def test_data_that_changed_between_attempts_are_refused(fleet):
    first = attempt_at_south(fleet)
    data_of(first)
    again = agreed_attempt(first.config, first.proposal.id, 2)
    data_of(again)
    table = fleet.folder / "south" / "people.csv"
    table.write_text(table.read_text() + "99,no,no\n")
    with pytest.raises(StudyError, match="was changed since the first attempt"):
        data_of(again)


NOISY = {"columns": ["age"], "range.age": [0, 120], "epsilon": 0.5}


@pytest.mark.slow
def test_every_attempt_in_which_the_parties_met_is_booked(fleet):
    attempt = attempt_at_south(fleet, parameters=NOISY)
    with pytest.raises(StudyError, match="Start a budget"):
        data_of(attempt)
    path = fleet.folder / "south" / "people.csv"
    place = path.with_name("people.csv.budget")
    Budget.start(place, read(path, show=False), epsilon=2.0, delta=1e-5)
    data_of(attempt)
    once = Budget(place).left()
    assert once < 2.0
    # The first attempt has no ledger: its parties never met, and nothing was shared.
    data_of(agreed_attempt(attempt.config, attempt.proposal.id, 2))
    assert Budget(place).left() == once
    ledger = Ledger("south", session="00")
    ledger.save(attempt.folder / "attempt-1.ledger")
    data_of(agreed_attempt(attempt.config, attempt.proposal.id, 2))
    assert Budget(place).left() < once


@pytest.mark.parametrize(("error", "again", "story"), [
    (PeerLostError("east", "3 sum", "closed the connection"), True,
     "'east' closed the connection at step 3 sum"),
    (PeerGarbageError("east", "3 sum", "sent something else"), False,
     "'east' sent something else at step 3 sum"),
    (DataError("Column 'age' holds 'forty'."), False, "'south' could not take part (DataError; its "
     "own people can see why)")])
def test_others_read_who_failed_and_no_value(fleet, error, again, story):
    attempt = attempt_at_south(fleet)
    assert failure(attempt, error) == {"state": "failed", "again": again, "story": story}
    assert str(error) in attempt.file("error.txt").read_text()
    assert attempt.file("error.txt").stat().st_mode & 0o777 == 0o600


def test_a_consent_to_no_columns_opens_none(fleet):
    with pytest.raises(StudyError, match="admits no column of table 'people'"):
        data_of(attempt_at_south(fleet, columns="[]"))


def test_two_proposals_never_share_a_folder(fleet):
    config = fleet.configs["south"]
    assert config.study_folder("a" * 63 + "b") != config.study_folder("a" * 64)


@pytest.mark.slow
def test_what_was_booked_for_another_proposal_does_not_count(fleet):
    attempt = attempt_at_south(fleet, parameters=NOISY)
    path = fleet.folder / "south" / "people.csv"
    place = path.with_name("people.csv.budget")
    Budget.start(place, read(path, show=False), epsilon=2.0, delta=1e-5)
    (attempt.folder / "booked").write_text("f" * 64)
    data_of(agreed_attempt(attempt.config, attempt.proposal.id, 2))
    assert Budget(place).left() < 2.0
