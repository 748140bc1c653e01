"""The look of figures: ink, two middle tones, hatches and marks that differ without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.report.markup import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK = "#000000"
PAPER = "#ffffff"
# Both stand out from white and from black.
BLUE = "#4a86cf"
AMBER = "#cf7a2e"
GREY = "#8a9199"
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("////", "....", "xxxx", "----", "oo", "\\\\\\\\")


def sketch(width: float = 7.5, height: float = 3.6) -> Figure:
    """Return an empty figure that belongs to nobody: no pyplot, no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)


def one_axes(width: float = 7.5, height: float = 3.6) -> tuple[Figure, Axes]:
    """Return a figure with one plain pair of axes."""
    figure = sketch(width, height)
    axes = figure.add_subplot()
    plain(axes)
    return figure, axes


def plain(axes: Axes, grid: str = "") -> None:
    """Take away what carries no information; draw a thin grid along an axis if asked."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
    if grid:
        which: Any = grid
        axes.grid(axis=which, color=GREY, alpha=0.35, linewidth=0.6)
        axes.set_axisbelow(True)


def name_of(text: object, longest: int = 28) -> str:
    """Return a name as a label: short, on one line, and no formula whatever it holds."""
    short = " ".join(clean(text).split())
    if len(short) > longest:
        # Names of one table often differ at their ends.
        short = f"{short[: longest // 2]}…{short[-((longest - 1) // 2):]}"
    return short.replace("$", r"\$")


def percent(value: float) -> str:
    """Return a share as a percentage with as many digits as it deserves."""
    if not np.isfinite(value):
        return "–"
    scaled = 100.0 * value
    if 0 < scaled < 0.05:
        return "<0.1%"
    return f"{scaled:.1f}%" if 0 < abs(scaled) < 10 else f"{scaled:.0f}%"


def attack_name(adversary: str, knowledge: str) -> str:
    """Return a label for an adversary at a level of knowledge, without saying a word twice."""
    if not knowledge or knowledge == adversary:
        return name_of(adversary)
    if knowledge.startswith(f"{adversary} "):
        return name_of(knowledge, 34)
    return f"{name_of(adversary)} · {name_of(knowledge, 22)}"


def short_number(value: float, _: Any = None) -> str:
    """Return a number for an axis: 1.5M, 20k, 0.25."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.4g}{letter}"
    return f"{value:.4g}"


def number_axis(axis: Any) -> None:
    """Label an axis with short numbers."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(short_number))


def bin_edges(values: Floats, bins: int) -> Floats:
    """Return edges of equal bins; whole numbers get bins that hold equally many of them."""
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if values.size and np.all(values == np.rint(values)):
        width = np.ceil((high - low + 1) / bins)
        return np.asarray(np.arange(low - 0.5, high + width, width))
    return np.linspace(low, high if high > low else low + 1.0, bins + 1)


def percent_axis(axis: Any) -> None:
    """Label an axis of shares in percent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0, decimals=None))


def thinned(count: int, most: int) -> npt.NDArray[np.int64]:
    """Return evenly spaced positions, at most `most` of them, first and last among them."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(np.int64))
