"""Records as some hundred bits, under a key of the owners: similar records have similar bits.

"bloom": every piece of a record sets 10 of 1,024 bits (a keyed Bloom filter of the whole record;
    Schnell, Bachteler and Reiher 2011). What others use, and what is attacked: a frequent piece
    is a frequent pattern of bits (`audit.linkage_attack`).
"folded": the same of 2,048 bits, its halves added (exclusive or; Schnell and Borgs 2016).
"minhash": bit j is the last bit of the least of all pieces' values under the j-th of 512 keyed
    functions (Smith 2017, after Broder; Li and König 2010). No bit belongs to one piece, and every
    bit is set in half of the records. The default.

The values of a piece come from HMAC-SHA256 and AES-256 in counter mode under the owners' key, which
is drawn for every run: who has not the key can encode nothing, and two runs cannot be compared.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.joint.mpc.linkage.field_tokens import (
    LinkColumn,
    TokenRuns,
    eight_digits,
    plain,
    token_runs,
)
from unspoken.joint.mpc.randomness import Stream

WIDTHS = (128, 256, 512, 1024)
FILTER_BITS = 1024
HASHES = 10
"""Bits that a piece sets in a Bloom filter."""
BLOCK = 4096


@dataclass(frozen=True)
class EncodingRules:
    """How records become bits: the kind of encoding, its length, and a column that salts it.

    Fewer bits tell a linkage unit less, and link less well. With a salt every value of that column
    (of a date: its year) has a key of its own: what is learned of one group says nothing of the
    others, and an error in that column separates a record from its partner.
    """

    kind: str = "minhash"
    bits: int = 512
    salt: str = ""

    @property
    def words(self) -> int:
        """Return the length of an encoding in words of 64 bits."""
        return (self.bits if self.kind == "minhash" else FILTER_BITS) // 64


def encode_records(columns: Sequence[LinkColumn], values: Sequence[Sequence[Any]], key: bytes,
                   rules: EncodingRules) -> Words:
    """Return the encodings of records, shape (records, words); `values` column by column."""
    salts = _salts(columns, values, rules.salt)
    numbers: dict[str, int] = {}
    runs = [token_runs(column, each, numbers, salts)
            for column, each in zip(columns, values, strict=True)]
    return ENCODINGS[rules.kind](runs, list(numbers), key, rules.words * 64)


def _salts(columns: Sequence[LinkColumn], values: Sequence[Sequence[Any]],
           salt: str) -> list[str] | None:
    """Return what salts each record's encoding: the year of a date, else the whole value."""
    if not salt:
        return None
    place = [column.name for column in columns].index(salt)
    if columns[place].kind == "date":
        return [eight_digits(value)[:4] for value in values[place]]
    return [plain(value) for value in values[place]]


def similarity(one: Words, other: Words, kind: str) -> npt.NDArray[np.float64]:
    """Return how similar encodings are, row by row: 1 if equal, about 0 if unrelated."""
    if kind == "minhash":
        apart = np.bitwise_count(one ^ other).sum(axis=-1, dtype=np.int64)
        return np.asarray(1 - 2 * apart / (64 * one.shape[-1]))
    both = np.bitwise_count(one & other).sum(axis=-1, dtype=np.int64)
    sizes = (np.bitwise_count(one).sum(axis=-1, dtype=np.int64)
             + np.bitwise_count(other).sum(axis=-1, dtype=np.int64))
    return np.asarray(2 * both / np.maximum(sizes, 1))


def _drawn(pieces: Sequence[str], key: bytes, words: int) -> Words:
    """Return words for every piece, which nobody can compute without the key."""
    out = np.empty((len(pieces), words), np.uint64)
    for row, piece in zip(out, pieces, strict=True):
        Stream(hmac.digest(key, piece.encode(), "sha256")).fill(row)
    return out


def _bloom(runs: Sequence[TokenRuns], pieces: Sequence[str], key: bytes, bits: int) -> Words:
    """Return Bloom filters of whole records."""
    places = _drawn(pieces, key, HASHES) % np.uint64(bits)
    filters = np.zeros((len(pieces), bits // 64), np.uint64)
    rows = np.repeat(np.arange(len(pieces)), HASHES)
    flat = places.astype(np.int64).ravel()
    np.bitwise_or.at(filters, (rows, flat // 64), np.uint64(1) << (flat % 64).astype(np.uint64))
    parts = [block for _, block in _blocks(np.bitwise_or, runs, filters, 0)]
    return np.concatenate(parts) if parts else np.zeros((0, bits // 64), np.uint64)


def _folded(runs: Sequence[TokenRuns], pieces: Sequence[str], key: bytes, bits: int) -> Words:
    wide = _bloom(runs, pieces, key, 2 * bits)
    return np.asarray(wide[:, :bits // 64] ^ wide[:, bits // 64:])


def _minhash(runs: Sequence[TokenRuns], pieces: Sequence[str], key: bytes, bits: int) -> Words:
    """Return the last bits of least values: 15 bits decide which is least, one is taken."""
    table = _drawn(pieces, key, bits // 4).view(np.uint16)
    out = np.empty((len(runs[0].values), bits // 64), np.uint64)
    for rows, least in _blocks(np.minimum, runs, table, np.iinfo(np.uint16).max):
        out[rows] = np.packbits((least & 1).astype(np.uint8), axis=1).view(np.uint64)
    return out


def _blocks(how: Any, runs: Sequence[TokenRuns], table: npt.NDArray[Any],
            empty: int) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
    """Yield blocks of records, each with the rows of all its pieces taken together."""
    for start in range(0, len(runs[0].values), BLOCK):
        rows = slice(start, start + BLOCK)
        parts = [_reduced(how, run, run.values[rows], table, empty) for run in runs]
        for part in parts[1:]:
            how(parts[0], part, out=parts[0])
        yield rows, parts[0]


def _reduced(how: Any, run: TokenRuns, values: npt.NDArray[np.int64], table: npt.NDArray[Any],
             empty: int) -> npt.NDArray[Any]:
    """Return one row for each record: the rows of the pieces of its value, taken together."""
    wanted, places = np.unique(values, return_inverse=True)
    out = np.full((len(wanted), table.shape[1]), empty, table.dtype)
    starts = run.starts[wanted]
    sizes = run.starts[wanted + 1] - starts
    # Values with equally many pieces are taken together: one pass for each number of pieces.
    for size in np.unique(sizes[sizes > 0]):
        rows = np.flatnonzero(sizes == size)
        chosen = table[run.pieces[starts[rows]]]
        for step in range(1, size):
            how(chosen, table[run.pieces[starts[rows] + step]], out=chosen)
        out[rows] = chosen
    return np.asarray(out[places])


Encoding = Callable[[Sequence[TokenRuns], Sequence[str], bytes, int], Words]
ENCODINGS: dict[str, Encoding] = {"minhash": _minhash, "bloom": _bloom, "folded": _folded}
