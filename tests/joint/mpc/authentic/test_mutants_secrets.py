"""Secrets of shares with tags are drawn each for itself, and at full width."""

from __future__ import annotations

import asyncio
import functools

import numpy as np
import pytest

from support.entropy import watched_entropy
from unspoken.joint import declares, multiply, reveal, secure_sum, share
from unspoken.joint.mpc.authentic import auth_dealing, auth_engine, auth_sources, tag_check
from unspoken.joint.mpc.authentic.auth_dealing import keys_of
from unspoken.joint.mpc.authentic.auth_sources import OWN_SEED, RELEASE
from unspoken.joint.mpc.correlated.sources import SEED
from unspoken.joint.mpc.randomness import SEED_BYTES, fresh_seed
from unspoken.joint.session.play import in_memory
from unspoken.joint.session.run_roles import roles_for
from unspoken.joint.wire.frames import HEADER_BYTES, Kind, parse

VALUES = np.arange(5)


@declares("answer")
async def squared(party, data):
    x = await share(party, data if party.name == "p2" else None, "p2", (5,), 0, 99)
    return await reveal(party, await multiply(party, x, x), because="answer")


@declares("answer")
async def summing(party, data):
    return await secure_sum(party, data, because="answer")


@declares("answer")
async def long_input(party, data):
    """Share so much that holders toss a coin for the test of its bounds."""
    x = await share(party, np.ones(1100) if party.name == "p2" else None, "p2", (1100,), 0, 9)
    return await reveal(party, x.sum(), because="answer")


def watched(program):
    """Run; return what was sent (sender, label, bytes), and what was drawn from the system."""
    sent = []

    def tap(source, target, frame):
        header = parse(frame[:HEADER_BYTES])
        if header.kind is Kind.DATA:
            sent.append((source, header.label, frame[HEADER_BYTES:]))
        return frame

    roles = roles_for(["p0", "p1", "p2"], "authenticated")
    with watched_entropy() as drawn:
        outcomes = asyncio.run(in_memory(program, [VALUES] * 3, roles, tap=tap))
    assert [o.error for o in outcomes] == [None] * 4
    return sent, set(drawn)


def seeds_are_fresh():
    """Say whether two holders and three parties got seeds of their own, and one in common."""
    sent, drawn = watched(squared)
    holders = {raw for _, label, raw in sent if label == SEED}
    own = [raw for _, label, raw in sent if label == OWN_SEED]
    each, common = {raw[:SEED_BYTES] for raw in own}, {raw[SEED_BYTES:] for raw in own}
    seeds = holders | each | common
    return (len(holders), len(each), len(common), len(seeds)) == (2, 3, 1, 6) and seeds <= drawn


def test_every_party_has_seeds_of_its_own(monkeypatch):
    """Whoever had another's could take the mask off what that one shares."""
    assert seeds_are_fresh()
    monkeypatch.setattr(auth_sources, "fresh_seed", functools.cache(fresh_seed))
    assert not seeds_are_fresh()


def release_keys():
    return {raw for _, label, raw in watched(summing)[0] if label == RELEASE and len(raw) == 32}


def test_the_key_of_a_total_is_another_one_in_every_run(monkeypatch):
    assert not release_keys() & release_keys()
    # Seeds of parties go through the same name; here only what the dealer keeps stays the same.
    init = auth_sources.TagDealer.__init__

    def constant(self, *rest):
        init(self, *rest)
        self._secret = bytes(SEED_BYTES)

    monkeypatch.setattr(auth_sources.TagDealer, "__init__", constant)
    assert release_keys() & release_keys()


def promises_come_first(program):
    """Say whether holders promise something else than what they then show, and show fresh bytes."""
    sent, drawn = watched(program)
    shown = [[raw for source, label, raw in sent if source == name and label == tag_check.LABEL]
             for name in ("p0", "p1")]
    assert all(shown)
    return all(len(rows) % 2 == 0 and not set(rows[::2]) & drawn and set(rows[1::2]) <= drawn
               for rows in shown) and not set(shown[0]) & set(shown[1])


@pytest.mark.parametrize("program", [squared, long_input])
def test_checks_and_coins_are_promised_with_fresh_bytes(monkeypatch, program):
    assert promises_come_first(program)
    with monkeypatch.context() as patch:
        patch.setattr(tag_check, "fresh_seed", lambda: bytes(SEED_BYTES))
        assert not promises_come_first(program)

    async def at_once(self, own):
        shown = await self._swap(own)
        promises = await self._swap(np.frombuffer(self._digest(self.party.name, own.tobytes()),
                                                  np.uint8))
        return [(name, promise.tobytes(), array) for name, promise, array in zip(
            self._others, promises, shown, strict=True)]

    monkeypatch.setattr(tag_check.TagCheck, "_shown", at_once)
    assert not promises_come_first(program)


def key_widths():
    """Return how many bits of keys of numbers, and of bits, were both 0 and 1 in many draws."""
    keys = [auth_engine.keys_of(fresh_seed()) for _ in range(64)]
    assert all(set(key.bit.tolist()) <= {0, 2**64 - 1} for key in keys)
    numbers = [low | high << 64 for low, high in (key.number for key in keys)]
    one = functools.reduce(int.__or__, numbers) & ~functools.reduce(int.__and__, numbers)
    planes = np.array([key.bit for key in keys])
    moved = (planes.any(axis=0) & ~planes.all(axis=0)).sum()
    apart = len({tuple(column) for column in planes.T.tolist()})
    return one.bit_count(), int(moved), apart


def test_keys_have_their_full_width():
    assert key_widths() == (128, 40, 40)


@pytest.mark.parametrize("planes", [slice(20, None), slice(39, None)])
def test_a_key_of_fewer_bits_is_caught(monkeypatch, planes):
    def narrow(seed):
        keys = keys_of(seed)
        keys.bit[planes] = 0
        return auth_dealing.TagKeys((keys.number[0], 0), keys.bit)

    monkeypatch.setattr(auth_engine, "keys_of", narrow)
    assert key_widths() != (128, 40, 40)
