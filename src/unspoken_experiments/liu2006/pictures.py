"""Figures 1 to 4 of liu2006."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.report.drawing import AMBER, BLUE, GREY, INK, MARKERS, one_axes, plain, sketch

FIRST = 100
NAMES = ("age", "education-num", "hours-per-week")


def clouds(data: Floats, released: Floats, recovered: Floats) -> Any:
    """Draw Figure 1: original, released and recovered points of a plane."""
    figure, axes = one_axes(6.4, 4.0)
    for rows, tone, mark, name in ((released, GREY, "^", "released"), (data, BLUE, "o", "original"),
                                   (recovered, AMBER, "x", "recovered")):
        axes.plot(rows[:400, 0], rows[:400, 1], linestyle="none", marker=mark, markersize=3.5,
                  color=tone, label=name, alpha=0.8)
    axes.legend(fontsize=8, frameon=False)
    axes.set_aspect("equal", adjustable="datalim")
    return figure


def records(data: Floats, released: Floats, recovered: Floats) -> Any:
    """Draw Figure 3: the first 100 records, attribute by attribute, released and recovered."""
    figure = sketch(8.6, 5.4)
    for row, name in enumerate(NAMES):
        for column, (other, title) in enumerate(((released, "released"),
                                                 (recovered, "recovered"))):
            axes = figure.add_subplot(3, 2, 2 * row + column + 1)
            plain(axes)
            axes.plot(data[:FIRST, row], color=BLUE, linewidth=1.2, label="original")
            axes.plot(other[:FIRST, row], color=AMBER, linewidth=0.8, linestyle="--", label=title)
            axes.set_ylabel(name, fontsize=8)
            axes.legend(fontsize=7, frameon=False, loc="upper right", ncols=2)
    return figure


def curves(errors: Mapping[float, Floats], names: Sequence[str]) -> Any:
    """Draw Figures 2 and 4: mean error by the size of the sample, with 95% intervals."""
    figure, axes = one_axes(6.4, 3.2)
    plain(axes, "y")
    ratios = np.array(list(errors))
    for place, (name, tone) in enumerate(zip(names, (BLUE, AMBER, GREY), strict=True)):
        rows = np.stack([errors[ratio][:, place] for ratio in ratios])
        half = 1.96 * rows.std(axis=1, ddof=1) / np.sqrt(rows.shape[1])
        axes.errorbar(100 * ratios, rows.mean(axis=1), half, marker=MARKERS[place], color=tone,
                      markeredgecolor=INK, markersize=5, linewidth=1.2, capsize=2, label=name)
    axes.set_xlabel("sample, % of the release", fontsize=9)
    axes.set_ylabel("mean relative error", fontsize=9)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8, frameon=False)
    return figure
