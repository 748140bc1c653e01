"""Second moments of everybody's data as shares: sums and products of all columns, and of ones.

**Rows spread** (vcz2006 section 5.3): each owner adds up its own records, around a centre of its
own so that nothing cancels, and the owners' moments are added as whole numbers of 2^-96. The book
opens the totals; here they stay shared.
**Columns spread** (section 5.2.1): values are rounded to 47 bits after the point, moments of one
owner's columns are exact and local, those between owners are matrix products on shares. What comes
out is the exact moment matrix of the rounded data.

Before that, columns are scaled by public powers of two, so that all values lie between -1 and 1.
  discloses: the power of two above each column's greatest magnitude, over all owners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, explain
from unspoken.joint.mpc.multi_limb import FINE, Wide
from unspoken.joint.mpc.ops.choice import maximum
from unspoken.joint.mpc.ops.limb_products import gram
from unspoken.joint.mpc.ops.limb_sharing import rescale, share_sum_wide
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared

SIZES = "the power of two above the greatest magnitude of each column, over all owners"
CENTRE, LINEAR = 40, 56
GRID = 47
MOST_RECORDS = 1 << 30
LARGEST = 400
BLOCK = 1 << 15


def exponents(table: Floats) -> Ints:
    """Return e for every column such that its magnitudes are below 2^e."""
    greatest = np.abs(table).max(axis=0, initial=0.0)
    powers = np.where(greatest > 0, np.frexp(greatest)[1], -LARGEST)
    if (powers > LARGEST).any():
        raise DataError(explain("Values", f"below 2^{LARGEST} in magnitude", "greater ones"))
    return np.maximum(powers, -LARGEST).astype(np.int64)


async def common_exponents(party: Party, own: Ints | None, columns: int) -> Ints:
    """Return the greatest exponent of any owner for each column, and open nothing else."""
    greatest: Shared | None = None
    for owner in party.roles.owners:
        mine = own if party.name == owner else None
        part = await share(party, mine, owner, (columns,), -LARGEST, LARGEST)
        greatest = part if greatest is None else await maximum(party, greatest, part)
    assert greatest is not None
    return np.asarray(await reveal(party, greatest, because=SIZES), np.int64)


def whole(values: Floats, scale: int) -> npt.NDArray[Any]:
    """Return floats as whole numbers of 2^-scale, of any length."""
    flat = [int(v) for v in np.rint(np.ldexp(values, scale)).ravel()]
    out = np.empty(len(flat), object)
    out[:] = flat
    return out.reshape(values.shape)


def row_moments(table: Floats, sizes: Ints, weights: Floats | None = None) -> npt.NDArray[Any]:
    """Return sums and products of an owner's scaled columns and of ones, in units of 2^-96.

    With weights every record counts so much, and the first entry is their sum.
    """
    rows, columns = table.shape
    factors = np.ldexp(1.0, -sizes.astype(np.int32))
    middle = whole(table.mean(axis=0) * factors if rows else np.zeros(columns), CENTRE)
    products, linear, count = _around(table, factors, np.ldexp(middle.astype(np.float64), -CENTRE),
                                      weights)
    n = whole(np.asarray(count), FINE).item() if weights is not None else rows << FINE
    t = whole(linear, LINEAR)
    crossed = np.outer(middle, t)
    out = np.empty((columns + 1, columns + 1), object)
    out[0, 0] = n
    out[0, 1:] = out[1:, 0] = (middle * n // (1 << CENTRE)) + t * (1 << (FINE - LINEAR))
    out[1:, 1:] = (whole(products, FINE) + crossed + crossed.T
                   + np.outer(middle, middle) * n // (1 << (2 * CENTRE)))
    return out


def _around(table: Floats, factors: Floats, centre: Floats,
            weights: Floats | None) -> tuple[Floats, Floats, float]:
    """Return products and sums of what columns differ from a centre, block by block."""
    columns = table.shape[1]
    products, linear, count = np.zeros((columns, columns)), np.zeros(columns), 0.0
    for start in range(0, table.shape[0], BLOCK):
        part = table[start:start + BLOCK] * factors
        part -= centre
        if weights is None:
            products += part.T @ part
            linear += part.sum(axis=0)
            continue
        heavy = part * weights[start:start + BLOCK, None]
        products += heavy.T @ part
        linear += heavy.sum(axis=0)
        count += float(weights[start:start + BLOCK].sum())
    return products, linear, count


async def share_moments(party: Party, own: Any, columns: int, scale: int = FINE,
                        records: int = MOST_RECORDS) -> Wide:
    """Return the sum of the owners' moments; each gives whole numbers of 2^-scale."""
    size = columns + 1
    if party.name in party.roles.owners and own is None:
        own = np.zeros((size, size), object)
    summed = await share_sum_wide(party, own, (size, size), float(records) * 2.0**scale, 0)
    return summed.shifted(scale).within(records)


