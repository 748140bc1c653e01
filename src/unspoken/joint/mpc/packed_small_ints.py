"""Small rings: numbers modulo 2^16 or 2^32, several of them in one word of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words

Lanes = npt.NDArray[np.unsignedinteger[Any]]


def lane_type(width: int) -> np.dtype[Any]:
    """Return the type of numbers of at most `width` bits."""
    return np.dtype("<u2") if width <= 16 else np.dtype("<u4")


def lane_words(count: int, width: int) -> int:
    """Return how many words this many numbers fill."""
    return -(-count * lane_type(width).itemsize // 8)


def lanes_of(words: Words, count: int, width: int) -> Lanes:
    """Return the first numbers in words."""
    return words.astype("<u8", copy=False).view(lane_type(width))[:count]


def in_words(lanes: Lanes) -> Words:
    """Return numbers as words, the last one filled up."""
    out = np.zeros(-(-lanes.nbytes // 8), "<u8")
    out.view(lanes.dtype)[:lanes.size] = lanes.ravel()
    return out.astype(np.uint64, copy=False)
