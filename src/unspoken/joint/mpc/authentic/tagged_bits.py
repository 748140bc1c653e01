"""Shares of bits, 64 a word, with the planes of their tags: what numpy may do with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unspoken.joint.mpc.authentic.tagged import LostTagError, Tagged, bare, tag

TAG_WORDS = 40
TAGS = np.dtype((np.void, 8 * TAG_WORDS))


class TaggedBits(Tagged):
    """Shares of bits, 64 a word: `parts` holds the planes of their tags as one item."""

    def _operations(self) -> dict[tuple[str, str], Callable[..., Any]]:
        return BIT_OPERATIONS


def tag_words(items: Any) -> np.ndarray[Any, Any]:
    """Return tags as words, their planes along a new last axis."""
    # Rows that lie apart need no copy, as long as each lies together.
    together = items.ndim > 0 and items.strides[-1] == items.itemsize
    whole = items if together else np.ascontiguousarray(items)
    return whole.view(np.uint64).reshape(*items.shape, TAG_WORDS)


def tag_items(words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return planes of tags, along the last axis, as one item for each word of bits."""
    return np.ascontiguousarray(words).view(TAGS).reshape(words.shape[:-1])


def bits(words: Any, tags: np.ndarray[Any, Any]) -> TaggedBits:
    """Return shares of bits with the planes of their tags along the last axis."""
    tagged: TaggedBits = tag(TaggedBits, words, (tag_items(tags),))
    return tagged


def _xored(one: Any, other: Any, **_: Any) -> TaggedBits:
    if not (isinstance(one, TaggedBits) and isinstance(other, TaggedBits)):
        raise LostTagError("Public bits are added to shares with public_bits, because their tags "
                           "belong to them.")
    return bits(bare(one) ^ bare(other), tag_words(one.known()[0]) ^ tag_words(other.known()[0]))


def _chosen(one: Any, other: Any, **_: Any) -> TaggedBits:
    value, words = (one, other) if isinstance(one, TaggedBits) else (other, one)
    if isinstance(words, Tagged):
        raise LostTagError("Two shared bits are joined with: await both(party, x, y).")
    return bits(bare(value) & words, tag_words(value.known()[0]) & np.asarray(words)[..., None])


def _joined(value: TaggedBits, axis: int = 0, **_: Any) -> TaggedBits:
    place = axis % value.ndim
    return bits(np.bitwise_xor.reduce(bare(value), axis=place),
                np.bitwise_xor.reduce(tag_words(value.known()[0]), axis=place))


BIT_OPERATIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("bitwise_xor", "__call__"): _xored, ("bitwise_and", "__call__"): _chosen,
    ("bitwise_xor", "reduce"): _joined}
