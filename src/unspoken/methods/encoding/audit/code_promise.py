"""Whether every released code is the one that the code book gives the same person."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unspoken.arrays import Ints
from unspoken.disclosure.promise_checks import equal, numbers, passes, wrong
from unspoken.methods.encoding.code_book import ColumnCode, PiecewiseBook
from unspoken.release.key import Key
from unspoken.release.record_key import taken
from unspoken.release.release import Release
from unspoken.table.table import Table

UNCHANGED = 0.99


def broken_codes(table: Table, release: Release, key: Key, rows: Ints) -> Iterator[str]:
    """Yield what is not as the code book says; `rows`: the original row of every released one."""
    book = PiecewiseBook.from_key(key)
    for column in book.columns:
        shown = numbers(release.table.arrow([column.released])[column.released])
        yield from _column(column, numbers(table.arrow([column.name])[column.name]), shown, rows)
    own = taken(table, rows)
    for name, entry in (book.categories or {}).items():
        yield from _labels(own, release, name, str(entry["released"]), dict(entry["labels"]))
    if book.target and book.units is not None:
        yield from _target(book, table, release, rows)
    elif book.target and book.target[0] == book.target[1]:
        yield from passes(own, release.table, [book.target[0]])


def _target(book: PiecewiseBook, table: Table, release: Release, rows: Ints) -> Iterator[str]:
    """Yield if a released target is not that of the secret units, or the number itself."""
    if book.units is None or book.target is None:
        return
    own = numbers(table.arrow([book.target[0]])[book.target[0]])[rows]
    shown = numbers(release.table.arrow([book.target[1]])[book.target[1]])
    same = shown == book.units.encode(own)
    if not same.all():
        yield wrong(1 - same.mean(), book.target[0],
                    "the released number is not that of the secret units")
    if (shown == own).mean() >= UNCHANGED:
        yield wrong((shown == own).mean(), book.target[0], "the released number equals the value")


def _column(column: ColumnCode, values: np.ndarray, shown: np.ndarray,
            rows: Ints) -> Iterator[str]:
    codes, gone = column.encode(values)
    expected = codes.astype(np.float64)
    if gone is not None:
        expected[gone] = np.nan
    expected, own = expected[rows], values[rows]
    same = (shown == expected) | (np.isnan(shown) & np.isnan(expected))
    if not same.all():
        yield wrong(1 - same.mean(), column.name, "the released code is not that of the code book")
    kept = (shown == own) & ~np.isnan(own)
    if np.unique(own[~np.isnan(own)]).size > 2 and kept.sum() >= UNCHANGED * (~np.isnan(own)).sum():
        yield wrong(kept.mean(), column.name, "the released code equals the value")


def _labels(own: Table, release: Release, name: str, released: str,
            labels: dict[str, str]) -> Iterator[str]:
    import pyarrow as pa

    texts = own.arrow([name])[name].cast(pa.string()).to_pylist()
    expected = pa.array([None if text is None else labels.get(text) for text in texts], pa.string())
    same = equal(pa.chunked_array([expected]), release.table.arrow([released])[released])
    if not same.all():
        yield wrong(1 - same.mean(), name, "the released label is not that of the code book")
