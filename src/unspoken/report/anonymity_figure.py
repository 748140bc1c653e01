"""The figure of measured anonymity: who stands in small classes, and L beside its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unspoken.methods.anonymity.measures.anonymity_result import Anonymity
from unspoken.report.drawing import AMBER, BLUE, INK, name_of, percent_axis, plain, sketch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)


def anonymity_figure(anonymity: Anonymity) -> Figure:
    """Draw the share of records by the size of their class, and strong L of every column."""
    figure = sketch(7.5, 3.0)
    sides = figure.subplots(1, 2) if anonymity.columns else [figure.subplots()]
    _sizes(sides[0], anonymity)
    if anonymity.columns:
        _diversity(sides[1], anonymity)
    return figure


def _sizes(axes: Axes, anonymity: Anonymity) -> None:
    plain(axes, "y")
    size, count = np.array(anonymity.histogram).T
    starts = [edge for edge in _EDGES if edge <= size.max()]
    shares = np.bincount(np.searchsorted(starts, size, side="right") - 1, size * count,
                         len(starts)) / anonymity.rows
    ends = [*[edge - 1 for edge in starts[1:]], None]
    names = [f"{a}" if a == b else f"{a}+" if b is None else f"{a}-{b}"
             for a, b in zip(starts, ends, strict=True)]
    axes.bar(np.arange(shares.size), shares, color=BLUE, edgecolor=INK)
    axes.set_xticks(np.arange(shares.size), names, rotation=45)
    axes.set_xlabel("records in the class", fontsize=9)
    axes.set_ylabel("share of records", fontsize=9)
    axes.set_title(f"K = {anonymity.k}", fontsize=10)
    percent_axis(axes.yaxis)


def _diversity(axes: Axes, anonymity: Anonymity) -> None:
    plain(axes, "y")
    place = np.arange(len(anonymity.columns))
    axes.bar(place, [one.strong for one in anonymity.columns], color=BLUE, edgecolor=INK,
             label="in the worst class")
    axes.plot(place, [one.baseline_strong for one in anonymity.columns], linestyle="none",
              marker="_", markersize=22, markeredgewidth=2.4, color=AMBER,
              label="without the table")
    axes.set_xticks(place, [name_of(one.column) for one in anonymity.columns])
    axes.set_ylabel("strong L", fontsize=9)
    axes.set_ylim(0, 1.4 * max(one.baseline_strong for one in anonymity.columns))
    axes.legend(frameon=False, fontsize=8)
