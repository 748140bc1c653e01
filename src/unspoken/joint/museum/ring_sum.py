"""The book's secure sum on a ring (vcz2006 section 3.3.2), by name.

The first owner adds a fresh uniform vector, each owner adds its own and passes it on, and the
first takes the vector off again.
  discloses: the total, to the first owner, which hands it to the other receivers.
  safe against: single parties. Two neighbours of an owner together learn its values: prefer
    `secure_sum`, which costs the same and withstands m - 2.
  breaks if: |F| is not a power of two here; the field of the book is the ring modulo 2^64.
  cost: m rounds one after the other, 8 n m bytes, 8 n for each further receiver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.secure_sum import SumWay, hand_on, receive_total, sum_by
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.wire.frames import Purpose


async def ring_sum(party: Party, values: Any, *, because: str, to: Sequence[str] = (),
                   scale: int = 0) -> Any:
    """Return the total to those in `to`, None to the others; non-owners give zeros."""
    return await sum_by(party, values, RING, because=because, to=to, scale=scale)


async def ring_total(party: Party, words: Words, receivers: Sequence[str],
                     length: int) -> Words | None:
    """Pass a masked running total round the owners."""
    first = first_owner(party, receivers)
    others = [name for name in party.roles.owners if name != first]
    total = await once_round(party, words, [first, *others], "sum.ring", length)
    if total is None:
        return await receive_total(party, first, receivers, length)
    await hand_on(party, total, receivers)
    return total


def first_owner(party: Party, receivers: Sequence[str]) -> str:
    """Return the owner that starts; it learns the total, so it must be a receiver."""
    if len(party.roles.owners) < 3:
        raise RefusedError("A ring needs at least 3 owners. With fewer, the neighbours on both "
                           "sides are one party, which subtracts. Use secure_sum.")
    for name in party.roles.owners:
        if name in receivers:
            return name
    raise RefusedError("A ring opens the total to the owner that starts it. None of the receivers "
                       "is an owner. Use secure_sum.")


async def once_round(party: Party, words: Words, order: Sequence[str], label: str,
                     length: int) -> Words | None:
    """Go once round an order; return the total to its first party, None to the others."""
    if party.name not in order:
        return None
    place = order.index(party.name)
    before, after = order[place - 1], order[(place + 1) % len(order)]
    if place == 0:
        mask = fresh_words(length)
        await party.send(after, label, words + mask, Purpose.MASKED)
        back = await party.receive(before, label, "<u8", (length,), Purpose.MASKED)
        return np.asarray(back - mask)
    running = await party.receive(before, label, "<u8", (length,), Purpose.MASKED)
    await party.send(after, label, running + words, Purpose.MASKED)
    return None


RING = SumWay("ring", first_owner, ring_total)
