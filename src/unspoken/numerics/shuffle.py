"""A uniform random row order that can be made, applied and undone in bounded memory.

Every row draws a bucket; rows of one bucket are permuted among themselves; buckets follow each
other. Independent uniform buckets and uniform permutations inside them give a uniform permutation
of all rows. A table of up to `BUCKET_ROWS` rows is one bucket, which is the plain shuffle.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from unspoken.numerics.random import derive, generator, words

BUCKET_ROWS = 1 << 20

Order = npt.NDArray[np.int64]


def buckets_for(rows: int) -> int:
    """Return how many buckets a table of that many rows gets."""
    return max(1, -(-rows // BUCKET_ROWS))


class BucketStream:
    """Deals bucket numbers to rows, in row order, batch by batch, from row `start` on."""

    def __init__(self, seed: bytes, rows: int, start: int = 0, buckets: int | None = None) -> None:
        self.buckets = buckets_for(rows) if buckets is None else buckets
        self._seed = derive(seed, "bucket")
        self._row = start

    def deal(self, rows: int) -> npt.NDArray[np.unsignedinteger]:
        """Return the buckets of the next rows."""
        # Row i draws the i-th half word, so batches do not matter. Scaling 32 bits down to the
        # number of buckets is off by at most buckets / 2^32.
        skip = self._row % 2
        drawn = words(self._seed, self._row // 2, (rows + skip + 1) // 2).view(np.uint32)
        self._row += rows
        scaled = drawn[skip : skip + rows].astype(np.uint64)
        scaled *= np.uint64(self.buckets)
        scaled >>= np.uint64(32)
        return scaled.astype(np.uint8 if self.buckets <= 256 else np.uint32)


def bucket_sizes(seed: bytes, rows: int) -> Order:
    """Return how many rows each bucket gets, in bounded memory."""
    stream = BucketStream(seed, rows)
    sizes = np.zeros(stream.buckets, np.int64)
    for start in range(0, rows, BUCKET_ROWS):
        dealt = stream.deal(min(BUCKET_ROWS, rows - start))
        sizes += np.bincount(dealt, minlength=stream.buckets)
    return sizes


def inside(seed: bytes, bucket: int, rows: int) -> Order:
    """Return the permutation of the rows of one bucket."""
    return generator(seed, "inside", bucket).permutation(rows)


def permutation(seed: bytes, rows: int) -> Order:
    """Return the whole order: released row j is original row order[j]."""
    if buckets_for(rows) == 1:
        return inside(seed, 0, rows)
    dealt = BucketStream(seed, rows).deal(rows)
    members = np.argsort(dealt, kind="stable")
    return np.concatenate(list(_permuted(seed, dealt, members)))


def _permuted(
    seed: bytes, dealt: npt.NDArray[np.unsignedinteger], members: Order
) -> Iterator[Order]:
    sizes = np.bincount(dealt, minlength=int(dealt.max()) + 1)
    ends = np.cumsum(sizes)
    for bucket, (end, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True)):
        yield members[end - size : end][inside(seed, bucket, size)]
