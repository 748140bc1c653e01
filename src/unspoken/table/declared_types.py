"""Comparing values with declared ones whatever type a column was read as.

The type of a column in a text file follows from all of its rows: one word among numbers makes
every cell a text, one fraction every whole number a float. Where an epsilon is stated, one row must
not change how the others are counted. So values are compared by what they say: numbers as float64,
whatever the column's type ("1.0", "1" and 1 are one), dates and times in ISO form as such,
everything else by its text. What is not finite is missing: a reader takes "inf" for a number or for
a word depending on the other rows.
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

from unspoken.arrays import Bools, Floats, Ints
from unspoken.table.arrow_arrays import is_number, to_numbers

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_BASES = {16: re.compile(r"0[xX][0-9a-fA-F]+"), 2: re.compile(r"0[bB][01]+")}
_ENDLESS = re.compile(r"[+-]?(inf(inity)?|nan(\(\w*\))?)", re.ASCII | re.IGNORECASE)


def number_in(text: str) -> float | None:
    """Return the finite number that a text says, None if it says none."""
    text = text.strip()
    for base, form in _BASES.items():
        if form.fullmatch(text):
            return _float(int(text, base))
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text.replace(",", "."))
    return number if math.isfinite(number) else None


def _float(number: int) -> float | None:
    try:
        return float(number)
    except OverflowError:
        return None


def is_endless(text: str) -> bool:
    """Return True if a text says a number that is not finite, as readers of numbers take it."""
    text = text.strip()
    return bool(_ENDLESS.fullmatch(text)) or (
        bool(_NUMBER.fullmatch(text)) and number_in(text) is None)


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
    """Return a column as float64; what is no finite number is missing.

    No number depends on the others: decimals go by their text, for their scale follows from all.
    """
    if is_number(column.type) and not pa.types.is_decimal(column.type):
        numbers = np.asarray(to_numbers(column), np.float64)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    encoded = pc.dictionary_encode(texts_of(column))
    known = [number_in(text) for text in encoded.dictionary.to_pylist()]
    numbers = np.array([np.nan if one is None else one for one in (*known, None)], np.float64)
    return np.asarray(numbers[_indices(encoded, len(known))])


def present_in(column: Any) -> Bools:
    """Return which cells say something: neither missing nor a number that is not finite."""
    if is_number(column.type) and not pa.types.is_decimal(column.type):
        return np.asarray(~np.isnan(numbers_of(column)))
    encoded = pc.dictionary_encode(texts_of(column))
    known = [not is_endless(text) for text in encoded.dictionary.to_pylist()]
    return np.array([*known, False], np.bool_)[_indices(encoded, len(known))]


def plain_texts_of(column: Any) -> Any:
    """Return a column as texts that do not follow from its type: numbers in one form."""
    encoded = pc.dictionary_encode(texts_of(column))
    known = [None if is_endless(text) else text if number_in(text) is None else meaning(text)
             for text in encoded.dictionary.to_pylist()]
    return pa.array([*known, None], pa.large_string()).take(
        pa.array(_indices(encoded, len(known))))


def moments_of(column: Any) -> Floats:
    """Return the dates and times in ISO form that texts say, in seconds; any other is missing."""
    encoded = pc.dictionary_encode(texts_of(column))
    known = [moment_in(text) for text in encoded.dictionary.to_pylist()]
    moments = np.array([np.nan if one is None else one for one in (*known, None)], np.float64)
    return np.asarray(moments[_indices(encoded, len(known))])


def moment_in(text: str) -> float | None:
    """Return the date, or the date and time, that a text says in ISO form, in seconds of UTC."""
    try:
        moment = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()


def places_among(column: Any, values: Sequence[str]) -> Ints:
    """Return which declared value every cell says, -1 for none of them."""
    places = {meaning(value): place for place, value in enumerate(values)}
    encoded = pc.dictionary_encode(texts_of(column))
    known = [-1 if is_endless(text) else places.get(meaning(text), -1)
             for text in encoded.dictionary.to_pylist()]
    return np.array([*known, -1], np.int64)[_indices(encoded, len(known))]


def _indices(encoded: Any, missing: int) -> Ints:
    return np.asarray(pc.fill_null(encoded.indices, missing).to_numpy(zero_copy_only=False),
                      np.int64)
