"""Everybody whom a budget counts, without saying who: keyed digests in a file beside the budget.

A few kept digests cannot recognise fifty rows out of sixty thousand. So a budget keeps, in
`<budget>.people` (0600), 48-bit keyed digests of everybody whom the columns of its table single out
(`people_sketch` says over which columns): 6 bytes a person for whole records and for each
identifier, and as much for every other set of columns, of which beyond 65,536 people the smallest
eighth is kept. One row of that table is known again, as are rows that stand there twice.

A group counts as the same people from a twentieth of the smaller group on. Where many rows of the
budget's table are alike, others are like them by chance, and more is asked for: a row that has no
twin in n rows meets one in n others at most as often as the rows of the table have twins.

Without the budget's key the file says how many people each set of columns singles out, and no more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.numerics.random import derive
from unspoken.release.people_sketch import CELLS, SAME, SINGLED, Words, all_digests
from unspoken.table.table import Table

FORMAT = "unspoken-people 1"
LEAST_SAME = 0.05
"""Share of the smaller group from which on people are the same, where nobody has a twin."""
RECORDS = f"{CELLS} all"
WHOLE = ("id", RECORDS)
"""Sets of columns of which everybody's digest is kept."""
MOST = 1 << 16
_ONE_IN = 8
_SHIFT = np.uint64(16)
_WIDTH = 6
_ENOUGH = 1 << 14
"""Digests of two large groups that are compared: the share is right to half a per cent."""


@dataclass(frozen=True)
class Known:
    """The digests of those whom some columns single out, sorted; `people` says how many."""

    rows: int
    people: int
    words: Words = field(repr=False)

    @property
    def least(self) -> float:
        """Return the share from which on a group counts as these people."""
        return min(SAME, LEAST_SAME + 2 * (1 - self.people / self.rows))

    def share(self, others: Words) -> float:
        """Return the share of the smaller group that both have, by digests that are sorted."""
        mine, others = self.words, others
        if mine.size < self.people:
            others = others[others <= mine[-1]]
        if min(mine.size, others.size) > _ENOUGH:
            end = max(mine[_ENOUGH - 1], others[_ENOUGH - 1])
            mine, others = mine[mine <= end], others[others <= end]
        fewer, more = sorted((mine, others), key=len)
        if not fewer.size:
            return 0.0
        at = np.minimum(np.searchsorted(more, fewer), more.size - 1)
        return float(np.count_nonzero(more[at] == fewer) / fewer.size)


Everybody = Mapping[str, Known]


def everybody(table: Table, secret: bytes) -> dict[str, Known]:
    """Return the digests of the people of a table, by the columns that single them out."""
    out: dict[str, Known] = {}
    for label, words in _digests(table, secret):
        values, counts = np.unique(words, return_counts=True)
        alone = values[counts == 1]
        if alone.size >= max(SINGLED * table.rows, 1):
            most = alone.size if label in WHOLE else max(MOST, alone.size // _ONE_IN)
            # Several identifiers have one name here, and each is a way to know a person.
            name = f"{label} {len(out)}" if label == "id" else label
            out[name] = Known(table.rows, int(alone.size), alone[:most])
    return out


def shared_share(table: Table, secret: bytes, known: Everybody,
                 columns: Sequence[str] | None = None, ids: Sequence[str] | None = None) -> float:
    """Return the share of the smaller group that both have; 0 if these are other people.

    `columns` and `ids` name what is compared, whatever role it seems to have in this table.
    """
    best = 0.0
    for label, words in _digests(table, secret, columns, ids):
        others = np.unique(words)
        shares = ((one.share(others), one.least) for its, one in known.items()
                  if its.partition(" ")[0] == label.partition(" ")[0])
        best = max(best, *(share for share, least in shares if share >= least), 0.0)
    return best


def _digests(table: Table, secret: bytes, columns: Sequence[str] | None = None,
             ids: Sequence[str] | None = None) -> Iterator[tuple[str, Words]]:
    for label, words in all_digests(table, derive(secret, "people"), (CELLS,), columns, ids):
        yield label, words >> _SHIFT


def to_bytes(known: Everybody) -> bytes:
    """Return digests as they are written into the file."""
    listed = [[label, one.rows, one.people, int(one.words.size)] for label, one in known.items()]
    start = json.dumps({"format": FORMAT, "kept": listed}).encode() + b"\n"
    return start + b"".join(_narrow(one.words) for one in known.values())


def from_bytes(data: bytes) -> dict[str, Known]:
    """Return the digests of a file."""
    start, _, rest = data.partition(b"\n")
    out, place = {}, 0
    for label, rows, people, size in json.loads(start)["kept"]:
        out[label] = Known(rows, people, _wide(rest[place:place + _WIDTH * size]))
        place += _WIDTH * size
    return out


def mark_of(data: bytes) -> str:
    """Return by which digest a budget knows its file."""
    return hashlib.sha256(data).hexdigest()


def _narrow(words: Words) -> bytes:
    parts: Any = np.ascontiguousarray(words, "<u8").view(np.uint8).reshape(-1, 8)
    return bytes(parts[:, :_WIDTH].tobytes())


def _wide(data: bytes) -> Words:
    parts = np.zeros((len(data) // _WIDTH, 8), np.uint8)
    parts[:, :_WIDTH] = np.frombuffer(data, np.uint8).reshape(-1, _WIDTH)
    return parts.view("<u8").reshape(-1).astype(np.uint64)
