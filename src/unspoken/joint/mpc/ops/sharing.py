"""Into shares and out of them.

**share**: an owner's values become additive shares modulo 2^64. All holders but one expand a key
that they have in common with the owner; the last gets the difference (no message is sent if
the owner is a holder itself: it keeps the difference).
  discloses: shape, bounds and scale, which are public. Safe against all holders but one.
  cost: one message of 8 bytes per value, or none.

**reveal**: the only way out. Each holder adds its part of a fresh sharing of zero, from keys that
the holders have in pairs and the dealer has not, and sends that to the receivers. Without the
zero a dealer, or a receiver that colludes with it, could solve a product's shares for its factors.
  discloses: the value, to those in `to`, which must have been declared; the ledger records it.
  cost: 1 round, 8 bytes per value from each holder to each receiver (1 bit for shared bits).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError, RingError
from unspoken.joint.mpc.bit_planes import bits_of
from unspoken.joint.mpc.ops.shared_bits import SharedBits
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, check_interval, from_ring, to_ring, total
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.input_digest import note_input


async def share(party: Party, values: Any, owner: str, shape: tuple[int, ...], low: int,
                high: int, scale: int = 0) -> Shared:
    """Return one owner's values as additive shares modulo 2^64.

    Discloses shape, bounds and scale, which are public. Safe against all holders but one.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array or None
        The values; None if this party is not the owner.
    owner : str
        The party that has the values.
    shape : tuple of int
        Their shape.
    low, high : int
        Bounds on the values in units of 2^-scale; checked before anything is sent.
    scale : int, default 0
        Fractional bits, for values that are not whole numbers.

    Returns
    -------
    Shared
        The values as shares.

    Examples
    --------
    >>> x = await share(party, ages, "north", (500,), 0, 120)  # doctest: +SKIP
    """
    party.begin("share")
    _check_plan(party, low, high)
    part = await _share_of(party, values, owner, shape, (low, high, scale))
    return Shared(party, part, low, high, scale)


async def share_sum(party: Party, values: Any, shape: tuple[int, ...], low: int, high: int,
                    scale: int = 0) -> Shared:
    """Return the sum of all owners' values as shares; all owners share at once.

    Discloses shape, bounds and scale, which are public. Safe against all holders but one.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array or None
        This owner's values; None if this party owns no data.
    shape : tuple of int
        Their shape.
    low, high : int
        Bounds on each owner's values in units of 2^-scale; checked before anything is sent.
    scale : int, default 0
        Fractional bits, for values that are not whole numbers.

    Returns
    -------
    Shared
        The sum as shares.

    Examples
    --------
    >>> counts = await share_sum(party, own, (12,), 0, 10**6)  # doctest: +SKIP
    """
    party.begin("share sum")
    owners = party.roles.owners
    _check_plan(party, low * len(owners), high * len(owners))
    parts = await asyncio.gather(*(
        _share_of(party, values if owner == party.name else None, owner, shape,
                  (low, high, scale)) for owner in owners))
    return Shared(party, total(parts), low * len(owners), high * len(owners), scale)


def _check_plan(party: Party, low: int, high: int) -> None:
    if not party.holders:
        raise RefusedError("Shares need holders. Mode 'sums' has none. Use mode='dealer'.")
    check_interval(low, high, "A shared value")


async def _share_of(party: Party, values: Any, owner: str, shape: tuple[int, ...],
                    bounds: tuple[int, int, int]) -> Words:
    """Return this party's share of an owner's values; zeros if it holds none."""
    size = int(np.prod(shape, dtype=np.int64))
    if party.engine.guarded is not None:
        own = _owned(party, values, shape, bounds) if party.name == owner else None
        return (await party.engine.guarded.input(own, owner, size, bounds[:2])).reshape(shape)
    keeper = owner if owner in party.holders else party.holders[-1]
    if party.name == owner:
        rest = _owned(party, values, shape, bounds).ravel()
        for holder in party.holders:
            if holder not in (keeper, owner):
                rest = rest - party.stream_with(holder, f"share {owner}").words(size)
        if keeper == owner:
            return rest.reshape(shape)
        await party.send(keeper, "share", rest, Purpose.SHARE)
    elif party.name == keeper:
        part = await party.receive(owner, "share", "<u8", (size,), Purpose.SHARE)
        return part.reshape(shape)
    elif party.is_holder:
        return party.stream_with(owner, f"share {owner}").words(size).reshape(shape)
    return np.zeros(shape, np.uint64)


def _owned(party: Party, values: Any, shape: tuple[int, ...],
           bounds: tuple[int, int, int]) -> Words:
    """Check this owner's values, and note their digest before anything depends on them."""
    words = to_ring(values, *bounds, "Values to share")
    if words.shape != tuple(shape):
        raise RingError(f"Values to share must be of shape {tuple(shape)}. "
                        f"They are of shape {words.shape}.")
    note_input(party.ledger, words)
    return words


