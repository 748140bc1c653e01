"""Proof by simulation, as a test: no party's view can be told from what a simulator makes up.

The views hold everything: received frames, and what the party can take off them with the keys
and parts that it has itself. Broken variants of each protocol must be caught by the same test.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.broken_streams import BROKEN, spoiled
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.watching import frames_to
from unspoken.joint import less_than, multiply, reveal, secure_sum, share
from unspoken.joint.mpc import party as party_module
from unspoken.joint.mpc import randomness as streams
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops import sharing
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import Stream
from unspoken.joint.museum import cycle_sum, ring_sum

pytestmark = pytest.mark.slow

RUNS, STEPS, WORDS = 6, 4, 128
VALUES = [np.full(WORDS, v) for v in (5, 1000, 70_000, 3, 2)]


def own_mask(party, peer):
    """Return again what a party has in common with a peer in this step."""
    key = streams.derive(party._pairs[peer], "sum mask", party.count)
    return party_module.Stream(key).words(WORDS)


SUMS = {"masks": secure_sum, "ring": ring_sum.ring_sum, "cycles": cycle_sum.cycle_sum}


def summing(method):
    @declares("total")
    async def program(party, data):
        """Sum several times; return this party's own masks, which belong to its view."""
        masks = []
        for _ in range(STEPS):
            await SUMS[method](party, data, because="total")
            masks.append({peer: own_mask(party, peer) for peer in party.peers})
        return masks

    return program


def mask_views(coalition):
    """Return what a coalition with the collector p0 sees of each honest owner, masks taken off."""
    runs = []
    for _ in range(RUNS):
        got, masks = frames_to(summing("masks"), VALUES, {"p0"})
        honest = [f"p{i}" for i in range(5) if f"p{i}" not in coalition]
        seen = [[_without(got[name, "p0", "sum.masked"][step], name, coalition, masks, step)
                 for step in range(STEPS)] for name in honest]
        runs.append(seen)
    views = np.array(runs).transpose(1, 0, 2, 3)
    # The last honest owner's message follows from the total: a simulator computes it.
    return views[:-1]


def _without(frame, name, coalition, masks, step):
    """Take off every mask that a member of the coalition knows."""
    frame = frame.copy()
    for member in coalition:
        known = masks[int(member[1])][step][name]
        frame += known if name > member else np.uint64(0) - known
    return frame


@pytest.mark.parametrize("coalition", [["p0"], ["p0", "p2"], ["p0", "p2", "p4"]])
def test_masked_sums_look_uniform_to_the_collector_and_m_2_others(coalition):
    for view in mask_views(coalition):
        assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


def test_m_1_parties_learn_the_last_one_as_the_total_does():
    got, masks = frames_to(summing("masks"), VALUES, {"p0"})
    seen = _without(got["p3", "p0", "sum.masked"][0], "p3", ["p0", "p1", "p2", "p4"], masks, 0)
    assert np.array_equal(seen, VALUES[3])


@pytest.mark.parametrize("name", BROKEN)
def test_broken_masks_are_caught(monkeypatch, name):
    monkeypatch.setattr(party_module, "Stream", spoiled(BROKEN[name]))
    views = mask_views(["p0"])
    assert min(tell_apart(view, uniform_like(view)) for view in views) < SUSPICIOUS


def test_a_mask_used_again_is_caught(monkeypatch):
    real = streams.derive
    monkeypatch.setattr(Party, "stream_with", lambda self, peer, purpose: Stream(
        real(self._pairs[peer], purpose)))
    monkeypatch.setattr(streams, "derive", lambda key, purpose, count: real(key, purpose))
    views = mask_views(["p0"])
    assert min(tell_apart(view, uniform_like(view)) for view in views) < SUSPICIOUS


def ring_view(method, target, label):
    runs = []
    for _ in range(RUNS):
        got, _ = frames_to(summing(method), VALUES, {target})
        runs.append(next(frames for key, frames in got.items() if key[2] == label))
    return np.array(runs)


@pytest.mark.parametrize(("method", "label"), [("ring", "sum.ring"), ("cycles", "sum.cycle1")])
def test_rings_look_uniform_to_everybody_in_the_middle(method, label):
    for target in ("p1", "p3", "p4"):
        view = ring_view(method, target, label)
        assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


@pytest.mark.parametrize("name", BROKEN)
def test_broken_rings_are_caught(monkeypatch, name):
    real = ring_sum.fresh_words
    for module in (ring_sum, cycle_sum):
        monkeypatch.setattr(module, "fresh_words", lambda count: BROKEN[name](real(count).copy()))
    view = ring_view("ring", "p2", "sum.ring")
    assert tell_apart(view, uniform_like(view)) < SUSPICIOUS


