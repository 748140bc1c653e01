"""What of a value is compared: pieces that survive a typing error in their neighbours.

A name or a text becomes the pairs of its letters, with a mark at both ends; a date its eight
digits and their pairs, each with its place; a code (postcode, telephone) its characters and their
pairs with their places. Capitals, accents, blanks and hyphens do not count. A value that is missing
has no pieces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError

_END = "_"
_ISO = re.compile(r"(\d{4})\D?(\d{1,2})\D?(\d{1,2})(?:\D.*)?", re.DOTALL)
_DAY_FIRST = re.compile(r"(\d{1,2})[./ -](\d{1,2})[./ -](\d{4})")


@dataclass(frozen=True)
class LinkColumn:
    """A column by which records are linked, and of what kind its values are."""

    name: str
    kind: str

    @classmethod
    def of(cls, word: str) -> LinkColumn:
        """Read "born:date"."""
        name, mark, kind = word.rpartition(":")
        if not mark or not name or kind not in KINDS:
            raise StudyError(explain("Parameter 'link'", 'a list such as ["last:name", '
                                     f'"born:date"], of the kinds {", ".join(KINDS)}', word))
        return cls(name, kind)


def plain(value: Any) -> str:
    """Return a value in small letters and digits, without accents."""
    if value is None or value != value:
        return ""
    text = unicodedata.normalize("NFKD", str(value)).casefold()
    return "".join(c for c in text if c.isalnum())


def _pairs(value: Any) -> list[str]:
    text = plain(value)
    return [one + other for one, other in pairwise(_END + text + _END)] if text else []


def _placed(text: str) -> list[str]:
    """Return the characters of a text and their pairs, each with its place."""
    ones = [f"{place}{c}" for place, c in enumerate(text)]
    return ones + [f"{place}{one}{other}" for place, (one, other) in enumerate(pairwise(text))]


def _date(value: Any) -> list[str]:
    return _placed(eight_digits(value))


def eight_digits(value: Any) -> str:
    """Return a date as YYYYMMDD; what is no date is taken as it is written."""
    text = "" if value is None or value != value else str(value).strip()
    whole, turned = _ISO.fullmatch(text), _DAY_FIRST.fullmatch(text)
    if whole:
        return "".join(part.zfill(2) for part in whole.groups())
    return "".join(part.zfill(2) for part in turned.groups()[::-1]) if turned else plain(text)


def _code(value: Any) -> list[str]:
    return _placed(plain(value))


KINDS: dict[str, Callable[[Any], list[str]]] = {
    "name": _pairs, "date": _date, "code": _code, "text": _pairs}


@dataclass(frozen=True)
class TokenRuns:
    """The pieces of the different values of a column: numbers of pieces, run by run.

    `pieces` lists the runs one behind the other, `starts` where each begins (with the end behind),
    and `values` which value each record has.
    """

    pieces: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]


def token_runs(column: LinkColumn, values: Sequence[Any], numbers: dict[str, int],
               salts: Sequence[str] | None = None) -> TokenRuns:
    """Return the pieces of a column's values; `numbers` gives every new piece the next number.

    Records with different salts have no piece in common.
    """
    places: dict[tuple[str, Any], int] = {}
    salted = zip(salts, values, strict=True) if salts is not None else (("", v) for v in values)
    listed = np.array([places.setdefault((salt, _key(value)), len(places))
                       for salt, value in salted], np.int64)
    runs = [_numbered(f"{salt}\0{column.name}", column.kind, value, numbers)
            for salt, value in places]
    starts = np.concatenate([[0], np.cumsum([len(run) for run in runs])]).astype(np.int64)
    flat = [number for run in runs for number in run]
    return TokenRuns(np.array(flat, np.int64), starts, listed)


def _key(value: Any) -> Any:
    # Numbers that are no numbers differ from themselves.
    return None if value is None or value != value else value


def _numbered(where: str, kind: str, value: Any, numbers: dict[str, int]) -> Sequence[int]:
    pieces = dict.fromkeys(KINDS[kind](value))
    return [numbers.setdefault(f"{where}\0{piece}", len(numbers)) for piece in pieces]
