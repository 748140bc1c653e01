"""The custodian's own table, as the key describes it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from unspoken.cli.common import read_table

if TYPE_CHECKING:
    from unspoken.release.key import Key
    from unspoken.release.release import Release
    from unspoken.table.table import Table


def target_of(key: Key) -> str | None:
    """Return the original name of the target, which the key knows."""
    target = key.secrets.get("target")
    return str(target[0]) if isinstance(target, list | tuple) and target else None


def read_original(args: argparse.Namespace, path: Path, key: Key) -> Table:
    """Read the original table with the target that was released."""
    return read_table(args, path, target_of(key))


def released_names(key: Key | None, release: Release) -> dict[str, str]:
    """Return the released name of every original column that went out.

    Turned columns have no names of their own any more: each is part of all that went out.
    """
    from unspoken.methods.encoding import PiecewiseBook

    if key is None:
        return {name: name for name in release.schema.names}
    if key.mechanism != "piecewise":
        return _turned_names(key, release)
    book = PiecewiseBook.from_key(key)
    names = dict(zip(book.features, book.released_features, strict=True))
    names |= {name: str(entry["released"]) for name, entry in (book.categories or {}).items()}
    return names | ({book.target[0]: book.target[1]} if book.target else {})


def _turned_names(key: Key, release: Release) -> dict[str, str]:
    from unspoken.methods.rotation.secret_motion import Motion

    target = target_of(key)
    names = dict.fromkeys(Motion.from_key(key).features, ", ".join(release.schema.features))
    return names | ({target: str(release.schema.target)} if target else {})


def in_released_order(key: Key, table: Table) -> Table:
    """Return the released features and the target, original values, in the released order."""
    import pyarrow as pa

    from unspoken.methods.encoding import PiecewiseBook
    from unspoken.table.read import read

    book = PiecewiseBook.from_key(key)
    rows = table.arrow([*book.features, table.target])
    order = book.order(rows.num_rows)
    if order is not None:
        rows = rows.take(pa.array(order))
    kinds = dict.fromkeys(book.features, "numeric")
    return read(rows, target=table.target, kinds=kinds, keep=book.features, show=False)
