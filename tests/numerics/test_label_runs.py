"""Label runs and monochromatic pieces, with the known answers of bu2007."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspoken.numerics import label_runs as runs
from unspoken.numerics.tally import tally

FIGURE_7 = [(1, "H"), (2, "H"), (15, "H"), (15, "H"), (27, "L"), (28, "L"), (29, "L"), (29, "L"),
            (29, "H"), (29, "H"), (42, "H"), (43, "H"), (44, "H")]


def figure_7():
    values = np.array([v for v, _ in FIGURE_7], float)
    labels = np.array([label == "L" for _, label in FIGURE_7]).astype(int)
    return tally(values, labels, 2)


def pieces_of(values, pieces):
    ends = [*pieces.starts[1:], pieces.size]
    return [(values[a:b].tolist(), bool(m))
            for a, b, m in zip(pieces.starts, ends, pieces.mono, strict=True)]


def test_figure_7_pieces():
    values, counts = figure_7()
    found = pieces_of(values, runs.monochromatic_runs(counts))
    assert found == [([1, 2, 15], True), ([27, 28], True), ([29], False), ([42, 43, 44], True)]


def test_definition_9_with_its_lost_not():
    values, counts = figure_7()
    colour = dict(zip(values.tolist(), runs.colours(counts).tolist(), strict=True))
    assert colour[29] == -1
    assert colour[15] == 0
    assert colour[27] == 1


def test_a_minimum_width_joins_short_pieces_to_the_mixed_ones():
    values, counts = figure_7()
    found = pieces_of(values, runs.monochromatic_runs(counts, 3))
    assert found == [([1, 2, 15], True), ([27, 28, 29], False), ([42, 43, 44], True)]


def test_lemma_2_with_ties():
    # x = 1, 2, 2, 3 and y = H, H, L, L: 2 is mixed, so both cuts beside it stay.
    values, counts = tally(np.array([1.0, 2, 2, 3]), np.array([0, 0, 1, 1]), 2)
    assert pieces_of(values, runs.label_runs(counts)) == [([1], True), ([2], False), ([3], True)]


FIGURE_8 = {
    "width": [2000, 361, 67, 1398, 775, 7118, 255, 255, 255, 7174],
    "distinct": [1978, 361, 67, 551, 700, 5785, 207, 185, 255, 5827],
    "pieces": [9, 0, 1, 22, 14, 202, 2, 8, 3, 229],
    "average": [163, 0, 15, 10, 24, 18, 41, 6, 8, 17],
    "share": [74.2, 0.0, 22.4, 40.0, 48.0, 62.9, 39.6, 25.9, 9.4, 66.8],
    "discontinuities": [22, 0, 0, 847, 75, 1333, 48, 70, 0, 1347],
}


@pytest.mark.slow
@pytest.mark.parametrize("attribute", range(10))
def test_figure_8(covtype, attribute):
    _, data, labels = covtype
    values, counts = tally(data[:, attribute], (labels == 5).astype(np.int64), 2)
    facts = runs.attribute_facts(values, counts, min_width=2)
    expected = {name: column[attribute] for name, column in FIGURE_8.items()}
    rounded = int(np.floor(facts.average_length + 0.5))
    assert facts.width == expected["width"]
    assert facts.distinct == expected["distinct"]
    assert facts.pieces == expected["pieces"]
    assert rounded == expected["average"]
    # The printed share is pieces x rounded average length / distinct values, to a tenth of a
    # point; attribute 4 comes to 39.93 and is printed as 40.0.
    share = 100 * facts.pieces * rounded / facts.distinct
    assert abs(share - expected["share"]) < 0.1
    assert facts.discontinuities == expected["discontinuities"]


labelled = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2)), min_size=1, max_size=80)


@pytest.mark.slow
@given(labelled, st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32))
def test_max_mp_pieces_are_what_they_claim(rows, wanted, min_width, seed):
    values, counts = tally(np.array([v for v, _ in rows], float),
                           np.array([c for _, c in rows]), 3)
    pieces = runs.choose_max_mp(counts, wanted, min_width, np.random.default_rng(seed))
    colour = runs.colours(counts)
    assert pieces.starts[0] == 0
    assert np.all(np.diff(pieces.starts) > 0)
    assert pieces.lengths.sum() == values.size
    for start, length, mono in zip(pieces.starts, pieces.lengths, pieces.mono, strict=True):
        inside = colour[start : start + length]
        if mono:
            assert length >= min_width
            assert set(inside.tolist()) == {inside[0]}
            assert inside[0] >= 0
    whole = runs.monochromatic_runs(counts, min_width)
    assert pieces.lengths[pieces.mono].sum() == whole.lengths[whole.mono].sum()
    free = int((~np.repeat(whole.mono, whole.lengths)).sum()) - int((~whole.mono).sum())
    assert pieces.starts.size == max(whole.starts.size, min(wanted, whole.starts.size + free))


@pytest.mark.slow
@given(labelled, st.integers(1, 40), st.integers(0, 2**32))
def test_choose_bp_cuts_into_the_wanted_number(rows, wanted, seed):
    values, counts = tally(np.array([v for v, _ in rows], float),
                           np.array([c for _, c in rows]), 3)
    pieces = runs.choose_bp(counts, values.size, wanted, np.random.default_rng(seed))
    assert pieces.starts.size == min(wanted, values.size)
    colour = runs.colours(counts)
    for start, length, mono in zip(pieces.starts, pieces.lengths, pieces.mono, strict=True):
        inside = set(colour[start : start + length].tolist())
        assert mono == (len(inside) == 1 and -1 not in inside)
