"""Dividing shared values by a power of two (Dalskov, Escudero and Keller 2020).

The holders open x + 2^62 + r for a random r, of which they have shares of r >> f and of the top
bit, and correct the wrap-around with that bit: the result is x >> f (rounded down) or one more,
for certain. SecureML's local shift, which goes far wrong now and then, is not used.
  discloses: nothing as long as the result stays shared. If the result itself is opened, holders
    learn with it whether the cut-off bits exceed those of the opened mask, a random number that
    they know: open what `floor` gives where that matters (docs/concepts/authenticated.md). So
    what was truncated is marked, and what is computed from it; `reveal` books that of whatever
    is opened, and the plan says it. Comparisons and `floor` end the mark: rounding decides what
    they give only where a value lies within a few units of their limit.
  safe against: all holders but one; never the dealer with a holder.
  cost: 1 round; 8 bytes per value from each holder to each other, 16 from the dealer.

Two holders without a dealer shift their shares of x + 2^62 and take off the wrap-around, which
happens where either share has its top bit set (SIRNN, Rathee and others 2021): one transfer, 12
bytes per value. The result is again x >> f or one more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.errors import explain
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared


def plain_truncate(values: Any, bits: int) -> Any:
    """Return the reference: rounded down; the protocol gives this or one more."""
    return np.asarray(values) >> bits


async def truncate(party: Party, value: Shared, bits: int) -> Shared:
    """Return shared values divided by 2^bits: rounded down, or one more.

    1 round (Dalskov, Escudero and Keller 2020); `floor` always rounds down. Discloses nothing while
    the result stays shared; if it is opened, holders also learn one comparison of the bits that
    were cut off with a random number, and the ledger and the plan say so: open what `floor` gives
    where that matters.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    value : Shared
        The values.
    bits : int
        How many bits to drop, from 1 to 61.

    Returns
    -------
    Shared
        The quotients, with `bits` fewer fractional bits.

    Examples
    --------
    >>> product = await truncate(party, await multiply(party, x, y), 16)  # doctest: +SKIP
    """
    if not 1 <= bits <= 61:
        raise RingError(explain("truncate: 'bits'", "between 1 and 61", bits))
    party.begin("truncate")
    blank = replace(value, share=np.zeros(value.shape, np.uint64), low=value.low >> bits,
                    high=(value.high >> bits) + 1, scale=max(0, value.scale - bits),
                    rounded=True)
    return blank.with_share(await party.engine.truncate(value.share, bits))
