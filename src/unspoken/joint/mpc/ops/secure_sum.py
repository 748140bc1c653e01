"""Secure sum (vcz2006 section 3.3.2): the total of every owner's vector, and nothing else.

Each pair of owners shares a secret (X25519, HKDF) and
expands it to one mask; the earlier adds it, the later subtracts it, so that the masks cancel in
the total. One party collects, adds and hands on the total.
  discloses: the total, to those named in `to` (the collector is the first of them).
  safe against: any m - 2 parties together, the collector among them. With m - 1 colluding the
    total itself gives the last one away. Two owners who both learn the total would learn each
    other's values: refused. A third party without data may learn the total of two.
  breaks if: a peer does not follow the protocol (semi-honest only), or a mask is used twice:
    keys are fresh for every run and every step.
  cost: 2 rounds, 8 n (m - 1) bytes in, 8 n for each further receiver.

The book's own forms, on a ring and on cycles, are weaker and lie in `museum`. Where shares have
tags, no party collects, because it could report a wrong total: see `released_sum`.

Sums are exact in the ring of 64-bit integers, or fixed point with `scale` fractional bits. Each
owner's values must lie within +-(2^62 - 1) / m in units of 2^-scale, checked before anything is
sent, so that the total never wraps. unspoken's own engine is not vetted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import InputError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.authentic.released_sum import released_total
from unspoken.joint.mpc.authentic.shared_total import shared_total
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import LIMIT, from_ring, to_ring, total
from unspoken.joint.wire.frames import Purpose, wire_bytes
from unspoken.joint.wire.input_digest import note_input


def plain_sum(inputs: Sequence[Any]) -> Any:
    """Return the reference: the sum of all vectors in one place."""
    return np.sum([np.asarray(values) for values in inputs], axis=0)


def plan_masks(owners: int, values: int, receivers: int) -> dict[str, int]:
    """Return rounds and bytes of the default, for planning."""
    sent = max(0, owners - 1) + max(0, receivers - 1)
    return {"rounds": 2, "bytes": sent * wire_bytes("<u8", (values,))}


@dataclass(frozen=True)
class SumWay:
    """One way to add: its name, what it refuses of (party, receivers), and how it adds."""

    name: str
    refuse: Callable[[Party, Sequence[str]], object]
    total: Callable[[Party, Words, Sequence[str], int], Awaitable[Words | None]]


async def secure_sum(party: Party, values: Any, *, because: str, to: Sequence[str] = (),
                     scale: int = 0) -> Any:
    """Return the total of all owners' values.

    Pairwise masks that cancel in the total (vcz2006 section 3.3.2 has a ring). Needs no shares and
    no dealer. Discloses the total to those in `to`; any m - 2 of m owners together learn no more. A
    total of two owners is not opened to one of them.

    Parameters
    ----------
    party : Party
        This party, as the program receives it.
    values : array
        This owner's values; zeros of the same shape if this party owns no data.
    because : str
        The reason for the opening; it must be declared (`declares`).
    to : sequence of str, default ()
        The parties that learn the total. Default: all.
    scale : int, default 0
        Fractional bits, for values that are not whole numbers.

    Returns
    -------
    array or None
        The total; None if this party is not in `to`.

    Examples
    --------
    >>> total = await secure_sum(party, counts, because="total per month")  # doctest: +SKIP
    """
    if party.engine.guarded is not None:
        await party.engine.before_opening()
        way = RELEASED if party.engine.totals_by_dealer else ON_SHARES
        return await sum_by(party, values, way, because=because, to=to, scale=scale)
    return await sum_by(party, values, MASKS, because=because, to=to, scale=scale)


async def sum_by(party: Party, values: Any, way: SumWay, *, because: str, to: Sequence[str],
                 scale: int) -> Any:
    """Return the total in one of several ways."""
    party.begin(f"sum {way.name}")
    owners, own = party.roles.owners, party.name in party.roles.owners
    shape = _shape(party, values)
    words = np.zeros(0, np.uint64)
    if own:
        words = _checked(values, len(owners), scale).ravel()
        note_input(party.ledger, words)
    if len(party.names) > 1:
        refuse_two(owners, tuple(to) or party.names)
        way.refuse(party, tuple(to) or party.names)
    receivers = party.opening(because, to, shape)
    if len(party.names) == 1:
        return from_ring(words, scale).reshape(shape)
    summed = await way.total(party, words, receivers, _length(shape))
    if summed is None:
        return None
    party.learned(receivers, summed)
    return party.opened(because, from_ring(summed, scale).reshape(shape))


def _shape(party: Party, values: Any) -> tuple[int, ...]:
    """Return the shape of the sum; a receiver without data gives zeros of that shape."""
    if values is None:
        raise InputError("secure_sum needs an array from every party, because its shape is needed. "
                         "Got None. A party without data passes zeros.")
    return np.shape(values)


def _length(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def _checked(values: Any, owners: int, scale: int) -> Words:
    bound = (LIMIT - 1) // owners
    return to_ring(values, -bound, bound, scale, "The values of a secure sum")


def refuse_two(owners: Sequence[str], receivers: Sequence[str]) -> None:
    """Refuse a sum of two that one of the two would learn."""
    curious = [name for name in receivers if name in owners]
    if len(owners) == 2 and curious:
        raise RefusedError(
            f"A secure sum of two must not be opened to one of the two: '{curious[0]}' would "
            "subtract its own values and have the other's. Find a third owner, keep the sum "
            "shared (share_sum), or open it to a party without data.")


async def mask_total(party: Party, words: Words, receivers: Sequence[str],
                     length: int) -> Words | None:
    """Add masks that cancel, collect, add up, hand on."""
    collector, own = receivers[0], party.name in party.roles.owners
    masked = words + pairwise_mask(party, length) if own else words
    if party.name != collector:
        if own:
            await party.send(collector, "sum.masked", masked, Purpose.MASKED)
        return await receive_total(party, collector, receivers, length)
    others = [name for name in party.roles.owners if name != collector]
    got = await asyncio.gather(*(party.receive(name, "sum.masked", "<u8", (length,), Purpose.MASKED)
                                 for name in others))
    summed = total([*([masked] if own else []), *got])
    await hand_on(party, summed, receivers)
    return summed


def pairwise_mask(party: Party, length: int) -> Words:
    """Return this owner's mask; those of all owners add up to zero."""
    mask = np.zeros(length, np.uint64)
    for name in party.roles.owners:
        if name == party.name:
            continue
        words = party.stream_with(name, "sum mask").words(length)
        # numpy wraps modulo 2^64, which is the ring.
        if party.names.index(party.name) < party.names.index(name):
            mask += words
        else:
            mask -= words
    return mask


async def hand_on(party: Party, summed: Words, receivers: Sequence[str]) -> None:
    """Send the total to the other receivers."""
    await asyncio.gather(*(party.send(name, "sum.total", summed, Purpose.RESULT)
                           for name in receivers if name != party.name))


async def receive_total(party: Party, source: str, receivers: Sequence[str],
                        length: int) -> Words | None:
    """Return the total if this party is to learn it."""
    if party.name not in receivers:
        return None
    return await party.receive(source, "sum.total", "<u8", (length,), Purpose.RESULT)


def _nothing(party: Party, receivers: Sequence[str]) -> None:
    """Refuse nothing beyond what every sum refuses."""


MASKS = SumWay("masks", _nothing, mask_total)
RELEASED = SumWay("released", _nothing, released_total)
ON_SHARES = SumWay("on shares", _nothing, shared_total)
