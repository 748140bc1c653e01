"""What a peer may send instead of a list: noticed, and its sender named."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("rbcl")

from set_programs import RUNS, names

from tacit.joint import group
from tacit.joint.errors import PeerGarbageError
from tacit.joint.frames import HEADER_BYTES, parse
from tacit.joint.run import in_memory, roles_for

IDENTITY, NOTHING = bytes(32), b"\xff" * 32


def tampered(program, label, change, parties=3):
    """Run with one message changed on its way; return who is blamed by the one who got it."""
    blamed = {}

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label != label or blamed:
            return frame
        blamed["sender"], blamed["receiver"] = source, target
        body = frame[HEADER_BYTES:]
        return frame[:HEADER_BYTES] + change(body)

    given_ = [[1, 2, 3, 4], [2, 3, 4], [3, 4, 5, 6]][:parties]
    outcomes = asyncio.run(in_memory(program, given_, roles_for(names(parties), "sums"), tap=tap))
    errors = {o.name: o.error for o in outcomes}
    return blamed.get("sender"), errors.get(blamed.get("receiver")), errors


BAD = {"identity": lambda body: IDENTITY + body[32:], "no point": lambda body: body[:-32] + NOTHING,
       "twice": lambda body: body[:32] * (len(body) // 32)}


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
