"""Where correlated randomness comes from: a seam of its own, which protocols do not see.

**Dealer** (the book's commodity server; Beaver 1997). The dealer sends each holder one fresh
seed. For each wish the holders expand their own parts; the last holder asks the dealer, who
expands all of them and sends the corrections. The dealer learns the kinds and sizes of what is
asked for (so the course of a run as far as sizes show it) and nothing else. It must not collude
with any holder: dealer and one holder together know every value that is multiplied or compared.
It is trusted to deal correctly (semi-honest). Seeds serve one run; each wish has a number and a
key of its own, and a number that was used is refused.

Cost: one request and its answer per step, to the last holder only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tacit.errors import InputError
from tacit.joint.correlations import MAX_WORDS, Need, Parts
from tacit.joint.frames import Message, Purpose, text_array
from tacit.joint.party import Base, Party, Roles, Seam
from tacit.joint.streams import SEED_BYTES, Stream, derive, fresh_seed

ASK, SEED, DEAL = "deal.ask", "deal.seed", "deal.correction"


class Source(Protocol):
    """What a protocol asks for."""

    async def draw(self, needs: Sequence[Need]) -> list[Parts]:
        """Return this holder's parts of every wish."""


class OwnSource:
    """For a single holder, who has nobody to hide anything from."""

    async def draw(self, needs: Sequence[Need]) -> list[Parts]:
        """Draw and correct alone."""
        drawn = [need.draw(Stream(fresh_seed())) for need in needs]
        return [need.apply(parts, need.correct([parts]))
                for need, parts in zip(needs, drawn, strict=True)]


class DealerSource:
    """A holder's side of the dealer."""

    def __init__(self, party: Party, seed: bytes) -> None:
        self._party = party
        self._seed = seed
        self._number = 0
        self._last = party.name == party.holders[-1]

    async def draw(self, needs: Sequence[Need]) -> list[Parts]:
        """Expand this holder's parts; the last holder has them corrected."""
        self._number += 1
        stream = Stream(derive(self._seed, "deal", self._number))
        if not self._last:
            return [need.draw(stream) for need in needs]
        party, dealer = self._party, str(self._party.roles.dealer)
        wish = json.dumps([self._number, [[n.kind, *n.sizes] for n in needs]])
        await party.send(dealer, ASK, text_array(wish), Purpose.CONTROL)
        drawn = [need.draw(stream) for need in needs]
        words = await party.receive(dealer, DEAL, "<u8",
                                    (sum(need.correction_words for need in needs),))
        return _apply(needs, drawn, words)


def _apply(needs: Sequence[Need], drawn: Sequence[Parts],
           words: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> list[Parts]:
    out, start = [], 0
    for need, parts in zip(needs, drawn, strict=True):
        corrections = []
        for place in need.corrected:
            corrections.append(words[start:start + need.lengths[place]])
            start += need.lengths[place]
        out.append(need.apply(parts, corrections))
    return out


async def open_source(party: Party) -> None:
    """Give a party its source of correlated randomness."""
    if len(party.holders) == 1:
        party.source = OwnSource()
    elif party.is_holder and party.roles.dealer is not None:
        raw = await party.receive(party.roles.dealer, SEED, "|u1", (SEED_BYTES,))
        party.source = DealerSource(party, raw.tobytes())


class Dealer(Base):
    """The dealer: answers the last holder until it has finished. Runs no program, has no data."""

    def __init__(self, seam: Seam, roles: Roles) -> None:
        super().__init__(seam, roles)
        self._seeds = [fresh_seed() for _ in roles.holders]
        self._used = 0

    async def serve(self) -> None:
        """Send the seeds, then answer every wish."""
        # Holders receive their seeds in their first step, as the agreement of keys.
        self.begin("deal")
        for holder, seed in zip(self.roles.holders, self._seeds, strict=True):
            await self.send(holder, SEED, np.frombuffer(seed, np.uint8), Purpose.SHARE)
        last = self.roles.holders[-1]
        while (message := await self.seam.receive_or_end(last)) is not None:
            await self._answer(last, message)

    async def _answer(self, last: str, message: Message) -> None:
        try:
            number, needs = _read_wish(message)
            if number <= self._used:
                raise InputError("used")
        except (ValueError, TypeError, KeyError, RecursionError):
            self._end(last, "asked for something that cannot be dealt")
        self._used = number
        self.count = message.step
        self.seam.step = f"{self.count} deal"
        streams = [Stream(derive(seed, "deal", number)) for seed in self._seeds]
        words = [part for need in needs
                 for part in need.correct([need.draw(stream) for stream in streams])]
        flat = np.concatenate([np.zeros(0, np.uint64), *(w.ravel() for w in words)])
        await self.send(last, DEAL, flat, Purpose.SHARE)


def _read_wish(message: Message) -> tuple[int, list[Need]]:
    """Check a wish from outside: a number, and a bounded list of kinds and sizes."""
    number, wishes = json.loads(bytes(message.array))
    if message.label != ASK or not isinstance(number, int) or not 0 < len(wishes) <= 1000:
        raise InputError("no wish")
    needs = [Need(str(kind), tuple(sizes)) for kind, *sizes in wishes]
    if sum(sum(need.lengths) for need in needs) > MAX_WORDS:
        raise InputError("too much")
    return number, needs
