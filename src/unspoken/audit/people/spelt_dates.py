"""Dates as they are written elsewhere: "01 May 1980", 19800501, 5/1/80, "1980-05-01T00:00:00".

Day and month, and the century of a year of two digits, are settled by the dates of the original:
whoever holds the release knows about when people were born.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Floats

READ = 0.95
"""Share of the different texts that a form must read."""
_FORMS = ("%Y-%m-%d", "%d-%m-%Y", "%m-%d-%Y", "%Y-%d-%m", "%d-%b-%Y", "%b-%d-%Y", "%Y-%b-%d",
          "%d-%m-%y", "%m-%d-%y", "%y-%m-%d", "%d-%b-%y", "%b-%d-%y", "%Y%m%d", "%d%m%Y",
          "%m%d%Y", "%d%b%Y", "%d%b%y", "%y%m%d", "%d%m%y", "%m%d%y", "%Y-%m", "%m-%Y", "%b-%Y",
          "%Y-%b", "%Y-%j")
_TIME = re.compile(r"(?<=\d)[T ,]+\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\s*(?:[AaPp][Mm])?"
                   r"\s*(?:Z|UTC|GMT|[-+]\d\d:?\d\d)?$")
_DAY = re.compile(r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|(?<=\d)(?:st|nd|rd|th)\b|\bof\b",
                  re.I)
_MONTHS = {name: place for place, names in enumerate((
    "jan jänner", "feb fév", "mar mär mrz", "apr avr", "may mai", "jun juin", "jul juil",
    "aug aoû", "sep", "oct okt", "nov", "dec dez déc"), 1) for name in names.split()}
_SHORT = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LOOK = re.compile(r"(?:\d{1,4}|[A-Z][a-z]{2})(?:-(?:\d{1,4}|[A-Z][a-z]{2})){1,2}$|\d{6,8}$"
                   r"|\d{1,2}[A-Z][a-z]{2}\d{2,4}$")
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_CENTURY = 36525.0
_SCALES = ((1.0, 0.0), (1.0, -25569.0), (1 / 86400, 0.0), (1 / 86400e3, 0.0), (1 / 86400e6, 0.0),
           (1 / 86400e9, 0.0))
"""Days since 1970, as a table program counts them, and (milli-, micro-, nano-) seconds."""


def days_of(texts: Sequence[str], known: Floats) -> Floats | None:
    """Return days since 1970 of texts that are dates, NaN where one is not; None if they are none.

    `known` are days of the original, which the best form fits best.
    """
    if not texts or np.mean([bool(_LOOK.match(_plain(text))) for text in _some(texts)]) < READ:
        return None
    plain = [_plain(text) for text in texts]
    read = [days for form in _FORMS if (days := _by_form(plain, form, known)) is not None]
    return max(read, key=lambda days: _fit(days, known), default=None)


def days_of_numbers(values: Floats, known: Floats) -> Floats | None:
    """Return days since 1970 of numbers that count or spell days; None if nothing fits."""
    held = np.unique(values[np.isfinite(values)])
    if not held.size or not known.size:
        return None
    ways = [np.floor(held * times + more) for times, more in _SCALES]
    if np.all((held == np.rint(held)) & (held > 0) & (held < 1e8)):
        width = 8 if held.max() > 999_999 else 6
        spelt = days_of([f"{int(one):0{width}d}" for one in held], known)
        ways += [spelt] if spelt is not None else []
    best = max(ways, key=lambda days: _fit(days, known))
    if _fit(best, known)[0] < 0.5:
        return None
    return np.where(np.isfinite(values), best[np.searchsorted(held, values).clip(0, held.size - 1)],
                    np.nan)


def _some(texts: Sequence[str]) -> Sequence[str]:
    return texts[::max(1, len(texts) // 50)]


def _plain(text: str) -> str:
    """Return a date with short English months, dashes between its parts and no time of day."""
    day = _DAY.sub(" ", _TIME.sub("", text.strip()))
    day = re.sub(r"[^\W\d_]+\.?", _month, day)
    return re.sub(r"[\s/.,_\-]+", "-", day).strip("-")


def _month(word: re.Match[str]) -> str:
    name = word[0].lower().rstrip(".")
    place = next((_MONTHS[name[:size]] for size in (6, 4, 3) if name[:size] in _MONTHS), None)
    return word[0] if place is None else _SHORT[place - 1]


def _by_form(texts: Sequence[str], form: str, known: Floats) -> Floats | None:
    """Return the days of texts in one form, or None if too many are not in it."""
    some = _some(texts)
    if sum(np.isfinite(_day(one, form)) for one in some) < READ * len(some):
        return None
    days = np.array([_day(one, form) for one in texts], np.float64)
    if np.isfinite(days).sum() < READ * len(texts):
        return None
    return in_century(days, known) if "%y" in form else days


def in_century(days: Floats, known: Floats) -> Floats:
    """Return days in the century of the original's, for years of two digits."""
    if not known.size:
        return days
    late = np.where(days > known.max() + 366, days - _CENTURY, days)
    moved = np.where(late < known.min() - 366, late + _CENTURY, late)
    return moved if _fit(moved, known)[0] >= _fit(days, known)[0] else days


def _day(text: str, form: str) -> float:
    try:
        return float(datetime.datetime.strptime(text, form).date().toordinal() - _EPOCH)
    except ValueError:
        return np.nan


def _fit(days: Floats, known: Floats) -> tuple[float, float]:
    """Return the share of days that the original has, then how near their middle is to its."""
    held = days[np.isfinite(days)]
    if not held.size or not known.size:
        return 0.0, 0.0
    return float(np.isin(held, known).mean()), -abs(float(np.median(held) - np.median(known)))