@declares("bit")
async def on_shares(party, data):
    """Share, multiply and compare; a holder returns the parts that it drew itself."""
    drawn = []
    if party.is_holder:
        real = party.engine.source.draw

        async def draw(needs):
            drawn.append(await real(needs))
            return drawn[-1]

        party.engine.source.draw = draw
    x = await share(party, data if party.index == 0 else None, "p0", (WORDS,), -2**20, 2**20)
    y = await share(party, data if party.index == 2 else None, "p2", (WORDS,), -2**20, 2**20)
    for _ in range(STEPS):
        await multiply(party, x, y)
    wide = 2**61
    big = await share(party, np.arange(64) if party.index == 2 else None, "p2", (64,), -wide, wide)
    for _ in range(STEPS):
        await less_than(party, big, 0)
    return drawn


INPUTS = [np.full(WORDS, 7), np.full(WORDS, 8), np.full(WORDS, 9)]


def share_views(me, other):
    """Return holder `me`'s views: openings alone, and with its own parts added and taken off."""
    products, levels, corrections = [], [], []
    for _ in range(RUNS):
        got, outputs = frames_to(on_shares, INPUTS, {me}, "dealer")
        own = [parts[0] for parts in outputs[int(me[1])][:STEPS]]
        masked = np.array(got[other, me, "multiply.open"])
        mine = np.array([np.concatenate(parts[:2]) for parts in own])
        products.append(np.stack([masked, masked + mine, masked - mine]))
        levels.append(np.concatenate([np.array(got[other, me, f"compare.level{i}"]).reshape(
            STEPS, -1) for i in range(3)], axis=1))
        if ("dealer", me, sources.DEAL) in got:
            corrections.append(np.array(got["dealer", me, sources.DEAL][:STEPS]))
    views = [np.array(products)[:, i] for i in range(3)] + [np.array(levels)]
    return views + ([np.array(corrections)] if corrections else [])


@pytest.mark.parametrize(("me", "other"), [("p0", "p1"), ("p1", "p0")])
def test_holders_views_look_uniform(me, other):
    for view in share_views(me, other):
        assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


def caught():
    return min(tell_apart(view, uniform_like(view)) for view in share_views("p0", "p1")
               ) < SUSPICIOUS


@pytest.mark.parametrize("name", ["left out", "left out on the last", "32 bits", "63 bits"])
def test_broken_triples_are_caught(monkeypatch, name):
    monkeypatch.setattr(sources, "Stream", spoiled(BROKEN[name]))
    assert caught()


def test_a_triple_used_again_is_caught(monkeypatch):
    real = sources.derive
    monkeypatch.setattr(sources, "derive", lambda seed, what, number, *more: real(seed, what,
                                                                                  *more))
    assert caught()


def test_one_seed_for_both_holders_is_caught(monkeypatch):
    init = sources.Dealer.__init__

    def same(self, seam, roles):
        init(self, seam, roles)
        self._seeds = [self._seeds[0]] * len(self._seeds)

    monkeypatch.setattr(sources.Dealer, "__init__", same)
    assert caught()


@declares("product")
async def told_outside(party, data):
    """Multiply, and open the product to a party that holds no share."""
    drawn = []
    if party.is_holder:
        real = party.engine.source.draw

        async def draw(needs):
            drawn.extend(await real(needs))
            return drawn

        party.engine.source.draw = draw
    x = await share(party, data if party.index == 0 else None, "p0", (4,), 0, 2**20)
    y = await share(party, data if party.index == 1 else None, "p1", (4,), 0, 2**20)
    product = await multiply(party, x, y)
    await reveal(party, product, because="product", to=["p2"])
    return drawn


def dealer_and_receiver_can_check_a_guess(mode):
    """A dealer knows all parts; with a receiver it can test guesses of both factors."""
    got, outputs = frames_to(told_outside, [np.full(4, 21), np.full(4, 34), None], {"p2"},
                             mode)
    a, b, _ = (outputs[0][0][i] + outputs[1][0][i] for i in range(3))
    d, e = np.uint64(21) - a, np.uint64(34) - b
    _, b1, c1 = outputs[1][0]
    guess = c1 + d * b1 + e * outputs[1][0][0]
    return np.array_equal(guess, got["p1", "p2", "reveal"][0])


@pytest.mark.parametrize("mode", ["dealer", "three-party"])
def test_the_zero_share_keeps_the_dealer_from_checking_guesses(monkeypatch, mode):
    assert not dealer_and_receiver_can_check_a_guess(mode)
    monkeypatch.setattr(sharing, "rerandomised", lambda party, value: value.share)
    assert dealer_and_receiver_can_check_a_guess(mode)


def test_a_dealer_receives_nothing_but_sizes():
    got, _ = frames_to(on_shares, INPUTS, {"dealer"}, "dealer")
    assert got == {}
