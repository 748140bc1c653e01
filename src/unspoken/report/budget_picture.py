"""The picture of a budget: what went to whom, what all of it adds up to, and what is left."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unspoken.report.drawing import AMBER, BLUE, GREY, INK, name_of, one_axes, plain
from unspoken.report.picture_files import check_picture, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from unspoken.release.budget import Budget

MOST_BARS = 30


def budget_figure(budget: Budget) -> Figure:
    """Draw a bar for the total and one for each recipient: what was spent, and what is left.

    What bounds nothing has no length: it is counted beside the bar of whoever got it.
    """
    state = budget.to_json()
    bare = Counter(one["to"] for one in state["without_epsilon"])
    ranked = sorted(state["by_recipient"], key=lambda one: (not bare[one], -budget.spent(one)))
    names = ranked[:MOST_BARS]
    figure, axes = one_axes(8.5, 1.6 + 0.35 * len(names))
    plain(axes, "x")
    for place, name in enumerate([None, *names]):
        _bar(axes, place, budget, name, bare.total() if name is None else bare[name])
    labels = ["all together", *(name_of(name or "(nobody named)") for name in names)]
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlim(0, budget.terms.epsilon * 1.5)
    axes.set_xlabel(f"epsilon spent (hatched: left) at delta {budget.terms.delta:g}", fontsize=9)
    if ranked[MOST_BARS:]:
        axes.set_title(f"{len(ranked) - MOST_BARS} more, who got the least, are not drawn",
                       fontsize=9)
    return figure


def _bar(axes: Any, place: int, budget: Budget, name: str | None, bare: int) -> None:
    """Draw one bar; nobody has more left than there is in all."""
    spent, left = min(budget.spent(name), budget.terms.epsilon), budget.left(name)
    axes.barh(place, left, left=spent, color="none", edgecolor=GREY, hatch="////", linewidth=0.8)
    axes.barh(place, spent, color=BLUE if name is None else AMBER, edgecolor=INK, linewidth=0.8)
    beside = f", {bare} without epsilon" if bare else ""
    axes.text(spent + left, place, f" {spent:.3g} spent, {left:.3g} left{beside}", va="center",
              fontsize=9)


def save_picture(budget: Budget, path: Path) -> None:
    """Write the picture to a file that is not there yet."""
    check_picture(path)
    save_figure(budget_figure(budget), path)
