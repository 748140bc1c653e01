"""Products of columns of different owners in a logistic model: made, scaled and undone on shares.

Owners centre their columns, so what is made is z_a z_b of centred ones. Both columns are terms too,
so it is the same model in other coordinates; `turning` says how to come back, on shares, because
the means in it are nobody else's.
  discloses: the power of two next to the spread of each product. The coefficients of a and b, which
    receivers learn, differ from those of the last step by the mean of the other column times the
    product's coefficient: **receivers can find the means of columns that stand in products**.
  safe against: as products and comparisons in the mode.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2, sqrt

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.mpc.multi_limb import FINE, Wide, public_wide
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.limb_products import wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import rescale, share_sum_wide
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public, stack
from unspoken.joint.tasks.logistic.sigmoid import SCALE
from unspoken.joint.tasks.regression.column_blocks import OwnedColumns
from unspoken.joint.tasks.regression.fitting import SPREADS
from unspoken.joint.tasks.regression.second_moments import placed
from unspoken.joint.tasks.regression.standardised_columns import Standard

CELL = 20
LEAST = -8
"""No unit of a product is below 2^-8 of those of its columns."""


async def products(party: Party, one: Shared, other: Shared) -> tuple[Shared, Ints]:
    """Return products of columns in units next to their spread, and the exponents of these."""
    rows = one.shape[0]
    # Squares of a column add up to at most the number of records.
    most = rows << CELL
    crossed = (await truncate(party, await multiply(party, one, other), CELL)).within(-most, most)
    sizes = await _sizes(party, crossed)
    most, columns = 1 << ceil(log2(sqrt(rows))) + CELL, []
    for i, size in enumerate(sizes.tolist()):
        column = crossed[:, i:i + 1]
        if size > 0:
            column = replace(await truncate(party, column, size), scale=CELL)
        columns.append((column * (1 << max(0, -size))).within(-most, most))
    return concatenate(columns, 1), sizes


async def _sizes(party: Party, crossed: Shared) -> Ints:
    """Open e for each column: its mean square is below 4^e, and no smaller e of ours is so."""
    rows = crossed.shape[0]
    log = ceil(log2(rows))
    keep = min(CELL, 29 - log)
    short = crossed
    if keep < CELL:
        short = replace(await truncate(party, crossed, CELL - keep), scale=keep)
    squares = await matmul(party, short.T, short, within=(0, 1 << 2 * (log + keep)))
    place = np.arange(crossed.shape[1])
    total = squares[place, place]
    steps = [e for e in range(LEAST, log // 2 + 1) if 2 * (e + keep) >= 0]
    gaps = [total - public(party, np.full(place.size, rows << 2 * (e + keep), np.int64),
                           total.scale) for e in steps]
    above = (await to_numbers(party, await less_than(party, stack(gaps), 0))).sum(0)
    below = np.asarray(await reveal(party, above, because=SPREADS), np.int64)
    return np.asarray(steps[-1] + 1 - below, np.int64)


async def odds_of(party: Party, values: Shared, weights: Floats) -> Shared:
    """Return the part of log-odds that products have; weights are public."""
    whole = [round(float(weight) * (1 << SCALE)) for weight in weights]
    total = values[:, 0] * whole[0]
    for i, weight in enumerate(whole[1:], 1):
        total = total + values[:, i] * weight
    return replace(await truncate(party, total, CELL), scale=SCALE)


def in_units(columns: OwnedColumns, standard: Standard, sizes: Ints) -> Standard:
    """Return the same with the units of products, which are known later."""
    units, reach = standard.units.copy(), standard.reach.copy()
    at = [place for place, _ in columns.crossing()]
    units[at], reach[at] = units[at] * 2.0**sizes, reach[at] * 2.0**-sizes
    return replace(standard, units=units, reach=reach)


async def turning(party: Party, columns: OwnedColumns, standard: Standard, sizes: Ints) -> Wide:
    """Return the matrix that turns coefficients of centred columns into those of columns."""
    p, shift = len(columns.terms.features), await _shift(party, standard)
    matrix = public_wide(party, np.eye(p + 1)) + placed(shift.T, (-1,), range(p), p)
    for (place, pair), size in zip(columns.crossing(), sizes.tolist(), strict=True):
        a, b = (columns.terms.place(name) for name in pair)
        one, other = [await rescale(party, shift[i:i + 1].shifted(size), FINE) for i in (a, b)]
        both = await wide_multiply(party, one, shift[b:b + 1], FINE)
        for part, row in ((other, a), (one, b), (both, -1)):
            matrix = matrix + placed(part, (row,), (place,), p)
    most = max(1.0, float(standard.reach.max())) * max(1.0, float(2.0 ** -sizes.min(initial=0)))
    return (await rescale(party, matrix, FINE)).within(2 * most)


async def _shift(party: Party, standard: Standard) -> Wide:
    """Return minus the means of all columns, in their units; 0 for products."""
    p = standard.units.size - 1
    mine, own = np.zeros((p, 1)), standard.places < p
    mine[standard.places[own], 0] = -standard.means[own]
    shared = await share_sum_wide(party, mine, (p, 1), float(standard.reach.max()), 48)
    return await rescale(party, shared, FINE)