async def reveal(party: Party, value: Shared | SharedBits, *, because: str,
                 to: Sequence[str] = ()) -> Any:
    """Open a shared value: the only way out of shares.

    Discloses the value to the parties in `to` and records that in the ledger; of what `truncate`
    had a part in, the ledger also says what its rounding tells. An opening that was
    not declared raises DisclosureError before anything is sent.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    value : Shared or SharedBits
        What to open.
    because : str
        The reason for the opening; it must be declared (`declares`).
    to : sequence of str, default ()
        The parties that learn the value. Default: all.

    Returns
    -------
    array or None
        Whole numbers, floats (if the value has a scale) or booleans; None if this party is not in
        `to`.

    Examples
    --------
    >>> total = await reveal(party, counts, because="total per month")  # doctest: +SKIP
    """
    if not isinstance(value, Shared | SharedBits):
        raise RefusedError("Only a shared value can be revealed. Got "
                           f"{type(value).__name__}.")
    await party.engine.before_opening()
    party.begin("reveal")
    rounded = isinstance(value, Shared) and value.rounded
    receivers = party.opening(because, to, value.shape, rounded=rounded)
    words = await _opened_to(party, value, receivers)
    if words is None:
        return None
    party.learned(receivers, words)
    if isinstance(value, SharedBits):
        return party.opened(because, bits_of(words, value.size).astype(bool).reshape(value.shape))
    return party.opened(because, from_ring(words, value.scale).reshape(value.shape))


async def _opened_to(party: Party, value: Shared | SharedBits,
                     receivers: Sequence[str]) -> Words | None:
    """Return the words of a value to its receivers; the ways of engines with tags check them."""
    is_bits = isinstance(value, SharedBits)
    if party.engine.guarded is not None:
        return await party.engine.guarded.output(value.share, receivers, bits=is_bits)
    return await _collect(party, rerandomised(party, value).ravel(), receivers, xors=is_bits)


def rerandomised(party: Party, value: Shared | SharedBits) -> Words:
    """Return this holder's share with a fresh share of zero on it."""
    if party.engine.guarded is not None:
        raise RefusedError("Shares with tags cannot be kept beyond their run, because their tags "
                           "end with it. Learn and use the model in one run, or name "
                           "mode='dealer', which assumes that everybody follows the protocol.")
    return with_zero(party, value.share, "zero", xors=isinstance(value, SharedBits))


def with_zero(party: Party, words: Words, purpose: str, *, xors: bool) -> Words:
    """Return words with this holder's part of a sharing of zero that is used once."""
    for holder in party.holders:
        if party.is_holder and holder != party.name:
            zero = party.stream_with(holder, purpose).words(words.size).reshape(words.shape)
            if xors:
                words = words ^ zero
            elif party.holders.index(party.name) < party.holders.index(holder):
                words = np.add(words, zero)
            else:
                words = np.subtract(words, zero)
    return np.asarray(words)


async def _collect(party: Party, own: Words, receivers: Sequence[str], xors: bool) -> Words | None:
    """Send this holder's share to the receivers, and put together what comes."""
    sends = [party.send(name, "reveal", own, Purpose.DISCLOSURE)
             for name in receivers if party.is_holder and name != party.name]
    sources = [name for name in party.holders if name != party.name]
    takes = ([party.receive(name, "reveal", "<u8", own.shape, Purpose.DISCLOSURE)
              for name in sources] if party.name in receivers else [])
    done = await asyncio.gather(*takes, *sends)
    if party.name not in receivers:
        return None
    parts = [own, *(part for part in done[:len(takes)] if part is not None)]
    return np.bitwise_xor.reduce(parts) if xors else total(parts)
