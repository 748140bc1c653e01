"""Which original row every released one is: what the audit needs, and no adversary sees."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from unspoken.arrays import Ints
from unspoken.methods.anonymity.measures.equivalence_classes import classes
from unspoken.release.release import Release
from unspoken.table.category_codes import coded
from unspoken.table.table import Table


def in_order(table: Table, release: Release) -> Ints | None:
    """Return the rows of a release that keeps the order, None if records were left out."""
    return np.arange(table.rows) if release.table.rows == table.rows else None


def subsequence(table: Table, release: Release) -> Ints | None:
    """Find the rows of a sample that was released as it is: the earliest that fit, in order."""
    names = release.schema.names
    both = pa.concat_tables([table.arrow(names), release.table.arrow(names)])
    codes = classes([coded(both[name]).codes for name in names])
    mine, theirs, at, rows = codes[:table.rows].tolist(), codes[table.rows:].tolist(), 0, []
    for code in theirs:
        while at < len(mine) and mine[at] != code:
            at += 1
        if at == len(mine):
            return in_order(table, release)
        rows.append(at)
        at += 1
    return np.array(rows, np.int64)
