"""What is risky about a table as it is: uniqueness, K, L, who is most exposed, telling pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from unspoken.errors import InputError
from unspoken.methods.anonymity.measures import measure
from unspoken.methods.anonymity.measures.special_uniques import (
    SpecialUniques,
    special_uniques,
)
from unspoken.methods.anonymity.measures.telling_pairs import telling_pairs
from unspoken.table.table import Table

EXPOSED = 5
SMALL = 200_000
"""Up to this many rows raw risks are counted while the page is made, if they have few columns."""
SMALL_PAIRS = 10_000_000
"""The same for rows times pairs of quasi-identifiers: a wide table takes long with few rows."""


def takes_long(table: Table) -> bool:
    """Return True if raw risks are better counted in the background."""
    pairs = math.comb(len(table.schema.with_role("quasi")), 2)
    return table.rows > SMALL or table.rows * pairs > SMALL_PAIRS


def table_risks(table: Table, step: Callable[..., None] | None = None) -> dict[str, Any] | None:
    """Return the figures as plain data; None without quasi-identifiers."""
    quasi = table.schema.with_role("quasi")
    if not quasi:
        return None
    known = measure(table)
    _said(step, 1, "Classes are counted.")
    pairs = telling_pairs(table)
    _said(step, 2, "Pairs of columns are counted.")
    exposed = _exposed(table, quasi)
    return {**known.to_json(), "l": known.l, "strong_l": known.strong_l,
            "pairs": [one.to_json() for one in pairs], "exposed": exposed}


def _said(step: Callable[..., None] | None, done: int, words: str) -> None:
    if step is not None:
        step(done, 3, words)


def _special(table: Table, most: int) -> SpecialUniques:
    """Return special uniques on as many columns as can be looked at in a wide table."""
    try:
        return special_uniques(table, most=most)
    except InputError:
        if most == 1:
            raise
        return _special(table, most - 1)


def _exposed(table: Table, quasi: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the records that stand out by the fewest columns, with those columns' values."""
    special = _special(table, min(3, len(quasi)))
    worst = np.argsort(-special.scores, kind="stable")[:EXPOSED]
    rows = table.arrow(list(quasi))
    return [{"row": int(at) + 1, "columns": int(special.smallest[at]),
             "values": {name: str(rows[name][int(at)]) for name in quasi}}
            for at in worst.tolist() if special.smallest[at] > 0]
