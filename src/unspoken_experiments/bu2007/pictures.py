"""The pictures of bu2007."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.report.drawing import AMBER, BLUE, GREY, HATCHES, INK, PAPER, one_axes, plain
from unspoken_experiments.bu2007.attacks import Median

TONES = (PAPER, GREY, BLUE, AMBER)


def bars(heights: Mapping[tuple[int, str, int], Median],
         kinds: Sequence[tuple[str, int]]) -> Any:
    """Draw Figure 9: four bars an attribute."""
    numbers = sorted({key[0] for key in heights})
    figure, axes = one_axes(8.6, 3.6)
    plain(axes, "y")
    for place, (method, points) in enumerate(kinds):
        ours = [heights[number, method, points] for number in numbers]
        middle = np.array([one.value for one in ours])
        reach = np.array([[one.value - one.low for one in ours],
                          [one.high - one.value for one in ours]])
        axes.bar(np.arange(len(numbers)) + (place - 1.5) * 0.2, middle, 0.2, yerr=reach,
                 label=f"{method}, {points} points", color=TONES[place], edgecolor=INK,
                 linewidth=0.6, hatch=HATCHES[place] if place else "",
                 error_kw={"elinewidth": 0.8})
    axes.set_xticks(range(len(numbers)), [str(number) for number in numbers])
    axes.set_xlabel("attribute", fontsize=9)
    axes.set_ylabel("% recovered", fontsize=9)
    axes.set_ylim(0, 1.3 * axes.get_ylim()[1])
    axes.legend(fontsize=8, frameon=False, ncols=2)
    return figure


def venn(shares: Mapping[str, Any]) -> Any:
    """Draw Figure 10 as bars: regions of three circles have no true areas."""
    names = [name for name in shares if name not in ("total", "two or more", "expected")]
    middle = [Median.of(shares[name]) for name in names]
    figure, axes = one_axes(7.0, 2.8)
    plain(axes, "x")
    axes.barh(names[::-1], [one.value for one in middle][::-1], color=BLUE, edgecolor=INK,
              linewidth=0.6)
    axes.set_xlabel("% of distinct values", fontsize=9)
    return figure
