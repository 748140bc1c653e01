"""A checked list on its way round while every owner takes its key off, each hop with its proof.

A list that comes from the owner before is taken apart only if it was made from the list that this
owner has checked itself: with it come all lists on the way and, for each hop, a proof that one
secret leads from one to the next. Without that, an owner would take its key off points of anybody's
choice. The owner for whom the list is at the end needs no proof: it knows its own points.
"""

from __future__ import annotations

import asyncio

import numpy as np

from unspoken.joint.mpc import ristretto as group
from unspoken.joint.mpc.ristretto import POINT_BYTES, Points
from unspoken.joint.mpc.sets.encrypted_circle import Circle
from unspoken.joint.mpc.sets.equal_exponents import PROOF_BYTES, EqualExponents, holds, prove
from unspoken.joint.wire.frames import Purpose


class ProvenPath:
    """The lists from the checked one on, and a proof for each step between them."""

    def __init__(self, circle: Circle, checked: Points) -> None:
        self._circle = circle
        self._undo = group.inverse(circle.key)
        self._lists = [checked]
        self._proofs: list[bytes] = []

    @property
    def last(self) -> Points:
        """Return the list as it is now."""
        return self._lists[-1]

    async def strip(self, *, proven: bool) -> None:
        """Take the own key off, and prove it to those who will take theirs off later."""
        circle, before = self._circle, self.last
        after = await circle.times(before, self._undo, circle.before)
        self._lists.append(after)
        if proven and len(after):
            # before = key x after: the key is the one secret, not its inverse.
            proof = await asyncio.to_thread(prove, circle.where, circle.key, after, before)
            self._proofs.append(proof.to_bytes())
        elif proven:
            self._proofs.append(bytes(PROOF_BYTES))

    async def passed(self, hop: int, *, proven: bool) -> None:
        """Send the list on, with its way and proofs, and check the one that comes."""
        circle, size = self._circle, len(self._lists[0])
        came = await circle.passed(f"set.strip{hop}", self.last, size)
        circle.check(came, circle.before, group.check_different)
        checked = self._lists[0]
        if not proven:
            self._lists = [checked, came]
            return
        way = await circle.passed(f"set.way{hop}", _joined(self._lists[1:-1]), hop * size)
        raw = await self._proofs_from(hop)
        self._lists = [checked, *(way[i * size:(i + 1) * size] for i in range(hop)), came]
        self._proofs = [raw[i:i + PROOF_BYTES] for i in range(0, len(raw), PROOF_BYTES)]
        await self._check()

    async def _proofs_from(self, hop: int) -> bytes:
        circle, size = self._circle, (hop + 1) * PROOF_BYTES
        own = np.frombuffer(b"".join(self._proofs), np.uint8)
        came, _ = await asyncio.gather(
            circle.party.receive(circle.before, f"set.proof{hop}", "|u1", (size,),
                                 Purpose.CONTROL),
            circle.party.send(circle.after, f"set.proof{hop}", own, Purpose.CONTROL))
        return bytes(came.tobytes())

    async def _check(self) -> None:
        """End the run unless every step of the way is proven."""
        circle = self._circle
        for raw, before, after in zip(self._proofs, self._lists, self._lists[1:], strict=False):
            proof = EqualExponents.from_bytes(raw)
            if not await asyncio.to_thread(holds, proof, circle.where, after, before):
                circle.party._end(circle.before, "sent points that are not proven to come from the "
                                                 "common ones")


def _joined(lists: list[Points]) -> Points:
    empty = np.zeros((0, POINT_BYTES), np.uint8)
    return np.concatenate([empty, *lists])
