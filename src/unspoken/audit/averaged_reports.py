"""Two noisy releases of the same people: whoever holds both averages the noise away.

Only the custodian knows which records belong together, and the earlier key need not be at hand. So
both reports are drawn again by their published laws, for the same people, and read as they are and
averaged with the weights of least variance. This takes the records as linked: the worst case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.audit.added_disclosure import Added
from unspoken.errors import UnspokenError
from unspoken.methods.distortion.known_laws import Additive, law_of
from unspoken.numerics.random import replayed, seed_from
from unspoken.release.register import Entry
from unspoken.table.table import Table

RADIUS = 0.02
TRIALS = 5

Pair = tuple[str, Additive, Additive]


def averaged_columns(entry: Entry, mine: Entry, shared: Sequence[tuple[str, str]]) -> list[Pair]:
    """Return the columns to which both releases add noise of a published law."""
    pairs = []
    for a, b in shared:
        try:
            first, second = law_of(entry.mechanism, a), law_of(mine.mechanism, b)
        except UnspokenError:
            continue
        if isinstance(first, Additive) and isinstance(second, Additive):
            pairs.append((b, first, second))
    return pairs


def averages(entry: Entry, table: Table, pairs: Sequence[Pair], random_state: Any) -> list[Added]:
    """Return how many values lie within the radius of one report, and of the average of two."""
    seed, out = seed_from(random_state), []
    for name, first, second in pairs:
        values = table.numbers([name])[:, 0]
        values = values[~np.isnan(values)]
        shares = np.mean([_shares(values, first, second, replayed(seed, "average", name, trial))
                          for trial in range(TRIALS)], axis=0)
        before, alone, both = (float(share) for share in shares)
        who = f"release {entry.what[:12]} to {entry.to or 'an unnamed recipient'}"
        words = (f"'{name}': averaged with {who} {both:.1%} of the values are read within "
                 f"{RADIUS:.0%} of the range, {before:.1%} and {alone:.1%} from each alone")
        out.append(Added(name, entry.what, entry.to, before, alone, both, words))
    return out


def _shares(values: Floats, first: Additive, second: Additive,
            rng: np.random.Generator) -> tuple[float, float, float]:
    one, two = (values + _noise(law, values.size, rng) for law in (first, second))
    weight = second.noise.deviation**2 / (first.noise.deviation**2 + second.noise.deviation**2)
    reach = RADIUS * float(np.ptp(values)) if values.size else 0.0
    near = [np.abs(np.clip(guess, values.min(), values.max()) - values) <= reach
            for guess in (one, two, weight * one + (1 - weight) * two)]
    return float(near[0].mean()), float(near[1].mean()), float(near[2].mean())


def _noise(law: Additive, count: int, rng: np.random.Generator) -> Floats:
    return np.asarray(law.noise.quantile(rng.uniform(1e-12, 1 - 1e-12, count)))
