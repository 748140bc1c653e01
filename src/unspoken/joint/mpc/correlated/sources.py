"""Where correlated randomness comes from: a seam of its own, which protocols do not see.

**Dealer** (the book's commodity server; Beaver 1997). The dealer sends each holder one fresh
seed. For each wish the holders expand their own parts; the last holder asks the dealer, who
expands all of them and sends what makes them fit. The dealer learns the kinds and sizes of what is
asked for (so the course of a run as far as sizes show it) and nothing else. It must not collude
with any holder: dealer and one holder together know every value that is multiplied or compared.
It is trusted to deal correctly (semi-honest). Seeds serve one run; each wish has a number and a
key of its own, bound to what is wished for, so that a holder who asks for something else than the
others draw learns nothing of their parts; a number that was used is refused.

Cost: one request and its answer per step, to the last holder only; or one request for several
steps whose sizes are known (`prefetch`), so that nobody waits for the dealer.

**Three parties** (honest majority): the third owner is the dealer. It runs the same program, so
it knows what is needed and nobody has to ask. Safe against any one of the three, as ABY3 is; any
two together know everything. It also takes part in the result, which the zero share of `reveal`
makes safe.

**Two parties**: no dealer at all; the two holders make everything by oblivious transfer
(`transfer_source`). It costs kilobytes where a dealer costs bytes.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import InputError
from unspoken.joint.mpc.correlated.kinds import GAP, MAX_WORDS, Need, Parts
from unspoken.joint.mpc.correlated.source import Source
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import Stream, derive, fresh_seed
from unspoken.joint.wire.endpoint import Base, Roles, Seam
from unspoken.joint.wire.frames import Message, Purpose, text_array

ASK, SEED, DEAL = "deal.ask", "deal.seed", "deal.correction"
MAX_ASK, MAX_WISHES = 1 << 20, 1000


@dataclass(frozen=True)
class Wish:
    """What one step draws; its number makes the keys."""

    number: int
    step: int
    needs: tuple[Need, ...]


class OwnSource(Source):
    """For a single holder, which has no other holder to hide values from."""

    async def draw(self, needs: Sequence[Need]) -> list[Parts]:
        """Draw and deal alone."""
        drawn = [need.draw(Stream(fresh_seed()), last=True) for need in needs]
        return [need.complete(parts, need.deal([parts]))
                for need, parts in zip(needs, drawn, strict=True)]


class DealerSource(Source):
    """A holder's side of the dealer."""

    def __init__(self, party: Party, seed: bytes) -> None:
        self._party = party
        self._seed = seed
        self._number = 0
        self._last = party.name == party.holders[-1]
        self._asks = self.asks_ahead = self._last and party.roles.dealer not in party.names
        self._asked: deque[Wish] = deque()

    async def draw(self, needs: Sequence[Need]) -> list[Parts] | None:
        """Expand this holder's parts; the last holder is sent the rest."""
        self._number += 1
        stream = Stream(wish_key(self._seed, self._number, needs))
        if not self._last:
            return [need.draw(stream) for need in needs]
        party, dealer = self._party, str(self._party.roles.dealer)
        if self._asks:
            wish = Wish(self._number, party.count, tuple(needs))
            if not self._asked:
                await self._ask([wish])
            self._must_be_asked(wish)
        drawn = [need.draw(stream, last=True) for need in needs]
        size = sum(sum(need.sent_lengths) for need in needs)
        words = await party.receive(dealer, DEAL, "<u8", (size,), Purpose.SHARE)
        return _complete(needs, drawn, words)

    async def prefetch(self, steps: Sequence[Sequence[Need]], after: int = 0) -> None:
        """Ask for several steps at once; the dealer works while the holders do."""
        if self._asks and steps:
            first, step = self._number + 1, self._party.count + after + 1
            await self._ask([Wish(first + i, step + i, tuple(needs))
                             for i, needs in enumerate(steps)])

    def _must_be_asked(self, wish: Wish) -> None:
        """Refuse to draw something else than what was asked for."""
        known = self._asked.popleft()
        if known != wish:
            raise RuntimeError(f"step {wish.step} draws {wish}, and {known} was asked for")

    async def _ask(self, wishes: Sequence[Wish]) -> None:
        asked = [[w.number, w.step, [[n.kind, *n.sizes] for n in w.needs]] for w in wishes]
        await self._party.send(str(self._party.roles.dealer), ASK, text_array(json.dumps(asked)),
                               Purpose.CONTROL)
        self._asked.extend(wishes)


