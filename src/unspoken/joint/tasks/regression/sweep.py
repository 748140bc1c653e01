"""Sweeps on shares: a term enters or leaves a regression by one pivot (Goodnight's sweep).

After sweeping the terms S out of moments, the matrix holds minus the inverse of S, coefficients in
the column of the response and the residual sum of squares in the corner. Everything stays shared.
  discloses: nothing. Safe against: as products and comparisons in the mode.
  error: 2^-96 times what pivots were divided by.
"""

from __future__ import annotations

import numpy as np

from unspoken.joint.mpc.multi_limb import FINE, Wide, join_wide, public_wide
from unspoken.joint.mpc.ops.division import reciprocal
from unspoken.joint.mpc.ops.limb_products import wide_matmul, wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import lift, narrow, rescale
from unspoken.joint.mpc.party import Party
from unspoken.joint.tasks.regression.fitting import ROOM

LEAST_PIVOT = 2.0**-24
GREATEST = 2 / LEAST_PIVOT
"""No entry of a swept matrix is greater: it is a moment, a coefficient, or one of the inverse."""


async def sweep(party: Party, swept: Wide, place: int, turned: Wide, back: bool) -> Wide:
    """Return the matrix after a term has entered, or left; `turned` is 1 / |pivot|."""
    q = swept.shape[0]
    rest = np.array([i for i in range(q) if i != place])
    column = swept[rest, place]
    line = await wide_multiply(party, column, join_wide([turned] * (q - 1)), FINE)
    line = -line.within(GREATEST) if back else line.within(GREATEST)
    outer = await wide_matmul(party, column.reshape(-1, 1), line.reshape(1, -1), FINE)
    inner = await rescale(party, swept[np.ix_(rest, rest)] - outer, FINE)
    side = -line if back else line
    pivot = turned if back else -turned
    top = join_wide([inner, side.reshape(-1, 1)], 1)
    whole = join_wide([top, join_wide([side, pivot]).reshape(1, -1)], 0)
    order = np.argsort(np.append(rest, place))
    return (await rescale(party, whole[np.ix_(order, order)], FINE)).within(GREATEST)


async def reciprocals(party: Party, values: Wide) -> Wide:
    """Return 1 / x for x between 2^-24 and 9/8: to 9 bits or more, then four of Newton's steps."""
    close = await narrow(party, values, 30, ROOM)
    start = await reciprocal(party, close.within(1, close.high), 30)
    x = (await rescale(party, await lift(party, start), FINE)).within(GREATEST)
    two = public_wide(party, np.full(values.shape, 2.0))
    for _ in range(4):
        product = (await wide_multiply(party, values, x, FINE)).within(2)
        x = await wide_multiply(party, x, two - product, FINE)
        x = x.within(GREATEST)
    return x


async def eliminated(party: Party, stacked: Wide) -> Wide:
    """Return the first column of every matrix taken out of the others, and dropped."""
    count, q, _ = stacked.shape
    turned = await reciprocals(party, stacked[:, 0, 0])
    column = stacked[:, 0, 1:]
    repeated = turned[np.repeat(np.arange(count), q - 1)].reshape(count, q - 1)
    line = (await wide_multiply(party, column, repeated, FINE)).within(GREATEST)
    row, other = np.divmod(np.arange((q - 1) ** 2), q - 1)
    outer = await wide_multiply(party, column[:, row], line[:, other], FINE)
    outer = outer.within(2).reshape(count, q - 1, q - 1)
    return (await rescale(party, stacked[:, 1:, 1:] - outer, FINE)).within(2)
