"""Keeping shared values where a shared bit is set, and nothing where it is not.

With a dealer the bits become numbers and are multiplied. Two holders without a dealer need one
transfer in each direction (CrypTFlow2, Rathee and others 2020, section 4.1.3): each offers its own
share or nothing, as its bit says, and the other's bit turns that round.
  discloses: nothing. As safe as products.
  cost: 2 rounds, as `to_numbers` and `multiply`; two-party 8 bytes per bit and 16 per value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.ops.shared_bits import SharedBits
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared


def plain_keep(bits: Any, values: Any) -> Any:
    """Return the reference."""
    return np.where(bits, values, 0)


async def keep(party: Party, bits: SharedBits, values: Sequence[Shared]) -> list[Shared]:
    """Return each of several values where the bits are set, and 0 elsewhere, in one step.

    2 rounds. Discloses nothing.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    bits : SharedBits
        The condition.
    values : sequence of Shared
        The values, each of the shape of the bits.

    Returns
    -------
    list of Shared
        One array for each of the values.

    Examples
    --------
    >>> [kept] = await keep(party, await less_than(party, x, 10), [x])  # doctest: +SKIP
    """
    for value in values:
        if value.shape != bits.shape:
            raise RingError(f"Values to keep must be of the bits' shape {bits.shape}. "
                            f"One is of shape {value.shape}.")
    words = np.stack([value.share.ravel() for value in values])
    shares = await party.engine.keep(bits.share, words)
    return [replace(value, share=share.reshape(bits.shape), low=min(0, value.low),
                    high=max(0, value.high)) for value, share in zip(values, shares, strict=True)]
