"""The first place of the greatest of a few values, in few rounds.

All pairs are compared at once, and a place wins if it beats all others: 14 rounds for up to 17
candidates, where a tournament needs 9 for each halving. It costs more comparisons, so it is for
few nodes or few candidates; otherwise the tournament serves. Both take the first among equals, and
which one is used follows from public sizes.
  discloses: nothing. Safe against whom comparisons are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.joint.correlations import Need
from tacit.joint.party import Party
from tacit.joint.planes import bits_of, plane_of, plane_words
from tacit.joint.primitives.bits import SharedBits, and_words, blank_bits, both, to_numbers
from tacit.joint.primitives.comparison import below_zero_needs, tree
from tacit.joint.protocols.trees.layout import Ints
from tacit.joint.ring import Shared, concatenate, stack, width_of
from tacit.joint.streams import Words

MOST_PAIRS = 1 << 16


async def first_greatest(party: Party, values: Shared, size: Shared | None = None,
                         least: int = 1) -> Shared:
    """Return the first place of the greatest along the last of two axes.

    With sizes, 0 where a size is less than `least`, and nobody learns which of the two it was.
    """
    if by_tournament(values.shape):
        return await _unless_small(party, (await party.argmax(values))[0], size, least)
    hot = await _winners(party, values, size, least)
    columns = values.shape[1]
    place = concatenate([hot[:, j:j + 1] * j for j in range(columns)], 1).sum(axis=1)
    return place.within(0, columns - 1)


async def hot_greatest(party: Party, values: Shared, size: Shared | None = None,
                       least: int = 1) -> Shared:
    """Return the same as numbers for all places but the first: 1 at that place, 0 at others."""
    if not by_tournament(values.shape):
        return (await _winners(party, values, size, least))[:, 1:].within(0, 1)
    place = await _unless_small(party, (await party.argmax(values))[0], size, least)
    rows, columns = values.shape
    every = np.broadcast_to(np.arange(1, columns), (rows, columns - 1))
    found = await party.equal(stack([place] * (columns - 1)).T, party.public(every))
    return await party.to_numbers(found)


def by_tournament(shape: tuple[int, ...]) -> bool:
    """Say whether there are too many pairs, or one only."""
    rows, columns = shape
    return columns < 3 or rows * columns * (columns - 1) // 2 > MOST_PAIRS


async def _winners(party: Party, values: Shared, size: Shared | None, least: int) -> Shared:
    """Return 1 at the place that beats all others; nowhere if the first wins as rows are small."""
    later = await party.less_than(_gaps(values, size, least), 0)
    return await to_numbers(party, await _all(party, _beats(party, later, values.shape[1])))


def _gaps(values: Shared, size: Shared | None, least: int) -> Shared:
    """Return all differences of two, the earlier first, and what a size is above the least."""
    rows, columns = values.shape
    left, right = np.triu_indices(columns, 1)
    gaps = values[:, left] - values[:, right]
    if size is None or least <= 1:
        return gaps
    # The one comparison more travels with the others.
    return concatenate([gaps, replace(size - least, scale=gaps.scale).reshape(rows, 1)], 1)


def steps_of(values: Shared, size: Shared | None, least: int) -> list[list[Need]]:
    """Return what each step of finding the greatest draws; nothing if it goes by tournament."""
    rows, columns = values.shape
    if by_tournament(values.shape):
        return []
    few = None if size is None else size[:1]
    gaps = _gaps(values[:1], few, least)
    return [below_zero_needs(rows * gaps.shape[1], width_of(gaps.low, gaps.high)),
            _all_needs(rows * columns, columns - 1 + gaps.shape[1] - columns * (columns - 1) // 2),
            [Need("dabits", (rows * columns,))]]


async def _unless_small(party: Party, place: Shared, size: Shared | None, least: int) -> Shared:
    """Return 0 where a node has fewer records than asked for."""
    if size is None or least <= 1:
        return place
    [kept] = await party.keep(~await party.less_than(size, least), [place])
    return kept.within(place.low, place.high)


def _beats(party: Party, later: SharedBits, columns: int) -> SharedBits:
    """Return (rows, columns, columns - 1): whether each place beats each of the others.

    If there is one bit more a row, it says that no place but the first may win: another column.
    """
    rows = later.shape[0]
    pairs = bits_of(later.share, later.size).reshape(rows, -1)
    number = np.zeros((columns, columns), np.int64)
    left, right = np.triu_indices(columns, 1)
    number[left, right] = number[right, left] = np.arange(left.size)
    out = pairs[:, _others(number)]
    # The earlier of two wins unless the later is greater; one holder turns the bit.
    if party.adds_public:
        out ^= _others(np.triu(np.ones((columns, columns), np.int64), 1)).astype(np.uint64)
    if pairs.shape[1] > left.size:
        big = pairs[:, -1:] ^ np.uint64(1) if party.adds_public else pairs[:, -1:]
        first = np.full((rows, 1), party.adds_public, np.uint64)
        gate = np.concatenate([first, np.repeat(big, columns - 1, axis=1)], axis=1)
        out = np.concatenate([out, gate[:, :, None]], axis=2)
    return SharedBits(party, plane_of(out), out.shape)


def _others(square: Ints) -> Ints:
    """Return a square without its diagonal."""
    size = len(square)
    return square[~np.eye(size, dtype=bool)].reshape(size, size - 1)


async def _all(party: Party, bits: SharedBits) -> SharedBits:
    """Return where all bits along the last axis are set, by a tree of ANDs asked for at once."""
    if party.engine is not None:
        return await _all_by_engine(party, bits)
    party.begin("and")
    drawn = await party.draw(_all_needs(int(np.prod(bits.shape[:-1])), bits.shape[-1]))
    if drawn is None:
        return blank_bits(party, bits.shape[:-1])
    array = bits_of(bits.share, bits.size).reshape(bits.shape)
    for level, triple in enumerate(drawn):
        one, other, rest = _halves(array)
        found = await and_words(party, f"choose.and{level}", plane_of(one), plane_of(other),
                                triple)
        array = np.concatenate([bits_of(found, one.size).reshape(one.shape), rest], axis=-1)
    return SharedBits(party, plane_of(array), bits.shape[:-1])


def _all_needs(size: int, count: int) -> list[Need]:
    return [Need("ands", (plane_words(size * half),)) for half in tree(count)]


async def _all_by_engine(party: Party, bits: SharedBits) -> SharedBits:
    """Return the same where an engine computes."""
    array = bits_of(bits.share, bits.size).reshape(bits.shape)
    while array.shape[-1] > 1:
        one, other, rest = _halves(array)
        sides = [SharedBits(party, plane_of(side), side.shape) for side in (one, other)]
        found = await both(party, *sides)
        array = np.concatenate([bits_of(found.share, found.size).reshape(one.shape), rest], -1)
    return SharedBits(party, plane_of(array), bits.shape[:-1])


def _halves(array: Words) -> tuple[Words, Words, Words]:
    """Return two halves along the last axis, and what is left if its length is odd."""
    half = array.shape[-1] // 2
    return array[..., :half], array[..., half:2 * half], array[..., 2 * half:]
