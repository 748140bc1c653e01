"""Two owners align long lists by an oblivious function: the same rows, no more than declared."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.hostile_party import force_send
from support.set_programs import aligning, names
from support.watching import frames_to, masked_frames

pytest.importorskip("rbcl")

from unspoken.joint import run_local
from unspoken.joint.joint_errors import PeerGarbageError, RefusedError
from unspoken.joint.mpc.sets import alignment, fast_alignment, oblivious_function
from unspoken.joint.mpc.sets.alignment import align_disclosures
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.session.dry_run import dry_run
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Purpose, parse

ALIGN = aligning(names(2))
ROLES = roles_for(names(2), "sums")
ONE, OTHER = list(range(60)), list(range(30, 110))


@pytest.fixture(autouse=True)
def _always_fast(monkeypatch):
    monkeypatch.setattr(alignment, "FAST_FROM", 0)


def rows_in_common(lists, program=ALIGN):
    places = [output for output, _ in run_local(program, lists, "sums")]
    return [[ids[i] for i in own] for ids, own in zip(lists, places, strict=True)]


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(lists=st.lists(st.sets(st.text(min_size=1, max_size=6), max_size=40), min_size=2,
                      max_size=2))
def test_both_find_what_both_have_in_one_order(lists):
    one, other = rows_in_common([sorted(ids) for ids in lists])
    assert one == other
    assert set(one) == lists[0] & lists[1]


@pytest.mark.slow
def test_long_lists_are_fast_by_themselves(monkeypatch):
    monkeypatch.undo()
    lists = [list(range(0, 6000, 2)), list(range(0, 6000, 3))]
    results = run_local(ALIGN, lists, "sums")
    one, other = ([ids[i] for i in own] for ids, (own, _) in zip(lists, results, strict=True))
    assert one == other
    assert sorted(one) == list(range(0, 6000, 6))
    assert "set.rows" in {row.label for row in results[0][1].rows}
    short = run_local(ALIGN, [ids[:50] for ids in lists], "sums")
    assert "set.rows" not in {row.label for row in short[0][1].rows}


def test_the_ledger_says_what_both_learned():
    (_, ledger), (_, other) = run_local(ALIGN, [ONE, OTHER], "sums")
    declared = {d.because for d in align_disclosures("in common", names(2), "p0")}
    assert {o.because for o in ledger.learned()} == {o.because for o in other.learned()} == declared
    purposes = {row.label: row.purpose for row in ledger.rows if row.label.startswith("set")}
    assert purposes == {"set.size": "disclosure", "set.rows": "masked", "set.check": "control",
                        "set.sums": "masked", "set.values": "encrypted",
                        "set.count": "disclosure", "set.proofs": "disclosure"}


@pytest.mark.slow
def test_padding_hides_how_many_ids_there_are():
    rules = SetRules(least=0, pad_to=90)
    program = aligning(names(2), rules=rules)
    one, other = rows_in_common([ONE, OTHER], program)
    assert one == other
    assert set(one) == set(ONE) & set(OTHER)
    common = [ONE[30:], OTHER[:30]]
    _, many = masked_frames(program, [ONE, OTHER])
    _, few = masked_frames(program, common)
    assert few == many


def test_small_sets_are_refused_before_anything_else():
    with pytest.raises(RefusedError, match="at least 10 ids"):
        run_local(aligning(names(2), rules=SetRules(least=10)), [ONE, OTHER[:5]], "sums")


def rank(rows):
    """Return how many rows of bits are independent."""
    basis = {}
    for row in (int.from_bytes(row.tobytes(), "little") for row in rows):
        while row and row.bit_length() in basis:
            row ^= basis[row.bit_length()]
        if row:
            basis[row.bit_length()] = row
    return len(basis)


@pytest.mark.slow
def test_what_is_sent_looks_random(monkeypatch):
    def views():
        runs = [frames_to(ALIGN, [ONE, OTHER], {"p0", "p1"})[0] for _ in range(3)]
        for wanted in (("p0", "p1", "set.rows"), ("p1", "p0", "set.values")):
            yield np.array([np.concatenate([a.ravel() for a in run[wanted]]).view(np.uint64)
                            for run in runs])[:, None]

    rows, values = views()
    assert tell_apart(rows, uniform_like(rows)) > SUSPICIOUS
    # Values are sent in their order, so their first bytes rise.
    assert tell_apart(values[:, :, 1::2], uniform_like(values[:, :, 1::2])) > SUSPICIOUS
    # Random tables look random without a mask too, but code words span 128 dimensions only.
    assert rank(rows.reshape(-1, 10)[:300]) > 290
    monkeypatch.setattr(oblivious_function.Expanded, "rows",
                        lambda _, count: np.zeros((count, 10), np.uint64))
    rows, _ = views()
    assert rank(rows.reshape(-1, 10)[:300]) <= 128


@pytest.mark.slow
def test_two_runs_share_no_value():
    seen = [frames_to(ALIGN, [ONE, OTHER], {"p0"})[0]["p1", "p0", "set.values"][0].tobytes()
            for _ in range(2)]
    values = [{raw[i:i + 16] for i in range(0, len(raw), 16)} for raw in seen]
    assert len(values[0]) == len(OTHER)
    assert not values[0] & values[1]


def outcomes_with(label, change, lists=(ONE, OTHER)):
    """Run with a message changed on its way."""
    def tap(source, target, frame):
        if parse(frame[:HEADER_BYTES]).label != label:
            return frame
        body = np.frombuffer(frame[HEADER_BYTES:], np.uint8).copy()
        change(body)
        return frame[:HEADER_BYTES] + body.tobytes()

    return asyncio.run(in_memory(ALIGN, list(lists), ROLES, tap=tap))


def flipped(place):
    def change(body):
        body[place] ^= 1
    return change


CHANGES = {
    "a row that is no code word": ("set.rows", flipped(slice(80)), "p1", "no words of the code"),
    "wrong sums": ("set.sums", flipped(3), "p1", "no words of the code"),
    "wrong messages of sums": ("set.sums", flipped(85), "p1", "no words of the code"),
    "ids it does not have": ("set.proofs", flipped(7), "p1", "does not have"),
    "more than there can be": ("set.count", flipped(1), "p1", "more common ids"),
    "a value twice": ("set.values", lambda b: b.__setitem__(slice(16, 32), b[:16]), "p0", "twice"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_ends_the_run(name):
    label, change, receiver, words = CHANGES[name]
    outcomes = {o.name: o for o in outcomes_with(label, change)}
    assert isinstance(outcomes[receiver].error, PeerGarbageError)
    assert words in str(outcomes[receiver].error)
    assert all(o.error is not None for o in outcomes.values())


@pytest.mark.slow
def test_values_that_match_nothing_take_records_away_and_no_more(monkeypatch):
    """A holder that deviates: what it sends for an id is not that id's value."""
    real = fast_alignment.hold_function

    async def other_values(*arguments):
        return await real(*arguments) ^ np.uint8(0xFF)

    monkeypatch.setattr(fast_alignment, "hold_function", other_values)
    assert rows_in_common([ONE, OTHER]) == [[], []]


