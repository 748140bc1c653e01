"""Where randomness with tags comes from if a third owner deals: it deals, and then it proves.

**A proof** covers everything that was dealt since the last one, and comes before any value leaves
the shares, and earlier when much is waiting. Its messages, in order:

    proof.deal    dealer to the last holder    what belongs to masks that serve this proof alone
    proof.ready   last holder to the first     that it has it: the dealer is bound now
    proof.coin    both holders to the dealer   the same 32 bytes, which only these two knew
    proof.open    dealer to both holders       masked values and sums (`proof.opened`)

Holders compare what they were shown and what is left of every relation together with all tags, by
the hash of the next check. If the dealer deviates, both holders are honest, and the check fails
whatever their values are: that a run ended tells it nothing. If a holder deviates, the dealer is
honest: it answers only if both send the same coin, and what is left at the other holder is what
this one has itself, so that the proof shows it nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import InputError
from unspoken.joint.mpc.authentic import auth_dealing
from unspoken.joint.mpc.authentic.auth_dealing import KNOWN, Drawn, whole_keys
from unspoken.joint.mpc.authentic.auth_sources import OWN_SEED, TagSource, dealt_with_tags
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.correlated.sources import DEAL, send_seeds
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import SEED_BYTES, fresh_seed
from unspoken.joint.mpc.verified.proof import (
    Part,
    Sizes,
    claims_with,
    fitted,
    opened,
    rests,
)
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.hollow_arrays import blank_words, is_dry

PROOF, READY, COIN, OPEN = "proof.deal", "proof.ready", "proof.coin", "proof.open"
FULL = 1 << 22
"""What was dealt is proved once about this many words wait."""


@dataclass
class Unproved:
    """What was dealt since the last proof: wishes, and what one or all holders have of them."""

    dealt: list[tuple[Need, Any]] = field(default_factory=list)
    weight: int = 0
    turn: int = 0

    def add(self, needs: Sequence[Need], rows: Sequence[Any]) -> None:
        """Remember a wish; nothing is kept of it in a dry run but its size."""
        self.dealt += zip(needs, rows, strict=True)
        self.weight += Sizes.of(needs).opened + sum(map(auth_dealing.sent_length, needs))

    def taken(self) -> tuple[Sizes, list[tuple[Need, Any]], int]:
        """Return what is to be proved now, and the number of the proof."""
        dealt, self.dealt, self.weight, self.turn = self.dealt, [], 0, self.turn + 1
        return Sizes.of([need for need, _ in dealt]), dealt, self.turn


class ProvedSource(TagSource):
    """A holder's side: it keeps what it draws until that is proved."""

    def __init__(self, party: Party, seed: bytes, own_seeds: tuple[bytes, bytes]) -> None:
        super().__init__(party, seed, own_seeds)
        self._unproved, self._dealer = Unproved(), str(party.roles.dealer)
        [self._other] = [name for name in party.holders if name != party.name]
        self.check: TagCheck | None = None

    async def draw(self, needs: Sequence[Need]) -> list[list[Any]] | None:
        """Draw, and have it proved where much is waiting."""
        refuse_common(needs, self._party)
        drawn = await super().draw(needs)
        if self._unproved.weight > FULL:
            await self.prove()
        return drawn

    def keep(self, needs: Sequence[Need], parts: list[list[Drawn]]) -> None:
        """Keep what was drawn, and compare masks that this holder or the other one knows."""
        self._unproved.add(needs, parts)
        own = iter(self.own)
        for need, [part, *_] in zip(needs, parts, strict=True):
            if need.kind in KNOWN:
                self._compare(need, part, own)

    def _compare(self, need: Need, part: Drawn, own: Any) -> None:
        """Add what the other holder must have as well: a mask less the share of who knows it."""
        who = self._party.names[need.sizes[1]]
        words = part.words
        if who == self._party.name:
            mask = next(own)
            words = mask ^ words if part.bits else mask - words
        if who != self._dealer and not is_dry():
            self.checks.broadcast("deal", words)

    @property
    def waits(self) -> bool:
        """Return True if something was drawn that has not been proved."""
        return bool(self._unproved.dealt)

    @property
    def checks(self) -> TagCheck:
        """Return this holder's check."""
        if self.check is None:
            raise RuntimeError("the engine is not open")
        return self.check

    async def prove(self) -> None:
        """Have everything proved that was dealt since the last time."""
        if not self._unproved.dealt:
            return
        sizes, dealt, turn = self._unproved.taken()
        part = None if is_dry() else Part.drawn(sizes, self._seed, turn, last=self._last)
        await self._bound(sizes, part)
        coin = self._party.stream_with(self._other, f"proof {turn}").words(SEED_BYTES // 8)
        await self._party.send(self._dealer, COIN, np.asarray(coin).view(np.uint8),
                               Purpose.CONTROL)
        shown = await self._party.receive(self._dealer, OPEN, "<u8", (sizes.opened,),
                                          Purpose.MASKED)
        if part is not None:
            self._test(dealt, part, sizes, coin.tobytes(), shown)

    async def _bound(self, sizes: Sizes, part: Part | None) -> None:
        """Wait until the dealer can change nothing any more."""
        party = self._party
        if not self._last:
            await party.receive(self._other, READY, "|u1", (1,), Purpose.CONTROL)
            return
        words = await party.receive(self._dealer, PROOF, "<u8", (sizes.sent,), Purpose.SHARE)
        if part is not None:
            part.complete(sizes, words)
        await party.send(self._other, READY, np.zeros(1, np.uint8), Purpose.CONTROL)

    def _test(self, dealt: list[tuple[Need, Any]], part: Part, sizes: Sizes, coin: bytes,
              shown: Words) -> None:
        """Put what must be the same at both holders into the next check."""
        first, check = not self._last, self.checks
        claims = claims_with(dealt, part, sizes, first=first)
        check.broadcast("deal", shown)
        for words in rests(claims, part, sizes, coin, shown, check.keys, first=first):
            check.broadcast("deal", words)


class ProverSource(TagSource):
    """The third owner's side: it deals while it runs the program, and proves what it dealt."""

    def __init__(self, party: Party) -> None:
        self._seeds = [fresh_seed() for _ in party.holders]
        self._own = [fresh_seed() for _ in party.names]
        super().__init__(party, b"", (self._own[party.index], b""))
        self._unproved, self._keys = Unproved(), whole_keys(self._seeds)

    async def open(self) -> None:
        """Send holders their seeds, and the other parties those of what they alone know."""
        party = self._party
        await send_seeds(party, self._seeds)
        for name, seed in zip(party.names, self._own, strict=True):
            if name != party.name:
                both = np.frombuffer(seed + bytes(SEED_BYTES), np.uint8)
                await party.send(name, OWN_SEED, both, Purpose.SHARE)

    async def draw(self, needs: Sequence[Need]) -> None:
        """Deal to the last holder, and prove it where much is waiting."""
        refuse_common(needs, self._party)
        await super().draw(needs)
        words, rows = self._dealt(needs)
        await self._party.send(self._party.holders[-1], DEAL, words, Purpose.SHARE)
        self._unproved.add(needs, rows)
        if self._unproved.weight > FULL:
            await self.prove()

    def _dealt(self, needs: Sequence[Need]) -> tuple[Words, Sequence[Any]]:
        if is_dry():
            return blank_words(sum(map(auth_dealing.sent_length, needs))), needs
        return dealt_with_tags((self._seeds, self._own, self._keys), self._number, needs)

    async def prove(self) -> None:
        """Prove everything that was dealt since the last time."""
        if not self._unproved.dealt:
            return
        party, (sizes, dealt, turn) = self._party, self._unproved.taken()
        parts = [] if is_dry() else [Part.drawn(sizes, seed, turn, last=seed is self._seeds[-1])
                                     for seed in self._seeds]
        words = fitted(sizes, parts, self._keys, dealt) if parts else blank_words(sizes.sent)
        await party.send(party.holders[-1], PROOF, words, Purpose.SHARE)
        coin = await self._coin()
        shown = self._opened(dealt, parts, sizes, coin) if parts else blank_words(sizes.opened)
        for name in party.holders:
            await party.send(name, OPEN, shown, Purpose.MASKED)

    async def _coin(self) -> bytes:
        """Return the coin, on which both holders must agree before they are shown anything."""
        party = self._party
        one, other = [(await party.receive(name, COIN, "|u1", (SEED_BYTES,),
                                           Purpose.CONTROL)).tobytes() for name in party.holders]
        if one != other and not is_dry():
            party.refuse(" or ".join(party.holders), "deviated: holders sent different coins")
        return one

    def _opened(self, dealt: list[tuple[Need, Any]], parts: list[Part], sizes: Sizes,
                coin: bytes) -> Words:
        claims = [claims_with([(need, rows[place]) for need, rows in dealt], part, sizes,
                              first=place == 0) for place, part in enumerate(parts)]
        return opened(claims, parts, coin)


def refuse_common(needs: Sequence[Need], party: Party) -> None:
    """Refuse masks that all parties know alike: nobody could tell whether they got the same."""
    if any(need.kind in KNOWN and need.sizes[1] >= len(party.names) for need in needs):
        raise InputError("Masks that all parties know cannot be proved.")