def on_grid(table: Floats, sizes: Ints) -> Ints:
    """Return scaled values as whole numbers of 2^-47."""
    return np.rint(np.ldexp(table, GRID - sizes.astype(np.int32))).astype(np.int64)


def exact_sums(points: Ints) -> npt.NDArray[Any]:
    """Return sums of whole numbers below 2^47, which 64 bits have no room for."""
    high, low = (points >> 24).sum(axis=0), (points & 0xFFFFFF).sum(axis=0)
    sums: npt.NDArray[Any] = high.astype(object) * (1 << 24) + low.astype(object)
    return sums


def exact_moments(points: Ints) -> npt.NDArray[Any]:
    """Return X'X of whole numbers below 2^47 exactly: 16 bits at a time, by floating point."""
    parts = [(points >> 32).astype(np.float64), ((points >> 16) & 0xFFFF).astype(np.float64),
             (points & 0xFFFF).astype(np.float64)]
    total = np.zeros((points.shape[1],) * 2, object)
    for start in range(0, points.shape[0], 1 << 20):
        rows = slice(start, start + (1 << 20))
        for i in range(3):
            for j in range(i, 3):
                cell = whole(parts[i][rows].T @ parts[j][rows], 0) * (1 << (16 * (4 - i - j)))
                total = total + (cell if i == j else cell + cell.T)
    return total


@dataclass(frozen=True)
class Block:
    """Some columns on shares, with the places they have in the end; `owner` None: nobody's."""

    places: tuple[int, ...]
    values: Wide
    owner: str | None


async def block_moments(party: Party, blocks: Sequence[Block], own: Any, columns: int,
                        rows: int) -> Wide:
    """Return the moments of blocks of columns; `own` is this owner's part of what is local."""
    double = 2 * GRID
    total = await share_moments(party, own, columns, double, rows)
    for i, block in enumerate(blocks):
        if block.owner is None:
            total = total + await _alone(party, block, columns)
        for other in blocks[i + 1:]:
            cross = await gram(party, block.values, other.values, double)
            total = (total + placed(cross, block.places, other.places, columns)
                     + placed(cross.T, other.places, block.places, columns))
    return (await rescale(party, total, double)).within(rows)


async def _alone(party: Party, block: Block, columns: int) -> Wide:
    """Return sums and products of columns that nobody has."""
    double, zero = 2 * GRID, (-1,)
    square = placed(await gram(party, block.values, None, double), block.places, block.places,
                    columns)
    sums = await rescale(party, block.values.sum(0).reshape(1, -1), double)
    return (square + placed(sums, zero, block.places, columns)
            + placed(sums.T, block.places, zero, columns))


def placed(part: Wide, rows: Sequence[int], columns: Sequence[int], size: int) -> Wide:
    """Return a matrix of moments that is 0 but for some rows and columns; -1 is that of ones."""
    at = np.ix_([row + 1 for row in rows], [column + 1 for column in columns])
    limbs = []
    for limb in part.limbs:
        share = np.zeros_like(limb.share, shape=(size + 1, size + 1))
        share[at] = limb.share
        limbs.append(replace(limb, share=share, low=min(0, limb.low), high=max(0, limb.high)))
    return replace(part, limbs=tuple(limbs))
