"""Which paths of a tree are open when every test on them must be, for many trials at once.

Trials are bits: 64 of them in one word, so that following all paths of a tree with a hundred
thousand nodes costs one AND per node and word.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.numerics.treewalk import Shape

Words = npt.NDArray[np.uint8]


def pack(hits: npt.NDArray[np.bool_]) -> Words:
    """Pack (places, trials) into bytes along the trials, padded to whole 64-bit words."""
    packed = np.packbits(hits, axis=1)
    padding = -packed.shape[1] % 8
    return np.pad(packed, ((0, 0), (0, padding)))


def open_paths(shape: Shape, tests: Words) -> Words:
    """Return for every node whether all tests above it hold; `tests` are those of the nodes."""
    test = np.ascontiguousarray(tests).view(np.uint64)
    reached = np.empty_like(test)
    reached[0] = np.uint64(0xFFFFFFFFFFFFFFFF)
    order = np.argsort(shape.depth, kind="stable")
    ends = np.searchsorted(shape.depth[order], np.arange(int(shape.depth.max()) + 2))
    for level in range(1, ends.size - 1):
        nodes = order[ends[level] : ends[level + 1]]
        above = shape.parent[nodes]
        reached[nodes] = reached[above] & test[above]
    return reached.view(np.uint8)


def counts_by_length(paths: Words, length: Ints, trials: int) -> Ints:
    """Return how many paths of each length are open in each trial: (longest + 1, trials)."""
    longest = int(length.max()) if length.size else 0
    out = np.zeros((longest + 1, trials), np.int64)
    for present in np.unique(length):
        chosen = paths[length == present]
        for start in range(0, chosen.shape[0], 4096):
            bits = np.unpackbits(chosen[start : start + 4096], axis=1, count=trials)
            out[present] += bits.sum(axis=0, dtype=np.int64)
    return out
