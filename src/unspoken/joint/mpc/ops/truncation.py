"""Dividing shared values by a power of two (Dalskov, Escudero and Keller 2020).

The holders open x + 2^62 + r for a random r, of which they have shares of r >> f and of the top
bit, and correct the wrap-around with that bit: the result is x >> f (rounded down) or one more,
for certain. SecureML's local shift, which goes far wrong now and then, is not used.
  discloses: nothing. Safe against all holders but one; never the dealer with a holder.
  cost: 1 round; 8 bytes a value from each holder to each other, 16 from the dealer.

Two holders without a dealer shift their shares of x + 2^62 and take off the wrap-around, which
happens where either share has its top bit set (SIRNN, Rathee and others 2021): one transfer, 12
bytes a value. The result is again x >> f or one more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import explain
from unspoken.joint.joint_errors import RingError
from unspoken.joint.mpc.bit_planes import plane_of
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.correlated.transfers import Transfer
from unspoken.joint.mpc.ops.opening import open_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared

OFFSET = 1 << 62


def plain_truncate(values: Any, bits: int) -> Any:
    """Return the reference: rounded down; the protocol gives this or one more."""
    return np.asarray(values) >> bits


async def truncate(party: Party, value: Shared, bits: int) -> Shared:
    """Return values divided by 2^bits, with so many fractional bits fewer."""
    if not 1 <= bits <= 61:
        raise RingError(explain("truncate: 'bits'", "between 1 and 61", bits))
    party.begin("truncate")
    blank = replace(value, share=np.zeros(value.shape, np.uint64), low=value.low >> bits,
                    high=(value.high >> bits) + 1, scale=max(0, value.scale - bits))
    if party.engine is not None:
        return blank.with_share(await party.engine.shift(value.share, bits))
    if party.transfer is not None:
        return blank.with_share(await _by_transfer(party.transfer, value.share, bits))
    drawn = await party.draw([Need("cuts", (value.size, bits))])
    if drawn is None:
        return blank
    return blank.with_share((await cut_words(party, value.share, bits, drawn[0])).reshape(
        value.shape))


async def cut_words(party: Party, words: Words, bits: int, cut: list[Words]) -> Words:
    """Return shares of shared words, shifted."""
    r, shifted, top = cut
    moved = words.ravel() + r
    if party.adds_public:
        moved = moved + np.uint64(OFFSET)
    c = await open_sum(party, "truncate.open", moved)
    wrapped = top * (np.uint64(1) - (c >> np.uint64(63)))
    result = (wrapped << np.uint64(64 - bits)) - shifted
    if party.adds_public:
        result = result + (c >> np.uint64(bits)) - np.uint64(OFFSET >> bits)
    return result


async def _by_transfer(transfer: Transfer, share: Words, bits: int) -> Words:
    """Return this holder's share, shifted, less the wrap-around a + b - a b of the top bits."""
    moved = share.ravel() + (np.uint64(OFFSET) if transfer.offers else np.uint64(0))
    top, result = moved >> np.uint64(63), moved >> np.uint64(bits)
    own = top[:, None] if transfer.offers else plane_of(top)
    found = (await transfer.correlate("truncate", own, top.size))[:, 0]
    wrapped = top + found if transfer.offers else top - found
    result -= wrapped << np.uint64(64 - bits)
    if transfer.offers:
        # The two shifts lose up to one together; one more makes that one too many instead.
        result += np.uint64((1 - (OFFSET >> bits)) % (1 << 64))
    return result.reshape(share.shape)
