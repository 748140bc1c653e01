"""Codes increase strictly, are exact in float32, and do not depend on the input's widths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspoken.methods.encoding import draw_codes as codes
from unspoken.numerics import label_runs as runs

columns = st.lists(
    st.floats(-2.0**99, 2.0**99, width=32), min_size=1, max_size=60, unique=True
).map(lambda v: np.unique(np.array(v, np.float64)))


@pytest.mark.slow
@given(columns, st.integers(1, 30), st.integers(0, 2**32), st.sampled_from(codes.FAMILIES))
def test_codes_increase_strictly_in_every_family(values, wanted, seed, family):
    rng = np.random.default_rng(seed)
    pieces = runs.choose_bp(None, values.size, wanted, rng)
    drawn = codes.draw_codes(values, pieces, rng, (family,))
    assert drawn.codes[0] == 0
    assert np.all(np.diff(drawn.codes) > 0)
    assert drawn.codes[-1] < codes.MIDPOINT_LIMIT
    assert np.array_equal(drawn.codes.astype(np.float32).astype(np.int64), drawn.codes)


@pytest.mark.slow
@given(columns, st.integers(1, 30), st.integers(0, 2**32))
def test_pieces_keep_to_their_ranges(values, wanted, seed):
    rng = np.random.default_rng(seed)
    pieces = runs.choose_bp(None, values.size, wanted, rng)
    drawn = codes.draw_codes(values, pieces, rng)
    owner = pieces.owner()
    assert np.all(drawn.codes >= drawn.low[owner])
    assert np.all(drawn.codes <= drawn.high[owner])
    assert np.all(drawn.low[1:] > drawn.high[:-1])


@pytest.mark.slow
@given(columns, st.integers(1, 30), st.integers(0, 2**32))
def test_permuting_stays_inside_the_chosen_pieces(values, wanted, seed):
    rng = np.random.default_rng(seed)
    pieces = runs.choose_bp(None, values.size, wanted, rng)
    chosen = rng.random(pieces.starts.size) < 0.5
    drawn = codes.draw_codes(values, pieces, rng).codes
    mixed = codes.permute_inside(drawn, pieces, chosen, rng)
    owner = pieces.owner()
    assert np.array_equal(mixed[~chosen[owner]], drawn[~chosen[owner]])
    for piece in range(pieces.starts.size):
        assert sorted(mixed[owner == piece]) == sorted(drawn[owner == piece])


def test_a_permuted_piece_takes_every_order():
    pieces = runs.Pieces(np.array([0]), np.array([True]), 3)
    rng = np.random.default_rng(0)
    seen = {tuple(codes.permute_inside(np.array([5, 7, 9]), pieces, pieces.mono, rng))
            for _ in range(200)}
    assert len(seen) == 6


@pytest.mark.slow
@given(columns, st.integers(0, 2**32))
def test_keeping_zero_keeps_signs(values, seed):
    rng = np.random.default_rng(seed)
    pieces = runs.choose_bp(None, values.size, 5, rng)
    placed = codes.place(codes.draw_codes(values, pieces, rng).codes, values, True, rng)
    assert np.array_equal(np.sign(placed), np.sign(values).astype(np.int64))
    assert np.all(np.diff(placed) > 0)
    assert np.abs(placed).max() < codes.CODE_LIMIT


@pytest.mark.slow
@given(columns, st.integers(0, 2**32))
def test_hiding_zero_puts_codes_above_zero(values, seed):
    rng = np.random.default_rng(seed)
    pieces = runs.choose_bp(None, values.size, 5, rng)
    placed = codes.place(codes.draw_codes(values, pieces, rng).codes, values, False, rng)
    assert placed.min() > 0
    assert placed.max() < codes.MIDPOINT_LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("size", [2**23, 2**24 - 2])
def test_as_many_values_as_float32_tells_apart(size):
    rng = np.random.default_rng(0)
    values = np.arange(1, size + 1, dtype=np.float64)
    pieces = runs.choose_bp(None, size, 20, rng)
    drawn = codes.draw_codes(values, pieces, rng, ("linear",)).codes
    placed = codes.place(drawn, values, True, rng)
    assert np.all(np.diff(placed) > 0)
    assert placed[-1] < codes.CODE_LIMIT
    assert placed[0] > 0


def test_output_widths_do_not_follow_input_widths():
    rng = np.random.default_rng(1)
    values = np.r_[np.arange(100.0), 1e6 + np.arange(100) * 1e6]
    pieces = runs.Pieces(np.array([0, 100]), np.array([False, False]), 200)
    wider = 0
    for _ in range(400):
        drawn = codes.draw_codes(values, pieces, rng)
        width = drawn.high - drawn.low
        wider += width[1] > width[0]
    # A fair coin: 400 throws stay within four standard deviations of 200.
    assert abs(wider - 200) <= 40


def test_widths_are_heavy_tailed():
    rng = np.random.default_rng(2)
    pieces = runs.Pieces(np.arange(0, 1000, 50), np.zeros(20, bool), 1000)
    shares = []
    for _ in range(200):
        drawn = codes.draw_codes(np.arange(1000.0), pieces, rng)
        width = (drawn.high - drawn.low).astype(float)
        shares.append(width.max() / width.sum())
    # Of 20 equal or exponential widths the largest holds 5% or about 18%; with tail 0.5 it
    # holds about half.
    assert np.median(shares) > 0.35
