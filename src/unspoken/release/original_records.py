"""Which original a release was made from, and which of its records is which, in any order of rows.

The key holds a secret-keyed digest of every original record and of every column that went out.
Both are sums over what they hold, so that the order of rows and columns plays no part. The audit
makes the same digests of the table that it is given: the same records in another order are found
again one by one (records that are equal in all that went out are exchangeable), and anything else
is refused. Nothing of this is in the release, which would let an outsider try values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Ints
from unspoken.errors import DamagedKeyError, DataError
from unspoken.numerics.random import derive
from unspoken.release.key import Key
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

ORIGINAL, RECORDS = "original", "original.records"
"""Where a key holds the digests of the columns and of the records."""

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Original:
    """The digests of an original table: of its columns, and of its records in their order."""

    secret: bytes = field(repr=False)
    columns: Mapping[str, str]
    records: Ints = field(repr=False)

    @classmethod
    def of(cls, table: Table, names: Sequence[str], secret: bytes) -> Original:
        """Read a table once, batch by batch."""
        totals = dict.fromkeys(names, 0)
        parts: list[Words] = []
        digests = {name: ColumnDigest(derive(secret, "column", name)) for name in names}
        for batch in table.batches(list(names)):
            whole = np.zeros(batch.num_rows, np.uint64)
            for name in names:
                words = digests[name](batch.column(name))
                totals[name] += int(words.sum(dtype=np.uint64))
                whole += words
            parts.append(mixed(whole))
        records = np.concatenate(parts) if parts else np.zeros(0, np.uint64)
        return cls(secret, {name: f"{total % 2**64:016x}" for name, total in totals.items()},
                   records.view(np.int64))

    @classmethod
    def from_key(cls, key: Key) -> Original:
        """Read the digests that a key holds."""
        try:
            held = key.secrets[ORIGINAL]
            return cls(bytes.fromhex(held["secret"]), dict(held["columns"]),
                       np.asarray(key.arrays[RECORDS], np.int64))
        except (KeyError, TypeError, ValueError):
            raise DamagedKeyError(
                "The key holds no record map: it does not say which original its release was made "
                "from. Protect the table again with this version.") from None

    def into(self, key: Key) -> Key:
        """Return a key that holds these digests, too."""
        held = {"secret": self.secret.hex(), "columns": dict(self.columns)}
        return replace(key, secrets={**key.secrets, ORIGINAL: held},
                       arrays={**key.arrays, RECORDS: self.records})

    def rows_in(self, table: Table) -> Ints:
        """Return where every original record stands in a table; another table is refused."""
        missing = [name for name in self.columns if name not in table.schema.names]
        if missing:
            raise DataError(f"{_OTHER} Columns {missing[:10]} are not in it. {_AGAIN}")
        mine = Original.of(table, list(self.columns), self.secret)
        own, theirs = np.argsort(self.records, kind="stable"), np.argsort(mine.records,
                                                                          kind="stable")
        same = mine.records.size == self.records.size and np.array_equal(
            self.records[own], mine.records[theirs])
        if not same:
            raise DataError(self._difference(mine))
        rows = np.empty(own.size, np.int64)
        rows[own] = theirs
        return rows

    def _difference(self, mine: Original) -> str:
        """Say how another table differs: columns with other values, records that are not there."""
        changed = [name for name, total in self.columns.items() if mine.columns[name] != total]
        strange = mine.records.size - _common(self.records, mine.records)
        columns = f" Column '{changed[0]}' has other values" + (
            f", and {len(changed) - 1} more columns have." if len(changed) > 1 else
            " than the original.") if changed else ""
        return (f"{_OTHER}{columns} {strange:,} of its {mine.records.size:,} records are not among "
                f"the {self.records.size:,} of the original. {_AGAIN}")


_OTHER = "The table must be the one that was released."
_AGAIN = "Pass the original table; its rows may stand in any order."


def _common(one: Ints, other: Ints) -> int:
    """Return how many records two tables share, repeated ones counted as often as in both."""
    values, counts = np.unique(one, return_counts=True)
    others, again = np.unique(other, return_counts=True)
    _, left, right = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return int(np.minimum(counts[left], again[right]).sum())


def mixed(words: Words) -> Words:
    """Spread every bit of a word over all of it (the finaliser of SplitMix64)."""
    out = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    out = (out ^ (out >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(out ^ (out >> np.uint64(31)))


class ColumnDigest:
    """A keyed 64-bit digest of every value of one column, the same however it is stored."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._first, self._second = np.frombuffer(derive(secret, "words")[:16], np.uint64)
        self._texts: dict[Any, int] = {}

    def __call__(self, column: Any) -> Words:
        """Return the digests of the next values; missing ones have one digest of their own."""
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            return self._lists(column)
        if is_number(column.type):
            return self._numbers(column)
        return self._words(column)

    def _numbers(self, column: Any) -> Words:
        values = np.asarray(to_numbers(column), np.float64) + 0.0
        return self._keyed(np.where(np.isnan(values), self._second, values.view(np.uint64)))

    def _keyed(self, words: Words) -> Words:
        return mixed(mixed(words + self._first) ^ self._second)

    def _words(self, column: Any) -> Words:
        found = column if pa.types.is_dictionary(column.type) else \
            column.cast(pa.string()).dictionary_encode()
        labels = found.dictionary.cast(pa.string()).to_pylist()
        each = np.array([*(self._text(label) for label in labels), int(self._second)], np.uint64)
        places = pc.fill_null(found.indices.cast(pa.int64()), len(labels))
        return self._keyed(each[places.to_numpy(zero_copy_only=False)])

    def _text(self, label: str | None) -> int:
        if label is None:
            return int(self._second)
        if label not in self._texts:
            digest = hashlib.blake2b(label.encode(), key=self._secret, digest_size=8).digest()
            self._texts[label] = int.from_bytes(digest, "little")
        return self._texts[label]

    def _lists(self, column: Any) -> Words:
        """Add up the digests of what a list holds: its order plays no part."""
        sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        inner = self._numbers(column.flatten())
        ends = np.cumsum(np.asarray(sizes, np.int64))
        sums = np.r_[np.uint64(0), np.cumsum(inner, dtype=np.uint64)]
        totals = sums[ends] - sums[ends - sizes]
        return self._keyed(totals + np.asarray(sizes, np.uint64))

