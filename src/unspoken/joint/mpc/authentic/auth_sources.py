"""Where randomness with tags comes from: a party's side, and the dealer's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import InputError
from unspoken.joint.mpc.authentic import auth_dealing
from unspoken.joint.mpc.authentic.auth_dealing import KNOWN, TYPES, TagKeys, whole_keys
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.correlated.sources import (
    DEAL,
    Dealer,
    DealerSource,
    Wish,
    wish_key,
)
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import Stream, fresh_seed
from unspoken.joint.wire.endpoint import Roles, Seam
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.hollow_arrays import is_dry

OWN_SEED, RELEASE = "deal.own", "deal.release"


class TagSource(DealerSource):
    """A party's side: a holder draws shares with tags, any party what it alone knows."""

    def __init__(self, party: Party, seed: bytes, own_seeds: tuple[bytes, bytes]) -> None:
        super().__init__(party, seed)
        # Rehearsals are made for engines with tables.
        self.asks_ahead = False
        # What it alone knows, and what every party of the program does.
        self._own_seeds = {party.index: own_seeds[0], len(party.names): own_seeds[1]}
        self._holds = party.is_holder
        self.own: list[Words] = []
        """What this party knows of the last wish's masks, in order."""

    async def draw(self, needs: Sequence[Need]) -> list[list[Any]] | None:
        """Expand this party's parts; the last holder is sent the rest."""
        self._number += 1
        self.own = self._known(needs)
        if not self._holds:
            return None
        if self._asks:
            wish = Wish(self._number, self._party.count, tuple(needs))
            if not self._asked:
                await self._ask([wish])
            self._must_be_asked(wish)
        stream = Stream(wish_key(self._seed, self._number, needs))
        parts = [auth_dealing.draw(need, stream, last=self._last) for need in needs]
        if self._last:
            await self._fill(needs, parts)
        self.keep(needs, parts)
        return [[part.tagged() for part in row] for row in parts]

    def keep(self, needs: Sequence[Need], parts: list[list[auth_dealing.Drawn]]) -> None:
        """Keep nothing of what was drawn: an honest dealer proves nothing."""

    def _known(self, needs: Sequence[Need]) -> list[Words]:
        mine = [need for need in needs if need.kind in KNOWN and need.sizes[1] in self._own_seeds]
        streams = {who: Stream(wish_key(self._own_seeds[who], self._number, needs))
                   for who in {need.sizes[1] for need in mine}}
        return [streams[need.sizes[1]].words(need.lengths[0]) for need in mine]

    async def _fill(self, needs: Sequence[Need], parts: list[list[auth_dealing.Drawn]]) -> None:
        sizes = [auth_dealing.sent_length(need) for need in needs]
        words = await self._party.receive(str(self._party.roles.dealer), DEAL, "<u8",
                                          (sum(sizes),), Purpose.SHARE)
        at = 0
        for need, row, size in zip(needs, parts, sizes, strict=True):
            auth_dealing.complete(need, row, words[at:at + size])
            at += size

    async def total_mask(self, size: int) -> tuple[int, Words]:
        """Return the number of a wish for masks of a total, and this party's own mask."""
        self._number += 1
        needs = (Need("totals", (size,)),)
        await self._wish(needs)
        own = Stream(wish_key(self._own_seeds[self._party.index], self._number, needs))
        return self._number, own.words(size)

    async def release(self, total: tuple[int, int], receivers: Sequence[str]) -> None:
        """Let a holder confirm that receivers may learn the sum of masks: its number, its size."""
        self._number += 1
        party = self._party
        need = Need("release", (*total, *sorted(party.names.index(name) for name in receivers)))
        await self._wish((need,))
        if self._holds and not self._asks:
            confirmed = np.array(need.sizes, np.uint64)
            await party.send(str(party.roles.dealer), RELEASE, confirmed, Purpose.CONTROL)

    async def _wish(self, needs: tuple[Need, ...]) -> None:
        """Ask for something of which this holder itself is sent nothing."""
        if self._asks:
            wish = Wish(self._number, self._party.count, needs)
            await self._ask([wish])
            self._must_be_asked(wish)

    async def ask_ahead(self, steps: Sequence[Sequence[Need]]) -> None:
        """Ask for what each of the next steps is sure to draw."""
        await super().prefetch(steps)

    async def ask_here(self, draws: Sequence[Sequence[Need]]) -> None:
        """Ask for all that this step draws, one after the other."""
        if self._asks and len(draws) > 1:
            first, step = self._number + 1, self._party.count
            await self._ask([Wish(first + i, step, tuple(needs))
                             for i, needs in enumerate(draws)])

    async def prefetch(self, steps: Sequence[Sequence[Need]], after: int = 0) -> None:
        """Ask for nothing ahead."""