def _complete(needs: Sequence[Need], drawn: Sequence[Parts],
              words: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> list[Parts]:
    out, start = [], 0
    for need, parts in zip(needs, drawn, strict=True):
        sent = []
        for length in need.sent_lengths:
            sent.append(words[start:start + length])
            start += length
        out.append(need.complete(parts, sent))
    return out


class ThirdSource(Source):
    """The side of a third owner, which deals to the two holders while running the program."""

    def __init__(self, party: Party) -> None:
        self._party = party
        self._seeds = [fresh_seed() for _ in party.holders]
        self._number = 0

    async def draw(self, needs: Sequence[Need]) -> None:
        """Send the last holder what it does not draw."""
        self._number += 1
        words = dealt(self._seeds, self._number, needs)
        await self._party.send(self._party.holders[-1], DEAL, words, Purpose.SHARE)

    async def open(self) -> None:
        """Send the holders their seeds."""
        await send_seeds(self._party, self._seeds)


def wish_key(seed: bytes, number: int, needs: Sequence[Need]) -> bytes:
    """Return the key of a holder's parts of one wish, bound to the kinds and sizes wished for.

    A holder who asks the dealer for something else than the others draw is sent words that have
    nothing to do with theirs: the dealer cannot be made to open another holder's stream.
    """
    text = ";".join(f"{need.kind}:{','.join(map(str, need.sizes))}" for need in needs)
    return derive(seed, "deal", number, text)


def dealt(seeds: Sequence[bytes], number: int, needs: Sequence[Need]) -> Words:
    """Return what the last holder is sent for one wish."""
    *others, last = (Stream(wish_key(seed, number, needs)) for seed in seeds)
    words = [part.ravel() for need in needs
             for part in need.deal([*(need.draw(stream) for stream in others),
                                    need.draw(last, last=True)])]
    return np.concatenate([GAP, *words])


async def send_seeds(dealer: Base, seeds: Sequence[bytes]) -> None:
    """Send each holder the seed of its parts."""
    for holder, seed in zip(dealer.roles.holders, seeds, strict=True):
        await dealer.send(holder, SEED, np.frombuffer(seed, np.uint8), Purpose.SHARE)


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
        await self.send_all_seeds()
        last = self.roles.holders[-1]
        while (message := await self.seam.receive_or_end(last)) is not None:
            await self._answer(last, message)

    async def send_all_seeds(self) -> None:
        """Send each holder its seed."""
        await send_seeds(self, self._seeds)

    def words_for(self, wish: Wish) -> Words:
        """Return what the last holder is sent for one wish."""
        return dealt(self._seeds, wish.number, wish.needs)

    async def _answer(self, last: str, message: Message) -> None:
        try:
            wishes = _read_wishes(message)
            numbers = [self._used, *(wish.number for wish in wishes)]
            if any(one >= other for one, other in pairwise(numbers)):
                raise InputError("used")
        except (ValueError, TypeError, KeyError, RecursionError):
            self._end(last, "asked for something that cannot be dealt")
        self._used = numbers[-1]
        for wish in wishes:
            self.count = wish.step
            self.seam.step = f"{self.count} deal"
            await self.deliver(last, wish)

    async def deliver(self, last: str, wish: Wish) -> None:
        """Answer one wish."""
        await self.send(last, DEAL, self.words_for(wish), Purpose.SHARE)


def _read_wishes(message: Message) -> list[Wish]:
    """Check wishes from outside: numbers, steps, and bounded lists of kinds and sizes."""
    if message.label != ASK or message.array.size > MAX_ASK:
        raise InputError("no wish")
    wishes = [_read_wish(message.step, *each) for each in json.loads(bytes(message.array))]
    if not wishes or sum(sum(need.lengths) for w in wishes for need in w.needs) > MAX_WORDS:
        raise InputError("nothing, or too much")
    return wishes


def _read_wish(earliest: int, number: object, step: object,
               needs: Sequence[Sequence[object]]) -> Wish:
    if not isinstance(number, int) or not isinstance(step, int) or not (
            earliest <= step < earliest + MAX_WISHES and 0 < len(needs) <= MAX_WISHES):
        raise InputError("no wish")
    return Wish(number, step, tuple(Need(str(kind), tuple(sizes))  # type: ignore[arg-type]
                                    for kind, *sizes in needs))
