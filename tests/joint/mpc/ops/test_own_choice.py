"""Values kept by answers that one owner has in the clear: right in all modes, uniform views."""

from __future__ import annotations

import numpy as np
import pytest

from support.broken_streams import BROKEN, spoiled
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.watching import frames_to
from unspoken.joint import reveal, run_local, share
from unspoken.joint.mpc.bit_planes import bits_of
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops.own_choice import keep_where
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.randomness import Stream, fresh_seed

RUNS, STEPS, WORDS = 6, 4, 128
RNG = np.random.default_rng(4)
SIGNED, LARGE = RNG.integers(-1000, 1000, (3, 70)), RNG.integers(0, 10**12, (3, 70))
ANSWERS = RNG.integers(0, 2, (3, 70))


def keeping(owner):
    """Return a program that keeps both arrays by the answers of one owner."""
    @declares("kept")
    async def program(party, data):
        mine = party.name == party.names[0], party.name == party.names[1]
        one = await share(party, SIGNED if mine[0] else None, party.names[0], (3, 70), -1000, 1000)
        other = await share(party, LARGE if mine[1] else None, party.names[1], (3, 70), 0, 10**12)
        kept = await keep_where(party, [one, other], ANSWERS if party.name == owner else None,
                                owner)
        return [await reveal(party, value, because="kept") for value in kept]

    return program


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "names", "holders"), [
    ("dealer", "ab", None), ("dealer", "abc", None), ("dealer", "abc", "abc"),
    ("dealer", "abc", "bc"), ("three-party", "abc", None), ("authenticated", "ab", None),
    ("two-party", "ab", None)])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_values_are_kept_where_answers_are_yes(mode, names, holders, place):
    how = {} if holders is None else {"holders": list(holders)}
    outputs = run_local(keeping(names[place]), [None] * len(names), mode, names=list(names), **how)
    for kept, _ in outputs:
        np.testing.assert_array_equal(kept[0], SIGNED * ANSWERS)
        np.testing.assert_array_equal(kept[1], LARGE * ANSWERS)


@declares("nothing")
async def several(party, data):
    """Keep and multiply the same values several times."""
    x = await share(party, data if party.index == 1 else None, "p1", (WORDS,), 0, 2**20)
    yes = np.ones(WORDS, np.int64)
    for _ in range(STEPS):
        await keep_where(party, [x], yes if party.index == 0 else None, "p0")
    answers = await share(party, yes if party.index == 0 else None, "p0", (WORDS,), 0, 1)
    for _ in range(STEPS):
        await multiply(party, x, answers)


def views(target):
    """Return what one holder is sent while values are kept, one view for each sender."""
    labels = {"p0": ["choose.values"], "p1": ["choose.bits", sources.DEAL]}[target]
    runs = {label: [] for label in labels}
    for _ in range(RUNS):
        got, _ = frames_to(several, [np.full(WORDS, 7), np.full(WORDS, 8)], {target}, "dealer")
        for label in labels:
            [frames] = [frames for key, frames in got.items() if key[2] == label]
            runs[label].append(np.array(frames[:STEPS]))
    return [np.array(run) for run in runs.values()]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["p0", "p1"])
def test_what_is_sent_looks_uniform(target):
    for view in views(target):
        assert tell_apart(view, uniform_like(view)) > SUSPICIOUS


@pytest.mark.slow
@pytest.mark.parametrize("name", ["left out", "left out on the last", "32 bits"])
@pytest.mark.parametrize("target", ["p0", "p1"])
def test_broken_masks_are_caught(monkeypatch, target, name):
    monkeypatch.setattr(sources, "Stream", spoiled(BROKEN[name]))
    assert min(tell_apart(view, uniform_like(view)) for view in views(target)) < SUSPICIOUS


def test_it_takes_less_than_half_of_a_product():
    got, _ = frames_to(several, [np.full(WORDS, 7), np.full(WORDS, 8)], {"p0", "p1"}, "dealer")
    sent = {label: sum(frame.nbytes for key, frames in got.items() if key[2].startswith(label)
                       for frame in frames) for label in ("choose.", "multiply.open")}
    assert sent["choose."] * 3 < sent["multiply.open"]


@pytest.mark.parametrize("holders", [1, 2, 3, 5])
@pytest.mark.parametrize("who", [0, 1, 4, 63])
def test_what_is_dealt_fits_together(holders, who):
    need, rows = Need("choices", (70, 2, who)), 70
    drawn = [need.draw(Stream(fresh_seed()), last=i == holders - 1) for i in range(holders)]
    drawn[-1] = need.complete(drawn[-1], need.deal(drawn))
    knows = who % holders
    masks = sum((parts[1] for i, parts in enumerate(drawn) if i != knows),
                np.zeros(2 * rows, np.uint64))
    joined = sum((parts[2] for parts in drawn), np.zeros(2 * rows, np.uint64))
    np.testing.assert_array_equal(joined, np.tile(bits_of(drawn[knows][0], rows), 2) * masks)
