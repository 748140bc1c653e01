"""Numbers as tools and people write them: with units, currencies, grouped digits, or as intervals.

"EUR 1,234.50", "34 units", "1.234,50", "12%", "1,2E+03", "0x1f", "3*", "30-39" and "90+" all tell
what they stand for. Only words that are declared to hide a value stand for everything: whoever
took a spelling that cannot be read for a suppressed value would call it safe.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Bools, Floats

EVERYTHING = {"*", "**", "any", "all", "other", "suppressed", "(all)", "(any)", "?"}
"""Words for a value that was taken away."""
NO_NUMBER = EVERYTHING | {"", "na", "n/a", "nan", "none", "null", "unknown", "missing", "redacted",
                          "removed", "hidden", "masked", "withheld"}
WORDS = 5
"""Words for everything that a column may have; more of them say something themselves."""
UNITS = 12
"""Different texts around numbers up to which they are units; with more they are names."""
_MASKED = re.compile(r"^[*#?xX.\-_]+$")
_CUT = re.compile(r"^(\d+)([*#xX]+)$")
_NUMBER = r"(?:0x[0-9a-fA-F]+|0b[01]+|(?:\d+(?:\.\d+)?|(?<![.\d])\.\d+)(?:[eE][-+]?\d+)?)"
_NUMBERS = re.compile(rf"(?:(?<![\w.)])[-+])?{_NUMBER}")
_POWER = re.compile(r"(?<=\d)\s*[x×·*]\s*10\s*(?:\^|\*\*)?\s*([-+]?\d+)")
_GROUPED = re.compile(r"(?<=\d)['’_ \u00a0\u2009\u202f](?=\d{3}(?!\d))")
_COMMA, _DOT = re.compile(r"(?<=\d),(?=\d)"), re.compile(r"(?<=\d)\.(?=\d)")
_THREES = {sign: re.compile(rf"(?<![\d.,])\d{{1,3}}(?:{re.escape(sign)}\d{{3}})+(?![\d.,]*\d)")
           for sign in ".,"}
_BETWEEN = re.compile(r"^\D*?\s*(?:-|–|—|,|;|:|to|bis|until|and|\.\.\.?|…)\s*\D*$")
_LEAST = re.compile(r"(?:>=?|≥|over|above|at least|more than|from|min\.?)\s*\W{0,3}$", re.I)
_MOST = re.compile(r"(?:<=?|≤|under|below|up to|at most|less than|max\.?)\s*\W{0,3}$", re.I)
_MORE = re.compile(r"^\s*(?:\+|plus\b|(?:and|or)\s+(?:over|more|above|older))", re.I)
_LESS = re.compile(r"^\s*(?:and|or)\s+(?:under|less|below|younger)", re.I)
_TIMES = {"k": 1e3, "tsd": 1e3, "mio": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}


def intervals(labels: Sequence[str]) -> tuple[Floats, Floats, Bools]:
    """Return the ends of what each label stands for, and which labels could be read at all.

    "30-39", "[30, 40)", "90+", "<18" are intervals, "*" is everything, "34 kg" one number.
    """
    plain = [_POWER.sub(r"e\1", unicodedata.normalize("NFKC", label).replace("−", "-")).strip()
             for label in labels]
    decimal = _decimal(plain)
    ends = [_ends(one, decimal) for one in plain]
    blank = [is_everything(one) for one in plain]
    few = len({unit for _, _, unit in ends if unit}) <= UNITS
    known = np.array([unit is not None and (few or not unit) for _, _, unit in ends], np.bool_)
    if sum(blank) > WORDS:
        known[np.array(blank)] = False
    out = np.array([(low, high) for low, high, _ in ends] or np.empty((0, 2)), np.float64)
    return out[:, 0], out[:, 1], known


def is_everything(label: str) -> bool:
    """Return True for a word that is declared to hide a value."""
    return label.strip().lower() in NO_NUMBER or bool(_MASKED.match(label.strip()))


def _decimal(labels: Sequence[str]) -> str:
    """Return the sign before decimals: by what stands last, or what does not group threes."""
    some = [one for one in labels if not one.startswith(("[", "("))]
    both = [one for one in some if _COMMA.search(one) and _DOT.search(one)]
    if both:
        return "," if np.mean([one.rfind(",") > one.rfind(".") for one in both]) > 0.5 else "."
    commas, dots = ([one for one in some if sign.search(one)] for sign in (_COMMA, _DOT))
    if commas:
        return "." if all(_THREES[","].search(one) for one in commas) else ","
    grouped = dots and all(_THREES["."].search(one) for one in dots)
    several = grouped and any(one.count(".") > 1 for one in dots)
    whole = grouped and len(dots) < len(some) and all(_below(one) for one in some
                                                      if one not in set(dots))
    return "," if several or whole else "."


def _below(label: str) -> bool:
    """Return True for what has no group of three digits before its last."""
    return max((len(digits) for digits in re.findall(r"\d+", label)), default=0) <= 3


def _ends(label: str, decimal: str) -> tuple[float, float, str | None]:
    """Return the ends of a label and the text around its numbers; None if it cannot be read."""
    if is_everything(label):
        return -np.inf, np.inf, ""
    if cut := _CUT.match(label):
        ten = 10.0 ** len(cut[2])
        return int(cut[1]) * ten, (int(cut[1]) + 1) * ten - 1, ""
    text = _spelt(label, decimal)
    numbers = list(_NUMBERS.finditer(text))
    if len(numbers) == 1:
        return _one(text, numbers[0])
    if len(numbers) == 2 and _BETWEEN.match(text[numbers[0].end():numbers[1].start()]):
        first, second = (_value(one[0]) for one in numbers)
        return *_in_order(first, second), ""
    return -np.inf, np.inf, None


def _spelt(label: str, decimal: str) -> str:
    """Return a label with points before decimals and digits that are not grouped."""
    if label.startswith(("[", "(", "{")) and re.search(r"\d\s*[,;]\s*[-+]?\d", label) \
            and not (_COMMA.search(label) and label.count(",") > 1):
        return label.replace(",", " , ") if decimal == "." else label.replace(",", ".")
    text = _GROUPED.sub("", label)
    if decimal == ",":
        return _COMMA.sub(".", _DOT.sub("", text))
    return _COMMA.sub("", text)


def _one(text: str, number: re.Match[str]) -> tuple[float, float, str | None]:
    before, after = text[:number.start()], text[number.end():]
    value = _value(number[0]) * _TIMES.get(after.strip().lower(), 1.0)
    unit = f"{before.strip()} {after.strip()}".strip()
    if _LEAST.search(before) or _MORE.match(after):
        return value, np.inf, ""
    if _MOST.search(before) or _LESS.match(after):
        return -np.inf, value, ""
    if before.strip().endswith("-"):
        value, unit = -value, unit.replace("-", "", 1).strip()
    return value, value, unit


def _value(number: str) -> float:
    if number.lstrip("+-")[:2].lower() in ("0x", "0b"):
        return float(int(number, 0))
    return float(number)


def _in_order(first: float, second: float) -> tuple[float, float]:
    # "30-39" reads as 30 and 39, but a sign makes "30-39" possible as 30 and -39.
    second = abs(second) if second < first <= abs(second) else second
    return min(first, second), max(first, second)
