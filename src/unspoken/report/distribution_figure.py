"""The figure of a reconstructed distribution, with its error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unspoken.models.distribution import Distribution
from unspoken.report.drawing import AMBER, BLUE, INK, name_of, one_axes

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
                    linestyle="--", linewidth=1.4, label="to compare")
    axes.set_xlabel(name_of(distribution.name or "value"))
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0)
    axes.set_title(name_of(title, 80) if title else "")
    axes.legend(frameon=False, fontsize=9)
    return figure
