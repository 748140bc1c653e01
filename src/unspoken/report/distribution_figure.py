"""The figures of reconstructed distributions, with their error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unspoken.models.distribution import Categories, Distribution, JointDistribution
from unspoken.report.drawing import AMBER, BLUE, INK, name_of, one_axes, percent_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def distribution_figure(distribution: Distribution, against: npt.ArrayLike | None = None,
                        title: str = "") -> Figure:
    """Draw the density as steps; `against`: values to compare with, drawn as a dashed line."""
    figure, axes = one_axes()
    widths = np.diff(distribution.edges)
    axes.stairs(distribution.probabilities / widths, distribution.edges, color=BLUE, linewidth=1.8,
                label="reconstructed")
    if distribution.low is not None and distribution.high is not None:
        axes.vlines(distribution.midpoints, distribution.low / widths,
                    distribution.high / widths, color=INK, linewidth=0.8, label="bounds")
    if against is not None:
        counts, _ = np.histogram(np.asarray(against, np.float64), distribution.edges)
        axes.stairs(counts / max(counts.sum(), 1) / widths, distribution.edges, color=AMBER,
                    linestyle="--", linewidth=1.4, label="for comparison")
    axes.set_xlabel(name_of(distribution.name or "value"))
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0)
    axes.set_title(name_of(title, 80) if title else "")
    axes.legend(frameon=False, fontsize=9)
    return figure


def joint_figure(distribution: JointDistribution, title: str = "") -> Figure:
    """Draw the share of every pair of intervals as a shade."""
    figure, axes = one_axes(6.4, 4.8)
    shades = axes.pcolormesh(*distribution.edges, distribution.probabilities.T, cmap="Blues",
                             vmin=0.0)
    named = distribution.facts.get("values", {})
    for axis, name in zip((axes.xaxis, axes.yaxis), distribution.names, strict=True):
        axis.set_label_text(name_of(name))
        if name in named:
            labels = [name_of(value) for value in named[name]]
            axis.set_ticks(range(len(labels)), labels)
    figure.colorbar(shades, ax=axes, label="share of the records")
    axes.set_title(name_of(title, 80) if title else "")
    return figure


def categories_figure(shares: Categories, title: str = "") -> Figure:
    """Draw every share as a bar, with the unbiased estimate and two of its standard errors."""
    places = np.arange(len(shares.values))
    figure, axes = one_axes(7.5, max(2.0, 0.6 + 0.34 * len(places)))
    axes.barh(places, shares.probabilities, color=BLUE, height=0.7, label="likeliest share")
    axes.errorbar(shares.unbiased, places, xerr=2 * shares.deviations, fmt="o", color=INK,
                  markersize=3.5, linewidth=1.0, capsize=3,
                  label="unbiased estimate, 2 standard errors")
    axes.set_yticks(places, [name_of(value) for value in shares.values])
    axes.invert_yaxis()
    percent_axis(axes.xaxis)
    axes.set_xlabel(name_of(shares.name or "share"))
    axes.set_title(name_of(title, 80) if title else "")
    axes.legend(frameon=False, fontsize=9)
    return figure
