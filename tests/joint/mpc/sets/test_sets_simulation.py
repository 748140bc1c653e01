"""Proof by simulation for sets: what a party sees is random points, given what was declared.

Simulators know the declared sizes and the equality pattern of full lists, nothing else. Broken
variants must be told apart by the same tests.
"""

from __future__ import annotations

import asyncio
import itertools

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("rbcl")

from support.distinguisher import SUSPICIOUS, tell_apart
from support.set_programs import RUNS, WHY, aligning, counting, names, uniting
from support.tampered_sets import BAD, tampered
from unspoken.joint import intersection_size
from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.sets import encrypted_circle as circle_module
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, parse

SIZE = 48
HALF = SIZE // 2
REPEATS = 4


def overlapping(parties):
    """Return sets of which the first half is everybody's and the rest nobody else's."""
    return [[*range(HALF), *range(1000 * (i + 1), 1000 * (i + 1) + HALF)] for i in range(parties)]


def frames_of(program, given_, mode="sums"):
    """Run once; return every message as (from, to, label): points, and the circles."""
    got, circles = {}, {}
    real = circle_module.Circle.__init__

    def keep(self, party, members, rules):
        real(self, party, members, rules)
        circles[party.name] = self

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label.startswith(("set.", "union.")):
            raw = np.frombuffer(frame[HEADER_BYTES:], header.dtype)
            got[source, target, header.label] = raw.reshape(header.shape)
        return frame

    circle_module.Circle.__init__ = keep
    try:
        roles = roles_for(names(len(given_)), mode)
        outcomes = asyncio.run(in_memory(program, given_, roles, tap=tap))
    finally:
        circle_module.Circle.__init__ = real
    assert [outcome.error for outcome in outcomes] == [None] * len(outcomes)
    return got, circles


def as_set(points):
    return {point.tobytes() for point in points}


def finds_its_ids(parties, me="p0"):
    """Let a counter guess by the place of a point which of its own ids are in common.

    It knows in which order it sent its list. Returns the p-value of its success.
    """
    right = 0
    for _ in range(REPEATS):
        got, circles = frames_of(counting(names(parties), [me]), overlapping(parties))
        mine = got[me, "p1", "set.hop1"]
        back = got[f"p{parties - 1}", me, "set.full"]
        others = [as_set(points) for (_, to, label), points in got.items()
                  if to == me and label == "set.full"]
        own_last = circles[me]
        finished = group.multiply(got[f"p{parties - 1}", me, f"set.hop{parties - 1}"],
                                  own_last.key)
        everywhere = set.intersection(*others, as_set(finished))
        truth = _common(circles[me], mine, HALF)
        guess = [point.tobytes() in everywhere for point in back]
        right += int(np.sum(np.array(guess) == truth))
    return stats.binomtest(right, REPEATS * SIZE, 0.5, "greater").pvalue


def _common(circle, sent, count):
    """Return which of the sent points are the first ids, which everybody has."""
    layer = group.multiply(group.hash_points(circle.where, [b"%d" % i for i in range(count)]),
                           circle.key)
    known = as_set(layer)
    return np.array([point.tobytes() in known for point in sent])


@pytest.mark.slow
@pytest.mark.parametrize("parties", [2, 3])
def test_places_say_nothing_about_ids(parties):
    assert finds_its_ids(parties) > SUSPICIOUS


@pytest.mark.slow
@pytest.mark.parametrize("parties", [2, 3])
def test_a_hop_without_shuffle_is_caught(monkeypatch, parties):
    monkeypatch.setattr(group, "shuffled", lambda points: points)
    assert finds_its_ids(parties) < SUSPICIOUS


def hop_views(program, given_, me):
    """Return the lists that one party receives, and as many random points: (runs, 1, words)."""
    real, made = [], []
    for _ in range(12):
        got, _ = frames_of(program, given_)
        lists = [points for (_, to, _), points in sorted(got.items())
                 if to == me and points.ndim == 2]
        real.append(np.concatenate(lists).reshape(1, -1).view(np.uint64))
        made.append(group.random_points(sum(map(len, lists))).reshape(1, -1).view(np.uint64))
    return np.array(real), np.array(made)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["count", "align", "union"])
def test_lists_on_their_way_look_like_random_points(name):
    given_ = [[1, 2, 3, 4, 5, 6, 7], [5, 8, 9, 10, 11], [0, 5, 9]]
    program = {"count": counting(names(3), ["p0"]), "align": aligning(names(3)),
               "union": uniting(names(3), list(range(12)), "encryption", ["p0"])}[name]
    # A collector of a union gets its own part back in the whole, as it may; p2 is none.
    real, made = hop_views(program, given_, "p2" if name == "union" else "p1")
    assert tell_apart(real, made) > SUSPICIOUS


def looked_up(program, given_):
    """Return how many points on the way are open hashes of ids that anybody can list."""
    got, circles = frames_of(program, given_)
    open_ = as_set(group.hash_points(circles["p0"].where, [b"%d" % i for i in range(100)]))
    return sum(len(as_set(points) & open_) for points in got.values() if points.ndim == 2)


