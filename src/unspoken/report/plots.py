"""The figures of the report, from plain arrays.

Every function returns a matplotlib figure made without pyplot; `Page.figure` turns it into part
of a page. Shares are fractions between 0 and 1. Marks, hatches and numbers say everything that
colour says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import InputError, explain
from unspoken.report.drawing import (
    AMBER,
    BLUE,
    GREY,
    INK,
    MARKERS,
    attack_name,
    bin_edges,
    name_of,
    number_axis,
    one_axes,
    percent,
    percent_axis,
    plain,
    sketch,
    thinned,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Shares = Sequence[float] | npt.NDArray[np.float64]
MOST_POINTS = 1500
MOST_BOUNDARIES = 60


def risk_by_adversary(
    adversaries: Sequence[str], knowledge: Sequence[str], value: Shares, low: Shares,
    high: Shares, baseline: Shares,
) -> Figure:
    """Draw one line per adversary and knowledge: dot, interval, and the baseline as a bar.

    The baseline is what the attacker would guess without the release (issue of every measure in
    bu2007 section 6: a number means nothing without it).
    """
    _same_length(adversaries=adversaries, knowledge=knowledge, value=value, low=low, high=high,
                 baseline=baseline)
    count = len(adversaries)
    figure, axes = one_axes(7.5, max(1.6, 0.9 + 0.3 * count))
    plain(axes, "x")
    levels = list(dict.fromkeys(knowledge))
    rows = np.arange(count)
    for level, name in enumerate(levels):
        mine = np.array([k == name for k in knowledge])
        _intervals(axes, rows[mine], np.asarray(value, float)[mine], np.asarray(low, float)[mine],
                   np.asarray(high, float)[mine], MARKERS[level % len(MARKERS)])
    axes.plot(np.asarray(baseline, float), rows, linestyle="none", marker="|", markersize=13,
              markeredgewidth=2.4, color=AMBER, zorder=2)
    axes.set_yticks(rows, [attack_name(a, k) for a, k in zip(adversaries, knowledge, strict=True)])
    axes.set_ylim(count - 0.4, -0.6)
    _shares_from_zero(axes, [*value, *high, *baseline])
    axes.set_xlabel("share disclosed", fontsize=9)
    _legend(axes, [("o", "disclosed, with its interval", BLUE),
                   ("|", "guessing without the release", AMBER)])
    return figure


def _intervals(axes: Axes, rows: Any, value: Any, low: Any, high: Any, marker: str) -> None:
    reach = np.abs(np.vstack([value - np.fmin(low, value), np.fmax(high, value) - value]))
    axes.errorbar(value, rows, xerr=np.nan_to_num(reach), fmt=marker, color=BLUE, ecolor=INK,
                  elinewidth=1.2, capsize=3, markersize=6, markeredgecolor=INK, zorder=3)


def _shares_from_zero(axes: Axes, shares: Sequence[float]) -> None:
    top = float(np.nanmax(np.asarray(shares, float), initial=0.0))
    axes.set_xlim(-0.02 * max(top, 0.05), min(1.03, max(0.05, 1.08 * top)))
    percent_axis(axes.xaxis)


def _legend(axes: Axes, entries: Sequence[tuple[str, str, str]]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle="none", marker=marker, color=colour, markersize=8,
                      markeredgewidth=2.4 if marker == "|" else 1.0, label=label)
               for marker, label, colour in entries]
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9,
                ncols=len(handles), frameon=False)


def encoding_scatter(
    original: npt.ArrayLike, encoded: npt.ArrayLike, starts: npt.ArrayLike = (),
    mono: npt.ArrayLike = (), name: str = "",
) -> Figure:
    """Draw codes against original values with the pieces of the encoding.

    `starts` are positions of piece beginnings among the values, which must be increasing;
    `mono` says which pieces are monochromatic (bu2007 section 5.2): these are hatched.
    """
    x, y = np.asarray(original, float), np.asarray(encoded, float)
    _same_length(original=x, encoded=y)
    figure, axes = one_axes(7.5, 3.8)
    some = thinned(x.size, MOST_POINTS)
    axes.plot(x[some], y[some], linestyle="none", marker=".", markersize=3, color=BLUE, zorder=3)
    begin = np.asarray(starts, np.int64)
    _boundaries(axes, x, begin, np.asarray(mono, bool))
    axes.set_xlabel(f"original value of {name_of(name)}" if name else "original value", fontsize=9)
    axes.set_ylabel("code in the release", fontsize=9)
    number_axis(axes.xaxis)
    number_axis(axes.yaxis)
    axes.margins(0.02, 0.06)
    return figure


def _boundaries(axes: Axes, x: Any, starts: Any, mono: Any) -> None:
    edges = np.append(x[starts], x[-1]) if starts.size and x.size else np.zeros(0)
    shaded = np.flatnonzero(mono[: starts.size])
    if edges.size - 2 > MOST_BOUNDARIES:
        spans = [(edges[i], edges[i + 1] - edges[i]) for i in shaded]
        axes.broken_barh(spans, (0.0, 0.03), transform=axes.get_xaxis_transform(),
                         facecolor=GREY, zorder=0)
        strip = "; strip at the foot: monochromatic ones" if shaded.size else ""
        axes.set_title(f"{starts.size:,} pieces{strip}", fontsize=9, loc="right")
        return
    for index in shaded:
        axes.axvspan(edges[index], edges[index + 1], facecolor="none", edgecolor=GREY,
                     hatch="///", linewidth=0.2, zorder=0)
    for edge in edges[1:-1]:
        axes.axvline(edge, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
    if edges.size:
        axes.set_title(f"{starts.size} piece{'s' * (starts.size != 1)}, dashed boundaries",
                       fontsize=9, loc="right")


def before_after(original: npt.ArrayLike, encoded: npt.ArrayLike, name: str = "",
                 weights: npt.ArrayLike | None = None, bins: int = 40) -> Figure:
    """Draw the distribution of a column before and after; `weights` count equal values."""
    figure = sketch(7.5, 2.9)
    sides = figure.subplots(1, 2)
    named = f"{name_of(name)}: " if name else ""
    for axes, data, title, hatch in ((sides[0], original, f"{named}before", ""),
                                     (sides[1], encoded, "after", "////")):
        plain(axes, "y")
        values = np.asarray(data, float)
        count = np.ones(values.size) if weights is None else np.asarray(weights, float)
        known = np.isfinite(values)
        total = max(float(count[known].sum()), 1.0)
        edges = bin_edges(values[known], bins).tolist()
        axes.hist(values[known], bins=edges, weights=count[known] / total, color=BLUE,
                  edgecolor=INK, linewidth=0.4, hatch=hatch)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("value" if not hatch else "code", fontsize=9)
        percent_axis(axes.yaxis)
        axes.locator_params(axis="x", nbins=5)
        number_axis(axes.xaxis)
    sides[0].set_ylabel("share of records", fontsize=9)
    return figure


def venn_regions(recovered: npt.ArrayLike) -> dict[tuple[int, ...], float]:
    """Return which share of the values is recovered by exactly which of three attacks.

    `recovered` is a 3 x n mask; keys are the attacks' numbers, such as (0, 2); the share that no
    attack recovers has the key ().
    """
    mask = np.asarray(recovered, bool)
    if mask.ndim != 2 or mask.shape[0] != 3:
        raise InputError(explain("venn_regions: 'recovered'", "a mask of 3 rows", mask.shape))
    code = mask[0] + 2 * mask[1] + 4 * mask[2].astype(np.int64)
    share = np.bincount(code, minlength=8) / max(1, mask.shape[1])
    return {tuple(i for i in range(3) if number >> i & 1): float(share[number])
            for number in range(8)}


_CENTRES = ((-0.55, 0.34), (0.55, 0.34), (0.0, -0.55))
_PLACES = {(0,): (-1.05, 0.62), (1,): (1.05, 0.62), (2,): (0.0, -1.15), (0, 1): (0.0, 0.78),
           (0, 2): (-0.62, -0.32), (1, 2): (0.62, -0.32), (0, 1, 2): (0.0, 0.05)}


def recovered_venn(names: Sequence[str], regions: Mapping[tuple[int, ...], float]) -> Figure:
    """Draw which attacks recover the same values (bu2007 Figure 10); areas are not to scale."""
    from matplotlib.patches import Circle

    if len(names) != 3:
        raise InputError(explain("recovered_venn: 'names'", "three names", list(names)))
    figure = sketch(6.0, 4.4)
    axes = figure.add_subplot()
    for index, (x, y) in enumerate(_CENTRES):
        axes.add_patch(Circle((x, y), 1.0, fill=False, edgecolor=INK, linewidth=1.6,
                              linestyle=("-", "--", ":")[index]))
    for region, (x, y) in _PLACES.items():
        axes.text(x, y, percent(regions.get(region, 0.0)), ha="center", va="center", fontsize=11,
                  fontweight="bold" if len(region) == 3 else "normal")
    for name, (x, y), side in zip(names, ((-1.0, 1.42), (1.0, 1.42), (0.0, -1.72)),
                                  ("center", "center", "center"), strict=True):
        axes.text(x, y, name_of(name), ha=side, va="center", fontsize=10)
    axes.text(2.15, -1.5, f"none: {percent(regions.get((), 0.0))}", ha="right", fontsize=10)
    axes.set(xlim=(-2.2, 2.2), ylim=(-1.9, 1.65), aspect="equal")
    axes.axis("off")
    return figure


def path_lengths(lengths: Sequence[str | int], paths: Shares, recovered: Shares) -> Figure:
    """Draw how many paths of each length a tree has and how many of them are recovered.

    The table of bu2007 section 6.4 as bars on a logarithmic scale; recovered paths are hatched.
    """
    _same_length(lengths=lengths, paths=paths, recovered=recovered)
    figure, axes = one_axes(7.5, 3.2)
    place = np.arange(len(lengths))
    for shift, counts, label, hatch, colour in ((-0.2, paths, "paths", "", BLUE),
                                                (0.2, recovered, "recovered", "////", AMBER)):
        tall = np.asarray(counts, float)
        axes.bar(place + shift, tall, 0.4, color=colour, edgecolor=INK, hatch=hatch, label=label)
        for x, count in zip(place + shift, tall, strict=True):
            axes.annotate(f"{count:,.4g}", (x, max(count, 0.0)), (0, 2), ha="center",
                          textcoords="offset points", fontsize=8)
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_ylim(0, 3.0 * max(1.0, float(np.max(paths, initial=1.0))))
    axes.set_xticks(place, [name_of(length) for length in lengths])
    axes.set_xlabel("length of the path", fontsize=9)
    axes.set_ylabel("number", fontsize=9)
    axes.legend(loc="upper left", fontsize=9, frameon=False)
    return figure


def risk_heat(columns: Sequence[str], attacks: Sequence[str], values: npt.ArrayLike,
              limit: float | None = None) -> Figure:
    """Draw a table of shares, columns of the table down and attacks across.

    Darker (on dark screens: lighter) is more; every cell has its number; cells above `limit` are
    framed and bold.
    """
    shares = np.asarray(values, float)
    if shares.shape != (len(columns), len(attacks)):
        raise InputError(explain(
            "risk_heat: 'values'", f"{len(columns)} x {len(attacks)}", shares.shape))
    figure, axes = one_axes(min(9.4, 3.0 + 0.6 * len(attacks)), 1.4 + 0.32 * len(columns))
    for (row, column), share in np.ndenumerate(shares):
        _heat_cell(axes, row, column, float(share), limit)
    axes.set(xlim=(0, len(attacks)), ylim=(len(columns), 0))
    axes.set_xticks(np.arange(len(attacks)) + 0.5, [name_of(a, 34) for a in attacks],
                    rotation=30, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.set_yticks(np.arange(len(columns)) + 0.5, [name_of(c) for c in columns])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


def _heat_cell(axes: Axes, row: int, column: int, share: float, limit: float | None) -> None:
    from matplotlib.patches import Rectangle

    above = limit is not None and share > limit
    dark = 0.0 if np.isnan(share) else 0.5 * min(max(share, 0.0), 1.0)
    box = (column + 0.03, row + 0.06)
    axes.add_patch(Rectangle(box, 0.94, 0.88, facecolor=INK, alpha=dark, linewidth=0))
    axes.add_patch(Rectangle(box, 0.94, 0.88, fill=False, linewidth=1.8 if above else 0.4,
                             edgecolor=AMBER if above else GREY))
    axes.text(column + 0.5, row + 0.52, percent(share), ha="center", va="center", fontsize=8.5,
              fontweight="bold" if above else "normal")


def _same_length(**arrays: Any) -> None:
    sizes = {name: len(array) for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"The arrays must be of one length. Got {sizes}.")
