"""Counting how often two items stand in one basket."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints, Words
from unspoken.numerics.packed_bits import bit_counts

CHUNK = 1 << 22
"""Pairs written out at a time."""
DENSE = 1 << 26
"""Most possible pairs that are counted in one array."""


def pair_keys(offsets: Ints, codes: npt.NDArray[np.int32], items: int) -> Iterator[Ints]:
    """Yield a * items + b for every pair a < b of every basket, some baskets at a time."""
    sizes = np.diff(offsets)
    for size in np.unique(sizes[sizes > 1]).tolist():
        left, right = np.triu_indices(size, 1)
        starts = offsets[:-1][sizes == size]
        step = max(CHUNK // left.size, 1)
        for at in range(0, starts.size, step):
            block = codes[starts[at:at + step, None] + np.arange(size)].astype(np.int64)
            yield (block[:, left] * items + block[:, right]).ravel()


def count_pairs(offsets: Ints, codes: npt.NDArray[np.int32], items: int) -> tuple[Ints, Ints]:
    """Return the keys a * items + b of the pairs that occur, in order, and how often they do."""
    if items * items <= DENSE:
        table = np.zeros(items * items, np.int64)
        for keys in joined(pair_keys(offsets, codes, items), items * items):
            table += np.bincount(keys, minlength=items * items)
        pairs = np.flatnonzero(table)
        return pairs, table[pairs]
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for part in joined(pair_keys(offsets, codes, items), CHUNK):
        keys, counts = _added(keys, counts, *np.unique(part, return_counts=True))
    return keys, counts


def joined(parts: Iterator[Ints], least: int) -> Iterator[Ints]:
    """Join small arrays so that each, except the last, has at least `least` entries."""
    held: list[Ints] = []
    for part in parts:
        held.append(part)
        if sum(one.size for one in held) >= least:
            yield np.concatenate(held)
            held = []
    if held:
        yield np.concatenate(held)


def _added(keys: Ints, counts: Ints, more: Ints, by: Ints) -> tuple[Ints, Ints]:
    every, place = np.unique(np.r_[keys, more], return_inverse=True)
    sums = np.bincount(place.reshape(-1), weights=np.r_[counts, by], minlength=every.size)
    return every, sums.astype(np.int64)


def pairs_by_bits(words: Words) -> Ints:
    """Return the full symmetric table of pair counts of packed columns, singles on its diagonal."""
    size = words.shape[0]
    table = np.zeros((size, size), np.int64)
    for first in range(size):
        table[first, first:] = bit_counts(words[first] & words[first:])
    return np.asarray(np.maximum(table, table.T))
