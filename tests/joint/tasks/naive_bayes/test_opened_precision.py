"""A quotient on the border of two steps is opened as the upper one, and never by chance."""

from __future__ import annotations

import numpy as np
import pytest

from support.computing import run
from unspoken.joint import declares, divide, reveal, share
from unspoken.joint.mpc.ops.normalise import FRACTION
from unspoken.joint.tasks.naive_bayes.opened_precision import cut

BITS = 3
BELOW = np.repeat(np.arange(8, 400, 8), 8)
ABOVE = BELOW // 8 * np.tile(np.arange(8), len(BELOW) // 8)


@declares("answer")
async def opened(party, _):
    """Divide what lies on borders of steps of an eighth, and open the steps."""
    mine = party.index == 0
    above = await share(party, ABOVE if mine else None, "p0", ABOVE.shape, 0, 1000)
    below = await share(party, BELOW if mine else None, "p0", BELOW.shape, 0, 1000)
    quotients = await divide(party, above, below, FRACTION, most=1)
    bits = np.full(BELOW.shape, BITS)
    return await reveal(party, await cut(party, quotients, bits), because="answer")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["dealer", "authenticated"])
def test_borders_belong_to_the_upper_step(mode):
    assert np.array_equal(run(opened, [None, None], mode)[0], ABOVE * 8 // BELOW)
