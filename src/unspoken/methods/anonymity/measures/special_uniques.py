"""Special uniques: who is unique on how few columns (SUDA, Elliot, Manning and Ford 2002).

A record is a minimal unique on some columns if it is the only one with its values there, and not
the only one on any fewer of them. The fewer columns, and the more such sets, the likelier it is
also unique in the population, whatever the sample. With A columns and sets of at most M of them, a
set of size s scores (A - s)(A - s - 1)...(A - M); the score of a record is the sum over its sets.

What it does not say: a probability. Scores order the records of one table; compare them with no
other table. Missing is a value like any other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import InputError
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.methods.anonymity.measures.measure import Names, columns_of
from unspoken.release.release import Release
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

MOST_SETS = 20_000


@dataclass(frozen=True)
class SpecialUniques:
    """Scores of all records, how many have one, and how much each column adds to them.

    `smallest` is the size of every record's smallest minimal unique set, 0 for none.
    """

    scores: Floats
    smallest: Ints
    columns: dict[str, float]

    @property
    def share(self) -> float:
        """Return the share of records that are unique on some set of columns."""
        return float((self.smallest > 0).mean())

    def summary(self) -> str:
        """Return the figures in plain words."""
        sizes = np.bincount(self.smallest)
        parts = [f"{count:,} on {size}" for size, count in enumerate(sizes.tolist())
                 if size and count]
        lead = sorted(self.columns.items(), key=lambda one: -one[1])[:3]
        names = ", ".join(f"'{name}' {part:.0%}" for name, part in lead)
        return (f"{self.share:.2%} of the records are special uniques "
                f"({'; '.join(parts) or 'none'} columns). Most is due to {names}.")

    def to_json(self) -> dict[str, Any]:
        """Return plain data without the scores of single records."""
        return {"share": self.share, "columns": dict(self.columns),
                "sizes": np.bincount(self.smallest).tolist()}


def special_uniques(table: Table | Release, quasi: Names = None, *, most: int = 3
                    ) -> SpecialUniques:
    """Find every minimal unique set of at most `most` quasi-identifiers, and score the records."""
    table = table.table if isinstance(table, Release) else table
    names, _ = columns_of(table, quasi, ())
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise InputError(f"'most' must be a whole number of at least 1. Got {most!r}. Use 3.")
    most = min(most, len(names))
    sets = sum(math.comb(len(names), size) for size in range(1, most + 1))
    if sets > MOST_SETS:
        raise InputError(f"{sets:,} sets of columns would have to be looked at, and at most "
                         f"{MOST_SETS:,} are. Name fewer quasi-identifiers, or use a smaller "
                         "'most'.")
    rows = table.arrow(list(names))
    codes = [np.asarray(coded(rows[name]).codes, np.int64) for name in names]
    return _scored(names, codes, most)


def _scored(names: Sequence[str], codes: Sequence[Ints], most: int) -> SpecialUniques:
    rows = codes[0].size
    scores, smallest = np.zeros(rows), np.zeros(rows, np.int64)
    parts = dict.fromkeys(names, 0.0)
    below: dict[tuple[int, ...], Bools] = {(): np.zeros(rows, np.bool_)}
    for size in range(1, most + 1):
        worth = float(math.prod(max(len(names) - i, 1) for i in range(size, most + 1)))
        here: dict[tuple[int, ...], Bools] = {}
        for chosen in combinations(range(len(names)), size):
            alone = _alone([codes[i] for i in chosen])
            inside = np.any([below[one] for one in combinations(chosen, size - 1)], axis=0)
            minimal = alone & ~inside
            here[chosen] = alone
            scores += worth * minimal
            smallest[minimal & (smallest == 0)] = size
            for i in chosen:
                parts[names[i]] += worth * float(minimal.sum()) / size
        below = here
    total = sum(parts.values()) or 1.0
    return SpecialUniques(scores, smallest, {name: part / total for name, part in parts.items()})


def _alone(columns: Sequence[Ints]) -> Bools:
    owner = stats.classes(columns)
    return np.asarray(stats.sizes(owner)[owner] == 1)
