"""Numbers that means, distances and bands can be computed with: finite, and exact as float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.errors import DataError
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded

_LARGEST_SQUARE = 1e150
LARGEST = 1 << 53
"""Whole numbers up to here are all different as float64."""


def refuse_infinite(owner: str, values: Mapping[str, Coded]) -> None:
    """Refuse infinite numbers: they have no distance and no mean."""
    for name, one in values.items():
        if is_number(one.labels.type) and np.isinf(np.asarray(to_numbers(one.labels),
                                                              np.float64)).any():
            raise DataError(f"{owner}: '{name}' must be finite, because groups and bands are "
                            "formed by distances. It holds an infinite value. Replace it by a "
                            "limit, or leave it missing.")


def refuse_huge(owner: str, values: Mapping[str, Coded]) -> None:
    """Refuse numbers whose squares are infinite: they have no distance."""
    for name, one in values.items():
        numbers = np.abs(np.asarray(to_numbers(one.labels), np.float64)) \
            if is_number(one.labels.type) else np.zeros(0)
        if numbers[~np.isnan(numbers)].max(initial=0.0) > _LARGEST_SQUARE:
            raise DataError(f"{owner}: '{name}' must lie within {_LARGEST_SQUARE:g} of 0, because "
                            "isolation is about distances. Rescale the column.")


def refuse_inexact(owner: str, values: Mapping[str, Coded]) -> None:
    """Refuse what is not computed with exactly: infinite numbers, and whole ones beyond 2^53."""
    refuse_infinite(owner, values)
    for name, one in values.items():
        refuse_large(owner, name, one.labels)


def refuse_large(owner: str, name: str, numbers: Any) -> None:
    """Refuse whole numbers that are not told apart as float64."""
    if not pa.types.is_integer(numbers.type) or numbers.null_count == len(numbers):
        return
    ends = pc.min_max(numbers).as_py()
    if max(abs(ends["min"]), abs(ends["max"])) > LARGEST:
        raise DataError(f"{owner}: whole numbers must lie within {LARGEST:,} (2^53) of 0, because "
                        "larger ones are not told apart when means, limits and bands are "
                        f"computed. '{name}' reaches from {ends['min']} to {ends['max']}. "
                        "Subtract a constant, or read the column as text.")


def refuse_narrow(owner: str, name: str, column: Coded, width: float) -> None:
    """Refuse bands that are narrower than the numbers in them are exact."""
    refuse_inexact(owner, {name: column})
    low = np.floor(np.asarray(to_numbers(column.labels), np.float64) / width) * width
    if not (low + width > low).all():
        raise DataError(f"{owner}: bands of width {width:g} are narrower than the numbers of "
                        f"'{name}' are exact. Use a larger width.")
