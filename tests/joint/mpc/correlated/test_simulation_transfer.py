"""Proof by simulation for two holders without a dealer, as in test_simulation.

Each holder's view is what it received, and what it can compute of it with its own leaves, pads
and outputs. A simulator makes up uniform words. Broken variants must be caught by the same tests.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from support.broken_streams import BROKEN
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.joint_programs import of_two
from support.watching import frames_to, masked_frames
from unspoken.joint import equal, keep, less_than, multiply, share, to_numbers, truncate
from unspoken.joint.mpc import randomness as streams
from unspoken.joint.mpc.correlated import ot_extension, transfer_source
from unspoken.joint.mpc.correlated import transfers as transfer
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.engines.two_party import millionaires
from unspoken.joint.mpc.ops import less_than as comparison
from unspoken.joint.mpc.randomness import Stream
from unspoken.joint.mpc.shared import width_of

pytestmark = pytest.mark.slow

pytest.importorskip("rbcl", reason="rbcl is not installed")
RUNS, STEPS, COUNT = 2, 3, 512


@declares("answer")
async def raw(party, data):
    """Transfer constants: what is sent would show them if anything is missing."""
    ones = ~np.uint64(0)
    own = (np.zeros((16, 2, 4), np.uint64) if party.engine.transfer.offers
           else np.full((4, 4), ones))
    gap = (np.full((COUNT, 6), 9, np.uint64) if party.engine.transfer.offers
           else np.zeros(COUNT // 64, np.uint64))
    for _ in range(STEPS):
        party.begin("raw")
        await party.engine.transfer.pick("raw", own, 16, 2)
        await party.engine.transfer.correlate("gap", gap, COUNT, 6)


def stacked(runs):
    """Return the views of all runs, shape (runs, steps, words)."""
    return np.array([[np.asarray(step).reshape(-1) for step in run] for run in runs])


def raw_views():
    """Return what the chooser sees of tables and words, and what the offerer sees of choices."""
    tables, apart, words, choices = [], [], [], []
    for _ in range(RUNS):
        got, _ = frames_to(raw, [None] * 2, {"p0", "p1"}, "two-party")
        found = [frame.reshape(16, -1) for frame in got["p0", "p1", "raw.table"]]
        tables.append(found)
        # An entry against the first of them: pads that differ by something fixed would show.
        apart.append([table[1:] ^ table[0] for table in found])
        words.append(got["p0", "p1", "gap.words"])
        choices.append([np.concatenate(pair) for pair in zip(
            got["p1", "p0", "raw.choice"], got["p1", "p0", "gap.choice"], strict=True)])
    return [stacked(runs) for runs in (tables, apart, words, choices)]


def looks_uniform(views):
    return min(tell_apart(view, uniform_like(view)) for view in views) > SUSPICIOUS


def test_transfers_look_uniform_to_both():
    assert looks_uniform(raw_views())


def test_a_hash_without_its_number_is_caught(monkeypatch):
    real = ot_extension.Pads.__init__

    def untweaked(self, cipher, rows, first):
        real(self, cipher, rows, first)
        self._input[:, 0] ^= self._number

    hashed = ot_extension.Pads._hashed
    monkeypatch.setattr(ot_extension.Pads, "__init__", untweaked)
    monkeypatch.setattr(ot_extension.Pads, "_hashed", lambda self, offset, _: hashed(self, offset,
                                                                                    0))
    assert not looks_uniform(raw_views())


def test_no_hash_at_all_is_caught(monkeypatch):
    # Pads are the rows themselves: those of two entries differ by the same in every transfer.
    def plain(self, offset, block):
        return np.zeros((self.count, 2), np.uint64)

    monkeypatch.setattr(ot_extension.Pads, "_hashed", plain)
    assert not looks_uniform(raw_views())


def spoiled_stream(spoil):
    class Spoiled(Stream):
        def fill(self, out):
            super().fill(out)
            out[:] = spoil(out.copy())

    return Spoiled


@pytest.mark.parametrize("name", ["left out", "left out on the last", "one word for all",
                                  "32 bits", "63 bits"])
def test_broken_leaves_are_caught(monkeypatch, name):
    monkeypatch.setattr(ot_extension, "Stream", spoiled_stream(BROKEN[name]))
    assert not looks_uniform(raw_views())


def test_leaves_used_again_are_caught(monkeypatch):
    real = ot_extension.Leaves.__init__

    def keep(self, keys):
        real(self, keys)
        self.keys = keys

    expand = ot_extension.Leaves.expand

    def again(self, planes, words):
        real(self, self.keys)
        return expand(self, planes, words)

    monkeypatch.setattr(ot_extension.Leaves, "__init__", keep)
    monkeypatch.setattr(ot_extension.Leaves, "expand", again)
    assert not looks_uniform(raw_views())


@declares("answer")
async def comparing(party, data):
    """Compare, multiply and convert constants; return what this holder's transfers gave it."""
    own, drawn = [], []
    pick, draw = party.engine.transfer.pick, party.engine.source.draw

    async def watched(label, given_, entries, width):
        own.append(await pick(label, given_, entries, width))
        return own[-1]

    async def kept(needs):
        drawn.append(await draw(needs))
        return drawn[-1]

    party.engine.transfer.pick, party.engine.source.draw = watched, kept
    wide = 2**61
    x = await share(party, data if party.index == 0 else None, "p0", (COUNT,), -wide, wide)
    small = await share(party, data[:64] if party.index == 1 else None, "p1", (64,), -99, 99)
    for _ in range(STEPS):
        bits = await less_than(party, x, 3)
        await equal(party, x, 3)
        await to_numbers(party, bits)
        await keep(party, bits, [x])
        await truncate(party, x, 5)
        await multiply(party, small, small)
    return own, [parts[0] for parts in drawn if len(parts[0]) == 3], small.share


