"""Fresh sharings of zero on shares with tags that are opened as they are.

A share that leaves a holder without a mask is the word that the dealer sent, or one that went out
before. So each pair of holders adds a word that only these two know to one share and takes it from
the other, as `reveal` does where shares have no tags. The value stays, and so do its tags.
"""

from __future__ import annotations

import numpy as np

from unspoken.joint.mpc.authentic import ring128
from unspoken.joint.mpc.authentic.tagged import bare
from unspoken.joint.mpc.authentic.tagged_bits import TaggedBits, bits, tag_words
from unspoken.joint.mpc.authentic.tagged_numbers import TaggedNumbers, numbers
from unspoken.joint.mpc.party import Party


class Zeros:
    """One holder's parts of sharings of zero for one opening, block after block."""

    def __init__(self, party: Party, label: str) -> None:
        others = [name for name in party.holders if party.is_holder and name != party.name]
        self._streams = [(party.holders.index(party.name) < party.holders.index(name),
                          party.stream_with(name, f"zero {label}")) for name in others]

    def on_numbers(self, share: TaggedNumbers) -> TaggedNumbers:
        """Return shares of the same numbers; their upper words are masked already."""
        value = share.long
        for first, stream in self._streams:
            zero = stream.words(share.size).reshape(share.shape)
            move = ring128.add if first else ring128.subtract
            value = move(value, (zero, np.zeros_like(zero)))
        return numbers(value, share.tags)

    def on_bits(self, share: TaggedBits) -> TaggedBits:
        """Return shares of the same bits."""
        words = bare(share)
        for _, stream in self._streams:
            words = words ^ stream.words(share.size).reshape(share.shape)
        return bits(words, tag_words(share.known()[0]))
