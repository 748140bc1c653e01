"""Faults: where a release is not what it says it is, whatever method made it.

They need the original and the key, and they fail every verdict: numbers of adversaries who believe
the published description say nothing about a release that does not follow it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Ints
from unspoken.audit.hidden_values import hidden_values
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row
from unspoken.errors import UnspokenError
from unspoken.release.key import Key
from unspoken.release.method import method_of
from unspoken.release.record_key import original_rows
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.plain_columns import holds_bytes
from unspoken.table.table import Table

ORDER = "row-order"
UNREADABLE = (UnspokenError, ValueError, IndexError, KeyError, TypeError, pa.ArrowException)
"""What reading a release can raise that is not made as its description says."""
_SIGMAS = 6.0
_NAMED = 0.5
"""The share of a released column that must name people before it counts as an identifier."""


def faults_of(table: Table, release: Release, key: Key) -> tuple[str, ...]:
    """Return in sentences where a release is not what it says it is."""
    method, rows = method_of(release.mechanism), original_rows(key, release.table.rows)
    out = [*(_order(rows) if method.of_people else ()), *held_identifiers(table, release.table)]
    if method.of_people and not method.takes_baskets:
        out += hidden_values(table, release.table, rows, np.arange(rows.size))
    check = method.broken_promises
    try:
        out += [] if check is None else list(check(table, release, key, rows))
    except UNREADABLE as error:
        out.append(f"it cannot be compared with its original: {str(error)[:200]}")
    return tuple(dict.fromkeys(out))


def unscored(release: Release, error: Exception, radius: float) -> Audit:
    """Return the audit of a release with faults that adversaries cannot even read."""
    about = {"fingerprint": release.fingerprint, "rows": release.table.rows,
             "mechanism": dict(release.mechanism), "data_sha256": release.data_sha256}
    return Audit((), radius, 1, about, unscored={"(all)": str(error)[:200]})


def order_row(release: Release, key: Key) -> Row | None:
    """Return how many people are found by their place, where the order of rows was kept."""
    if not method_of(release.mechanism).of_people:
        return None
    rows = original_rows(key, release.table.rows)
    if not list(_order(rows)):
        return None
    share = float((np.argsort(np.argsort(rows)) == np.arange(rows.size)).mean())
    return Row(ORDER, "row order", "(rows)", "identified", share, share, share, 1 / rows.size, 1)


def _order(rows: Ints) -> Iterator[str]:
    """Yield that the order of the original shows in the order of the release."""
    count = rows.size
    rank = np.argsort(np.argsort(rows, kind="stable"), kind="stable")
    if count < 5:
        return
    if np.array_equal(rank, np.arange(count)) or np.array_equal(rank, np.arange(count)[::-1]):
        yield "the records stand in the order of the original: a person's place names the record"
        return
    agreement = float(np.corrcoef(rank, np.arange(count))[0, 1])
    beside = int((np.abs(np.diff(rank)) == 1).sum())
    if abs(agreement) > _SIGMAS / math.sqrt(count - 1):
        yield (f"the order of the records is close to that of the original (rank correlation "
               f"{agreement:.2f}): a person's place tells which records it can be")
    elif beside > 2 + _SIGMAS * math.sqrt(2) + 2:
        yield (f"{beside:,} neighbours of the original are still neighbours: who knows one record "
               "knows the next")


def held_identifiers(table: Table, release: Table) -> Iterator[str]:
    """Yield released columns, under whatever name, that hold the values of an identifier.

    Numbers of an original column that are row numbers by chance are no fault of the release.
    """
    identifiers = table.schema.with_role("identifier")
    for name in identifiers:
        known = table.arrow([name])[name]
        for shown in (c.name for c in release.schema.columns if c.kind != "basket"):
            before = shown in table.schema.names and shown not in identifiers and \
                table.schema[shown].kind != "basket" and _holds(known, table.arrow([shown])[shown])
            if not before and _holds(known, release.arrow([shown])[shown]):
                yield f"'{shown}' holds the values of the identifier '{name}'"


def _holds(known: Any, shown: Any) -> bool:
    """Return True if most of a released column are values of an identifier, and most differ."""
    if is_number(known.type) and is_number(shown.type):
        own, values = (np.asarray(to_numbers(one), np.float64) for one in (known, shown))
        values = values[~np.isnan(values)]
        inside = values[np.isin(values, own)]
        different = np.unique(inside).size
    elif pa.types.is_floating(shown.type) or holds_bytes(known.type):
        return False
    else:
        texts = shown.cast(pa.string()).drop_null()
        values, inside = texts, texts.filter(pc.is_in(texts, pc.unique(known.cast(pa.string()))))
        different = len(pc.unique(inside))
    return len(values) > 2 and len(inside) > _NAMED * len(values) and \
        different > _NAMED * len(values)