GIVEN = [np.full(COUNT, 7), np.full(COUNT, 8)]


def comparing_views():
    """Return the views of both: tables, choices, openings, and the chooser's own outputs."""
    found = {name: [] for name in ("tables", "choices", "digits", "open0", "open1",
                                 "own0", "own1", "there", "back")}
    for _ in range(RUNS):
        got, outputs = frames_to(comparing, GIVEN, {"p0", "p1"}, "two-party")
        for name, source, target, labels in (
                ("tables", "p0", "p1", ("compare.digit.table", "compare.join.table")),
                ("choices", "p1", "p0", ("compare.digit.choice", "compare.join.choice"))):
            found[name].append(steps(itertools.chain(*(got[source, target, label]
                                                       for label in labels))))
        found["digits"].append(steps(outputs[1][0]))
        for name, source, target, labels in (("there", "p0", "p1", ("keep", "dabits", "truncate")),
                                             ("back", "p1", "p0", ("keep",))):
            found[name].append([np.concatenate(parts) for parts in zip(*(
                got[source, target, f"{label}.words"] for label in labels), strict=True)])
        for me, other in ((0, 1), (1, 0)):
            masked = got[f"p{other}", f"p{me}", "multiply.open"]
            mine = [np.concatenate(parts[:2]) for parts in outputs[me][1]]
            share = np.tile(outputs[me][2], 2)
            found[f"open{me}"].append([np.concatenate([a, a + b, a - b])
                                       for a, b in zip(masked, mine, strict=True)])
            # Apart from the others: its differences between steps are theirs.
            found[f"own{me}"].append([a + share for a in masked])
    return [stacked(runs) for runs in found.values()]


def steps(parts):
    """Cut everything into so many steps of the same length."""
    flat = np.concatenate([np.asarray(part).reshape(-1) for part in parts])
    return flat[:flat.size // STEPS * STEPS].reshape(STEPS, -1)


def test_comparing_looks_uniform_to_both():
    assert looks_uniform(comparing_views())


@pytest.mark.parametrize("name", ["left out", "left out on the last", "one word for all",
                                  "32 bits", "63 bits"])
@pytest.mark.parametrize("module", [millionaires, transfer_source])
def test_broken_shares_are_caught(monkeypatch, module, name):
    real = module.fresh_words
    monkeypatch.setattr(module, "fresh_words", lambda count: BROKEN[name](real(count).copy()))
    assert not looks_uniform(comparing_views())


def test_a_triple_used_again_is_caught(monkeypatch):
    real = transfer_source.TransferSource.draw

    async def again(self, needs):
        if needs[0].kind != "triple":
            return await real(self, needs)
        if not hasattr(self, "kept"):
            self.kept = await real(self, needs)
        return self.kept

    monkeypatch.setattr(transfer_source.TransferSource, "draw", again)
    assert not looks_uniform(comparing_views())


def shared_frames():
    one, two = (masked_frames(of_two, [np.arange(5)] * 2, "two-party")[0] for _ in range(2))
    return {frame for frame in one if len(frame) >= 8} & set(two)


def test_nothing_of_a_run_comes_again_in_the_next(monkeypatch):
    assert not shared_frames()
    seed = streams.secrets.token_bytes(32)
    # A party that starts again with the seeds of its last run.
    monkeypatch.setattr(streams.secrets, "token_bytes", lambda n: seed[:n])
    monkeypatch.setattr(transfer, "derive", lambda *_: b"k" * 32)
    monkeypatch.setattr("unspoken.joint.mpc.ristretto.check_different", lambda points: None)
    monkeypatch.setattr("unspoken.joint.mpc.correlated.oblivious_transfer.hashlib.sha256",
                        _Sessionless)
    assert shared_frames()


class _Sessionless:
    """SHA-256 that leaves the session out."""

    def __init__(self, start=b""):
        import hashlib

        self._state = hashlib.new("sha256", start)

    def hexdigest(self):
        return self._state.hexdigest()

    def update(self, part):
        if len(part) != 16:
            self._state.update(part)

    def digest(self):
        return self._state.digest()


def lengths(told):
    """Return the lengths of two runs that differ in their values only; `told` hears the value."""
    found = []
    for value in (0, 1000):
        told.append(value)
        found.append(masked_frames(of_two, [np.full(5, value)] * 2, "two-party")[1])
    return found


def test_a_width_taken_from_the_data_is_caught(monkeypatch):
    told = []
    one, other = lengths(told)
    assert one == other
    # Bounds that follow the values save bytes, are right, and show how large the values are.
    monkeypatch.setattr(comparison, "width_of", lambda low, high: width_of(-told[-1], told[-1]))
    one, other = lengths(told)
    assert one != other
