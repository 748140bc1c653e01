"""The rows that LightGBM samples to place its bins.

LightGBM draws them from its own linear congruential generator (x -> 214013 x + 2531011 modulo
2^32), either by one pass with a changing probability or, for small samples of large tables, by
drawing positions.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints

MULTIPLIER = 214013
INCREMENT = 2531011



def states(seed: int, count: int) -> npt.NDArray[np.uint32]:
    """Return the next `count` states of the generator, computed by doubling."""
    out = np.empty(max(count, 1), np.uint32)
    out[0] = (MULTIPLIER * seed + INCREMENT) % 2**32
    done, multiplier, increment = 1, MULTIPLIER, INCREMENT
    while done < count:
        step = min(done, count - done)
        out[done : done + step] = out[:step] * np.uint32(multiplier) + np.uint32(increment)
        increment = (multiplier * increment + increment) % 2**32
        multiplier = multiplier * multiplier % 2**32
        done += step
    return out[:count]


def sample_rows(rows: int, count: int, seed: int) -> Ints:
    """Return the sampled rows in increasing order, as LightGBM's Random::Sample draws them."""
    if count >= rows or count <= 0:
        return np.arange(rows if count >= rows else 0)
    if count > 1 and count > rows / math.log2(count):
        return _one_pass(rows, count, seed)
    return _by_position(rows, count, seed)


def _one_pass(rows: int, count: int, seed: int) -> Ints:
    drawn = (states(seed, rows) >> np.uint32(16)) & np.uint32(0x7FFF)
    # Exact in float64 as in float32: 15 bits over a power of two.
    chances = (drawn / 32768.0).tolist()
    out = []
    left = count
    for row, chance in enumerate(chances):
        if chance < left / (rows - row):
            out.append(row)
            left -= 1
    return np.array(out, np.int64)


def _by_position(rows: int, count: int, seed: int) -> Ints:
    drawn = (states(seed, count) & np.uint32(0x7FFFFFFF)).astype(np.int64).tolist()
    chosen: set[int] = set()
    for last, number in zip(range(rows - count, rows), drawn, strict=True):
        place = number % (last + 1)
        chosen.add(last if place in chosen else place)
    return np.array(sorted(chosen), np.int64)
