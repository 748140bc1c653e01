"""A party that does not keep to the rules: it books its messages as whatever it likes."""

from __future__ import annotations

from functools import partial

from unspoken.joint.wire.endpoint import Base


async def force_send(party, to, label, array, purpose):
    """Send under any purpose, as changed code could."""
    await Base.send(party, to, label, array, purpose)


async def force_swap(party, peers, label, array, purpose):
    """Swap under any purpose, as changed code could."""
    return await Base.swap(party, peers, label, array, purpose)


def unchecked(party):
    """Return how a party swaps and sends under any purpose, with what was changed about it."""
    changed = vars(party)
    return (changed.get("swap", partial(Base.swap, party)),
            changed.get("send", partial(Base.send, party)))
