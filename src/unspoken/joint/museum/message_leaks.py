"""What repeated or encrypted messages give away: moved points, published columns, patterns.

**moved_points** (vcz2006 section 7.2.1): k-means and EM publish counts, sums and sums of squares
each iteration. If one point moved, the difference of two iterations is that point. The book says
that two have infinitely many solutions; sums and sums of squares determine both.
**published_columns** (section 5.2.4): literal Powell sweeps publish w = X d, and in the first
sweep each direction d touches one owner: its column space is published, and if the directions
are unit vectors its columns. A few known records undo any other directions.
**matched_rows** (section 6.2.2): columns that are encrypted once, value by value, keep their
patterns. A site finds its own rows by those that occur once, and reads the others' values there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError


@dataclass(frozen=True)
class Totals:
    """What an iteration published of one cluster: how many, their sum, their sum of squares."""

    count: float
    sums: Floats
    squares: Floats | None = None


def others(published: Totals, own: Totals) -> Totals:
    """Return published totals less the adversary's own part."""
    squares = None
    if published.squares is not None and own.squares is not None:
        squares = np.asarray(published.squares) - own.squares
    return Totals(published.count - own.count, np.asarray(published.sums) - own.sums, squares)


def moved_points(before: Totals, after: Totals) -> Floats | None:
    """Return the points that came or went between two iterations, if they can be solved for.

    With two points each attribute has its values in increasing order: which belong together is
    not determined by sums.
    """
    change = after.count - before.count
    moved = np.sign(change) * (np.asarray(after.sums) - before.sums)
    if abs(change) == 1:
        return np.asarray(moved).reshape(1, -1)
    if abs(change) != 2 or before.squares is None or after.squares is None:
        return None
    squares = np.sign(change) * (np.asarray(after.squares) - before.squares)
    # a + b and a^2 + b^2 give (a - b)^2.
    gap = np.sqrt(np.maximum(0.0, 2 * squares - moved**2))
    return np.asarray(np.stack([(moved - gap) / 2, (moved + gap) / 2]))


def published_columns(sweeps: Any, places: Sequence[int] = (), known: Any = None) -> Floats:
    """Return an owner's columns from the w of its first sweep, one column each.

    Without known records they are the columns themselves if directions were unit vectors, and
    their column space otherwise; `known` (rows at `places`) undoes other directions.
    """
    w = np.asarray(sweeps, np.float64)
    if known is None:
        return w
    rows = np.asarray(known, np.float64)
    if rows.shape != (len(places), w.shape[1]) or len(places) < w.shape[1]:
        raise InputError(f"Known records must be at least {w.shape[1]} rows of {w.shape[1]} "
                         f"columns. They are of shape {rows.shape}.")
    mixing = np.linalg.lstsq(w[list(places)], rows, rcond=None)[0]
    return np.asarray(w @ mixing)


@dataclass(frozen=True)
class Matched:
    """For each row that was seen encrypted, which own row it is; -1 where several could be."""

    own_row: Ints

    @property
    def share(self) -> float:
        """Return the share of rows that were found."""
        return float((self.own_row >= 0).mean()) if self.own_row.size else 0.0

    def learned(self, foreign: Any) -> int:
        """Return how many of the others' entries are now known to belong to known rows."""
        return int(np.count_nonzero(np.asarray(foreign)[self.own_row >= 0]))


def matched_rows(own: Any, seen: Any) -> Matched:
    """Match own rows with the same columns seen encrypted in another order of rows.

    Encrypted values may be anything that is equal where the values are: columns are compared by
    the sizes of their groups first, which encryption does not hide.
    """
    plain, cipher = (_by_frequency(np.asarray(part)) for part in (own, seen))
    if plain.shape != cipher.shape:
        raise InputError(f"Rows seen must be of the shape of the own rows, {plain.shape}. They are "
                         f"of shape {cipher.shape}.")
    names = [row.tobytes() for row in plain]
    times = Counter(names)
    place = {name: row for row, name in enumerate(names) if times[name] == 1}
    return Matched(np.array([place.get(row.tobytes(), -1) for row in cipher], np.int64))


def _by_frequency(columns: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Return every value as the number of rows that have it: the same under encryption."""
    out = np.empty(columns.shape, np.uint32)
    for place in range(columns.shape[1]):
        _, inverse, counts = np.unique(columns[:, place], return_inverse=True, return_counts=True)
        out[:, place] = counts[inverse.ravel()]
    return out
