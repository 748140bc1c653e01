"""Bands of one width that start at its multiples, in exact decimals.

Numbers are what people read and write: 0.3 is three tenths, and not the nearest binary fraction. So
every value lies in the band that is printed for it, whoever reads it, and new ones do so too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.errors import DataError
from unspoken.table.arrow_arrays import to_numbers

_DIGITS = 2000
"""More than any two floats and their sum need."""


def exact(value: Any) -> Fraction:
    """Return a finite number as it is written; whole numbers and decimals have no other form."""
    if isinstance(value, int | Fraction | Decimal):
        return Fraction(value)
    return Fraction(repr(float(value)))


def exact_numbers(labels: Any) -> list[Fraction]:
    """Return the distinct numbers of a column; dates are days, times seconds."""
    temporal = pa.types.is_temporal(labels.type)
    values: Sequence[Any] = to_numbers(labels).tolist() if temporal else labels.to_pylist()
    if not all(isinstance(value, int | Decimal) or math.isfinite(value) for value in values):
        raise DataError("Bands need finite numbers, and the column holds an infinite one. Mark it "
                        "as missing, or leave the record out.")
    return [exact(value) for value in values]


def band_starts(numbers: Sequence[Fraction], width: Fraction) -> list[Fraction]:
    """Return the multiple of the width at which the band of every number starts."""
    places = [number // width for number in numbers]
    return [place * width for place in places]


def band_label(low: Fraction, width: Fraction) -> str:
    """Return a band with both ends in full; the upper one does not belong to it."""
    return f"[{plain(low)}, {plain(low + width)})"


def plain(value: Fraction) -> str:
    """Return a number with all its digits."""
    if value.denominator == 1:
        return str(value.numerator)
    with localcontext() as context:
        context.prec = _DIGITS
        return str((Decimal(value.numerator) / value.denominator).normalize()).lower()


def inside(value: Any, low: str, high: str, closed: bool) -> bool:
    """Return whether a number lies in a band that is written like this."""
    if not isinstance(value, int | Decimal) and not np.isfinite(value):
        return False
    number, end = exact(value), Fraction(high)
    return Fraction(low) <= number < end or (closed and number == end)
