"""Random streams that are broken on purpose, in every way that a distinguisher must notice."""

from __future__ import annotations

import numpy as np

from unspoken.joint.mpc.randomness import Stream


class Mutant(Stream):
    """A stream with something wrong; both ends have the same, so that sums stay right."""

    def words(self, count):
        return self.spoil(super().words(count))


def spoiled(spoil):
    return type("Spoiled", (Mutant,), {"spoil": staticmethod(spoil)})


def last_left_out(words):
    words[-1:] = 0
    return words


def one_for_all(words):
    words[:] = words[:1]
    return words


BROKEN = {
    "left out": lambda words: words * np.uint64(0),
    "left out on the last": last_left_out,
    "one word for all": one_for_all,
    "32 bits": lambda words: words & np.uint64(0xFFFFFFFF),
    "63 bits": lambda words: words >> np.uint64(1),
    "biased": lambda words: words | (words << np.uint64(1)),
    "floats": lambda words: (words / 2**64 * 2**53).astype(np.uint64) << np.uint64(11),
}