def flipping_asker(patch, place):
    """Let the asker flip one bit in all rows; return where the holder's secret can be read."""
    secrets, drawn, real = [], oblivious_function.fresh_words, oblivious_function.encode
    rows = oblivious_function._row_count(len(ONE))

    def watched(count):
        words = drawn(count)
        secrets.extend([words] if count == 10 else [])
        return words

    def flipping(messages):
        words = real(messages)
        if len(messages) == rows:
            words[:, place // 64] ^= np.uint64(1 << place % 64)
        return words

    patch.setattr(oblivious_function, "fresh_words", watched)
    patch.setattr(oblivious_function, "encode", flipping)
    return secrets


async def unchecked(party, asker, table, secret):
    await force_send(party, asker, "set.check", np.zeros(32, np.uint8), Purpose.CONTROL)
    await party.receive(asker, "set.sums", "<u8", (40, 12), Purpose.MASKED)


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 77, 300, 639])
def test_without_the_sums_an_asker_learns_the_secret(monkeypatch, place):
    """With a bit flipped everywhere, half of its ids vanish exactly if that bit of s is set."""
    secrets = flipping_asker(monkeypatch, place)
    outcomes = asyncio.run(in_memory(ALIGN, [ONE, OTHER], ROLES))
    bit = int(secrets[-1][place // 64]) >> place % 64 & 1
    # A place where s is 0 was guessed: nothing differs, and nothing is learned but that bit.
    assert isinstance(outcomes[1].error, PeerGarbageError if bit else type(None))
    monkeypatch.setattr(oblivious_function, "_check_sums", unchecked)
    outcomes = asyncio.run(in_memory(ALIGN, [ONE, OTHER], ROLES))
    bit = int(secrets[-1][place // 64]) >> place % 64 & 1
    assert (len(outcomes[0].output) == 30) == (bit == 0)


def test_an_id_that_was_not_asked_for_has_an_unknown_value():
    """The asker's rows decoded at another id give a value that the holder does not have."""
    kept = {}
    real = oblivious_function.finished

    def keeping(ids, decoded):
        values = real(ids, decoded)
        kept.setdefault(len(kept), (list(ids), values))
        return values

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oblivious_function, "finished", keeping)
        run_local(ALIGN, [ONE, OTHER], "sums")
    (one, first), (other, second) = kept.values()
    where = {name: value.tobytes() for name, value in zip(one, first, strict=True)}
    there = {name: value.tobytes() for name, value in zip(other, second, strict=True)}
    assert all(where[name] == there[name] for name in set(where) & set(there))
    assert not set(where.values()) & {there[name] for name in set(there) - set(where)}


@pytest.mark.slow
def test_the_dry_run_sends_what_a_run_sends():
    ids = list(range(200))
    results = run_local(ALIGN, [ids, ids], "sums")
    dry = dry_run(ALIGN, dict.fromkeys(names(2), ids), ROLES, ALIGN.disclosures)
    for name, (_, ledger) in zip(names(2), results, strict=True):
        sent = [(r.label, r.bytes) for r in ledger.rows if r.label.startswith(("set", "ot"))]
        assert sent == [(r.label, r.bytes) for r in dry.ledgers[name].rows
                        if r.label.startswith(("set", "ot"))]


def test_nothing_but_bytes_that_nobody_has_fills_a_list():
    filled = fast_alignment._no_ids(50)
    assert len(set(filled)) == 50
    assert {len(item) for item in filled} == {33}
