"""Columns that say the same as a declared identifier: a plain copy, or one code for each value.

A copy is told by its values. A recoding is told by the repeats: where an identifier has at least
`VALUES` different values and `REPEATS` rows that repeat one, another column that repeats in exactly
these rows, and in no others, follows from it and gives it away. No chance does that. Where nothing
repeats, every column that is different in every row would pass, a measurement too: there only a
copy counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Bools
from unspoken.table.arrow_arrays import is_number
from unspoken.table.category_codes import Coded, coded
from unspoken.table.identify.column_sample import chosen_rows
from unspoken.table.identify.finding import Finding
from unspoken.table.identify.law import OTHER, PERSONAL
from unspoken.table.table import Table

VALUES = 20
REPEATS = 10
_CLOSE = 0.01
"""How far the numbers of different values may lie apart where only a part of the rows was seen."""


def copied_identifiers(table: Table, identifiers: Sequence[str],
                       columns: Sequence[str]) -> tuple[Finding, ...]:
    """Return the columns that say the same as one of the declared identifiers."""
    looked = [name for name in (*identifiers, *columns) if table.schema[name].kind != "basket"]
    if not identifiers or not columns:
        return ()
    rows = chosen_rows(table.rows)
    taken = table.engine.take(table.frame, rows, looked)
    parts = {name: coded(taken[name]) for name in looked}
    findings = (_said_again(table, name, parts, identifiers, len(rows)) for name in columns
                if name in parts)
    return tuple(finding for finding in findings if finding is not None)


def _said_again(table: Table, name: str, parts: dict[str, Coded], identifiers: Sequence[str],
                looked_at: int) -> Finding | None:
    for identifier in identifiers:
        if identifier not in parts:
            continue
        first, second = parts[identifier], parts[name]
        known = (first.codes != first.missing) & (second.codes != second.missing)
        if known.sum() < max(VALUES, (first.codes != first.missing).sum() / 2):
            continue
        what = _how_alike(table, identifier, name, first, second, known)
        if what:
            return Finding(name, f"{what} '{identifier}'", "identifier", "by content",
                           int(known.sum()), looked_at, f"it says who '{identifier}' says",
                           OTHER, PERSONAL)
    return None


def _how_alike(table: Table, identifier: str, name: str, first: Coded, second: Coded,
               known: Bools) -> str:
    one, other = first.codes[known], second.codes[known]
    pairs = np.unique(np.column_stack([one, other]), axis=0)
    values = np.unique(one).size
    if values < 2 or not len(pairs) == values == np.unique(other).size:
        return ""
    mine, theirs = _texts(first), _texts(second)
    if all(mine[code] == theirs[copy] for code, copy in pairs.tolist()):
        return "a copy of"
    repeated = values >= VALUES and one.size - values >= REPEATS
    return "one to one with" if repeated and _as_many(table, identifier, name) else ""


def _texts(part: Coded) -> list[str]:
    """Return the different values as texts: 7, 7.0 and ' 7' are the same."""
    if is_number(part.labels.type) and not pa.types.is_temporal(part.labels.type):
        return [f"{value:.17g}" for value in part.labels.cast(pa.float64()).to_pylist()]
    return [_trimmed(value) for value in part.values()]


def _trimmed(value: Any) -> str:
    return str(value).strip().casefold()


def _as_many(table: Table, identifier: str, name: str) -> bool:
    """Return True if two columns have as many different values in all rows."""
    counts = [table.engine.count_distinct(table.frame, one) for one in (identifier, name)]
    return abs(counts[0] - counts[1]) <= _CLOSE * max(counts)
