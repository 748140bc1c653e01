"""What a peer may send instead of a list: noticed, and its sender named."""

from __future__ import annotations

import pytest

from support.tampered_sets import BAD, tampered

pytest.importorskip("rbcl")

from support.set_programs import RUNS
from unspoken.joint.joint_errors import PeerGarbageError
from unspoken.joint.mpc import ristretto as group


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize(("run", "label"), [
    ("count", "set.hop1"), ("count", "set.hop2"), ("count", "set.full"), ("align", "set.common"),
    ("align", "set.strip0"), ("align", "set.strip1"), ("union", "union.full"),
    ("union", "union.merged")])
def test_bad_points_name_their_sender(run, label, name):
    sender, error, errors = tampered(RUNS[run], label, BAD[name])
    assert isinstance(error, PeerGarbageError)
    assert error.party == sender
    # Nobody waits for more after the last message of all.
    assert all(errors.values()) or label == "set.strip1"


def test_another_list_than_committed_is_noticed():
    other = group.random_points(4).tobytes()
    sender, error, _ = tampered(RUNS["count"], "set.hop1", lambda body: other[:len(body)])
    assert error.party == sender
    assert "committed" in str(error)


def test_a_size_that_cannot_be_is_noticed():
    huge = (1 << 40).to_bytes(8, "little")
    sender, error, _ = tampered(RUNS["count"], "set.size", lambda body: huge)
    assert (error.party, "impossible size" in str(error)) == (sender, True)
    for label in ("set.count", "union.count"):
        run = "align" if label.startswith("set") else "union"
        sender, error, _ = tampered(RUNS[run], label, lambda body: huge)
        assert (error.party, "there can be" in str(error)) == (sender, True)


def test_points_of_another_list_do_not_align():
    sender, error, _ = tampered(RUNS["align"], "set.strip1",
                                lambda body: group.random_points(len(body) // 32).tobytes())
    assert (error.party, "not of this party's list" in str(error)) == (sender, True)