class TagDealer(Dealer):
    """A dealer that deals tags, and tells every party its own seed."""

    def __init__(self, seam: Seam, roles: Roles) -> None:
        super().__init__(seam, roles)
        self._own = [fresh_seed() for _ in (*roles.program, "everybody")]
        self._keys = whole_keys(self._seeds)
        self._secret, self._totals = fresh_seed(), dict[tuple[int, int], bytes]()

    async def send_all_seeds(self) -> None:
        """Send holders their seeds, and every party those of what it and what all parties know."""
        await super().send_all_seeds()
        *each, common = self._own
        for name, seed in zip(self.roles.program, each, strict=True):
            await self.send(name, OWN_SEED, np.frombuffer(seed + common, np.uint8), Purpose.SHARE)

    async def deliver(self, last: str, wish: Wish) -> None:
        """Answer a wish; totals go to the last owner, and their keys to receivers."""
        kind = wish.needs[0].kind if len(wish.needs) == 1 else ""
        if kind == "totals":
            await self.send(self.roles.owners[-1], DEAL, self._last_mask(wish), Purpose.SHARE)
        elif kind == "release":
            await self._release(*wish.needs[0].sizes)
        else:
            await super().deliver(last, wish)

    def _last_mask(self, wish: Wish) -> Words:
        """Return the mask of the last owner: all of them add up to what a key of the dealer's own
        gives.
        """
        size, program = wish.needs[0].sizes[0], self.roles.program
        key = wish_key(self._secret, wish.number, wish.needs)
        self._totals[wish.number, size] = key
        rest = Stream(key).words(size)
        for name in self.roles.owners[:-1]:
            seed = self._own[program.index(name)]
            rest = rest - Stream(wish_key(seed, wish.number, wish.needs)).words(size)
        return rest

    async def _release(self, number: int, size: int, *places: int) -> None:
        """Send the key of a total to its receivers, once all holders have confirmed it."""
        for holder in self.roles.holders[:-1]:
            confirmed = await self.receive(holder, RELEASE, "<u8", (2 + len(places),),
                                           Purpose.CONTROL)
            if not is_dry() and confirmed.tolist() != [number, size, *places]:
                self._end(holder, "confirmed another total than the other holders")
        if (number, size) not in self._totals or max(places) >= len(self.roles.program):
            self._end(self.roles.holders[-1], "asked for something that cannot be dealt")
        key = np.frombuffer(self._totals.pop((number, size)), np.uint8)
        for place in places:
            await self.send(self.roles.program[place], RELEASE, key, Purpose.SHARE)

    def words_for(self, wish: Wish) -> Words:
        """Return what the last holder is sent."""
        return dealt_with_tags((self._seeds, self._own, self._keys), wish.number, wish.needs)[0]


Secrets = tuple[Sequence[bytes], Sequence[bytes], TagKeys]
"""What a dealer knows: holders' seeds, parties' own seeds, and the keys that follow from both."""


def dealt_with_tags(secrets: Secrets, number: int,
                    needs: Sequence[Need]) -> tuple[Words, list[list[list[auth_dealing.Drawn]]]]:
    """Return what the last holder is sent for a wish, and what every holder has of each need."""
    seeds, own, keys = secrets
    for need in needs:
        known = need.kind not in KNOWN or need.sizes[1] < len(own)
        if need.kind not in TYPES or not known:
            raise InputError("This cannot be dealt with tags.")
    *streams, last = (Stream(wish_key(seed, number, needs)) for seed in seeds)
    known_to = {place: Stream(wish_key(seed, number, needs)) for place, seed in enumerate(own)}
    sizes = [auth_dealing.sent_length(need) for need in needs]
    out, at, rows = np.empty(sum(sizes), np.uint64), 0, []
    for need, size in zip(needs, sizes, strict=True):
        rows.append([*(auth_dealing.draw(need, stream, last=False) for stream in streams),
                     auth_dealing.draw(need, last, last=True)])
        auth_dealing.deal(need, rows[-1], keys, known_to, out[at:at + size])
        at += size
    return out, rows
