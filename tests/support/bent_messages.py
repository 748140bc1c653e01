"""One message of a run in memory is changed on its way out of one party, whatever it is.

That party's own checks find nothing wrong, so that only the others can end the run.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np

from support.deviating import AsParty
from unspoken.joint.session.play import in_memory


class BentSeam:
    """A party's transport that changes the message with a number; it counts all of them."""

    def __init__(self, seam, sent, number, spoil):
        self.__dict__.update(_seam=seam, _sent=sent, _number=number, _spoil=spoil)

    def __getattr__(self, name):
        return getattr(self._seam, name)

    def __setattr__(self, name, value):
        setattr(self._seam, name, value)

    def _bent(self, message):
        self._sent.append(message.label)
        if len(self._sent) - 1 != self._number:
            return message
        return replace(message, array=self._spoil(message.array.copy()))

    async def send(self, peer, message):
        await self._seam.send(peer, self._bent(message))

    async def swap(self, peers, message):
        for peer in peers:
            await self.send(peer, message)
        return [await self._seam.receive(peer) for peer in peers]


def flipped(array):
    """Flip a bit in the middle."""
    octets = array.view(np.uint8).reshape(-1)
    octets[octets.size // 2:][:1] ^= 16
    return array


def run_bent(program, data, roles, cheat, number=-1, spoil=flipped):
    """Return how a run ended for everybody, and the labels of all that the cheat sent."""
    sent = []

    def wrap(seam):
        return BentSeam(seam, sent, number, spoil) if seam.name == cheat else seam

    unchecked = AsParty(program, cheat, lambda party: None)
    return asyncio.run(in_memory(unchecked, data, roles, wrap=wrap)), sent
