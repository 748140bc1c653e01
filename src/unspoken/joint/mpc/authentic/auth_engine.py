"""Holders with a dealer who deals tags: whoever deviates, the run ends before anything leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError, StudyError
from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.auth_dealing import TagKeys, keys_of
from unspoken.joint.mpc.authentic.auth_sources import OWN_SEED, TagDealer, TagSource
from unspoken.joint.mpc.authentic.guarded import Guarded
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.authentic.tagged_bits import TAG_WORDS, bits
from unspoken.joint.mpc.authentic.tagged_numbers import numbers
from unspoken.joint.mpc.bit_planes import plane_words
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


class TagEngine(MaskedEngine):
    """A party's side of operations on shares with tags."""

    sums_on_shares = True

    def __init__(self, party: Party) -> None:
        super().__init__(party)
        self._keys = TagKeys((0, 0), np.zeros(TAG_WORDS, np.uint64))
        self._tagged: TagSource | None = None

    @property
    def block(self) -> int:
        """Return how many values are compared at a time: every bit has a tag."""
        return 1 << 15

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
        self.source = self._tagged = TagSource(party, seed, (own[:SEED_BYTES], own[SEED_BYTES:]))
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

    async def finish(self) -> None:
        """Check what is left before the run counts as complete."""
        if self.guarded is not None and self.guarded.check is not None:
            await self.guarded.check.verify()

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


class WithTags(WithDealer):
    """As 'dealer', but every share carries a tag: deviating holders end the run."""

    name = "authenticated"
    refused_tasks = ("bayes-columns", "classify-columns")

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
