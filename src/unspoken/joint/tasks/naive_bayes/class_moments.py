"""From shared counts and sums to means and variances of classes, still shared.

1 / n begins with 30 bits (`division`) and gets one Newton step with long numbers, which makes it
good to 3e-17 of itself; means and variances are off by their last bit, 2^-30 of the unit of z.
A class without records counts as one record at the middle, so that 0 / 0 is 0.
  discloses: nothing. cost: about 45 rounds, whatever the number of columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unspoken.joint.mpc.multi_limb import FINE, Wide
from unspoken.joint.mpc.ops.division import mantissa_inverse
from unspoken.joint.mpc.ops.limb_products import wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import lift, narrow, rescale
from unspoken.joint.mpc.ops.normalise import FRACTION, inverse_power, normalise
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate


async def reciprocals(party: Party, count: Shared) -> Wide:
    """Return 1 / n with 96 fractional bits; 0 counts as 1."""
    normal = await normalise(party, count, "divide")
    inverse = await mantissa_inverse(party, normal)
    power = inverse_power(normal.bits, normal.top, count)
    bits = FRACTION + normal.top
    high = (1 << bits) + (1 << max(2, bits - 26))
    y = await multiply(party, replace(inverse, scale=0), power, within=(0, high))
    whole = (count + (1 - normal.positive)).within(1, count.high + 1)
    product = await multiply(party, whole, y, within=(0, high))
    slack = 1 << max(2, bits - 26)
    rest = ((1 << bits) - product).within(-slack, slack)
    long = await lift(party, replace(y, scale=bits))
    error = await lift(party, replace(rest, scale=bits))
    step = await wide_multiply(party, long, error, FINE)
    return (await rescale(party, await rescale(party, long, FINE) + step, FINE)).within(1.001)


async def means_and_variances(party: Party, count: Shared,
                              sums: Shared) -> tuple[Shared, Shared]:
    """Return (columns, classes) of each with 30 bits; `sums` as in `class_sums`, any scale."""
    columns = sums.shape[0] // 2
    each = await reciprocals(party, count)
    factors = each.reshape(1, -1)[np.zeros(2 * columns, np.int64)]
    both = await wide_multiply(party, await lift(party, sums), factors, FINE)
    both = both.within(1.001)
    mean, square = both[:columns], both[columns:]
    outer = await wide_multiply(party, mean, mean, FINE)
    moments = concatenate([await narrow(party, mean, FRACTION, 1.001),
                           await narrow(party, square - outer, FRACTION, 1.001)])
    # Two units: the variance of equal values may come out one unit below zero.
    variance = (moments[columns:] + 2).within(0, moments.high + 2)
    return moments[:columns], variance
