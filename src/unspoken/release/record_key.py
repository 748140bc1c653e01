"""The key of every release: which released record is which original one, and what seals both.

Methods that encode or rotate add their secrets to it. Methods that distort, coarsen or leave out
need nothing to be undone; their key is for the audit alone, which links people by it and never by
their place in a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import DamagedKeyError, SeededWarning
from unspoken.numerics.random import derive
from unspoken.numerics.shuffle import permutation
from unspoken.release.key import Key
from unspoken.release.method import name_in
from unspoken.release.original_records import ORIGINAL, RECORDS, Original
from unspoken.release.release import Release
from unspoken.release.release_seal import SECRET
from unspoken.table.engines.local import LocalEngine, MemoryFrame
from unspoken.table.table import Table

ORDER, KEPT = "order_seed", "kept_rows"
"""Where a key holds the seed of the order of rows, and the original rows that were not left out."""
SHUFFLED = "rows_shuffled"
"""Where a public mechanism says that the order of rows was drawn at random."""
NO_KEY = ("which record is whose is said by the key alone: pass the key that was written with the "
          "release")
"""Why nothing is scored that needs to know which record is whose."""


def keyed(release: Release, table: Table, seed: bytes, shuffle: bool = True,
          kept: npt.ArrayLike | None = None) -> tuple[Release, Key]:
    """Shuffle a release that still stands in the order of its table; return it with its key.

    Parameters
    ----------
    release : Release
        The release; its rows are those of the table, or `kept` of them, in the table's order.
    table : Table
        The original.
    seed : bytes
        The seed of the release, which the order and the seal are derived from.
    shuffle : bool, default True
        Release the rows in a random order.
    kept : array of int, default None
        The original rows that were released; None for all.

    Returns
    -------
    tuple of Release and Key
    """
    order = derive(seed, "order") if shuffle else None
    ready = _sealed(_shuffled(release, order), derive(seed, "seal"))
    rows = {} if kept is None else {KEPT: np.asarray(kept, np.int64)}
    return ready, key_of(ready, table, seed, order, arrays=rows)


def key_of(release: Release, table: Table, seed: bytes, order: bytes | None, *,
           names: Sequence[str] | None = None, arrays: Any = None) -> Key:
    """Return the key of a release that is shuffled and sealed already."""
    key = Key(name_in(release.mechanism), release.fingerprint,
              {ORDER: None if order is None else order.hex()}, dict(arrays or {}))
    columns = release.schema.names if names is None else names
    return with_original(key, table, columns, seed).with_seal(derive(seed, "seal"))


def with_original(key: Key, table: Table, names: Sequence[str], seed: bytes) -> Key:
    """Return a key that knows the original by the columns that went out."""
    known = [name for name in table.schema.names if name in names]
    return Original.of(table, known, derive(seed, "original")).into(key)


def _shuffled(release: Release, order: bytes | None) -> Release:
    mechanism = {**release.mechanism, SHUFFLED: order is not None}
    if order is None:
        return _again(release, mechanism=mechanism)
    frame = release.table.engine.shuffle(release.table.frame, order)
    return _again(release, mechanism=mechanism, table=release.table.with_frame(frame))


def _sealed(release: Release, secret: bytes) -> Release:
    return _again(release, seal_key=secret)


def _again(release: Release, **changed: Any) -> Release:
    """Return a changed release; that it was seeded was said when it was made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeededWarning)
        return replace(release, **changed)


def original_rows(key: Key, rows: int) -> Ints:
    """Return the original row of each of the released rows, as the table stood when protected."""
    seed = key.secrets.get(ORDER)
    kept = key.arrays.get(KEPT)
    if kept is not None and np.shape(kept) != (rows,):
        raise DamagedKeyError(f"The key's record map must name {rows:,} rows. Got "
                              f"{np.shape(kept)}.")
    base = np.arange(rows) if kept is None else np.asarray(kept, np.int64)
    try:
        return base if seed is None else base[permutation(bytes.fromhex(seed), rows)]
    except (TypeError, ValueError):
        raise DamagedKeyError("The key's order of rows cannot be read.") from None


def released_rows(key: Key) -> int:
    """Return how many records went out, as the key knows it."""
    kept = key.arrays.get(KEPT)
    return int(Original.from_key(key).records.size if kept is None else np.size(kept))


def taken(table: Table, rows: Ints) -> Table:
    """Return some rows of a table, in the order in which they are named."""
    frame = MemoryFrame(table.take(rows))
    return Table(table.schema, frame, LocalEngine(), table.notes)


def as_protected(table: Table, key: Key) -> Table:
    """Return the original in the order in which it was protected; another table is refused."""
    rows = Original.from_key(key).rows_in(table)
    return table if np.array_equal(rows, np.arange(rows.size)) else taken(table, rows)


def beside(table: Table, release: Release, key: Key) -> Table:
    """Return the original record of every released one, row by row."""
    return taken(table, original_rows(key, release.table.rows))


def records_only(key: Key) -> Key:
    """Return a key that says which record is which, and undoes nothing."""
    held = (ORDER, ORIGINAL, SECRET, "features", "target")
    return replace(key, secrets={name: key.secrets[name] for name in held if name in key.secrets},
                   arrays={name: key.arrays[name] for name in (KEPT, RECORDS)
                           if name in key.arrays})
