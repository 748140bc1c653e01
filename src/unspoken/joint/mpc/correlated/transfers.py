"""Oblivious transfers between two holders, in the forms that protocols ask for.

Both holders call the same method. The first holder offers, the second chooses; `back` is the
other direction, with leaves of its own, for the few protocols that need it.

**pick**: a table of up to sixteen entries of a few bits each; the chooser gets the entry that its
choice names. 16 bytes, and the bits of the table, for each transfer.
**correlate**: the offerer gives words g and gets random words s, the chooser with bit c gets
s + c g. 4 bytes, and the words once, for each transfer.
**choose**: of two words (chosen strings). **random**: two random words, of which one is chosen.
  discloses: nothing but lengths. Safe against either holder, also with all other owners.
  cost: 1 round there and 1 back, in pieces of some 100,000 transfers, a few of them on their way
    at a time, so that memory is bounded and both holders compute at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.bit_planes import bits_of, plane_words
from unspoken.joint.mpc.correlated.oblivious_transfer import (
    BITS,
    LEAVES,
    PLACES,
    choose_leaves,
    need_group,
    offer_leaves,
)
from unspoken.joint.mpc.correlated.ot_extension import Leaves, Pads, add_choice, multiples
from unspoken.joint.mpc.randomness import derive, fresh_seed
from unspoken.joint.wire.frames import Purpose

if TYPE_CHECKING:
    from unspoken.joint.mpc.party import Party

PIECE = 2048
"""Words of a plane that travel together: 131,072 transfers."""
AHEAD = 3
_WIDE = 1 << 20
_NOTHING = np.zeros(2, np.uint64)


class Transfer:
    """One holder's side. What 128 transfers in the group give is made when it is first needed."""

    def __init__(self, party: Party, offers: bool | None = None) -> None:
        need_group()
        self._party = party
        self._peer = next(name for name in party.holders if name != party.name)
        self._cipher = derive(party.seam.session, "transfer hash",
                              "there" if offers is None else "back")[:16]
        self._leaves: Leaves | None = None
        self._secret = np.zeros(PLACES, np.uint8)
        self._multiples = np.zeros((LEAVES, 2), np.uint64)
        self._made = 0
        self._back: Transfer | None = None
        self.offers = party.name == party.holders[0] if offers is None else offers

    @property
    def back(self) -> Transfer:
        """Return the other direction, in which the second holder offers."""
        if self._back is None:
            self._back = Transfer(self._party, not self.offers)
        return self._back

    async def pick(self, label: str, own: Words, entries: int, width: int) -> Words:
        """Return the bits (width, words) that the choices name; the offerer gets nothing.

        The offerer gives its table as planes (entries, width, words), the chooser its choices as
        planes (bits, words), the lowest first.
        """
        words = own.shape[-1]
        if self.offers:
            for part in pieces(words, PIECE):
                await self._offer_table(label, own[:, :, part])
            return np.zeros((width, 0), np.uint64)
        choices = np.zeros((BITS, words), np.uint64)
        choices[:own.shape[0]] = own
        out, waiting = np.empty((width, words), np.uint64), deque[tuple[slice, Words]]()
        for part in pieces(words, PIECE):
            pads = await self._ask(label, choices[:, part])
            waiting.append((part, pads.planes(_NOTHING, width)))
            if len(waiting) > AHEAD:
                await self._take_table(label, choices, entries, out, waiting.popleft())
        for last in waiting:
            await self._take_table(label, choices, entries, out, last)
        return out

    async def _offer_table(self, label: str, table: Words) -> None:
        pads = await self._answer(label, BITS, table.shape[2])
        masked = np.empty(table.shape, np.uint64)
        for entry, plain in enumerate(table):
            np.bitwise_xor(plain, pads.planes(self._times(entry), table.shape[1]),
                           out=masked[entry])
        await self._party.send(self._peer, label + ".table", masked, Purpose.ENCRYPTED)

    async def _take_table(self, label: str, choices: Words, entries: int, out: Words,
                          asked: tuple[slice, Words]) -> None:
        part, pads = asked
        table = await self._party.receive(self._peer, label + ".table", "<u8",
                                          (entries, *pads.shape), Purpose.ENCRYPTED)
        out[:, part] = pads ^ selected(table, choices[:, part])

    async def correlate(self, label: str, own: Words, count: int, length: int = 1) -> Words:
        """Return s to the offerer of g (count, length), and s + c g to the chooser of c, a plane.

        Both get words of shape (count, length).
        """
        piece = max(1, min(2 * PIECE, _WIDE // (64 * length)))
        out = np.empty((plane_words(count) * 64, length), np.uint64)
        waiting = deque[tuple[slice, Words, Words]]()
        for part in pieces(plane_words(count), piece):
            lanes = slice(part.start * 64, part.stop * 64)
            if self.offers:
                out[lanes] = await self._offer_words(label, own[lanes], part.stop - part.start,
                                                     length)
                continue
            pads = await self._ask(label, own[None, part])
            waiting.append((lanes, own[part], pads.words(_NOTHING, length)))
            if len(waiting) > AHEAD:
                await self._take_words(label, out, *waiting.popleft())
        for last in waiting:
            await self._take_words(label, out, *last)
        return out[:count]

    async def _offer_words(self, label: str, offsets: Words, words: int, length: int) -> Words:
        pads = await self._answer(label, 1, words)
        kept = pads.words(_NOTHING, length)
        sent = kept - pads.words(self._times(1), length)
        sent[:len(offsets)] += offsets
        await self._party.send(self._peer, label + ".words", sent, Purpose.ENCRYPTED)
        return kept

    async def _take_words(self, label: str, out: Words, lanes: slice, choice: Words,
                          pads: Words) -> None:
        sent = await self._party.receive(self._peer, label + ".words", "<u8", pads.shape,
                                         Purpose.ENCRYPTED)
        bits = bits_of(choice, len(pads))
        out[lanes] = pads + bits[:, None] * sent

    async def random(self, label: str, own: Words, count: int) -> Words:
        """Return two random words of each transfer (count, 2) to the offerer, one to the chooser.

        The chooser gives its choices as a plane; the offerer gives nothing (an empty array).
        """
        received = [np.zeros((0, 2 if self.offers else 1), np.uint64)]
        for part in pieces(plane_words(count), PIECE):
            if self.offers:
                pads = await self._answer(label, 1, part.stop - part.start)
                received.append(np.hstack([pads.words(_NOTHING, 1), pads.words(self._times(1), 1)]))
            else:
                received.append((await self._ask(label, own[None, part])).words(_NOTHING, 1))
        return np.concatenate(received)[:count]

    async def choose(self, label: str, own: Words, count: int) -> Words:
        """Return the words that a plane of choices names, of the offerer's pairs (count, 2)."""
        pads = await self.random(label, own, count)
        if self.offers:
            await self._party.send(self._peer, label + ".words", own ^ pads, Purpose.ENCRYPTED)
            return np.zeros((0,), np.uint64)
        sent = await self._party.receive(self._peer, label + ".words", "<u8", (count, 2),
                                         Purpose.ENCRYPTED)
        chosen = np.take_along_axis(sent, bits_of(own, count)[:, None].astype(np.int64), axis=1)
        return np.asarray((chosen ^ pads)[:, 0])

    async def _ask(self, label: str, choices: Words) -> Pads:
        """Send the choices, masked, and return the pads of the chosen entries."""
        sums, rows = (await self._opened()).expand(*choices.shape)
        sums ^= choices
        await self._party.send(self._peer, label + ".choice", sums, Purpose.MASKED)
        return self._pads(rows)

    async def _answer(self, label: str, planes: int, words: int) -> Pads:
        """Take masked choices, and return the pads of all entries, the first at no offset."""
        _, rows = (await self._opened()).expand(planes, words)
        sent = await self._party.receive(self._peer, label + ".choice", "<u8",
                                         (PLACES, planes, words), Purpose.MASKED)
        add_choice(rows, self._secret, sent)
        return self._pads(rows)

    def _pads(self, rows: Words) -> Pads:
        """Number the transfers; no number is used twice in a run."""
        first = self._made
        self._made += rows.shape[1] * 64
        return Pads(self._cipher, rows, first)

    def _times(self, entry: int) -> Words:
        return np.asarray(self._multiples[entry])

    async def _opened(self) -> Leaves:
        """Return the leaves of this run; the offerer draws its secret and gets all but one."""
        if self._leaves is not None:
            return self._leaves
        if self.offers:
            raw = np.frombuffer(fresh_seed(), np.uint8)
            self._secret = (raw[:PLACES] & (LEAVES - 1)).astype(np.uint8)
            self._multiples = multiples(self._secret)
            most = await choose_leaves(self._party, self._peer, self._secret)
            # It counts its leaves from the one that it does not have.
            keys = [[place[x ^ int(own)] for x in range(LEAVES)]
                    for place, own in zip(most, self._secret, strict=True)]
        else:
            keys = await offer_leaves(self._party, self._peer)
        self._leaves = Leaves(keys)
        return self._leaves


def pieces(total: int, size: int) -> Iterator[slice]:
    """Yield slices of at most `size` that cover `total`."""
    for start in range(0, total, size):
        yield slice(start, min(total, start + size))


def selected(table: Words, choices: Words) -> Words:
    """Return the entry that each choice names: planes (entries, width, words) and (bits, words)."""
    left, bit = table, 0
    while len(left) > 1:
        low, high = left[0::2], left[1::2]
        left = low ^ ((low ^ high) & choices[bit])
        bit += 1
    return np.asarray(left[0])
