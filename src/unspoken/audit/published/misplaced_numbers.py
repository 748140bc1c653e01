"""Numbers of a model that are people's values where none belong.

A threshold may be a value of its own column, and a leaf one of the target. Gains, weights, counts,
leaves that nobody reaches and thresholds of other columns may not: met more often than numbers next
to them are, such values were put there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats
from unspoken.models.histogram_trees import HistogramTrees
from unspoken.models.model import TreeLike
from unspoken.models.readers.lightgbm_text import LightGBMModel
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

FEWEST = 5
CLEARLY = 4.0
SHIFTS = (-3, -2, -1, 1, 2, 3)
"""Steps of the last digit by which numbers are moved to see how often they are met by chance."""
LARGE = 1000
HUGE = 1e300
PLACES = 7


def numbers_in(document: Any) -> Floats:
    """Return the different numbers of a document that are no counts or places in it."""
    parts, waiting = [np.empty(0)], [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += one.values()
        elif isinstance(one, list | tuple):
            plain = [v for v in one if isinstance(v, int | float) and abs(v) < HUGE]
            parts.append(np.array(plain, np.float64))
            waiting += [v for v in one if not isinstance(v, int | float)]
        elif isinstance(one, str):
            parts.append(_spelt(one))
        elif isinstance(one, int | float) and abs(one) < HUGE:
            parts.append(np.array([one], np.float64))
    return telling(np.unique(np.concatenate(parts)))


def telling(numbers: Floats) -> Floats:
    """Return the numbers that are not small whole ones, which are met everywhere."""
    held = numbers[np.isfinite(numbers)]
    return np.asarray(held[(held != np.rint(held)) | (np.abs(held) >= LARGE)])


def _spelt(text: str) -> Floats:
    """Return the numbers that a text lists: LightGBM's lines, and XGBoost's base score."""
    words = text.replace("[", " ").replace("]", " ").replace(":", " ").replace(",", " ").split()
    try:
        return np.array(words, np.float64)
    except ValueError:
        return np.empty(0)


@dataclass(frozen=True)
class _Column:
    """The values that few people have, in double and in single precision."""

    rare: Floats
    single: Floats

    @classmethod
    def of(cls, column: Any, k: int) -> _Column:
        numbers = np.asarray(to_numbers(column), np.float64)
        values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
        rare = telling(values[counts < k])
        with np.errstate(over="ignore"):
            return cls(rare, np.unique(rare.astype(np.float32).astype(np.float64)))

    def met(self, numbers: Floats) -> Bools:
        """Return which numbers are values of few people."""
        with np.errstate(over="ignore"):
            narrow = numbers.astype(np.float32).astype(np.float64)
        # Only what was held in single precision is compared in it.
        known = np.isin(numbers, self.rare)
        return np.asarray(known | ((narrow == numbers) & np.isin(numbers, self.single)))

    def clearly(self, numbers: Floats) -> int:
        """Return how many are met, 0 if their neighbours are met nearly as often."""
        met = int(self.met(numbers).sum())
        if met < FEWEST:
            return 0
        step = np.power(10.0, -_decimals(numbers))
        near = max(int(self.met(_shifted(numbers, step * by)).sum()) for by in SHIFTS)
        return met if met > near + CLEARLY * math.sqrt(near) else 0


def _decimals(numbers: Floats) -> Floats:
    """Return how many digits behind the point each number has, as people write them."""
    out = np.full(numbers.size, float(PLACES))
    for places in reversed(range(PLACES)):
        near = np.round(numbers, places)
        with np.errstate(over="ignore"):
            same = (near == numbers) | (near.astype(np.float32) == numbers)
        out[same] = places
    return out


def _shifted(numbers: Floats, by: Floats) -> Floats:
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32).astype(np.float64) == numbers
        moved = np.round(numbers + by, PLACES)
        return np.where(single, moved.astype(np.float32).astype(np.float64), moved)


def misplaced_numbers(model: Any, document: Any, thresholds: Mapping[str, Floats], table: Table,
                      k: int) -> Iterator[str]:
    """Yield the columns whose values stand in a model where none belong.

    `thresholds`: what the inner nodes of a tree compare, by column.
    """
    target = getattr(model, "target", None) or getattr(model, "response", None) or table.target
    features = set(getattr(model, "features", ()))
    goal = _values(table, target)
    known = np.concatenate([np.empty(0), *thresholds.values(), ends_of(model), goal])
    loose = _but(numbers_in(document), known)
    for column in table.schema.columns:
        name = column.name
        if column.kind == "basket" or name == target or (
                name in features and not isinstance(model, TreeLike)):
            continue
        values = table.arrow([name])[name]
        if is_number(values.type):
            cuts = [_but(telling(some), np.concatenate([_values(table, other), goal]))
                    for other, some in thresholds.items() if other != name]
            met = _Column.of(values, k).clearly(np.unique(np.concatenate([loose, *cuts])))
            if met:
                yield f"the model holds {met:,} values of '{name}' where none belong"


def _values(table: Table, name: str | None) -> Floats:
    """Return the numbers of a column, none where it has none."""
    if name is None or name not in table.schema.names:
        return np.empty(0)
    column = table.arrow([name])[name]
    return np.asarray(to_numbers(column), np.float64) if is_number(column.type) else np.empty(0)


def _but(numbers: Floats, known: Floats) -> Floats:
    """Return numbers without known ones, compared in single precision as well."""
    with np.errstate(over="ignore"):
        single = np.isin(numbers.astype(np.float32), known.astype(np.float32))
    return numbers[~(single | np.isin(numbers, known))]


def ends_of(model: Any, name: str | None = None) -> Floats:
    """Return the ends of columns (LightGBM) or bins (histograms) that a model states.

    Of one column, or of all.
    """
    if isinstance(model, LightGBMModel):
        stated = [_spelt(one[1:-1]) if one.startswith("[") else np.empty(0)
                  for one in model.feature_infos]
    else:
        stated = list(model.bins.edges) if isinstance(model, HistogramTrees) else []
    ends = [values for one, values in zip(getattr(model, "features", ()), stated, strict=False)
            if name in (None, one)]
    return np.concatenate([np.empty(0), *ends])
