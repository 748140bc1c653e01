"""Counts of pairs and sets of columns on shares."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.basket_data import in_bits
from support.broken_streams import BROKEN, spoiled
from support.computing import run
from support.distinguisher import SUSPICIOUS, tell_apart, uniform_like
from support.watching import frames_to
from unspoken.errors import InputError
from unspoken.joint import reveal
from unspoken.joint.mpc import pair_count_ring as small_ring
from unspoken.joint.mpc import party as party_module
from unspoken.joint.mpc.correlated import sources
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.declared import declares
from unspoken.joint.mpc.ops import pair_counts as primitive
from unspoken.joint.mpc.ops.bit_counts import bit_counts, share_columns_of_bits
from unspoken.joint.mpc.ops.pair_counts import pair_counts, plain_pair_counts
from unspoken.joint.mpc.pair_count_ring import MASK, cells_of, cross_places, cross_size, crosses
from unspoken.joint.mpc.randomness import Stream, fresh_seed

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("widths", [(2, 3), (1, 0, 4), (3, 2, 1, 2), (5,)])
@pytest.mark.parametrize("holders", [1, 2, 3])
def test_what_is_dealt_fits_together(widths, holders):
    need = Need("crosses", (9, *widths))
    drawn = [need.draw(Stream(fresh_seed()), last=i == holders - 1) for i in range(holders)]
    drawn[-1] = need.complete(drawn[-1], need.deal(drawn))
    cells = sum(cells_of(one[0], 9, sum(widths)).astype(object) for one in drawn) % (1 << 20)
    found = sum(one[1].astype(object) for one in drawn) % (1 << 20)
    starts = np.r_[0, np.cumsum(widths)]
    group = np.searchsorted(starts, np.arange(sum(widths)), side="right") - 1
    pairs = [(a, b) for a, b in combinations(range(sum(widths)), 2) if group[a] < group[b]]
    assert cross_size(widths) == len(pairs) == found.size
    for a, b in pairs:
        place = cross_places(np.array([a]), np.array([b]), widths)[0]
        assert found[place] == (cells[:, a] * cells[:, b]).sum() % (1 << 20)


def test_products_are_exact_at_their_limits():
    most = np.full((small_ring.ROWS, 2), MASK, np.uint32)
    exact = small_ring.ROWS * int(MASK) ** 2 % (1 << 20)
    assert crosses(most, most, (1, 1)).tolist() == [exact]


@pytest.mark.parametrize("sizes", [(), (1 << 14, 2, 2), (-1, 2), (8000, 50_000, 50_000)])
def test_impossible_wishes_are_refused(sizes):
    with pytest.raises(InputError):
        Need("crosses", sizes)


def counting(widths, rows):
    @declares("counts")
    async def program(party, data):
        own = None if data is None else in_bits(data)
        shared = await pair_counts(party, own, dict(zip(party.names, widths, strict=True)), rows)
        assert (shared.low, shared.high) == (0, rows)
        return await reveal(party, shared, because="counts")

    return program


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 150),
       st.integers(0, 2**32 - 1), st.booleans())
def test_pairs_are_counted(widths, rows, seed, all_hold):
    random = np.random.default_rng(seed)
    columns = [random.random((rows, width)) < 0.6 for width in widths]
    held = len(widths) if all_hold else None
    found = run(counting(widths, rows), columns, "dealer", held)
    expected = [np.concatenate([block.ravel() for block in row]) if row else np.zeros(0)
                for row in _by_group(columns)]
    assert all(np.array_equal(one, np.concatenate([np.zeros(0), *expected])) for one in found)


def _by_group(columns):
    """Return for each group the products of each column with all later columns."""
    blocks = iter(plain_pair_counts(columns))
    rows = [[next(blocks) for _ in columns[i + 1:]] for i in range(len(columns))]
    return [[np.concatenate(row, axis=1)] if row else [] for row in rows]


def test_blocks_and_chunks_add_up(monkeypatch):
    monkeypatch.setattr(primitive, "ROWS", 64)
    monkeypatch.setattr(primitive, "BITS", 8)
    monkeypatch.setattr(primitive, "MASK", np.uint32(255))
    monkeypatch.setattr(small_ring, "MASK", np.uint32(255))
    monkeypatch.setattr("unspoken.joint.mpc.correlated.kinds.MASK", np.uint32(255))
    columns = [np.ones((500, 2)), np.ones((500, 1))]
    assert run(counting([2, 1], 500), columns)[0].tolist() \
        == [500, 500]


@pytest.mark.parametrize("mode", ["dealer", "two-party", "three-party"])
def test_sets_are_counted(mode):
    random = np.random.default_rng(5)
    columns = [random.random((70, 2)) < 0.7 for _ in range(3)]
    chosen = np.array([[0, 2, 4], [1, 3, 5], [0, 1, 5]])

    @declares("counts")
    async def program(party, data):
        words = await share_columns_of_bits(party, in_bits(data), dict.fromkeys(party.names, 2), 2)
        shared = await bit_counts(party, words, chosen, 70)
        return await reveal(party, shared, because="counts")

    every = np.concatenate(columns, axis=1)
    expected = every[:, chosen].all(axis=2).sum(axis=0)
    assert np.array_equal(run(program, columns, mode)[0], expected)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 3000), st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.5, 1.0]),
       st.sampled_from([1, 2, 3]))
def test_long_columns_are_added_up(rows, seed, rate, held):
    random = np.random.default_rng(seed)
    columns = [random.random((rows, 2)) < rate for _ in range(3)]

    @declares("counts")
    async def program(party, data):
        words = await share_columns_of_bits(party, in_bits(data), dict.fromkeys(party.names, 2),
                                            -(-rows // 64))
        shared = await bit_counts(party, words, np.array([[0, 2], [1, 5], [3, 3]]), rows)
        return await reveal(party, shared, because="counts")

    every = np.concatenate(columns, axis=1)
    expected = [(every[:, a] & every[:, b]).sum() for a, b in ((0, 2), (1, 5), (3, 3))]
    found = run(program, columns, "dealer", held if held > 1 else None)
    assert all(one.tolist() == expected for one in found)


RUNS, ROWS, WIDTH = 6, 33, 4


@declares("counts")
async def watched(party, data):
    """Count pairs several times; a holder returns the masks that it drew itself."""
    drawn = []
    if party.is_holder:
        real = party.engine.source.draw

        async def draw(needs):
            found = await real(needs)
            if needs[0].kind == "crosses":
                drawn.append(cells_of(found[0][0], ROWS, 3 * WIDTH).ravel())
            return found

        party.engine.source.draw = draw
    for _ in range(4):
        await pair_counts(party, in_bits(data), dict.fromkeys(party.names, WIDTH), ROWS)
    return drawn


def views(me, other):
    """Return a holder's openings, with its own part, with its own masks, and an owner's cells.

    Cells have 20 bits: three of them make a word of 60.
    """
    opened, together, with_own, cells = [], [], [], []
    for _ in range(RUNS):
        got, outputs = frames_to(watched, [np.ones((ROWS, WIDTH))] * 3, {me, other},
                                  "dealer")
        mine = np.array(outputs[int(me[1])])
        masked = np.array(got[other, me, "pairs.open"])
        whole = masked + np.array(got[me, other, "pairs.open"])
        opened.append(in_words(masked))
        together.append(in_words(whole & MASK))
        with_own.append(in_words((whole + mine) & MASK))
        if me == "p1":
            cells.append(in_words(np.array(got["p2", me, "pairs.cells"])))
    return [np.array(view) for view in (opened, together, with_own, cells) if view]


def in_words(cells):
    wide = cells[:, :cells.shape[1] // 3 * 3].astype(np.uint64).reshape(len(cells), -1, 3)
    return wide[:, :, 0] | wide[:, :, 1] << np.uint64(20) | wide[:, :, 2] << np.uint64(40)


def simulated(view):
    return uniform_like(view) >> np.uint64(4)


@pytest.mark.parametrize(("me", "other"), [("p0", "p1"), ("p1", "p0")])
def test_what_is_opened_looks_uniform(me, other):
    for view in views(me, other):
        assert tell_apart(view, simulated(view)) > SUSPICIOUS


def caught():
    return min(tell_apart(view, simulated(view)) for view in views("p1", "p0")) < SUSPICIOUS


def last_left_out(words):
    words[-2:] = 0
    return words


@pytest.mark.parametrize("module", [sources, party_module])
@pytest.mark.parametrize("spoil", [BROKEN["left out"], last_left_out, BROKEN["biased"]])
def test_broken_masks_are_caught(monkeypatch, spoil, module):
    monkeypatch.setattr(module, "Stream", spoiled(spoil))
    assert caught()


def test_a_mask_used_again_is_caught(monkeypatch):
    real = sources.derive
    monkeypatch.setattr(sources, "derive", lambda seed, what, number, *more: real(seed, what,
                                                                                  *more))
    assert caught()
