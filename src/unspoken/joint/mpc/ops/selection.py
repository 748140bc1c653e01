"""Keeping shared values where a shared bit is set, and nothing where it is not.

With a dealer the bits become numbers and are multiplied. Two holders without a dealer need one
transfer in each direction (CrypTFlow2, Rathee and others 2020, section 4.1.3): each offers its own
share or nothing, as its bit says, and the other's bit turns that round.
  discloses: nothing. Safe against whom products are.
  cost: 2 rounds, as `to_numbers` and `multiply`; two-party 8 bytes a bit and 16 for each value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import explain
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.bit_planes import bits_of
from unspoken.joint.mpc.correlated.transfers import Transfer
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import SharedBits, to_numbers
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared


def plain_keep(bits: Any, values: Any) -> Any:
    """Return the reference."""
    return np.where(bits, values, 0)


async def keep(party: Party, bits: SharedBits, values: Sequence[Shared]) -> list[Shared]:
    """Return each of several values where the bits are set and 0 elsewhere, in one step."""
    for value in values:
        if value.shape != bits.shape:
            raise RingError(explain("A value to keep", f"of the bits' shape {bits.shape}",
                                    value.shape))
    if party.roles.by_transfer:
        shares = await _by_transfer(party, bits, values)
    else:
        shares = await _by_product(party, bits, values)
    return [replace(value, share=share.reshape(bits.shape), low=min(0, value.low),
                    high=max(0, value.high)) for value, share in zip(values, shares, strict=True)]


async def _by_product(party: Party, bits: SharedBits, values: Sequence[Shared]) -> list[Words]:
    """Multiply all values together with the bits as numbers."""
    numbers = (await to_numbers(party, bits)).reshape(1, *bits.shape)
    widest = Shared(party, np.stack([value.share for value in values]),
                    min(value.low for value in values), max(value.high for value in values))
    return list((await multiply(party, numbers, widest)).share)


async def _by_transfer(party: Party, bits: SharedBits, values: Sequence[Shared]) -> list[Words]:
    party.begin("keep")
    words = np.stack([value.share.ravel() for value in values], axis=1)
    if party.transfer is None:
        return list(np.zeros_like(words).T)
    there = await _half(party.transfer, bits, words)
    back = await _half(party.transfer.back, bits, words)
    return list((there + back).T)


async def _half(transfer: Transfer, bits: SharedBits, words: Words) -> Words:
    """Return shares of (b0 xor b1) x, where x is the share of the holder who offers."""
    count, length = words.shape
    if not transfer.offers:
        return await transfer.correlate("keep", bits.share, count, length)
    own = bits_of(bits.share, count)[:, None]
    # Where its own bit is set, the other's bit takes the share away instead of giving it.
    turned = np.where(own.astype(bool), np.negative(words), words)
    return np.asarray(own * words - await transfer.correlate("keep", turned, count, length))
