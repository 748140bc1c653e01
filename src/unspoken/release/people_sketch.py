"""Who was released, without saying who: keyed digests by which the same people are known again.

A record has several digests: over all columns, in tables of few columns over all but one, and over
halves of them (four ways to halve, each with its other half), so that an edited, added or missing
column leaves some of them as they were, under whatever label;
over the values as they are, and over the place of numbers between the least and the largest, which
is the same in any unit. Identifiers have digests of their own. Of each kind only digests that
single a person out are kept, and of these the 1,024 smallest: what two tables share of them is
what they share of all (Broder 1997). One row more or less changes one digest.

The digests are keyed with the register's secret. Without it nobody can try names or values.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.numerics.random import derive
from unspoken.release.original_records import ColumnDigest, mixed
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.declared_types import numbers_of, texts_of
from unspoken.table.table import Table

SIZE = 1024
SPLITS = 4
FEW_COLUMNS = 16
"""Up to this many columns a table has a digest without each of them."""
SINGLED = 0.5
"""Share of people whom a set of columns must single out to know them by it."""
SAME = 0.5
"""Share of the smaller group from which on two groups count as the same people."""
FEWEST = 5
KINDS = ("values", "places")
CELLS = "cells"
"""As "values", but a text that says a number is that number: some rows of a column of texts may all
say numbers, and are then read as such."""
_PLACES = 1e6

Words = npt.NDArray[np.uint64]


def sketch(table: Table, secret: bytes, kinds: Sequence[str] = KINDS,
           columns: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the digests of the people of a table, as plain data; by some `columns` only."""
    out = {}
    for label, words in all_digests(table, derive(secret, "people"), kinds, columns):
        values, counts = np.unique(words, return_counts=True)
        alone = values[counts == 1]
        if alone.size >= max(SINGLED * table.rows, 1):
            out[label] = [int(alone.size), packed(alone[:SIZE])]
    return out


def overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return the share of the smaller group that both have, as the best of all digests says."""
    return max((shared(one[mine], other[its]) for mine in one for its in other
                if mine.partition(" ")[0] == its.partition(" ")[0]), default=0.0)


def shared(one: Any, other: Any) -> float:
    """Return which share of the smaller of two kept lists both have; 0 where too few are kept."""
    return comparable_share(one, other) or 0.0


def comparable_share(one: Any, other: Any) -> float | None:
    """Return which share of the smaller of two kept lists both have, None if it cannot be told."""
    first, second = (_unpacked(part[1]) for part in (one, other))
    ends = [words[-1] for words, part in ((first, one), (second, other)) if words.size < part[0]]
    if ends:
        first, second = (words[words <= min(ends)] for words in (first, second))
    least = min(first.size, second.size)
    if least < min(FEWEST, int(one[0]), int(other[0])) or least == 0:
        return None
    return float(np.intersect1d(first, second, assume_unique=True).size / least)


def packed(words: Words) -> str:
    """Return digests as text."""
    return base64.b64encode(words.astype("<u8").tobytes()).decode()


def _unpacked(text: str) -> Words:
    return np.frombuffer(base64.b64decode(text), "<u8").astype(np.uint64)


def all_digests(table: Table, secret: bytes, kinds: Sequence[str],
                columns: Sequence[str] | None = None, ids: Sequence[str] | None = None
                ) -> Iterator[tuple[str, Words]]:
    """Yield (kind, digest of every record), by some `columns` and identifiers only."""
    identifiers = table.schema.with_role("identifier")
    for name in identifiers if ids is None else ids:
        yield "id", ColumnDigest(derive(secret, "id"))(plain_text(table.arrow([name])[name]))
    names = [c.name for c in table.schema.columns if c.name not in identifiers]
    names = names if columns is None else list(columns)
    for kind in kinds:
        digests = {name: _column(table, name, kind, secret) for name in names}
        yield from _sets(kind, digests, secret, table.rows)


def _sets(kind: str, columns: Mapping[str, Words], secret: bytes,
          rows: int) -> Iterator[tuple[str, Words]]:
    whole = sum(columns.values(), np.zeros(rows, np.uint64))
    yield f"{kind} all", mixed(whole)
    if 2 < len(columns) <= FEW_COLUMNS:
        for place, one in enumerate(columns.values()):
            yield f"{kind} less {place}", mixed(whole - one)
    for split in range(SPLITS):
        half = [name for name in columns if derive(secret, "half", split, spelt(name))[0] % 2]
        part = sum((columns[name] for name in half), np.zeros(rows, np.uint64))
        if 0 < len(half) < len(columns):
            yield f"{kind} {split}+", mixed(part)
            yield f"{kind} {split}-", mixed(whole - part)


def _column(table: Table, name: str, kind: str, secret: bytes) -> Words:
    column = table.arrow([name])[name]
    if kind == CELLS and table.schema[name].kind != "basket":
        return cell_digests(column, derive(secret, kind, spelt(name)))
    digest = ColumnDigest(derive(secret, kind, spelt(name)))
    if is_number(column.type):
        return digest(_placed(column) if kind == "places" else column)
    whole = column.combine_chunks()
    return digest(whole if table.schema[name].kind == "basket" else plain_text(whole))


def _placed(column: Any) -> Any:
    """Return where numbers lie between the least and the largest, the same in any unit."""
    import pyarrow as pa

    values = np.asarray(to_numbers(column), np.float64)
    low, high = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    width = high - low if high > low else 1.0
    return pa.array(np.rint(_PLACES * (values - low) / width), from_pandas=True)


def cell_digests(column: Any, secret: bytes) -> Words:
    """Return digests of what cells say: a number is one however the column was read."""
    import pyarrow as pa

    digest = ColumnDigest(secret)
    if is_number(column.type):
        return digest(column)
    whole = texts_of(column)
    numbers = numbers_of(whole)
    return np.where(np.isnan(numbers), digest(plain_text(whole)), digest(pa.array(numbers)))


def plain_text(column: Any) -> Any:
    """Return texts without case, spaces and marks."""
    import pyarrow as pa

    encoded = column.cast(pa.string()).dictionary_encode()
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    texts = [spelt(text) or text for text in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def spelt(text: str) -> str:
    """Return a text without case, spaces and marks."""
    return re.sub(r"[\W_]+", "", text.casefold())
