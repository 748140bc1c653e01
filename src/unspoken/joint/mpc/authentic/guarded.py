"""Values on their way into shares with tags, opened among holders, and out to those who may learn.

**Input** (SPDZ's): the owner knows a random r of which the holders have shares with tags. It sends
all of them x - r, which binds it to x before anything that depends on x is opened; holders compare
what they got. **Output**: the receiver knows a random r; the holders open x + r, check every tag,
and hand it to receivers that hold no shares, which take it only if all holders send the same.
  discloses: nothing but the value, to the receivers; upper words stay masked.
  safe against: all holders but one, with any owners, whatever they do; never the dealer with one.
  cost: input 8 bytes per value to each holder; output 16 bytes per value and receiver between
    holders, and two checks of 64 bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.authentic.tagged import Tagged, bare
from unspoken.joint.mpc.authentic.tagged_bits import TaggedBits
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.wire.frames import Purpose

if TYPE_CHECKING:
    from unspoken.joint.mpc.authentic.auth_engine import TagEngine


class Guarded:
    """One party's side of inputs, openings and outputs with tags."""

    def __init__(self, engine: TagEngine, check: TagCheck | None) -> None:
        self.engine, self.party, self.check = engine, engine.party, check
        self._order = asyncio.Lock()

    async def input(self, words: Words | None, owner: str, size: int, *, bits: bool) -> Words:
        """Return this party's share of an owner's words; zeros if it holds none."""
        async with self._order:
            return await self._input(words, owner, size, bits)

    async def _input(self, words: Words | None, owner: str, size: int, bits: bool) -> Words:
        party = self.party
        need = Need("bitmasks" if bits else "masks", (size, party.names.index(owner)))
        drawn = await self.engine.draw([need])
        sent = await self._broadcast(words, owner, size, bits)
        if drawn is None or self.check is None:
            return np.zeros(size, np.uint64)
        self.check.broadcast("share", sent)
        if bits:
            return np.asanyarray(drawn[0][0] ^ self.engine.public_bits(sent))
        return np.asanyarray(drawn[0][0] + self.engine.public_words(sent))

    async def _broadcast(self, words: Words | None, owner: str, size: int, bits: bool) -> Words:
        """Send every holder the words less their mask, or receive that."""
        party = self.party
        if party.name == owner and words is not None:
            mask = self.engine.own_masks()[0]
            masked = words.ravel() ^ mask if bits else words.ravel() - mask
            await asyncio.gather(*(party.send(name, "share", masked, Purpose.SHARE)
                                   for name in party.holders if name != owner))
            return np.asarray(masked)
        if party.is_holder:
            return await party.receive(owner, "share", "<u8", (size,), Purpose.SHARE)
        return np.zeros(size, np.uint64)

    async def open(self, label: str, own: Tagged) -> Words:
        """Return what all holders' shares add up to; its tags are checked later."""
        check = self.check
        if check is None:
            raise RuntimeError("only a holder opens shares")
        if check.full:
            await check.verify()
        if isinstance(own, TaggedBits):
            opened = await self._together(label, bare(own))
            words = np.bitwise_xor.reduce(opened)
            check.bits(label, own, words)
            return np.asarray(words)
        flat = own.ravel()
        parts = await self._together(label, np.concatenate(flat.long))
        whole = parts[0].reshape(2, -1)
        value = whole[0], whole[1]
        for part in parts[1:]:
            low, high = part.reshape(2, -1)
            value = ring128.add(value, (low, high))
        check.numbers(label, flat, value)
        return np.asarray(value[0].reshape(own.shape))

    async def _together(self, label: str, own: Words) -> list[Words]:
        others = [name for name in self.party.holders if name != self.party.name]
        return [own, *await self.party.swap(others, label, own, Purpose.MASKED)]

    async def output(self, share: Words, receivers: Sequence[str], *, bits: bool) -> Words | None:
        """Return the value to its receivers, after everything before and it itself was checked."""
        party, check = self.party, self.check
        # One mask is enough where everybody is to learn the value.
        everybody = set(receivers) == set(party.names)
        places = [len(party.names)] if everybody else [party.names.index(n) for n in receivers]
        kind = "bitmasks" if bits else "masks"
        if check is not None:
            await check.verify()
        drawn = await self.engine.draw([Need(kind, (share.size, place)) for place in places])
        masked: dict[str, Words] = {}
        if drawn is not None and check is not None:
            masked = await self._opened(share, receivers, [row[0] for row in drawn], bits)
            await check.verify()
        return await self._handed_on(masked, receivers, share.size, bits)

    async def _opened(self, share: Words, receivers: Sequence[str], masks: list[Any],
                      bits: bool) -> dict[str, Words]:
        own = share.ravel()
        rows: Any = np.stack([own ^ mask if bits else own + mask for mask in masks])
        opened = await self.open("reveal", rows)
        return dict(zip(receivers, opened if len(opened) == len(receivers)
                        else [opened[0]] * len(receivers), strict=True))

    async def _handed_on(self, masked: dict[str, Words], receivers: Sequence[str], size: int,
                         bits: bool) -> Words | None:
        """Send receivers without shares their masked value; they compare what all holders say."""
        party = self.party
        if party.is_holder:
            await asyncio.gather(*(party.send(name, "reveal", masked[name], Purpose.DISCLOSURE)
                                   for name in receivers if name not in party.holders))
        if party.name not in receivers:
            return None
        value = masked.get(party.name)
        if value is None:
            value = await self._agreed(size)
        mask = self.engine.own_masks()[0]
        return np.asarray(value ^ mask if bits else value - mask)

    async def _agreed(self, size: int) -> Words:
        party = self.party
        got = [await party.receive(name, "reveal", "<u8", (size,), Purpose.DISCLOSURE)
               for name in party.holders]
        for words in got[1:]:
            if not np.array_equal(words, got[0]):
                party.refuse(" or ".join(party.holders), "deviated: holders sent different results")
        return got[0]
