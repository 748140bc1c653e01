"""Whether every released record is the image of its own original, and no column is one of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.promise_checks import passes, wrong
from unspoken.methods.rotation.category_embedding import spread_as_in
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.release.key import Key
from unspoken.release.record_key import taken
from unspoken.release.release import Release
from unspoken.table.table import Table

CLOSE = 1e-6
"""How far a number may be off by rounding, as a share of the largest."""


def broken_rotation(table: Table, release: Release, key: Key, rows: Ints) -> Iterator[str]:
    """Yield what is not as the secret map says."""
    features = tuple(key.secrets["features"])
    plain = spread_as_in(key, table).numbers(features)
    shown = release.table.numbers(release.schema.features)
    yield from _as_they_are(features, plain[rows], release.schema.features, shown)
    if "matrix" in key.arrays:
        expected = Motion.from_key(key).released(plain, 0)[rows]
        if expected.shape != shown.shape:
            yield "the release does not have the columns that its key describes"
            return
        same = _near(expected, shown).all(axis=1)
        if not same.all():
            yield wrong(1 - same.mean(), "(all)", "the released record is not the image of the own")
    target = table.schema.target
    if target is not None:
        yield from passes(taken(table, rows), release.table, [target])


def _near(one: Floats, other: Floats) -> np.ndarray:
    reach = CLOSE * max(float(np.nanmax(np.abs(one), initial=0.0)), 1.0)
    gone = np.isnan(one) & np.isnan(other)
    return np.asarray((np.abs(one - other) <= reach) | gone)


def _as_they_are(features: tuple[str, ...], plain: Floats, columns: tuple[str, ...],
                 shown: Floats) -> Iterator[str]:
    """Yield original columns that are in the release unchanged, whatever they are called."""
    for place, name in enumerate(features):
        for index, released in enumerate(columns):
            known = ~(np.isnan(plain[:, place]) | np.isnan(shown[:, index]))
            same = np.abs(plain[known, place]) == np.abs(shown[known, index])
            if known.any() and np.ptp(plain[known, place]) > 0 and same.mean() > 0.5:
                yield wrong(same.mean(), name, f"the value is in '{released}' as it is")
