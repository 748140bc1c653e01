"""What a dealer can be asked for, and whether what it deals fits together."""

from __future__ import annotations

import numpy as np

from unspoken.joint.mpc.bit_planes import bits_of, planes_of
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.masked_log import SCALE, evaluated

EXAMPLES = [Need("triple", (5,)), Need("matrix", (2, 3, 4)), Need("edabits", (64, 70)),
            Need("edabits", (1, 3)), Need("dabits", (70,)), Need("ands", (3,)),
            Need("pairs", (3,)), Need("cuts", (5, 16))]


def windowed(r, table, top):
    """Say whether the table gives ln m for every mantissa, whatever the mask is."""
    u = np.arange(3 << (top - 2), dtype=np.uint64)
    for one in range(r.size):
        opened = (u + r[one]) & np.uint64((2 << top) - 1)
        found = evaluated(opened, np.repeat(table[:, :, one:one + 1], u.size, axis=2), top)
        real = np.log((u + np.uint64(3 << (top - 2))) / 2**top)
        if np.abs(np.ldexp(found.view(np.int64).astype(float), -SCALE) - real).max() > 3.2e-8:
            return False
    return True


def _joined(planes):
    count = 2 * (len(planes) // 2)
    return (planes[0:count:2] & planes[1:count:2]).ravel()


def holds(need, sums, xors):
    """Say whether all parts together satisfy the relation of their kind."""
    size = need.sizes
    return {
        "triple": lambda: (sums[0] * sums[1] == sums[2]).all(),
        "matrix": lambda: (sums[0].reshape(size[0], size[1]) @ sums[1].reshape(size[1], size[2])
                           == sums[2].reshape(size[0], size[2])).all(),
        "edabits": lambda: (planes_of(sums[0], size[0]).ravel() == xors[1]).all(),
        "ladders": lambda: (planes_of(sums[0], size[0]).ravel() == xors[1]).all() and (
            _joined(xors[1].reshape(size[0], -1)) == xors[2]).all(),
        "dabits": lambda: (sums[0] == bits_of(xors[1], size[0])).all(),
        "ands": lambda: (xors[0] & xors[1] == xors[2]).all(),
        "pairs": lambda: ((xors[0] & xors[1] == xors[3]) & (xors[0] & xors[2] == xors[4])).all(),
        "windows": lambda: windowed(sums[0], sums[1].reshape(2, -1, size[0]), size[1]),
        "zeros": lambda: (np.arange(1 << size[1], dtype=np.uint64)[:, None]
                          == sums[0] & np.uint64((1 << size[1]) - 1)).ravel().tolist()
        == sums[1].tolist(),
        "cuts": lambda: ((sums[0] >> np.uint64(size[1]) == sums[1])
                         & (sums[0] >> np.uint64(63) == sums[2])).all(),
    }[need.kind]()
