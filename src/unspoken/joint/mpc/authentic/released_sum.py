"""The total of all owners' words, which no holder can change, without shares and without tags.

The dealer gives every owner a random r and keeps their sum R, which comes from a key of its own;
the last owner is sent what makes it fit. Owners send x - r to all holders, who compare what they
got. Once every holder has confirmed that to the dealer, it sends the key of R to those who are to
learn the total: the sum of what owners sent, plus R.
  discloses: the total, to the receivers.
  safe against: all holders but one, with any owners but one, whatever they do; never the dealer
    with a holder.
  cost: 8 bytes per value from each owner to each holder, from each holder to each receiver that
    holds no shares, and from the dealer to the last owner; the check of 64 bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic.auth_sources import RELEASE
from unspoken.joint.mpc.correlated.sources import DEAL
from unspoken.joint.mpc.randomness import SEED_BYTES, Stream
from unspoken.joint.mpc.shared import total
from unspoken.joint.wire.frames import Purpose

if TYPE_CHECKING:
    from unspoken.joint.mpc.authentic.guarded import Guarded
    from unspoken.joint.mpc.party import Party

LABEL = "sum.masked"


async def released_total(party: Party, words: Words, receivers: Sequence[str],
                         length: int) -> Words | None:
    """Return the total to its receivers; `words` are this owner's."""
    guarded = party.engine.guarded
    if guarded is None:
        raise RuntimeError("only an engine with tags has totals that a dealer releases")
    number, mask = await _mask(guarded, length)
    sent = await _exchanged(party, words - mask if party.name in party.roles.owners else None,
                            length)
    if guarded.check is not None:
        for part in sent:
            guarded.check.broadcast(LABEL, part)
        await guarded.check.verify()
    await guarded.engine.tagged.release((number, length), receivers)
    opened = dict.fromkeys(receivers, total(sent)) if sent else {}
    value = await guarded.handed_on(opened, receivers, length, Purpose.MASKED)
    if value is None:
        return None
    key = await party.receive(str(party.roles.dealer), RELEASE, "|u1", (SEED_BYTES,),
                              Purpose.SHARE)
    return np.asarray(value + Stream(key.tobytes()).words(length))


async def _mask(guarded: Guarded, length: int) -> tuple[int, Words]:
    """Return the number of the wish, and this owner's mask."""
    party = guarded.party
    number, mask = await guarded.engine.tagged.total_mask(length)
    if party.name == party.roles.owners[-1]:
        mask = await party.receive(str(party.roles.dealer), DEAL, "<u8", (length,),
                                   Purpose.SHARE)
    return number, mask


async def _exchanged(party: Party, own: Words | None, length: int) -> list[Words]:
    """Return what every owner sent to the holders, in their order; nothing to anybody else."""
    sends = [] if own is None else [party.send(name, LABEL, own, Purpose.MASKED)
                                    for name in party.holders if name != party.name]
    others = [name for name in party.roles.owners if name != party.name] if party.is_holder else []
    parts = await asyncio.gather(*(party.receive(name, LABEL, "<u8", (length,), Purpose.MASKED)
                                   for name in others), *sends)
    if not party.is_holder:
        return []
    arrived = dict(zip(others, parts, strict=False))
    return [own if name == party.name and own is not None else np.asarray(arrived[name])
            for name in party.roles.owners]
