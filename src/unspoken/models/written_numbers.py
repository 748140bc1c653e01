"""Numbers and names that a model file holds as text: read strictly, or refused by their field.

`float` and `int` of Python take more than a model file may say (blanks, underscores, other
alphabets' digits, "nan"), so the spelling is checked first.
"""

from __future__ import annotations

import re

import numpy as np

from unspoken.arrays import Floats
from unspoken.models.hostile_json import Fields, Limits, refuse

_REAL = r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,4})?"
REAL = re.compile(_REAL)
REALS = re.compile(rf"{_REAL}(?: {_REAL})*")
_LIST = re.compile(rf"\[(?:{_REAL}(?:,{_REAL})*)?\]|{_REAL}")
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def whole_of(text: str) -> int | None:
    """Return a whole number written in ASCII digits, or None."""
    return int(text) if _WHOLE.fullmatch(text) else None


def real_of(text: str) -> float | None:
    """Return a finite number written in ASCII digits, or None."""
    if len(text) > 100 or not REAL.fullmatch(text):
        return None
    value = float(text)
    return value if np.isfinite(value) else None


def number_list(text: str) -> Floats | None:
    """Return the finite numbers of `1.5` or `[1.5,2E0]`, or None."""
    if not _LIST.fullmatch(text):
        return None
    values = np.array([float(word) for word in text.strip("[]").split(",") if word], np.float64)
    return values if np.all(np.isfinite(values)) else None


def whole_text(fields: Fields, key: str, low: int, high: int) -> int:
    """Return a whole number that a JSON field holds as text."""
    text = fields.text(key)
    value = whole_of(text)
    if value is None or not low <= value <= high:
        refuse(fields.at(key), f"a whole number from {low} to {high}, as text", text[:40])
    return value


def check_name(field: str, name: str, limits: Limits) -> None:
    """Refuse a feature name that is too long or holds control characters."""
    limits.check(field, len(name), min(1000, limits.max_text))
    if not name or _CONTROL.search(name):
        refuse(field, "names without control characters", "an empty name or one with some")
