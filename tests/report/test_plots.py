"""Every figure holds what it was given, and nothing depends on colour alone."""

from __future__ import annotations

import numpy as np
import pytest

from support.report_cases import HOSTILE
from unspoken.errors import InputError
from unspoken.report import plots
from unspoken.report.drawing import (
    attack_name,
    bin_edges,
    name_of,
    percent,
    short_number,
    thinned,
)
from unspoken.report.markup import svg_of


def words(figure) -> str:
    return svg_of(figure, "f", "alt")


@pytest.mark.slow
def test_risk_by_adversary() -> None:
    figure = plots.risk_by_adversary(
        ["polyline", "polyline", HOSTILE], ["expert", "insider", ""], [0.2, 0.4, 0.9],
        [0.1, 0.3, np.nan], [0.3, 0.5, np.nan], [0.04, 0.04, 0.04])
    (axes,) = figure.axes
    marks = {line.get_marker() for line in axes.lines}
    assert {"o", "s", "^", "|"} <= marks
    text = words(figure)
    assert "polyline · expert" in text
    assert "guessing without the release" in text
    assert "<script>" not in text


def test_risk_needs_arrays_of_one_length() -> None:
    with pytest.raises(InputError, match="of one length"):
        plots.risk_by_adversary(["a"], ["b", "c"], [0.1], [0.1], [0.1], [0.1])


@pytest.mark.slow
def test_scatter_marks_pieces() -> None:
    x = np.arange(100.0)
    figure = plots.encoding_scatter(x, x**2, [0, 40, 70], [False, True, False], "$a^b_c$")
    (axes,) = figure.axes
    assert [line.get_xdata()[0] for line in axes.lines[1:]] == [40.0, 70.0]
    assert [patch.get_hatch() for patch in axes.patches] == ["///"]
    text = words(figure)
    assert "original value of $a^b_c$" in text
    assert "3 pieces" in text


@pytest.mark.slow
def test_scatter_with_very_many_pieces_and_points() -> None:
    x = np.arange(20000.0)
    starts = np.arange(0, 20000, 100)
    figure = plots.encoding_scatter(x, x, starts, starts % 200 == 0, "x")
    (axes,) = figure.axes
    assert len(axes.lines) == 1
    assert axes.lines[0].get_xdata().size == plots.MOST_POINTS
    assert "200 pieces; strip at the foot" in words(figure)


def test_scatter_of_nothing() -> None:
    assert "svg" in words(plots.encoding_scatter([], [], [], [], ""))


def test_before_and_after_count_records() -> None:
    values = np.array([1.0, 2.0, 3.0, np.nan])
    figure = plots.before_after(values, values * 10, "x", weights=[1, 2, 1, 5])
    tall = [patch.get_height() for patch in figure.axes[0].patches]
    assert sum(tall) == pytest.approx(1.0)
    assert max(tall) == pytest.approx(0.5)
    assert all(p.get_hatch() for p in figure.axes[1].patches)


def test_venn_regions() -> None:
    recovered = np.array([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1], [1, 0, 0, 0, 0]], bool)
    assert plots.venn_regions(recovered) == {
        (): 0.2, (0,): 0.2, (1,): 0.2, (0, 1): 0.2, (2,): 0, (0, 2): 0, (1, 2): 0, (0, 1, 2): 0.2}
    text = words(plots.recovered_venn(["one", "two", HOSTILE], plots.venn_regions(recovered)))
    assert "none: 20%" in text
    with pytest.raises(InputError):
        plots.venn_regions(recovered[:2])
    with pytest.raises(InputError):
        plots.recovered_venn(["a"], {})


@pytest.mark.slow
def test_path_lengths() -> None:
    figure = plots.path_lengths([1, 2, "> 6"], [2, 4, 1648], [1, 0, 3.24])
    assert {patch.get_hatch() for patch in figure.axes[0].patches} == {"", "////"}
    text = words(figure)
    assert "1,648" in text
    assert "3.24" in text


def test_heat_has_a_number_in_every_cell() -> None:
    figure = plots.risk_heat(["a", HOSTILE], ["x", "y", "z"],
                             [[0.1, 0.2, 0.9], [0.0, np.nan, 0.0004]], 0.5)
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert labels == ["10%", "20%", "90%", "0%", "–", "<0.1%"]
    bold = [text.get_fontweight() for text in figure.axes[0].texts]
    assert bold.count("bold") == 1
    with pytest.raises(InputError, match="2 x 1"):
        plots.risk_heat(["a", "b"], ["x"], [[1.0]])


@pytest.mark.parametrize(("value", "text"), [
    (0.0, "0%"), (0.0123, "1.2%"), (0.5, "50%"), (1.0, "100%"),
    (float("nan"), "–"), (1e-5, "<0.1%"),
])
def test_percent(value: float, text: str) -> None:
    assert percent(value) == text


@pytest.mark.parametrize(("value", "text"), [
    (0.25, "0.25"), (9999, "9999"), (20000, "20k"), (1.5e6, "1.5M"), (-3e9, "-3G"), (0, "0"),
])
def test_short_numbers(value: float, text: str) -> None:
    assert short_number(value) == text


def test_names_are_short_and_no_formulas() -> None:
    assert name_of("a\n b\tc") == "a b c"
    assert name_of("abcde" + "x" * 50 + "wxyz", 10) == "abcde…wxyz"
    assert name_of("$x$") == r"\$x\$"
    assert attack_name("records", "records 200") == "records 200"
    assert attack_name("rank", "bounds") == "rank · bounds"
    assert attack_name("published", "published") == "published"


def test_bins_of_whole_numbers_hold_equally_many() -> None:
    edges = bin_edges(np.arange(17.0, 91.0), 40)
    assert set(np.diff(edges)) == {2.0}
    assert edges[0] == 16.5
    assert edges[-1] >= 90.5
    assert bin_edges(np.zeros(0), 5).size == 6
    assert np.all(np.diff(bin_edges(np.array([0.5, 0.5]), 5)) > 0)


def test_thinning_keeps_both_ends() -> None:
    some = thinned(1000, 10)
    assert some[0] == 0
    assert some[-1] == 999
    assert some.size == 10
    assert thinned(3, 10).tolist() == [0, 1, 2]