def test_no_list_travels_without_a_key(monkeypatch):
    given_ = [[1, 2, 3], [2, 3, 4], [3, 4, 5]]
    for program in RUNS.values():
        assert looked_up(program, given_) == 0
    monkeypatch.setattr(group, "fresh_scalar", lambda: (1).to_bytes(32, "little"))
    assert looked_up(RUNS["count"], given_) > 0


@declares(*counting(names(2)).disclosures)
async def twice(party, data):
    """Count twice in one run, as two studies would."""
    from unspoken.joint.mpc.sets.encrypted_circle import SetRules

    for _ in range(2):
        await intersection_size(party, data, because=WHY, rules=SetRules(least=0))


def keys_and_frames(monkeypatch):
    """Return the keys of two calls in each of two runs, and the points that came twice."""
    keys, points = [], []
    real = circle_module.Circle.__init__

    def keep(self, party, members, rules):
        real(self, party, members, rules)
        keys.append(self.key)

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.label == "set.hop1":
            points.extend(frame[HEADER_BYTES:][i:i + 32] for i in range(0, header.length, 32))
        return frame

    with monkeypatch.context() as patch:
        patch.setattr(circle_module.Circle, "__init__", keep)
        for _ in range(2):
            asyncio.run(in_memory(twice, [[1, 2, 3], [2, 3, 4]], roles_for(names(2), "sums"),
                                  tap=tap))
    return keys, len(points) - len(set(points))


def test_a_key_serves_one_call(monkeypatch):
    keys, repeated = keys_and_frames(monkeypatch)
    assert len(keys) == len(set(keys)) == 8
    assert repeated == 0


def test_keys_used_again_are_caught_and_domains_still_keep_calls_apart(monkeypatch):
    fixed = itertools.cycle([group.fresh_scalar(), group.fresh_scalar()])
    monkeypatch.setattr(group, "fresh_scalar", lambda: next(fixed))
    keys, repeated = keys_and_frames(monkeypatch)
    assert (len(keys), len(set(keys))) == (8, 2)
    assert repeated == 0
    monkeypatch.setattr(group, "domain", lambda *parts: bytes(32))
    assert keys_and_frames(monkeypatch)[1] > 0


def test_the_domain_has_study_session_and_step(monkeypatch):
    seen = []
    real = group.domain
    monkeypatch.setattr(group, "domain", lambda *parts: seen.append(parts) or real(*parts))
    for _ in range(2):
        asyncio.run(in_memory(twice, [[1, 2], [2, 3]], roles_for(names(2), "sums")))
    assert len(set(seen)) == 4
    # Every party of a call has the same one.
    assert len(seen) == 8


def lenient(monkeypatch):
    """Let the identity through, as a check of valid points alone does."""
    product = group._sodium().crypto_scalarmult_ristretto255

    def multiply(points, scalar):
        rows = [bytes(32) if not any(row) else product(scalar, row) for row in group._rows(points)]
        return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 32)

    monkeypatch.setattr(group, "multiply", multiply)
    monkeypatch.setattr(group, "check_points", group.check_different)


def test_an_identity_that_is_let_through_is_caught(monkeypatch):
    sender, error, _ = tampered(RUNS["count"], "set.hop2", BAD["identity"])
    assert error is not None
    assert error.party == sender
    lenient(monkeypatch)
    # Only the comparison of what was sent with what arrived still sees it, at the very end.
    _, error, _ = tampered(RUNS["count"], "set.hop2", BAD["identity"])
    assert "other than what arrived" in str(error)


@pytest.mark.slow
def test_fillings_cannot_be_told_from_ids():
    from unspoken.joint.mpc.sets.encrypted_circle import SetRules

    rules = SetRules(least=0, pad_to=40)
    few, many = (np.array([frames_of(counting(names(2), rules=rules), [list(range(n))] * 2)[0][
        "p0", "p1", "set.hop1"].reshape(1, -1).view(np.uint64) for _ in range(10)])
        for n in (1, 40))
    assert tell_apart(few, many) > SUSPICIOUS


def follows_to_owners():
    """Let the receiver of a union, who collects the even owners, follow points by their place."""
    given_ = [list(range(HALF, SIZE)), list(range(HALF)), list(range(HALF, SIZE))]
    program = uniting(names(3), list(range(SIZE)), "encryption", ["p0"])
    right = 0
    for _ in range(REPEATS):
        got, circles = frames_of(program, given_)
        odd = as_set(got["p1", "p0", "union.merged"])
        opened = group.multiply(got["p2", "p0", "union.merged"], group.inverse(circles["p0"].key))
        theirs = as_set(group.hash_points(circles["p0"].where, [b"%d" % i for i in range(HALF)]))
        guess = [point.tobytes() in odd for point in got["p0", "p1", "union.merged"]]
        truth = [point.tobytes() in theirs for point in opened]
        right += int(np.sum(np.array(guess) == np.array(truth)))
    return stats.binomtest(right, REPEATS * SIZE, 0.5, "greater").pvalue


@pytest.mark.slow
def test_a_union_does_not_say_whose_elements_they_are(monkeypatch):
    assert follows_to_owners() > SUSPICIOUS
    monkeypatch.setattr(group, "shuffled", lambda points: points)
    assert follows_to_owners() < SUSPICIOUS
