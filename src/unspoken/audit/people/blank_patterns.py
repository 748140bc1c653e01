"""Cells that a release leaves blank may say what it does not show.

A column that was left out can still leave: one that is blank exactly where somebody is ill tells
who is ill. Released and original records are put side by side, and it is counted how much better
each column that did not leave is guessed by who knows whether a cell is blank. What the original
itself leaves blank is no fault of the release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.disclosure.plain_language import percent
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

MORE = 0.02
"""Share of cells that must be blank beyond those of the original's column."""
GAIN = 0.2
"""By how much better than a blind guess a column must be told before it counts."""
LEAST = 50
MOST_VALUES = 50


def told_by_blanks(table: Table, release: Table, rows: Ints, shown: Ints) -> Iterator[str]:
    """Yield in sentences which original columns the blanks of released ones tell.

    `rows` of the original and `shown` of the release are taken for the same people.
    """
    names = [c.name for c in release.schema.columns if c.kind != "basket"]
    blanks = {name: _blank(release, name) for name in names}
    added = {name: blank for name, blank in blanks.items()
             if blank.mean() - _blank_share(table, name) > MORE}
    if rows.size < LEAST or not added:
        return
    for name in (n for n in table.schema.names if n not in names):
        values = _few_values(table.arrow([name])[name])
        gains = {} if values is None else {there: _gain(values[rows], blank[shown])
                                          for there, blank in added.items()}
        there = max(gains, key=lambda one: gains[one], default="")
        if gains and gains[there] > GAIN:
            yield (f"which cells of '{there}' are blank tells '{name}', which the release does not "
                   f"have, {percent(gains[there])} better than a blind guess")


def _blank(table: Table, name: str) -> Bools:
    column = table.arrow([name])[name]
    if is_number(column.type):
        return np.isnan(np.asarray(to_numbers(column), np.float64))
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)


def _blank_share(table: Table, name: str) -> float:
    return float(_blank(table, name).mean()) if name in table.schema.names else 0.0


def _few_values(column: Any) -> Ints | None:
    """Return the places of values; numbers of many values in halves, None for unlike texts."""
    values = coded(column)
    if len(values.labels) <= MOST_VALUES:
        return values.codes
    if not is_number(column.type):
        return None
    numbers: Floats = np.asarray(to_numbers(column), np.float64)
    return np.asarray(numbers > np.nanmedian(numbers), np.int64)


def _gain(values: Ints, blank: Bools) -> float:
    """Return how much better values are guessed by who knows which cells are blank."""
    best = sum(int(np.bincount(values[side]).max(initial=0)) for side in (blank, ~blank))
    blind = int(np.bincount(values).max())
    return (best - blind) / max(values.size - blind, 1)
