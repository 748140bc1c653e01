"""Holders with a dealer who deals tags: whoever deviates, the run ends before anything leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.auth_dealing import TagKeys, keys_of
from unspoken.joint.mpc.authentic.auth_sources import OWN_SEED, TagDealer, TagSource
from unspoken.joint.mpc.authentic.given_again import check_given_again
from unspoken.joint.mpc.authentic.guarded import Guarded
from unspoken.joint.mpc.authentic.input_bounds import check_bounds
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.authentic.tag_products import tagged_matrix, tagged_products
from unspoken.joint.mpc.authentic.tagged_bits import TAG_WORDS, bits
from unspoken.joint.mpc.authentic.tagged_numbers import numbers
from unspoken.joint.mpc.bit_planes import plane_words
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.correlated.sources import SEED, Dealer
from unspoken.joint.mpc.engines.dealt_engine import WithDealer
from unspoken.joint.mpc.engines.engine import Engine
from unspoken.joint.mpc.engines.masked_engine import MaskedEngine
from unspoken.joint.mpc.engines.mode import having
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import SEED_BYTES
from unspoken.joint.mpc.words.masked_comparison import (
    below_zero_by_ladder,
    is_zero_by_ladder,
    ladder_needs,
)
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.endpoint import Roles, Seam
from unspoken.joint.wire.frames import Purpose

TAGGED = ("unspoken's own engine is not vetted; tags of 40 bits and more end the run if a holder "
          "deviates, given that the dealer is honest; owners may still lie about their own data")


ENGINE = ("unspoken's own engine with tags: a holder that deviates ends the run, given an honest "
          "dealer; not reviewed by outside experts")
BLOCK = 1 << 16
"""How many numbers are dealt, opened and multiplied at a time."""


class TagEngine(MaskedEngine):
    """A party's side of operations on shares with tags."""

    sums_on_shares = True
    finds_bits = True
    totals_by_dealer = True

    def __init__(self, party: Party) -> None:
        super().__init__(party)
        self._keys = TagKeys((0, 0), np.zeros(TAG_WORDS, np.uint64))
        self._tagged: TagSource | None = None

    @property
    def block(self) -> int:
        """Return how many values are compared at a time: every bit has a tag.

        What is dealt for a block stays below the 32 MiB that a process keeps for the next one.
        """
        return 1 << 14

    async def multiply(self, one: Words, other: Words) -> Words:
        """Multiply block by block."""
        x, y = one.ravel(), other.ravel()
        parts = [await self._product(x[span], y[span])
                 async for span in self.in_blocks("triple", one.size)]
        return _joined(parts).reshape(one.shape)

    async def _product(self, one: Words, other: Words) -> Words:
        drawn = await self.draw([Need("triple", (one.size,))])
        if drawn is None or self.guarded is None:
            return np.zeros(one.size, np.uint64)
        product: Words = await tagged_products(self.guarded, one, other, drawn[0])
        return product

    async def matmul(self, one: Words, other: Words) -> Words:
        """Add up products of blocks of the inner axis."""
        (n, k), m = one.shape, other.shape[1]
        inner = max(1, BLOCK // max(1, n + m))
        spans = [slice(at, at + inner) for at in range(0, max(k, 1), inner)]
        await self.ask_here([[Need("matrix", (n, min(k, s.stop) - s.start, m))] for s in spans])
        return _total([await self._block_product(one[:, s], other[s]) for s in spans])

    async def _block_product(self, one: Words, other: Words) -> Words:
        (n, k), m = one.shape, other.shape[1]
        drawn = await self.draw([Need("matrix", (n, k, m))])
        if drawn is None or self.guarded is None:
            return np.zeros((n, m), np.uint64)
        product: Words = await tagged_matrix(self.guarded, one, other, drawn[0])
        return product

    async def truncate(self, words: Words, bits: int) -> Words:
        """Cut block by block."""
        flat = words.ravel()
        parts = [await super(TagEngine, self).truncate(flat[span], bits)
                 async for span in self.in_blocks("cuts", words.size, bits)]
        return _joined(parts).reshape(words.shape)

    async def to_numbers(self, plane: Words, size: int) -> Words:
        """Turn bits into numbers block by block: what is proved of them is 40 times as long."""
        parts = [await super(TagEngine, self).to_numbers(
            plane[s.start // 64:plane_words(s.stop)], s.stop - s.start)
                 async for s in self.in_blocks("dabits", size)]
        return _joined(parts)

    async def in_blocks(self, kind: str, size: int, *also: int) -> AsyncIterator[slice]:
        """Yield blocks that draw one kind each, all of which are asked for now.

        The dealer makes the next block while holders use the last, and what is between stays near
        the processor.
        """
        spans = [slice(at, min(at + BLOCK, size)) for at in range(0, max(size, 1), BLOCK)]
        await self.ask_here([[Need(kind, (s.stop - s.start, *also))] for s in spans])
        for span in spans:
            yield span

    async def ask_here(self, draws: Sequence[Sequence[Need]]) -> None:
        """Ask the dealer for all that this step draws."""
        if self._tagged is not None:
            await self._tagged.ask_here(draws)

    async def open(self) -> None:
        """Receive the seeds of a run."""
        party, dealer = self.party, str(self.party.roles.dealer)
        if len(party.holders) < 2 or party.roles.dealer is None:
            raise RefusedError("Shares with tags need two holders and a dealer. Add them, or use "
                               "mode='dealer'.")
        seed = b""
        if party.is_holder:
            seed = (await party.receive(dealer, SEED, "|u1", (SEED_BYTES,),
                                        Purpose.SHARE)).tobytes()
            self._keys = keys_of(seed)
        own = (await party.receive(dealer, OWN_SEED, "|u1", (2 * SEED_BYTES,),
                                   Purpose.SHARE)).tobytes()
        self.begin_with(seed, (own[:SEED_BYTES], own[SEED_BYTES:]))

    def begin_with(self, seed: bytes, own_seeds: tuple[bytes, bytes]) -> None:
        """Make the source and the check that belong to the seeds of a run."""
        party = self.party
        self.source = self._tagged = TagSource(party, seed, own_seeds)
        party.ledger.engine = ENGINE
        check = TagCheck(party, self._keys) if party.is_holder else None
        self.guarded = Guarded(self, check)

    async def below_zero(self, words: Words, width: int) -> Words:
        """Compare as others do, but open nothing on the lowest level: tags make openings dear."""
        drawn = await self.draw(ladder_needs(words.size, width, "pairs"))
        if drawn is None:
            return np.zeros(plane_words(words.size), np.uint64)
        return await below_zero_by_ladder(self.party, words, width, drawn)

    async def is_zero(self, words: Words, width: int) -> Words:
        """Test for zero in the same way."""
        drawn = await self.draw(ladder_needs(words.size, width, "ands"))
        if drawn is None:
            return np.zeros(plane_words(words.size), np.uint64)
        return await is_zero_by_ladder(self.party, words, width, drawn)

    async def announce(self, kind: str, sizes: Sequence[int], width: int) -> None:
        """Ask for all blocks at once: the dealer works on the next while holders use the last."""
        joining = "pairs" if kind == "less than" else "ands"
        if self._tagged is not None and len(sizes) > 1:
            await self._tagged.ask_ahead([ladder_needs(size, width, joining) for size in sizes])

    async def before_opening(self) -> None:
        """Test what owners shared against its bounds, and against what they shared before."""
        if self.guarded is not None:
            await check_bounds(self.guarded)
            await check_given_again(self.guarded)

    async def finish(self) -> None:
        """Check what is left before the run counts as complete."""
        await self.before_opening()
        if self.guarded is not None:
            await self.guarded.checked()

    async def prove(self) -> None:
        """Have what was dealt proved, where the dealer is not trusted to deal rightly."""
        return

    @property
    def tagged(self) -> TagSource:
        """Return where this party's randomness comes from."""
        if self._tagged is None:
            raise RuntimeError("the engine is not open")
        return self._tagged

    def own_masks(self) -> list[Words]:
        """Return what this party knows of the masks that were drawn last."""
        return [] if self._tagged is None else self._tagged.own

    def public_words(self, words: Any) -> Any:
        """Return a share of public words with its tag."""
        words = np.asarray(words)
        if not self.party.is_holder:
            return np.zeros_like(words)
        low = words if self.party.adds_public else np.zeros_like(words)
        high = np.zeros_like(words)
        return numbers((low, high), ring128.times((words, high), self._keys.number))

    def public_bits(self, words: Any) -> Any:
        """Return a share of public bits with their tags."""
        words = np.asarray(words)
        if not self.party.is_holder:
            return np.zeros_like(words)
        low = words if self.party.adds_public else np.zeros_like(words)
        return bits(low, words[..., None] & self._keys.bit)


def _joined(parts: list[Words]) -> Words:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _total(parts: list[Words]) -> Words:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


class WithTags(WithDealer):
    """As 'dealer', but every share carries a tag: deviating holders end the run."""

    name = "authenticated"
    finds_deviation = True
    own_ways = ("checks of tags", "secure sum by masks of which the dealer releases the sum")

    def check(self, members: Sequence[Member]) -> None:
        """Refuse what 'dealer' refuses, and a single holder."""
        super().check(members)
        if len(having(members, "holder")) < 2:
            raise StudyError("Mode 'authenticated' needs two parties with the role 'holder'. There "
                             "are fewer.")

    def engine(self, party: Party) -> Engine:
        """Return an engine on randomness with tags."""
        return TagEngine(party)

    def dealer(self, seam: Seam, roles: Roles) -> Dealer:
        """Return a dealer that deals tags."""
        return TagDealer(seam, roles)

    def notes(self, holders: int) -> tuple[str, ...]:
        """Return what tags are good for."""
        return (TAGGED,)
