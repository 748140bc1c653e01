"""Does the order of the original show in a table of another tool? Then a place names a person.

Rows are compared with the people at the same place, from the top and from the bottom, and with
people at other places. Where those at the same place are nearer beyond chance, the order was kept:
no noise on the values hides who is who.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.nearest import distances
from unspoken.audit.people.read_columns import Reading

COMPARED = 300
SIGMAS = 6.0


def kept_order(reading: Reading, rng: np.random.Generator) -> tuple[str, ...]:
    """Return that the order of rows was kept, as a fault, where it was."""
    people, records = reading.original.rows, reading.release.rows
    if min(people, records) < 2 * COMPARED and people != records:
        return ()
    size = min(people, records)
    rows = np.sort(rng.choice(size, min(COMPARED, size), replace=False)).astype(np.int64)
    # The same share of the way down, where some records were left out or added.
    ways = {"the order": (rows * records) // people if people > records else rows,
            "the reverse order": records - 1 - rows}
    near = _means(reading, rows, ways)
    for words, away in near.items():
        if away:
            return (f"the records stand close to {words} of the original: a person's place tells "
                    "which record it is",)
    return ()


def _means(reading: Reading, rows: Ints, ways: dict[str, Ints]) -> dict[str, bool]:
    """Return for every way whether people are nearer to the record at their place than to others.
    """
    out = {}
    for words, places in ways.items():
        there = reading.release.take(places)
        near: Floats = distances(reading, reading.original, rows, reading.names,
                                 there).astype(np.float64)
        own = np.diagonal(near)
        others = (near.sum(axis=1) - own) / max(near.shape[1] - 1, 1)
        gain = others - own
        error = float(gain.std()) / np.sqrt(max(gain.size, 1))
        out[words] = bool(gain.size >= 20 and gain.mean() > SIGMAS * max(error, 1e-9))
    return out
