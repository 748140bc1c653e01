"""The picture of what was tried: usefulness against risk, the recommended one marked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unspoken.methods.anonymity.utility.release_utility import ReleaseUtility
from unspoken.methods.anonymity.utility.risk_utility_frontier import PREDICTION, Frontier, Tried
from unspoken.report.drawing import AMBER, BLUE, GREY, INK, MARKERS, name_of, one_axes, plain
from unspoken.report.picture_files import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def frontier_figure(tried: Frontier) -> Figure:
    """Draw every method that fits: average risk to the right, usefulness upwards."""
    figure, axes = one_axes(7.5, 4.2)
    plain(axes, "both")
    known = [one for one in tried.tried if one.utility is not None]
    for place, one in enumerate(known):
        assert one.utility is not None
        colour = AMBER if one is tried.best else BLUE if one in tried.frontier else GREY
        axes.plot(one.utility.average_risk, _usefulness(one.utility, tried.task), color=colour,
                  linestyle="none", marker=MARKERS[place % len(MARKERS)], markersize=9,
                  markeredgecolor=INK, label=_label(one, tried))
    original = next((one.utility.score_of_original for one in known if one.utility is not None
                     and one.utility.score_of_original is not None), None)
    if original is not None and tried.task == PREDICTION:
        axes.axhline(original, color=INK, linestyle="--", linewidth=0.8, label="the original")
    axes.set_xlabel("average risk of being re-identified", fontsize=9)
    axes.set_ylabel(_words(tried), fontsize=9)
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _usefulness(utility: ReleaseUtility, task: str) -> float:
    if task == PREDICTION and utility.score is not None:
        return utility.score
    return -(utility.marginals + utility.pairs)


def _words(tried: Frontier) -> str:
    scored = any(one.utility is not None and one.utility.score is not None for one in tried.tried)
    return ("score of boosted trees on held-back records" if tried.task == PREDICTION and scored
            else "frequencies and correlations kept (0: all)")


def _label(one: Tried, tried: Frontier) -> str:
    ways = " ".join(f"{key}={value}" for key, value in one.parameters.items()
                    if key in ("cuts", "mode", "local", "loss", "rule"))
    mark = " (recommended)" if one is tried.best else ""
    return name_of(f"{one.method} {ways}", 40) + mark


def save_frontier(tried: Frontier, path: Path) -> None:
    """Write the picture to a file that is not there yet."""
    save_figure(frontier_figure(tried), path)
