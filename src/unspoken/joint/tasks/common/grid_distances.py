"""Distances of objects whose values are rounded to a grid, in the clear and between two owners.

Values are rounded to `scale` fractional bits; from there on everything is exact. Distances are
Minkowski's of order 1, 2, ...: what is compared is the sum over all columns of |x - y|^order.

**across**: the powers of the distances of two owners' objects, as shares. For an even order they
are sums of products, (x - y)^2 = x^2 - 2 x y + y^2 and so on: one matrix product for all of them.
For order 1 each column's |x - y| needs a comparison of its own (vcz2006 section 7.3.3).
  discloses: nothing. Safe against whom products and comparisons are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any, Protocol

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.choice import absolute
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.ops.sharing import share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import LIMIT, Shared, check_interval
from unspoken.joint.tasks.common.column_checks import as_numbers

MOST_SCALE = 24
MOST_ORDER = 8


class Grid(Protocol):
    """Values between -most and most, with `scale` fractional bits, and the order of distances."""

    @property
    def most(self) -> float:
        """Return the bound of values."""

    @property
    def scale(self) -> int:
        """Return the fractional bits of values."""

    @property
    def order(self) -> int:
        """Return the order of the Minkowski distance."""


def units_of(grid: Grid) -> int:
    """Return the bound of values in units of 2^-scale."""
    return int(np.ceil(np.ldexp(grid.most, grid.scale)))


def reach_of(grid: Grid, columns: int) -> int:
    """Return the greatest |x - y|^order over some columns; refused if it does not fit."""
    bound = int(columns * (2 * units_of(grid)) ** grid.order)
    check_interval(-2 * bound, 2 * bound, "A distance to the power of its order")
    return bound


def check_order(what: str, order: int) -> None:
    """Refuse an order whose powers are no sums of products, between owners of rows."""
    if order % 2 and order != 1:
        raise RefusedError(explain(f"{what} over rows: 'order'", "1 or an even number, whose "
                                   "powers are sums of products", order))


def rounded(values: Any, grid: Grid) -> Ints:
    """Return an owner's values in units of 2^-scale; what does not fit is refused."""
    rows = as_numbers("This owner's data", values)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise DataError(explain("This owner's values", "objects and at least one column",
                                rows.shape))
    if rows.shape[0] == 0:
        raise RefusedError("Every owner must have objects. This one has none. Leave it out of the "
                           "study.")
    if not np.isfinite(rows).all():
        raise DataError("This owner's values must be finite. Some are missing or infinite.")
    if np.abs(rows).max() > grid.most:
        raise DataError(f"This owner's values must lie between {-grid.most:g} and "
                        f"{grid.most:g}, as agreed. Some do not. Agree on a greater 'most', or "
                        "standardise the columns.")
    return np.asarray(np.rint(np.ldexp(rows, grid.scale)), np.int64)


def powers(one: Ints, other: Ints, order: int) -> Ints:
    """Return the sum over columns of |x - y|^order, for rows that broadcast."""
    total = np.zeros(np.broadcast_shapes(one.shape, other.shape)[:-1], np.int64)
    for column in range(one.shape[-1]):
        total += to_power(one[..., column] - other[..., column], order)
    return total


def to_power(gap: Ints, order: int) -> Ints:
    """Return |gap|^order."""
    if order == 2:
        return gap * gap
    return np.asarray(np.abs(gap) ** order)


async def across(party: Party, grid: Grid, names: tuple[str, str], sides: Sequence[Ints | None],
                 shape: tuple[int, int, int]) -> Shared:
    """Return the powers of all distances, objects of one owner by the other's.

    `sides`: the units of both, None where this party does not have them; `shape`: how many
    objects each has, and how many columns.
    """
    n, m, columns = shape
    if grid.order == 1:
        return await _absolute(party, grid, names, sides, shape)
    terms, bound = (grid.order - 1) * columns, reach_of(grid, columns)
    left = None if sides[0] is None else _left(sides[0], grid.order)
    right = None if sides[1] is None else _right(sides[1], grid.order)
    one = await share(party, left, names[0], (n, terms + 1), -bound, bound)
    other = await share(party, right, names[1], (terms + 1, m), -bound, bound)
    # Only the sum is known to lie within its bounds; the ring does not mind the way.
    cross = await matmul(party, one[:, :-1], other[:-1], (-LIMIT + 1, LIMIT - 1))
    words = cross.share + one.share[:, -1:] + other.share[-1:]
    return Shared(party, words, 0, bound)


async def _absolute(party: Party, grid: Grid, names: tuple[str, str], sides: Sequence[Ints | None],
                    shape: tuple[int, int, int]) -> Shared:
    """Return sums of |x - y|: a comparison for each column."""
    (n, m, columns), bound = shape, units_of(grid)
    one = await share(party, sides[0], names[0], (n, columns), -bound, bound)
    other = await share(party, sides[1], names[1], (m, columns), -bound, bound)
    gap = Shared(party, one.share[:, None] - other.share[None], -2 * bound, 2 * bound)
    return (await absolute(party, gap)).sum(axis=2).within(0, reach_of(grid, columns))


def _left(units: Ints, order: int) -> Ints:
    """Return x^s for s = 1 ... order - 1, and the sum of x^order as the last column."""
    parts = [units**s for s in range(1, order)] + [(units**order).sum(axis=1, keepdims=True)]
    return np.concatenate(parts, axis=1)


def _right(units: Ints, order: int) -> Ints:
    """Return the binomial factors times y^(order - s), and the sum of y^order as the last row."""
    parts = [comb(order, s) * (-1) ** (order - s) * units ** (order - s) for s in range(1, order)]
    return np.concatenate([*parts, (units**order).sum(axis=1, keepdims=True)], axis=1).T
