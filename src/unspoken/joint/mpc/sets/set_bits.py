"""Sets over a public universe as shared bits: their intersection, its size, and their union.

Every owner shares one bit for each element of the universe, and the bits of all owners are put
together by a tree of ANDs (an OR is one of inverted bits). Only the result is opened.
  discloses: the intersection, its size, or the union, to those in `to`; nothing about sizes,
    overlaps or owners beyond what these imply. Preferred over encryption wherever there is a
    universe small enough to list.
  safe against: all holders but one; never the dealer with a holder. Of two owners, one who
    learns the union learns what the other has and it has not: that is in the result.
  cost: log2 m rounds up, 1 bit an element from every owner, 2 bits an element and AND; plus
    `to_numbers` for a size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Bools
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.bit_planes import plane_of, plane_words
from unspoken.joint.mpc.ops.shared_bits import SharedBits, both, to_numbers, words_from
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import encoded


def flags_of(own: Sequence[bytes], universe: Sequence[Any]) -> Bools:
    """Return where the universe has a party's ids; one that is not in it is refused."""
    known = encoded(universe)
    if len(set(known)) != len(known):
        raise RefusedError("The universe has repeated elements. List every element once.")
    mine = set(own)
    if not mine <= set(known):
        raise RefusedError("Some elements of this party are not in the public universe. Drop "
                           "them, or agree on a wider universe.")
    return np.array([item in mine for item in known], np.bool_)


async def common_by_shares(party: Party, own: Sequence[bytes] | None, universe: Sequence[Any],
                           because: str, to: Sequence[str]) -> int | None:
    """Return the size of the intersection over a universe."""
    bits = await _shared_flags(party, own, universe)
    numbers = await to_numbers(party, await all_of(party, bits))
    common = await reveal(party, numbers.sum(), because=because, to=to)
    return None if common is None else int(common)


async def common_members(party: Party, own: Sequence[bytes] | None, universe: Sequence[Any],
                         because: str, to: Sequence[str]) -> Bools | None:
    """Return which elements of a universe all owners have."""
    bits = await _shared_flags(party, own, universe)
    flags: Bools | None = await reveal(party, await all_of(party, bits), because=because, to=to)
    return flags


async def union_by_shares(party: Party, own: Sequence[bytes] | None, universe: Sequence[Any],
                          because: str, to: Sequence[str]) -> Bools | None:
    """Return which elements of a universe some owner has."""
    bits = await _shared_flags(party, own, universe)
    none = await all_of(party, [~one for one in bits])
    flags: Bools | None = await reveal(party, ~none, because=because, to=to)
    return flags


async def _shared_flags(party: Party, own: Sequence[bytes] | None,
                        universe: Sequence[Any]) -> list[SharedBits]:
    flags = None if own is None else flags_of(own, universe)
    return await share_bits(party, flags, len(universe))


async def share_bits(party: Party, flags: Bools | None, count: int) -> list[SharedBits]:
    """Return the bits of every owner as shares; owners share all at once, others give None."""
    party.begin("share bits")
    if not party.holders:
        raise RefusedError("Shares need holders. Mode 'sums' has none. Use mode='dealer'.")
    own = None if flags is None else plane_of(flags.astype(np.uint64))
    parts = await asyncio.gather(*(
        words_from(party, own if owner == party.name else None, owner, plane_words(count))
        for owner in party.roles.owners))
    return [SharedBits(party, part, (count,)) for part in parts]


async def all_of(party: Party, bits: Sequence[SharedBits]) -> SharedBits:
    """Return where all bits are set: neighbours together, one AND for all pairs of a level."""
    row = list(bits)
    while len(row) > 1:
        pairs = len(row) // 2
        joined = await both(party, _joined(row[0:2 * pairs:2]), _joined(row[1:2 * pairs:2]))
        parts = joined.share.reshape(pairs, -1)
        row = [replace(row[0], share=part) for part in parts] + row[2 * pairs:]
    return row[0]


def _joined(bits: Sequence[SharedBits]) -> SharedBits:
    share = np.concatenate([one.share for one in bits])
    return replace(bits[0], share=share, shape=(64 * share.size,))
