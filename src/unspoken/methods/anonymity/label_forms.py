"""What the labels of a hierarchy are: bands of numbers, parts of dates, or names of sets.

Bands and dates say of themselves what they hold, so that a description needs no members. A band
that does not hold its values would tell its readers something wrong, and is refused; a plain number
may stand for others (1950 for a decade), which are then named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from unspoken.errors import DataError
from unspoken.methods.anonymity.hierarchy import ALL
from unspoken.table.arrow_arrays import is_number

_BAND = re.compile(r"^\[-?[\d.e+-]+, -?[\d.e+-]+[)\]]$|^-?[\d.e+-]+$")
_TRUTH = re.compile(rf"^(True|False)$|{_BAND.pattern}")
_DATE = re.compile(r"^\d{3}0s$|^\d{4}(-\d\d(-\d\d)?)?$")
DAYS, SECONDS = "days", "seconds"


def label_form(kind: Any, groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the form of labels over values of an Arrow type, with members only where needed."""
    labels = [label for label in groups if label != ALL]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        if _all(_DATE, labels):
            return {"form": "dates", "unit": DAYS if pa.types.is_date(kind) else SECONDS}
    elif is_number(kind) and _all(_TRUTH if pa.types.is_boolean(kind) else _BAND, labels):
        plain = not (pa.types.is_boolean(kind) or pa.types.is_temporal(kind))
        if not plain or all(_holds(label, groups[label]) for label in labels):
            return {"form": "interval"}
    return {"form": "set", "groups": dict(groups)}


def spelled(value: Any) -> str:
    """Return the end of a band as it is printed; a duration without the comma that parts ends."""
    return str(value).replace(", ", " ") if isinstance(value, timedelta) else str(value)


def _all(pattern: re.Pattern[str], labels: Iterable[str]) -> bool:
    return all(pattern.match(label) for label in labels)


def _holds(label: str, members: Sequence[str]) -> bool:
    """Return whether the members of a label lie in it; a band that lacks one of them is refused."""
    ends = [_number(end) for end in label.strip("[])").split(", ")]
    low, high = ends[0], ends[-1]
    if low is None or high is None:
        return False
    held = (number for number in map(_number, members) if number is not None)
    if all(low <= n < high or (n == high and not label.endswith(")")) for n in held):
        return True
    if len(ends) == 1:
        return False
    raise DataError(f"Label '{label}' of a hierarchy does not hold all values that stand below it. "
                    "Correct its lines, or use another label.")


def _number(text: str) -> Fraction | None:
    """Return a number; None for what is none, such as the name in a line above the values."""
    try:
        near = float(text)
        # An exponent of millions makes a fraction of millions of digits.
        return Fraction(text.strip()) if 1e-300 < abs(near) < 1e300 else Fraction(0) \
            if near == 0 and not re.search("[1-9]", text.lower().split("e")[0]) else None
    except ValueError:
        return None


def date_ends(label: str, unit: str) -> tuple[float, float]:
    """Return the first and the last day, or second, of a day, month, year or decade."""
    if label == ALL:
        return -np.inf, np.inf
    first = np.datetime64(label[:4] if label.endswith("s") else label)
    after = first + (10 if label.endswith("s") else 1)
    if unit == DAYS:
        low, high = (int(one.astype("datetime64[D]").astype(np.int64)) for one in (first, after))
        return float(low), float(high - 1)
    low, high = (int(one.astype("datetime64[s]").astype(np.int64)) for one in (first, after))
    return float(low), float(np.nextafter(float(high), -np.inf))
