"""How finely quotients are opened: as the number of records of their class allows, and no finer.

The quotients of a class share its count as denominator, and fine ones give it away with every
count above it (`result_control.shared_denominators`). So the power of two below the number of
records of every class is opened first, and quotients are cut on shares to steps of two counts or
more, always down: a step up or down by chance would show bits that were cut off. A division errs by
chance in its last bits, so that a quotient on the border of two steps, such as one half, would fall
to either side; all are moved up by more than that error first.
  discloses: the powers of two, to all. cost: a comparison for each power of two and class, and one
    for each quotient.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.mpc.ops.choice import floor
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.normalise import FRACTION
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack
from unspoken.joint.result_control.shared_denominators import (
    MOST_BITS,
    mean_bits,
    share_bits,
    variance_bits,
)

ABOVE = 16
"""Units in the last place that are more than a division errs by."""
POWERS = "the power of two below the number of records of each class"


async def class_powers(party: Party, classes: Shared, most: int) -> Ints:
    """Open e for every class: it has 2^e records or more, and fewer than 2^(e+1); -1 for none."""
    limits = [1 << power for power in range(most.bit_length())]
    gaps = stack([classes - limit for limit in limits])
    below = (await to_numbers(party, await less_than(party, gaps, 0))).sum(0)
    short = np.asarray(await reveal(party, below, because=POWERS), np.int64)
    return len(limits) - 1 - short


def bits_of(powers: Ints, cells: int, columns: int) -> Ints:
    """Return the bits of every quotient: shares of classes, of categories, means, variances."""
    whole = share_bits(int(powers.max()))
    rows = [np.full(powers.size, whole)]
    for count, rule in ((cells, share_bits), (columns, mean_bits), (columns, variance_bits)):
        rows += [np.array([rule(max(0, int(power))) for power in powers])] * count
    return np.stack(rows)


async def cut(party: Party, quotients: Shared, bits: Ints) -> Shared:
    """Return quotients of 30 bits in whole steps of 2^-bits each, rounded down."""
    factors = np.left_shift(np.uint64(1), bits.astype(np.uint64))
    most, near = 1 << MOST_BITS, quotients + ABOVE
    raised = replace(near, share=np.multiply(near.share, factors), scale=0,
                     low=min(0, near.low * most), high=near.high * most)
    return await floor(party, raised, FRACTION)


def middles(steps: Floats, bits: Ints) -> Floats:
    """Return the middle of every step; a class of less than a step has no records."""
    values = (steps + 0.5) * 2.0**-bits
    values[0, steps[0] <= 0] = 0.0
    return np.asarray(values)
