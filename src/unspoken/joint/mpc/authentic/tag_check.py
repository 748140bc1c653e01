"""Checking tags: everything opened since the last check must be what was shared.

For an opened value v a holder has its share of the tag less its share of the key times v; all
holders' add up to zero if v is right, and to something nobody can guess if it is not: for numbers
an error e < 2^64 shifts the sum by the key times e modulo 2^128, of which at least 64 bits are
unknown, and for bits by the key, 40 bits. Two holders compare hashes of all these words; more
than two add up the words themselves, masked by a fresh sharing of zero. Everybody commits to what
it will show before it sees the others', under its own name and with 32 fresh bytes, so that nobody
can repeat, fit or search for an answer. What owners broadcast is hashed along, so that all holders
have the same.

Opened words are uniform even where somebody deviates, so that checking can wait until a value is
to leave the shares; nothing leaves before the check has passed.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.auth_dealing import TagKeys
from unspoken.joint.mpc.authentic.tagged_bits import TaggedBits, tag_words
from unspoken.joint.mpc.authentic.tagged_numbers import TaggedNumbers
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import fresh_seed
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.hollow_arrays import is_dry

LABEL = "check.tags"
FULL = 1 << 22
"""More than two holders check once this many words wait."""


class TagCheck:
    """What one holder has to compare with the others before anything leaves."""

    def __init__(self, party: Party, keys: TagKeys) -> None:
        self.party, self.keys = party, keys
        self._place = party.holders.index(party.name)
        self._others = [name for name in party.holders if name != party.name]
        self._hash = hashlib.sha256(party.seam.session)
        self._rest: list[tuple[bool, Words]] = []
        self._labels: dict[str, None] = {}
        self._turn = 0

    @property
    def waiting(self) -> bool:
        """Return True if something was opened since the last check."""
        return bool(self._labels)

    @property
    def full(self) -> bool:
        """Return True if so much waits that it should be checked now."""
        return sum(words.size for _, words in self._rest) > FULL

    def numbers(self, label: str, share: TaggedNumbers, opened: ring128.Long) -> ring128.Long:
        """Add opened numbers; return this holder's shares of their tags."""
        sides = share.tags, ring128.times(opened, self.keys.number)
        # Two holders compare: what one has is what the other lacks.
        turned = len(self._others) == 1 and self._place
        rest = ring128.subtract(*(sides[::-1] if turned else sides))
        self._add(label, False, np.concatenate([part.ravel() for part in rest]))
        return sides[1]

    def bits(self, label: str, share: TaggedBits, opened: Words) -> None:
        """Add opened bits."""
        rest = opened[..., None] & self.keys.bit
        rest ^= tag_words(share.known()[0])
        self._add(label, True, rest.ravel())

    def broadcast(self, label: str, words: Words) -> None:
        """Add what an owner sent to every holder."""
        self._labels[label] = None
        self._hash.update(np.ascontiguousarray(words).tobytes())

    def _add(self, label: str, is_bits: bool, words: Words) -> None:
        self._labels[label] = None
        if len(self._others) == 1:
            self._hash.update(np.ascontiguousarray(words).data)
        elif self._others:
            self._rest.append((is_bits, words))

    async def verify(self) -> None:
        """Compare with the other holders, and end the run if anything does not fit."""
        if not self._others or not self.waiting:
            return
        self._turn += 1
        if len(self._others) == 1:
            await self._compare()
        else:
            await self._add_up()
        self._labels.clear()

    def _digest(self, name: str, *more: bytes) -> bytes:
        state = self._hash.copy()
        for part in (name.encode(), *more):
            state.update(len(part).to_bytes(8, "little") + part)
        return state.digest()

    def _broken(self, name: str, promise: bytes, shown: Any) -> bool:
        """Return True if a holder promised something else; in a dry run nothing has to fit."""
        return not is_dry() and promise != self._digest(name, shown.tobytes())

    async def _compare(self) -> None:
        """Compare hashes; a salt keeps the commitment from being searched."""
        own = np.frombuffer(fresh_seed(), np.uint8)
        for name, promise, salt in await self._shown(own):
            if self._broken(name, promise, salt):
                self._refuse()

    async def _add_up(self) -> None:
        own, vectors = self._masked(), []
        for name, promise, words in await self._shown(own):
            vectors.append(words)
            if self._broken(name, promise, words):
                self._refuse()
        if not is_dry() and any(_sums([own, *vectors], self._shape())):
            self._refuse()
        self._rest.clear()

    async def _shown(self, own: Any) -> list[tuple[str, bytes, Any]]:
        """Commit to an array, show it, and return what the others committed to and showed."""
        committed = np.frombuffer(self._digest(self.party.name, own.tobytes()), np.uint8)
        promises = await self._swap(committed)
        shown = await self._swap(own)
        return [(name, promise.tobytes(), array) for name, promise, array in zip(
            self._others, promises, shown, strict=True)]

    async def toss(self) -> bytes:
        """Return 32 bytes that no holder could know or choose before all had sent theirs."""
        own = np.frombuffer(fresh_seed(), np.uint8)
        seeds = [own]
        for name, promise, seed in await self._shown(own):
            if self._broken(name, promise, seed):
                self.party.refuse(" or ".join(self._others), "deviated: its part of a common coin "
                                  "is not the one it promised")
            seeds.append(seed)
        return bytes(np.bitwise_xor.reduce(seeds))

    def _shape(self) -> list[tuple[bool, int]]:
        return [(is_bits, words.size) for is_bits, words in self._rest]

    def _masked(self) -> Words:
        """Return this holder's words with its part of a sharing of zero on them."""
        out = [words.copy() for _, words in self._rest]
        for name in self._others:
            stream = self.party.stream_with(name, f"check {self._turn}")
            first = self._place < self.party.holders.index(name)
            for i, (is_bits, words) in enumerate(self._rest):
                zero = stream.words(words.size)
                out[i] = out[i] ^ zero if is_bits else _long(
                    ring128.add if first else ring128.subtract, out[i], zero)
        return np.concatenate(out) if out else np.zeros(0, np.uint64)

    async def _swap(self, array: Any) -> list[Any]:
        return await self.party.swap(self._others, LABEL, array, Purpose.CONTROL)

    def _refuse(self) -> None:
        """Name the operations that opened something since the last check; peers are told, too."""
        names = dict.fromkeys(label.partition(".")[0] for label in self._labels)
        self.party.refuse(" or ".join(self._others), "deviated: the tags of what was opened "
                          f"({', '.join(names)}) do not fit")


def _long(operation: Any, one: Words, other: Words) -> Words:
    """Apply an operation on long numbers whose lower words come first."""
    low, high = operation(tuple(one.reshape(2, -1)), tuple(other.reshape(2, -1)))
    return np.concatenate([low, high])


def _sums(vectors: list[Words], shape: list[tuple[bool, int]]) -> list[bool]:
    """Say of every piece whether its sum is not zero."""
    wrong, at = [], 0
    for is_bits, size in shape:
        total = vectors[0][at:at + size]
        for words in vectors[1:]:
            piece = words[at:at + size]
            total = total ^ piece if is_bits else _long(ring128.add, total, piece)
        wrong.append(bool(total.any()))
        at += size
    return wrong
