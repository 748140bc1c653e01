"""Values on their way into shares with tags, opened among holders, and out to those who may learn.

**Input** (SPDZ's): the owner knows a random r of which the holders have shares with tags. It sends
all of them x - r, which binds it to x before anything that depends on x is opened; holders compare
what they got. **Output**: the receiver knows a random r; the holders open x + r, check every tag,
and hand it to receivers that hold no shares, which take it only if all holders send the same. What
all parties are to learn is opened as it is, under a mask on the upper word and a fresh sharing of
zero on the lower.
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
from unspoken.joint.mpc.authentic import fresh_zeros, ring128
from unspoken.joint.mpc.authentic.given_again import Rows, Zeros
from unspoken.joint.mpc.authentic.input_bounds import BoundedInput
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.authentic.tagged import Tagged, bare
from unspoken.joint.mpc.authentic.tagged_bits import TaggedBits
from unspoken.joint.mpc.authentic.tagged_numbers import TaggedNumbers
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.wire.frames import Purpose

if TYPE_CHECKING:
    from unspoken.joint.mpc.authentic.auth_engine import TagEngine


class Guarded:
    """One party's side of inputs, openings and outputs with tags."""

    def __init__(self, engine: TagEngine, check: TagCheck | None) -> None:
        self.engine, self.party, self.check = engine, engine.party, check
        self._order = asyncio.Lock()
        self._unchecked: list[BoundedInput] = []
        self._again: list[Zeros | Rows] = []

    async def input(self, words: Words | None, owner: str, size: int,
                    bounds: tuple[int, int] | None = None) -> Words:
        """Return this party's share of an owner's words, of packed bits if they have no bounds."""
        async with self._order:
            share = await self._input(words, owner, size, bounds is None)
            if bounds is not None:
                self._unchecked.append(BoundedInput(owner, share, *bounds))
            return share

    async def input_unbounded(self, words: Words | None, owner: str, size: int) -> Words:
        """Return this party's share of an owner's words, which may be any number."""
        async with self._order:
            return await self._input(words, owner, size, False)

    def taken(self) -> list[BoundedInput]:
        """Return what was shared since the last time that this was asked for."""
        inputs, self._unchecked = self._unchecked, []
        return inputs

    def claim_again(self, claim: Zeros | Rows) -> None:
        """Have what an owner gave again tested before the next opening."""
        self._again.append(claim)

    def given_again(self) -> list[Zeros | Rows]:
        """Return what was claimed since the last time that this was asked for."""
        claims, self._again = self._again, []
        return claims

    async def _input(self, words: Words | None, owner: str, size: int, bits: bool) -> Words:
        """Share block by block, bits at once: there are 64 in a word."""
        place, flat = self.party.names.index(owner), None if words is None else words.ravel()
        if bits:
            return await self._block(flat, owner, Need("bitmasks", (size, place)))
        parts = [await self._block(None if flat is None else flat[span], owner,
                                   Need("masks", (span.stop - span.start, place)))
                 async for span in self.engine.in_blocks("masks", size, place)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    async def _block(self, words: Words | None, owner: str, need: Need) -> Words:
        size, bits = need.sizes[0], need.kind == "bitmasks"
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
            masked = words ^ mask if bits else words - mask
            await asyncio.gather(*(party.send(name, "share", masked, Purpose.SHARE)
                                   for name in party.holders if name != owner))
            return np.asarray(masked)
        if party.is_holder:
            return await party.receive(owner, "share", "<u8", (size,), Purpose.SHARE)
        return np.zeros(size, np.uint64)

    async def open(self, label: str, own: Tagged, purpose: Purpose = Purpose.MASKED) -> Words:
        """Return what all holders' shares add up to; its tags are checked later.

        The ledger books it as masked, unless it is opened as it is to those who may learn it.
        """
        check = self.check
        if check is None:
            raise RuntimeError("only a holder opens shares")
        if check.full:
            await check.verify()
        if isinstance(own, TaggedBits):
            opened = await self._together(label, bare(own), purpose)
            words = np.bitwise_xor.reduce(opened)
            check.bits(label, own, words)
            return np.asarray(words)
        value, _ = await self.open_long(label, own.ravel(), purpose)
        return np.asarray(value[0].reshape(own.shape))

    async def open_long(self, label: str, own: TaggedNumbers, purpose: Purpose = Purpose.MASKED
                        ) -> tuple[ring128.Long, ring128.Long]:
        """Return opened numbers of one axis, and this holder's shares of their tags."""
        check = self.check
        if check is None:
            raise RuntimeError("only a holder opens shares")
        if check.full:
            await check.verify()
        parts = await self._together(label, np.concatenate(own.long), purpose)
        whole = parts[0].reshape(2, -1)
        value = whole[0], whole[1]
        for part in parts[1:]:
            low, high = part.reshape(2, -1)
            value = ring128.add(value, (low, high))
        return value, check.numbers(label, own, value)

    async def open_clear(self, label: str, share: Words,
                         purpose: Purpose = Purpose.MASKED) -> Words | None:
        """Open values that all holders may know; what lies above 64 bits stays masked."""
        await self.checked()
        flat, parts, zeros = share.ravel(), [], fresh_zeros.Zeros(self.party, label)
        async for span in self.engine.in_blocks("tops", share.size):
            drawn = await self.engine.draw([Need("tops", (span.stop - span.start,))])
            if drawn is not None:
                own: Any = flat[span] + drawn[0][0]
                parts.append(await self.open(label, zeros.on_numbers(own), purpose))
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    async def open_clear_bits(self, label: str, share: Any,
                              purpose: Purpose = Purpose.MASKED) -> Words | None:
        """Open bits that all holders may know."""
        await self.checked()
        if self.check is None:
            return None
        own: Any = fresh_zeros.Zeros(self.party, label).on_bits(share.ravel())
        return await self.open(label, own, purpose)

    async def checked(self) -> None:
        """Let nothing be opened without a mask that somebody could have changed before."""
        await self.engine.prove()
        if self.check is not None:
            await self.check.verify()

    async def _together(self, label: str, own: Words, purpose: Purpose) -> list[Words]:
        others = [name for name in self.party.holders if name != self.party.name]
        return [own, *await self.party.swap(others, label, own, purpose)]

    async def output(self, share: Words, receivers: Sequence[str], *, bits: bool,
                     purpose: Purpose = Purpose.DISCLOSURE) -> Words | None:
        """Return the value to its receivers, after everything before and it itself was checked."""
        await self.checked()
        everybody = set(receivers) == set(self.party.names)
        opened = await (self._opened_to_all(share, receivers, bits, purpose) if everybody else
                        self._opened_masked(share, receivers, bits))
        await self.checked()
        value = await self.handed_on(opened, receivers, share.size, purpose)
        if value is None or everybody:
            return value
        mask = self.engine.own_masks()[0]
        return np.asarray(value ^ mask if bits else value - mask)

    async def _opened_to_all(self, share: Any, receivers: Sequence[str], bits: bool,
                             purpose: Purpose) -> dict[str, Words]:
        """Open what everybody is to learn: only the words above a number need a mask."""
        opening = self.open_clear_bits if bits else self.open_clear
        value = await opening("reveal", share, purpose)
        return {} if value is None else dict.fromkeys(receivers, value)

    async def _opened_masked(self, share: Words, receivers: Sequence[str],
                             bits: bool) -> dict[str, Words]:
        """Open the value once for each receiver, under a mask that it alone knows."""
        kind = "bitmasks" if bits else "masks"
        drawn = await self.engine.draw([Need(kind, (share.size, self.party.names.index(name)))
                                        for name in receivers])
        if drawn is None:
            return {}
        own = share.ravel()
        rows: Any = np.stack([own ^ row[0] if bits else own + row[0] for row in drawn])
        return dict(zip(receivers, await self.open("reveal", rows), strict=True))

    async def handed_on(self, masked: dict[str, Words], receivers: Sequence[str], size: int,
                         purpose: Purpose) -> Words | None:
        """Send receivers without shares their masked value; they compare what all holders say."""
        party = self.party
        if party.is_holder:
            await asyncio.gather(*(party.send(name, "reveal", masked[name], purpose)
                                   for name in receivers if name not in party.holders))
        if party.name not in receivers:
            return None
        return masked[party.name] if party.name in masked else await self._agreed(size, purpose)

    async def _agreed(self, size: int, purpose: Purpose) -> Words:
        party = self.party
        got = [await party.receive(name, "reveal", "<u8", (size,), purpose)
               for name in party.holders]
        for words in got[1:]:
            if not np.array_equal(words, got[0]):
                party.refuse(" or ".join(party.holders), "deviated: holders sent different results")
        return got[0]
