"""Linkage of two small lists without a linkage unit: encodings are compared on shares.

Both owners share their encodings, as 1 and -1. The products of all pairs (one matrix product) say
how many bits agree; each is compared with the agreed threshold, and only whether it is reached is
opened, to the owners. A pair counts if neither of its records is similar to another one.
  discloses: to everybody the sizes of both lists; to the owners, for each of their records, to how
    many of the other's it is similar, and which of these are the same. Both lists were shuffled
    before, so that a place says nothing.
  safe against: whom the study's mode is safe against. Nobody sees an encoding.
  breaks if: an owner makes up people, as in every alignment.
  cost: 4 kB a record, and a comparison of every pair: some thousand records at most.
"""

from __future__ import annotations

import asyncio

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.linkage.candidate_pairs import Places
from unspoken.joint.mpc.linkage.linkage_rules import MOST_PAIRS, SIMILAR, SIZES, LinkRules
from unspoken.joint.mpc.linkage.linkage_unit import Values, common_key, shuffled_encodings
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.hollow_arrays import is_dry


async def link_on_shares(party: Party, values: Values | None, rules: LinkRules) -> Places | None:
    """Return the places of this owner's linked records, in an order common to both owners."""
    owners = party.roles.owners
    if len(owners) != 2 or not party.holders:
        raise RefusedError("Records are linked on shares between two owners, in a mode that has "
                           f"shares. Here are {len(owners)} owners. Name a linkage unit instead.")
    party.begin("link")
    bits = 64 * rules.encoding.words
    order, encodings = np.zeros(0, np.int64), np.zeros((0, 1), np.uint64)
    if party.name in owners:
        order, encodings = shuffled_encodings(values or (), await common_key(party), rules)
    sizes = await _sizes(party, len(order))
    parts = [await share(party, _signs(encodings) if party.name == owner else None, owner,
                         (size, bits), -1, 1) for owner, size in zip(owners, sizes, strict=True)]
    agreeing = await matmul(party, parts[0], parts[1].T)
    apart = await less_than(party, agreeing, round(rules.threshold * bits))
    similar = await reveal(party, ~apart, because=SIMILAR, to=owners)
    if similar is None:
        return None
    places = _only_partners(np.asarray(similar))[owners.index(party.name)]
    party.ledger.linkage = (f"{len(places):,} records are linked, from the agreed similarity of "
                            f"{rules.threshold:.2f} on")
    return np.asarray(order[places])


async def _sizes(party: Party, own: int) -> tuple[int, int]:
    """Return how many records both owners have; everybody learns it."""
    party.opening(SIZES, (), (2,))
    owners = party.roles.owners
    if party.name in owners:
        await asyncio.gather(*(party.send(peer, "link.size", np.array([own], np.int64),
                                          Purpose.DISCLOSURE) for peer in party.peers))
    counts = [own if owner == party.name else int((await party.receive(
        owner, "link.size", "<i8", (1,), Purpose.DISCLOSURE))[0]) for owner in owners]
    party.learned(party.names, counts)
    if min(counts) < 0 or counts[0] * counts[1] > MOST_PAIRS:
        raise RefusedError(f"On shares at most {MOST_PAIRS:,} pairs can be compared. These lists "
                           "have more. Name a linkage unit with --linker.")
    return counts[0], counts[1]


def _signs(encodings: Words) -> npt.NDArray[np.int64]:
    """Return encodings as rows of 1 and -1."""
    bits = np.unpackbits(np.ascontiguousarray(encodings).view(np.uint8), axis=1)
    return 2 * bits.astype(np.int64) - 1


def _only_partners(similar: npt.NDArray[np.bool_]) -> tuple[Places, Places]:
    """Return the pairs of which both are similar to nobody else."""
    if is_dry():
        least = np.arange(min(similar.shape))
        return least, least
    once = similar & (similar.sum(axis=1) == 1)[:, None] & (similar.sum(axis=0) == 1)
    first, second = np.nonzero(once)
    return first, second
