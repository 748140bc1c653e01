"""The picture of a budget: what went to whom, what all of it adds up to, and what is left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unspoken.report.drawing import AMBER, BLUE, GREY, INK, name_of, one_axes, plain
from unspoken.report.picture_files import check_picture, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from unspoken.release.budget import Budget

MOST_BARS = 30


def budget_figure(budget: Budget) -> Figure:
    """Draw a bar for the total and one for each recipient, beside what each may get."""
    terms = budget.terms
    names = sorted(budget.to_json()["by_recipient"], key=budget.spent, reverse=True)[:MOST_BARS]
    figure, axes = one_axes(7.5, 1.6 + 0.35 * len(names))
    plain(axes, "x")
    for place, name in enumerate([None, *names]):
        cap = terms.epsilon if name is None else (terms.recipients or {}).get(name, terms.epsilon)
        spent = min(budget.spent(name), terms.epsilon)
        axes.barh(place, cap, color="none", edgecolor=GREY, hatch="////", linewidth=0.8)
        axes.barh(place, spent, color=BLUE if name is None else AMBER, edgecolor=INK, linewidth=0.8)
        axes.text(cap, place, f" {spent:.3g} of {cap:.3g}", va="center", fontsize=9)
    labels = ["all together", *(name_of(name or "(nobody named)") for name in names)]
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlim(0, terms.epsilon * 1.25)
    axes.set_xlabel(f"epsilon spent (hatched: left) at delta {terms.delta:g}", fontsize=9)
    listed = len(budget.to_json()["without_epsilon"])
    if listed:
        axes.set_title(f"{listed} disclosure(s) beside these have no epsilon", fontsize=9)
    return figure


def save_picture(budget: Budget, path: Path) -> None:
    """Write the picture to a file that is not there yet."""
    check_picture(path)
    save_figure(budget_figure(budget), path)
