"""Blank data for dry runs: of the shape of real ones, inside all agreed bounds, about nobody.

Numbers are drawn from a public seed, another one for every column, so that no column is constant
and none depends on another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.session.study import Study


def part_of(records: int, study: Study) -> int:
    """Return how many of all records each owner of rows has."""
    return max(1, -(-records // len(study.having("owner"))))


def scattered(records: int, place: int = 0, low: float = -1.0, high: float = 1.0) -> Floats:
    """Return numbers between two bounds, others for every place of a column."""
    return np.asarray(np.random.default_rng(place).uniform(low, high, records))


def table_of_numbers(records: int, columns: int, low: float = -1.0, high: float = 1.0) -> Floats:
    """Return a table of numbers (records, columns)."""
    return np.array([scattered(records, place, low, high) for place in range(columns)]).reshape(
        columns, records).T


def named(records: int, names: Sequence[str], among: Sequence[str] = ()) -> dict[str, Any]:
    """Return columns of numbers by name; `among` all names of several owners."""
    every = list(among or names)
    return {name: scattered(records, every.index(name)) for name in names}


def choices(records: int, values: Sequence[Any], place: int = 0) -> Any:
    """Return a column in which every one of some values occurs, if there are enough records."""
    at = (np.arange(records) // max(1, place)) % len(values) if place else \
        np.arange(records) % len(values)
    return np.array(values, object)[at]
