"""x ln x of counts where a dealer serves: against numpy at every edge, and nothing shows."""

from __future__ import annotations

import numpy as np
import pytest

from support.computing import ALL_HOLD, around_powers, on_shares
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.hostile_party import force_swap
from support.masks import break_masks, broken_masks
from support.watching import masked_frames
from unspoken.joint import reveal, share, x_log_x
from unspoken.joint.mpc import masked_log as windows
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops import whole_log
from unspoken.joint.mpc.ops.logarithm import LOG_ERROR, plain_x_log_x

SERVED = [(2, "dealer"), (3, "three-party"), ALL_HOLD]
# Counts up to 4096 have mantissas of 13 bits.
RING = {"log.window": 1 << 13, "log.product": 1 << 16}


@pytest.fixture
def way(monkeypatch):
    """Count how often the way is taken, so that no test passes by another one."""
    taken = []
    real = whole_log.serves
    monkeypatch.setattr("unspoken.joint.mpc.ops.logarithm.serves",
                        lambda party, x: taken.append(real(party, x)) or taken[-1])
    return taken


@pytest.mark.slow
@pytest.mark.parametrize("high", [1, 2, 3, 4, 7, 100, 2**15, 49151, 49152, 2**16, 2**20, 2**27])
@pytest.mark.parametrize("low", [0, 1])
def test_every_edge(way, high, low):
    edges = around_powers(max(2, high.bit_length()))
    some = np.random.default_rng(high).integers(low, high, 200, endpoint=True)
    x = np.clip(np.unique(np.r_[edges, some, low, high]), low, high)
    got = on_shares(lambda party, x: x_log_x(party, x), [x], [(low, high)])
    assert all(way)
    assert (np.abs(got - plain_x_log_x(x)) <= LOG_ERROR * x + 1e-15 * np.abs(got)).all()
    assert (got[x == 0] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("circle", SERVED)
@pytest.mark.parametrize("size", [1, 63, 64, 65, 300])
def test_shapes_and_modes(way, circle, size):
    x = np.random.default_rng(size).integers(0, 4096, (2, size), endpoint=True)
    got = on_shares(lambda party, x: x_log_x(party, x), [x], [(0, 4096)], circle)
    assert all(way)
    assert (np.abs(got - plain_x_log_x(x)) <= LOG_ERROR * x + 1e-12).all()


def test_every_count_of_a_small_table_a_few_times():
    """Masks are new in every run: an error that only some of them show would appear."""
    x = np.arange(3000)
    for _ in range(4):
        got = on_shares(lambda party, x: x_log_x(party, x), [x], [(0, 2999)])
        assert (np.abs(got - plain_x_log_x(x)) <= LOG_ERROR * x + 1e-12).all()


@pytest.mark.parametrize("top", [2, 3, 9, 15])
def test_windows_hold_for_every_mask(top):
    u = np.arange(3 << (top - 2), dtype=np.uint64) if top < 15 else np.arange(
        0, 3 << 13, 97, dtype=np.uint64)
    masks = np.r_[np.arange(min(2 << top, 64)), [(2 << top) - 1, 1 << top, (1 << top) - 1]]
    real = np.log((u + np.uint64(3 << (top - 2))) / 2**top)
    for r in np.unique(masks).astype(np.uint64):
        table = windows.coefficients(np.full(u.size, r), top)
        opened = (u + r) & np.uint64((2 << top) - 1)
        found = windows.evaluated(opened, table, top).view(np.int64)
        assert np.abs(np.ldexp(found.astype(float), -windows.SCALE) - real).max() < 3.2e-8


@declares("answer")
async def program(party, x):
    shared = await share(party, x, party.roles.owners[0], (64,), 0, 4096)
    return await reveal(party, await x_log_x(party, shared), because="answer")


def view(words=512):
    """Return masked words of many runs, by the length of their frames."""
    found = {}
    for _ in range(12):
        frames, _ = masked_frames(program, [np.arange(64) * 65 % 4097, None, None], "dealer")
        for place, frame in enumerate(f for f in frames if len(f) % 8 == 0 and len(f) >= words):
            found.setdefault((place, len(frame)), []).append(np.frombuffer(frame, np.uint64))
    return [np.array(runs)[:, None] for runs in found.values() if len(runs) == 12]


@pytest.mark.slow
def test_what_is_opened_looks_uniform():
    views = view()
    assert len(views) >= 4
    assert all(tell_apart(one, uniform_like(one)) > SUSPICIOUS / len(views) for one in views)


@pytest.mark.slow
@broken_masks
def test_broken_masks_are_caught(monkeypatch, name):
    break_masks(monkeypatch, name)
    assert any(tell_apart(one, uniform_like(one)) < SUSPICIOUS for one in view())


@pytest.mark.slow
@pytest.mark.parametrize("mutant", ["window", "product", "bits"])
def test_an_opening_without_its_mask_is_caught(monkeypatch, mutant):
    """Each of the three openings that are new here, with the mask left out."""
    label = f"log.{mutant}"
    views = [labelled(label) for _ in range(2)]
    assert not np.array_equal(*views)
    _leave_out(monkeypatch, mutant)
    views = [labelled(label) for _ in range(2)]
    assert np.array_equal(*views)


def labelled(label):
    """Return what two holders' frames with a label open, added up or xored: the opened words."""
    opened = []

    async def watching(party, x):
        async def swap(peers, name, array, purpose):
            got = await force_swap(party, peers, name, array, purpose)
            if name == label and party.adds_public:
                opened.append(np.bitwise_xor(array, got[0]) if label == "log.bits"
                              else (array + got[0]).astype(np.int64) % RING[label])
            return got

        party.swap = swap
        return await program(party, x)

    watching.disclosures = program.disclosures
    masked_frames(watching, [np.arange(64) * 65 % 4097, None, None], "dealer")
    [found] = opened
    return found


def _leave_out(monkeypatch, mutant):
    """Let the dealer deal masks that are zero for one kind, to all holders."""
    from unspoken.joint.mpc.correlated import kinds as correlations

    kind = {"window": "windows", "product": "lanes", "bits": "flags"}[mutant]
    real = correlations.Need.draw

    def draw(self, stream, *, last=False):
        parts = real(self, stream, last=last)
        hidden = self.kind in (kind, "dabits") if kind == "flags" else self.kind == kind
        return [part * np.uint64(0) for part in parts] if hidden else parts

    monkeypatch.setattr(correlations.Need, "draw", draw)
