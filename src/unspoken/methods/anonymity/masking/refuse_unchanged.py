"""A release that changes nothing is refused: nobody would be hidden by it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError
from unspoken.methods.anonymity.measures import equivalence_classes as stats
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

ALREADY = ("The table already satisfies what is asked for. Ask for a larger k, or choose a method "
           "that changes values.")
"""What to do where classes are large enough as they are."""


def refuse_unchanged(owner: str, table: Table, changed: Mapping[str, Any], rows: int,
                     advice: str) -> None:
    """Refuse to send a table out as it came: nobody would be hidden by it."""
    if rows == table.rows and all(_same(column, table.arrow([name])[name])
                                  for name, column in changed.items()):
        raise DataError(f"{owner}: nothing would change; the release would be the table as it is. "
                        f"{advice}")


def _same(released: Any, original: Any) -> bool:
    shown, own = np.split(_paired(released, original), 2)
    return bool(np.array_equal(shown, own))


def refuse_same_rows(owner: str, table: Table, release: Release, advice: str) -> None:
    """Refuse a release that holds the rows of the table as they are, in whatever order."""
    names = release.schema.names
    if release.table.rows != table.rows or len(names) == 0:
        return
    shown, own, pairs = release.table.arrow(names), table.arrow(names), []
    for name in names:
        pair = _paired(shown[name], own[name])
        if not _as_often(pair):
            return
        pairs.append(pair)
    if _as_often(stats.classes(pairs)):
        raise DataError(f"{owner}: nothing would change; the release would be the table as it is. "
                        f"{advice}")


def _as_often(codes: Ints) -> bool:
    """Return whether the first half holds everything as often as the second."""
    size, half = int(codes.max(initial=0)) + 1, codes.size // 2
    return bool(np.array_equal(np.bincount(codes[:half], minlength=size),
                               np.bincount(codes[half:], minlength=size)))


def _paired(shown: Any, own: Any) -> Ints:
    """Return codes of two columns one after the other, equal where their values are."""
    one, two = coded(shown), coded(own)
    if is_number(one.labels.type) and is_number(two.labels.type):
        values = [*np.asarray(to_numbers(one.labels), np.float64).tolist(),
                  *np.asarray(to_numbers(two.labels), np.float64).tolist()]
    else:
        texts = not is_number(one.labels.type) and not is_number(two.labels.type)
        spelling = str if texts else _spelt
        values = [*map(spelling, one.values()), *map(spelling, two.values())]
    number = {value: code for code, value in enumerate(dict.fromkeys(values))}
    place = np.array([number[value] for value in values], np.int64)
    gone = len(number)
    return np.concatenate([np.append(place[:one.missing], gone)[one.codes],
                           np.append(place[one.missing:], gone)[two.codes]])


def _spelt(value: Any) -> Any:
    """Return what a value says, whether it is released as itself or as its text.

    A release writes booleans, dates, decimals and numbers by `str`, and hierarchies may write 3
    as 3.0, or a day without its midnight; all these spellings say the same to who reads them.
    """
    text = str(value).strip()
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text.removesuffix(" 00:00:00")
    return number if number.is_finite() else text
