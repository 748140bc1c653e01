"""Whether synthetic rows are nobody's: no values and no rows of the original, none tied to one.

Rows of categories alone that were copied and shuffled again cannot be distinguished from rows that
a large epsilon draws; whoever takes that risk is measured by the adversaries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.arrays import Bools, Ints
from unspoken.disclosure.promise_checks import SIGMAS, missing, numbers
from unspoken.release.key import Key
from unspoken.release.record_key import taken
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number
from unspoken.table.table import Table

COPIED = 0.05
"""Numbers are drawn from intervals; hardly any is one of the original's unless it was copied."""
CHANCE = 1e-9
FEW = 50


def broken_synthetic(table: Table, release: Release, key: Key, rows: Ints) -> Iterator[str]:
    """Yield what is not as the release says: rows of people who do not exist."""
    names = [n for n in release.mechanism["columns"] if n in table.schema.names]
    for name in names:
        yield from _copied(name, table.arrow([name])[name], release)
    for places in (rows, np.arange(rows.size)):
        inside = np.flatnonzero(places < table.rows)
        yield from _tied(names, taken(table, places[inside]), taken(release.table, inside))


def _copied(name: str, own: Any, release: Release) -> Iterator[str]:
    """Yield that the numbers of a column are those of the original."""
    shown = release.table.arrow([name])[name]
    edges = release.mechanism["columns"][name]["edges"]
    if not edges or not is_number(shown.type) or not is_number(own.type):
        return
    true, drawn = (one[~np.isnan(one)] for one in (numbers(own), numbers(shown)))
    if pa.types.is_floating(shown.type):
        copied = np.isin(drawn, true).mean() if drawn.size else 0.0
        if copied > COPIED:
            yield f"'{name}': {100 * copied:.1f}% of the numbers are numbers of the original"
    elif np.array_equal(np.sort(true), np.sort(drawn)) and _chance(true, edges) < CHANCE:
        yield f"'{name}': the numbers are those of the original, every one as often"


def _chance(values: Any, edges: Sequence[float]) -> float:
    """Return the chance that numbers drawn from their intervals are exactly these."""
    cells = np.searchsorted(np.asarray(edges[1:-1]), values, side="right")
    log = 0.0
    for cell in np.unique(cells):
        counts = np.unique(values[cells == cell], return_counts=True)[1]
        whole = int(counts.sum())
        log += math.lgamma(whole + 1) + float(sum(
            count * math.log(count / whole) - math.lgamma(count + 1) for count in counts.tolist()))
    return math.exp(log)


def _tied(names: Sequence[str], own: Table, shown: Table) -> Iterator[str]:
    """Yield that released rows go with the original rows in whose place they stand."""
    codes = {name: _codes(own.arrow([name])[name], shown.arrow([name])[name]) for name in names}
    for name, (true, drawn) in codes.items():
        if _agree(true, drawn):
            yield f"'{name}': the released rows have the values of original rows, one by one"
        blank = missing(shown.arrow([name])[name])
        for other, (held, _) in codes.items():
            if _explained(blank, held):
                yield (f"'{name}': which values are missing depends on '{other}' of the original "
                       "rows")


def _codes(own: Any, shown: Any) -> tuple[Ints, Ints]:
    """Return two columns as codes of the values of both."""
    if is_number(own.type) and is_number(shown.type):
        both = np.concatenate([numbers(own), numbers(shown)])
    else:
        both = np.array([str(value) for column in (own, shown) for value in column.to_pylist()])
    codes = np.unique(both, return_inverse=True)[1].reshape(-1)
    return np.asarray(codes[:len(own)], np.int64), np.asarray(codes[len(own):], np.int64)


def _agree(true: Ints, drawn: Ints) -> bool:
    """Return True if two columns agree more often, row by row, than in a random order."""
    rows, size = true.size, int(max(true.max(initial=0), drawn.max(initial=0))) + 1
    if rows < 2:
        return False
    held, shown = (np.bincount(one, minlength=size).astype(np.float64) for one in (true, drawn))
    both = float(held @ shown)
    expected = both / rows
    # The variance of a sum over a random permutation (Hoeffding 1951).
    spread = (both - float(held @ shown**2 + held**2 @ shown) / rows + (both / rows) ** 2) / (
        rows - 1)
    return float((true == drawn).sum()) > expected + SIGMAS * math.sqrt(max(spread, 1.0)) + 1


def _explained(blank: Bools, held: Ints) -> bool:
    """Return True if missing values depend on a column, chance ruled out (chi-square)."""
    values, at = np.unique(held, return_inverse=True)
    if not 1 < values.size <= FEW or not 0 < blank.mean() < 1:
        return False
    sizes = np.bincount(at)
    expected = sizes * blank.mean()
    off = (np.bincount(at, blank) - expected) ** 2 / (expected * (1 - blank.mean()))
    free = values.size - 1
    # A category with few rows is far off by chance: its part is bounded.
    parts = np.minimum(off, sizes)
    return float(parts.sum()) > free + 2 * SIGMAS * math.sqrt(2 * free) + SIGMAS**2
