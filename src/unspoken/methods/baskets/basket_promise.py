"""Whether baskets were randomised as the published operator does it: drawn again and compared."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.promise_checks import wrong
from unspoken.errors import UnspokenError
from unspoken.methods.baskets.draw_baskets import Drawing
from unspoken.methods.baskets.learners.frequent_itemsets import operator_of
from unspoken.numerics.random import fresh_seed
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.basket_tables import SIZE, from_table, original_sizes
from unspoken.table.baskets import Baskets
from unspoken.table.table import Table
from unspoken.table.write_baskets import COLUMN

SAME, DRAWS, SIGMAS = 0.9, 10, 5.0


def broken_baskets(table: Table, release: Release, key: Key, rows: Ints) -> Iterator[str]:
    """Yield what is not as the operator says."""
    true = from_table(table, release.mechanism).take(rows)
    shown = release.baskets
    yield from _sizes(true, release)
    kept = _kept(true, shown)
    redrawn = _redrawn(true, release)
    if redrawn is None:
        if kept.sum() >= SAME * true.codes.size and shown.codes.size <= true.codes.size / SAME:
            yield wrong(1.0, COLUMN, "the basket was hardly changed")
        return
    held = np.maximum(true.frequencies(), 1)
    for place in np.flatnonzero(_far(kept / held, redrawn / held, held)).tolist():
        words = "kept more often than the operator keeps it" if kept[place] > redrawn[place] \
            else "lost more often than the operator drops it"
        yield f"item '{true.items[place]}': it is {words} ({kept[place] / held[place]:.1%} of " \
              f"those who have it, {redrawn[place] / held[place]:.1%} where drawn again)"


def _sizes(true: Baskets, release: Release) -> Iterator[str]:
    declared = bool(release.mechanism.get("public_sizes"))
    if SIZE in release.schema.names and not declared:
        yield f"'{SIZE}' is released, which the mechanism does not declare public"
    sizes = original_sizes(release.table) if declared else None
    if sizes is not None and (sizes > true.sizes).any():
        yield wrong(float((sizes > true.sizes).mean()), SIZE, "the released size is not the own")


def _kept(true: Baskets, shown: Baskets) -> Floats:
    """Return for every item how many of those who have it still have it."""
    width = len(true.items)
    own = true.rows * width + true.codes
    there = np.isin(own, shown.rows * width + shown.codes)
    return np.bincount(true.codes[there], minlength=width).astype(np.float64)


def _redrawn(true: Baskets, release: Release) -> Floats | None:
    """Return the mean of what is kept in ten more draws; None where no operator is published."""
    try:
        draw = operator_of(release)[0]
        return np.asarray(np.mean([_kept(true, Drawing(draw, fresh_seed())(true))
                                   for _ in range(DRAWS)], axis=0))
    except UnspokenError:
        return None


def _far(one: Floats, other: Floats, count: Floats) -> np.ndarray:
    """Return where a share of that many people is not what further draws have, chance aside."""
    middle = np.clip(other, 0.02, 0.98)
    spread = np.sqrt((1 + 1 / DRAWS) * middle * (1 - middle) / count)
    return np.asarray((np.abs(one - other) > SIGMAS * spread) & (count >= 10))
