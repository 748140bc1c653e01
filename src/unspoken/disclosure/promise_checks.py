"""Whether a release is what it says it is: what the checks of all families share.

An audit measures what an adversary gets out of a release that was made as its method says. A method
with a fault (it changes nothing, leaves a column out, blanks the wrong cells) can still look
harmless to adversaries who reckon with the stated law. So the custodian's side of the audit, which
has the original and the key, checks record by record that everything is as stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Bools, Floats
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

SIGMAS = 6.0
"""How many standard errors off a share must be before chance is ruled out."""


def numbers(column: Any) -> Floats:
    """Return a column as float64, NaN where missing."""
    return np.asarray(to_numbers(column), np.float64)


def missing(column: Any) -> Bools:
    """Return which values of a column are missing."""
    gone = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    return np.asarray(gone.to_numpy(zero_copy_only=False), np.bool_)


def equal(one: Any, other: Any) -> Bools:
    """Return record by record whether two columns hold the same; missing equals missing."""
    if is_number(one.type) and is_number(other.type):
        first, second = numbers(one), numbers(other)
        return np.asarray((first == second) | (np.isnan(first) & np.isnan(second)))
    same = pc.equal(_texts(one), _texts(other))
    return np.asarray(same.to_numpy(zero_copy_only=False), np.bool_)


def _texts(column: Any) -> Any:
    return pc.fill_null(column.cast(pa.string()), "\x00")


def wrong(share: float, column: str, what: str) -> str:
    """Return the sentence about a column that is not as it should be."""
    return f"'{column}': {what} for {100 * share:.1f}% of the people"


def passes(own: Table, released: Table, names: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with columns that should pass as they are."""
    for name in names:
        if name in own.schema.names and name in released.schema.names:
            same = equal(own.arrow([name])[name], released.arrow([name])[name])
            if not same.all():
                yield wrong(1 - same.mean(), name, "the value should pass as it is, and does not")


def same_missing(name: str, own: Any, released: Any) -> Iterator[str]:
    """Yield that other values are missing than in the original."""
    moved = missing(own) != missing(released)
    if moved.any():
        yield wrong(moved.mean(), name, "a value is missing that was not, or the other way round,")


def off(share: float, expected: float, count: int) -> bool:
    """Return True if a share of that many is not what was expected, chance aside."""
    spread = math.sqrt(max(expected * (1 - expected), 1e-4) / max(count, 1))
    return abs(share - expected) > SIGMAS * spread + 1e-9
