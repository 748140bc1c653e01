"""Comparing values with declared ones whatever type a column was read as.

The type of a column in a text file follows from all of its rows: one word among numbers makes
every cell a text. Where an epsilon is stated, one row must not change how the others are counted.
So values are compared by what they say: numbers as numbers ("1.0", "1" and 1 are one), dates and
times in ISO form as such, everything else by its text.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Floats, Ints
from unspoken.table.arrow_arrays import is_number, to_numbers

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_HEX = re.compile(r"0[xX][0-9a-fA-F]+")


def number_in(text: str) -> float | None:
    """Return the finite number that a text says, None if it says none."""
    text = text.strip()
    if _HEX.fullmatch(text):
        return float(int(text, 16))
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text.replace(",", "."))
    return number if math.isfinite(number) else None


def meaning(text: str) -> str:
    """Return one form of all texts that say the same."""
    number = number_in(text)
    if number is not None:
        return repr(number + 0.0)
    if text.lower() in ("true", "false"):
        return text.lower()
    return _moment(text) or text


def _moment(text: str) -> str:
    for form in (datetime.datetime, datetime.time):
        try:
            return form.fromisoformat(text.strip()).isoformat()
        except ValueError:
            continue
    return ""


def texts_of(column: Any) -> Any:
    """Return a column as texts."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    text = column.cast(pa.large_string())
    return text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text


def numbers_of(column: Any) -> Floats:
    """Return a column as numbers; what is none is missing."""
    if is_number(column.type):
        return np.asarray(to_numbers(column), np.float64)
    encoded = pc.dictionary_encode(texts_of(column))
    known = [number_in(text) for text in encoded.dictionary.to_pylist()]
    numbers = np.array([np.nan if one is None else one for one in (*known, None)], np.float64)
    return np.asarray(numbers[_indices(encoded, len(known))])


def places_among(column: Any, values: Sequence[str]) -> Ints:
    """Return which declared value every cell says, -1 for none of them."""
    places = {meaning(value): place for place, value in enumerate(values)}
    encoded = pc.dictionary_encode(texts_of(column))
    known = [places.get(meaning(text), -1) for text in encoded.dictionary.to_pylist()]
    return np.array([*known, -1], np.int64)[_indices(encoded, len(known))]


def _indices(encoded: Any, missing: int) -> Ints:
    return np.asarray(pc.fill_null(encoded.indices, missing).to_numpy(zero_copy_only=False),
                      np.int64)
