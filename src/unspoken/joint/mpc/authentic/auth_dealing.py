"""Correlated randomness with tags: what a holder draws, and what the dealer sends the last one.

The parts are those of `kinds`, and every one has a tag. All holders expand their shares of values
and tags from a seed; the last one is sent the tags, and the values that the relation asks for.
Kinds more serve input, output and proofs: random words that one party knows (from a seed of its
own) or nobody does, and the holders share.

    masks    n who    r    sum r = what the party at place `who` draws, as numbers; beyond the last
                           place, what all parties draw alike
    bitmasks w who    r    xor r = the same, as bits
    tops     n        r    sum r = a multiple of 2^64: hides what lies above the 64 bits of a value
    veils    n w      r, s random numbers and words of bits, which hide sums in a proof
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.tagged import Tagged
from unspoken.joint.mpc.authentic.tagged_bits import TAG_WORDS, bits
from unspoken.joint.mpc.authentic.tagged_numbers import numbers
from unspoken.joint.mpc.correlated.kinds import GAP, Need
from unspoken.joint.mpc.randomness import Stream, derive

# Which parts of a kind are numbers, which are bits, and which are numbers above 64 bits only.
TYPES = {"triple": "nnn", "matrix": "nnn", "edabits": "nb", "ladders": "nbb", "dabits": "nb",
         "ands": "bbb", "pairs": "bbbbb", "cuts": "nnn", "masks": "n", "bitmasks": "b",
         "tops": "t", "veils": "nb"}
KNOWN = ("masks", "bitmasks")


@dataclass(frozen=True)
class TagKeys:
    """A holder's shares of the keys: of numbers modulo 2^128, of bits one word for each plane.

    A word of ones stands for a bit of the key that is set.
    """

    number: tuple[int, int]
    bit: Words


def keys_of(seed: bytes) -> TagKeys:
    """Return the shares that belong to a holder's seed."""
    words = Stream(derive(seed, "tag keys")).words(3)
    planes = (words[2] >> np.arange(TAG_WORDS, dtype=np.uint64)) & np.uint64(1)
    return TagKeys((int(words[0]), int(words[1])), np.negative(planes))


def whole_keys(seeds: Sequence[bytes]) -> TagKeys:
    """Return the keys themselves, which only the dealer knows."""
    each = [keys_of(seed) for seed in seeds]
    number = sum(low | high << 64 for low, high in (keys.number for keys in each)) % (1 << 128)
    return TagKeys((number % (1 << 64), number >> 64),
                   reduce(np.bitwise_xor, [keys.bit for keys in each]))


@dataclass
class Drawn:
    """One part of a wish at one holder: words, upper words (numbers), and tags."""

    kind: str
    words: Words
    high: Words
    tags: Words

    @property
    def bits(self) -> bool:
        """Return True for bits."""
        return self.kind == "b"

    def tagged(self) -> Tagged:
        """Return it as shares with tags."""
        if self.bits:
            return bits(self.words, self.tags.reshape(-1, TAG_WORDS))
        if self.kind == "t":
            return numbers((self.words, self.high), (self.words, self.tags))
        low, high = self.tags.reshape(2, -1)
        return numbers((self.words, self.high), (low, high))


def tag_length(kind: str, length: int) -> int:
    """Return how many words the tags of a part take; the lower ones of a multiple of 2^64 are 0."""
    return length * {"b": TAG_WORDS, "n": 2, "t": 1}[kind]


def draw(need: Need, stream: Stream, *, last: bool) -> list[Drawn]:
    """Return what one holder expands; the last one's tags and sent words are gaps."""
    parts = []
    for place, (kind, length) in enumerate(zip(TYPES[need.kind], need.lengths, strict=True)):
        words = np.zeros(length, np.uint64) if kind == "t" else (
            GAP if last and place in need.sent else stream.words(length))
        high = GAP if kind == "b" else stream.words(length)
        tags = GAP if last else stream.words(tag_length(kind, length))
        parts.append(Drawn(kind, words, high, tags))
    return parts


def sent_length(need: Need) -> int:
    """Return how many words the last holder is sent."""
    return sum((length if place in need.sent else 0) + tag_length(kind, length)
               for place, (kind, length) in enumerate(zip(TYPES[need.kind], need.lengths,
                                                          strict=True)))


def complete(need: Need, parts: list[Drawn], words: Words) -> None:
    """Fill the last holder's gaps with what it was sent."""
    at = 0
    for place, (part, length) in enumerate(zip(parts, need.lengths, strict=True)):
        if place in need.sent:
            part.words, at = words[at:at + length], at + length
        size = tag_length(part.kind, length)
        part.tags, at = words[at:at + size], at + size


def deal(need: Need, draws: Sequence[list[Drawn]], keys: TagKeys, known: Mapping[int, Stream],
         out: Words) -> None:
    """Write what the last holder is sent: words that fit, and the tags of everything."""
    complete(need, draws[-1], out)
    fitting = _fitting(need, draws, known) if need.sent else []
    for place, part in enumerate(draws[-1]):
        if place in need.sent:
            part.words[:] = fitting[need.sent.index(place)]
        _TAGS[part.kind]([row[place] for row in draws], keys)


def _fitting(need: Need, draws: Sequence[list[Drawn]], known: Mapping[int, Stream]) -> list[Words]:
    if need.kind not in KNOWN:
        gaps = [GAP if place in need.sent else part.words
                for place, part in enumerate(draws[-1])]
        return need.deal([*([part.words for part in parts] for parts in draws[:-1]), gaps])
    rest = known[need.sizes[1]].words(need.lengths[0])
    for parts in draws[:-1]:
        rest = rest ^ parts[0].words if parts[0].bits else rest - parts[0].words
    return [rest]


def _number_tags(parts: list[Drawn], keys: TagKeys) -> None:
    value = reduce(ring128.add, [(part.words, part.high) for part in parts])
    rest = ring128.times(value, keys.number)
    for part in parts[:-1]:
        low, high = part.tags.reshape(2, -1)
        rest = ring128.subtract(rest, (low, high))
    parts[-1].tags.reshape(2, -1)[:] = rest


def _bit_tags(parts: list[Drawn], keys: TagKeys) -> None:
    total: Any = reduce(np.bitwise_xor, [part.words for part in parts])
    tags = parts[-1].tags
    np.bitwise_and(total[:, None], keys.bit, out=tags.reshape(-1, TAG_WORDS))
    for part in parts[:-1]:
        tags ^= part.tags


def _top_tags(parts: list[Drawn], keys: TagKeys) -> None:
    """Write the upper words of tags of multiples of 2^64: the lower word of the key decides."""
    whole: Any = reduce(np.add, [part.high for part in parts])
    tags = parts[-1].tags
    np.multiply(whole, np.uint64(keys.number[0]), out=tags)
    for part in parts[:-1]:
        tags -= part.tags


_TAGS = {"n": _number_tags, "b": _bit_tags, "t": _top_tags}
