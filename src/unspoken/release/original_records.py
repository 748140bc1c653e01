"""Which original a release was made from, and which of its records is which, in any order of rows.

The key holds a secret-keyed digest of every original record and of every column that went out.
Both are sums over what they hold, so that the order of rows and columns plays no part. The audit
makes the same digests of the table that it is given: the same records in another order are found
again one by one (records that are equal in all that went out are exchangeable), and anything else
is refused. Nothing of this is in the release, which would let an outsider try values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from unspoken.table.arrow_arrays import arrow_of, binary_of, is_number, numpy_of, to_numbers
from unspoken.table.long_passes import passing
from unspoken.table.table import Table

ORIGINAL, RECORDS = "original", "original.records"
"""Where a key holds the digests of the columns and of the records."""

Words = npt.NDArray[np.uint64]
_BLOCK = 1 << 14
_WIDEST = 1 << 20
"""The most whole numbers that are digested ahead of meeting them."""
_PIECE = 1 << 16
"""Rows that are digested at a time: what they need stays in the cache of a processor."""


@dataclass(frozen=True)
class Original:
    """The digests of an original table: of its columns, and of its records in their order."""

    secret: bytes = field(repr=False)
    columns: Mapping[str, str]
    records: Ints = field(repr=False)

    @classmethod
    def of(cls, table: Table, names: Sequence[str], secret: bytes) -> Original:
        """Read a table once, where its rows are."""
        totals = np.zeros(len(names), np.uint64)
        # In place: at 100 million rows a second copy would be the most memory of a release.
        records, done = np.empty(table.rows, np.int64), 0
        digest = RecordDigest({n: ColumnDigest(derive(secret, "column", n)) for n in names})
        with passing("know records again", table.rows) as step:
            for batch in table.engine.gather(table.frame, list(names), digest, _DIGESTS):
                for sums, made in zip(*(batch.column(i) for i in range(2)), strict=True):
                    totals += np.frombuffer(sums.as_buffer(), np.uint64)
                    part = np.frombuffer(made.as_buffer(), np.int64)[:max(0, records.size - done)]
                    records[done:done + part.size] = part
                    done += len(made.as_buffer()) // part.itemsize
                    step(part.size)
        if done != table.rows:
            raise DataError(f"The table must keep the {table.rows:,} rows that were counted. It "
                            f"has {done:,} now. Start again when nobody writes to it.")
        return cls(secret, {name: f"{total:016x}" for name, total in
                            zip(names, totals.tolist(), strict=True)}, records)

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
        if np.array_equal(self.records, mine.records):
            return np.arange(self.records.size)
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


_DIGESTS = pa.schema([("columns", pa.large_binary()), ("records", pa.large_binary())])


@dataclass(frozen=True)
class RecordDigest:
    """Makes one row of a batch: the sums of its columns' digests, and its records' digests."""

    columns: Mapping[str, ColumnDigest]

    def __call__(self, batch: Any, start: int) -> Any:
        """Digest one batch."""
        pieces = [batch.slice(start, _PIECE) for start in range(0, batch.num_rows, _PIECE)]
        with ThreadPoolExecutor(2) as pool:
            parts = list(pool.map(self._digested, pieces))
        sums = [part[0] for part in parts] or [np.zeros(len(self.columns), np.uint64)]
        records = [part[1] for part in parts] or [np.zeros(0, np.uint64)]
        cells = (np.add.reduce(np.array(sums), axis=0), np.concatenate(records))
        return pa.RecordBatch.from_arrays([binary_of(cell) for cell in cells], schema=_DIGESTS)

    def _digested(self, piece: Any) -> tuple[Words, Words]:
        """Return the sums of the columns of a piece, and the digests of its records."""
        sums, whole = np.zeros(len(self.columns), np.uint64), np.zeros(piece.num_rows, np.uint64)
        for at, (name, column) in enumerate(self.columns.items()):
            words = column(piece.column(name))
            sums[at] = words.sum(dtype=np.uint64)
            whole += words
        return sums, _in_blocks(whole, _mix)


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
    return _in_blocks(words.copy(), _mix)


def _in_blocks(words: Words, change: Callable[[Words, Words], None]) -> Words:
    """Change words in place, block by block: what stays in the cache is quicker."""
    spare = np.empty(min(words.size, _BLOCK), np.uint64)
    for start in range(0, words.size, _BLOCK):
        block = words[start:start + _BLOCK]
        change(block, spare[:block.size])
    return words


def _mix(block: Words, spare: Words) -> None:
    """Mix words in place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        np.right_shift(block, np.uint64(shift), out=spare)
        np.bitwise_xor(block, spare, out=block)
        np.multiply(block, np.uint64(factor), out=block)
    np.right_shift(block, np.uint64(31), out=spare)
    np.bitwise_xor(block, spare, out=block)


class ColumnDigest:
    """A keyed 64-bit digest of every value of one column, the same however it is stored."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._first, self._second = np.frombuffer(derive(secret, "words")[:16], np.uint64)
        self._texts: dict[Any, int] = {}
        self._table: tuple[int, int, Any] = (0, -1, None)

    def __call__(self, column: Any) -> Words:
        """Return the digests of the next values; missing ones have one digest of their own."""
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            return self._lists(column)
        if is_number(column.type):
            return self._numbers(column)
        return self._words(column)

    def _numbers(self, column: Any) -> Words:
        data = to_numbers(column)
        if data.size and data.dtype.kind == "i":
            low, high = int(data.min()), int(data.max())
            if high - low < data.size:
                # Most numbers occur often: they are digested once.
                return self._by_address(data, low, high)
        return self._floats(data)

    def _by_address(self, data: npt.NDArray[Any], low: int, high: int) -> Words:
        """Return the digests of whole numbers out of a table; Arrow looks up in less time."""
        first, last, each = self._table
        if not first <= low <= high <= last:
            first, last = (low, high) if first > last else (min(low, first), max(high, last))
            if last - first >= _WIDEST:
                first, last = low, high
            each = arrow_of(self._floats(np.arange(first, last + 1)))
            self._table = first, last, each
        wide = data.dtype if data.itemsize > 4 else np.dtype(np.int32)
        places = arrow_of(np.subtract(data, first, dtype=wide).astype(np.int32, copy=False))
        return numpy_of(pc.take(each, places, boundscheck=False))

    def _floats(self, data: npt.NDArray[Any]) -> Words:
        values = np.asarray(data, np.float64) + 0.0
        words, missing = values.view(np.uint64), np.isnan(values)
        if missing.any():
            words[missing] = self._second
        return self._keyed(words)

    def _keyed(self, words: Words) -> Words:
        """Return the keyed digests of words, which are overwritten."""
        return _in_blocks(words, self._key)

    def _key(self, block: Words, spare: Words) -> None:
        np.add(block, self._first, out=block)
        _mix(block, spare)
        np.bitwise_xor(block, self._second, out=block)
        _mix(block, spare)

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

