"""The pictures of a release and of an audit, as matplotlib axes: `release.plot()`, `audit.plot()`.

Axes are drawn into, where a caller gives them, and made otherwise.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.plain_language import UNITS
from unspoken.errors import SchemaError, explain
from unspoken.release.method import name_in
from unspoken.release.release import Release
from unspoken.report.drawing import (
    BLUE,
    GREY,
    INK,
    attack_name,
    bin_edges,
    name_of,
    number_axis,
    one_axes,
    percent_axis,
    plain,
)
from unspoken.report.summaries import strongest
from unspoken.table.arrow_arrays import is_number, to_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ATTACKS = 12
MOST_BARS = 20


def audit_axes(audit: Audit, axes: Axes | None = None) -> Axes:
    """Draw the strongest attacks: what each discloses, its interval, and the baseline."""
    rows = sorted(strongest(audit, MOST_ATTACKS), key=lambda row: row.value)
    axes = _axes(axes, 0.9 + 0.34 * max(len(rows), 2))
    places = np.arange(len(rows))
    values = np.array([row.value for row in rows])
    ends = np.abs(np.array([[row.low for row in rows], [row.high for row in rows]]) - values)
    axes.barh(places, [row.baseline for row in rows], color=GREY, height=0.6,
              label="without the release")
    axes.errorbar(values, places, xerr=ends if rows else None, fmt="o", color=INK, markersize=4,
                  linewidth=1.0, capsize=3, label="with the release", clip_on=False)
    axes.set_yticks(places, [attack_name(row.adversary, row.knowledge) for row in rows])
    axes.set_xlim(0, 1)
    percent_axis(axes.xaxis)
    axes.set_xlabel(f"share of {UNITS[audit.measure]} disclosed, in the column that is hurt most")
    axes.set_title(name_of(f"Audit: {audit.verdict}", 60), pad=26)
    axes.legend(frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return axes


def release_axes(release: Release, column: str | None = None, axes: Axes | None = None) -> Axes:
    """Draw how the released values of a column are distributed; by default the first feature."""
    name = _column(release, column)
    data = release.table.arrow([name])[name]
    axes = _axes(axes, 3.6)
    if is_number(data.type):
        numbers = np.asarray(to_numbers(data), np.float64)
        known = numbers[np.isfinite(numbers)]
        axes.hist(known, bins=list(bin_edges(known, 30)), color=BLUE)
        number_axis(axes.xaxis)
    else:
        _bars(axes, data)
    axes.set_xlabel(name_of(name))
    axes.set_ylabel("released records")
    axes.set_title(name_of(f"{name_in(release.mechanism)}: {name}", 60))
    return axes


def _bars(axes: Axes, data: Any) -> None:
    counts = sorted(pc.value_counts(data.drop_null()).to_pylist(),
                    key=lambda entry: -entry["counts"])[:MOST_BARS]
    axes.bar(np.arange(len(counts)), [entry["counts"] for entry in counts], color=BLUE)
    axes.set_xticks(np.arange(len(counts)), [name_of(entry["values"], 14) for entry in counts],
                    rotation=60, ha="right")


def _column(release: Release, column: str | None) -> str:
    names = release.schema.features or release.schema.names
    if column is not None and column not in release.schema.names:
        raise SchemaError(explain("'column'", "one of " + ", ".join(release.schema.names), column))
    return column or names[0]


def _axes(axes: Axes | None, height: float) -> Axes:
    if axes is None and not _in_notebook():
        return one_axes(7.5, height)[1]
    if axes is None:
        # A notebook shows what pyplot knows of when a cell ends, and nothing else.
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=(7.5, height), layout="constrained").add_subplot()
    plain(axes)
    return axes


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None
