"""The paper's exact tables come out exactly; the random ones within their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from unspoken_experiments.bu2007 import figure8, figure9, figure11, paths
from unspoken_experiments.bu2007.attacks import Median, knowledge, rng_for, spline_through
from unspoken_experiments.bu2007.coding import METHODS, choose, draw
from unspoken_experiments.bu2007.result import Result
from unspoken_experiments.bu2007.setting import COVERTYPE, Attribute, Data, load

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data(shared) -> Data:
    return load(shared(COVERTYPE).parent)


@pytest.fixture
def small() -> Attribute:
    rng = np.random.default_rng(3)
    values = np.flatnonzero(rng.random(400) < 0.7).astype(float) + 5
    counts = rng.integers(0, 3, (values.size, 2))
    counts[50:80, 1] = 0
    counts[50:80, 0] = 1
    counts[[49, 80]] = 1
    counts[counts.sum(axis=1) == 0, 0] = 1
    return Attribute(4, "small", values, counts)


def test_figure_8_comes_out_exactly(data: Data) -> None:
    ours = figure8.statistics(data)
    for number, published in figure8.PUBLISHED.items():
        assert ours[number][:4] == published[:4]
        # 22 x 10 / 551 is 39.93; the paper prints 40.0.
        assert ours[number][4] == (39.9 if number == 4 else published[4])


def test_figure_11_comes_out_exactly(data: Data) -> None:
    ours = figure11.worst_case(data)
    assert {number: round(share) for number, share in ours.items()} == figure11.PUBLISHED


def test_guess_by_rank_on_a_monotone_encoding(data: Data) -> None:
    known = [100, 100, 100, 12.9, 42.6, 22.0, 11.1, 8.1, 100, 22.9]
    ours = [100 * figure11.by_rank(a, a.values[None, :])[0] for a in data.attributes]
    assert np.round(ours, 1).tolist() == known


@pytest.mark.parametrize(("number", "method", "points", "prototype"), [
    (2, "ChooseBP", 4, 23.1), (3, "ChooseMaxMP", 4, 20.0), (7, "none", 4, 54.6),
    (9, "ChooseMaxMP", 2, 11.4),
])
def test_figure_9_is_near_the_prototype(data: Data, number: int, method: str, points: int,
                                        prototype: float) -> None:
    ours = figure9.bar(data[number], method, points, trials=500)
    assert ours.low - 2 <= prototype <= ours.high + 2


@pytest.mark.slow
def test_the_tree_has_the_published_first_levels(data: Data) -> None:
    tree = paths.grow(data)
    depth, _ = paths.depths(tree)
    inner = tree.children_left >= 0
    assert np.bincount(depth[inner])[1:7].tolist() == [2, 4, 5, 8, 13, 15]


@pytest.mark.parametrize("method", METHODS)
def test_codes_increase_from_piece_to_piece(small: Attribute, method: str) -> None:
    codes = draw(small, method, 40, rng_for("test", method))
    assert codes.shape == (40, small.values.size)
    mono = np.repeat(small.runs.mono, small.runs.lengths)
    free = mono if method == "ChooseMaxMP" else np.zeros_like(mono)
    assert np.all(np.diff(codes[:, ~free], axis=1) > 0)
    if method == "ChooseMaxMP":
        assert np.all(codes[:, 50:80].min(axis=1) > codes[:, 49])
        assert np.any(np.diff(codes[:, 50:80], axis=1) < 0)


def test_both_ways_of_choosing_get_the_same_number_of_pieces(small: Attribute) -> None:
    rng = rng_for("test")
    number = [choose(small, method, 30, rng).sum(axis=1) for method in METHODS]
    assert set(number[0]) == {1}
    assert len({*number[1], *number[2]}) == 1


def test_good_and_bad_knowledge_points(small: Attribute) -> None:
    codes = np.broadcast_to(small.values, (200, small.values.size))
    radius = small.radius()
    known, values = knowledge(small, codes, 4, radius, rng_for("good"))
    assert np.all(np.diff(known, axis=1) > 0)
    assert np.abs(values - known).max() <= radius
    known, values = knowledge(small, codes, 4, radius, rng_for("bad"), bad=1)
    off = np.abs(values - known) > 5 * radius
    assert np.all(off.sum(axis=1) == 1)
    assert values.min() >= small.values[0] - radius
    assert values.max() <= small.values[-1] + radius


def test_the_spline_is_the_cubic_and_goes_on_straight() -> None:
    x = np.array([[0.0, 1.0, 2.0, 4.0]])
    y = x**3 - 2 * x
    curve = spline_through(x, y)
    inside = np.linspace(0, 4, 9)
    np.testing.assert_allclose(curve.at(inside)[0], inside**3 - 2 * inside, atol=1e-9)
    np.testing.assert_allclose(curve.at(np.array([-1.0, 5.0]))[0], [2.0, 56 + 46], atol=1e-9)


def test_interval_of_a_median() -> None:
    found = Median.of(np.arange(500) / 500)
    assert found.low < found.value < found.high
    assert found.text() == "49.9 [45.4, 54.4]"


def test_markdown_of_a_result() -> None:
    text = Result("T", ("a", "b"), (("1", "2"),), ("why",), "about").markdown()
    assert text == "## T\n\nabout\n\n| a | b |\n| --- | ---: |\n| 1 | 2 |\n\n- why\n"
