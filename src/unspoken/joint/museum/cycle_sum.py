"""The collusion-resistant ring (vcz2006 section 3.3.2; Kantarcioglu and Clifton), by name.

Each owner splits its vector into k additive shares, and each share goes round a Hamiltonian cycle
of its own; no two cycles have an edge in common, so that no owner has a neighbour twice and all
2k neighbours must work together to learn its vector.
  discloses: the total, to the first owner (it also sees k uniform partial totals).
  safe against: fewer than 2k parties, k = (m - 1) / 2 rounded down, the number of edge-disjoint
    cycles that m parties have (Walecki). Below 5 owners there is one cycle only and nothing is
    gained over the ring: refused. `masks` withstands m - 2 at a fraction of the cost.
  cost: m rounds (the cycles run together), 8 n m k bytes, 8 n for each further receiver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from unspoken.arrays import Words
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.secure_sum import SumWay, hand_on, receive_total, sum_by
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.mpc.shared import total
from unspoken.joint.museum.ring_sum import first_owner, once_round

LEAST = 5


def disjoint_cycles(m: int) -> list[list[int]]:
    """Return (m - 1) // 2 Hamiltonian cycles on 0..m-1 without a common edge (Walecki)."""
    if m % 2 == 0:
        return _even(m)
    k = (m - 1) // 2
    zigzag = [0]
    for step in range(1, k + 1):
        zigzag += [step, -step]
    return [[m - 1, *((place + turn) % (2 * k) for place in zigzag[:2 * k])]
            for turn in range(k)]


def _even(m: int) -> list[list[int]]:
    """Return the cycles of one party fewer, with the last one put into an edge of each.

    The edges that are opened must have no end in common, so that the new edges are all different.
    """
    cycles = disjoint_cycles(m - 1)
    for cycle, place in zip(cycles, _places(cycles, frozenset()), strict=True):
        cycle.insert(place + 1, m - 1)
    return cycles


def _places(cycles: list[list[int]], taken: frozenset[int]) -> list[int]:
    """Choose one edge of every cycle so that no two meet, by trying; empty if it cannot be."""
    if not cycles:
        return []
    cycle, *rest = cycles
    for place in range(len(cycle)):
        ends = {cycle[place], cycle[(place + 1) % len(cycle)]}
        if not ends & taken:
            others = _places(rest, taken | ends)
            if len(others) == len(rest):
                return [place, *others]
    return []


def split(words: Words, parts: int) -> list[Words]:
    """Split a vector into additive shares."""
    masks = [fresh_words(words.size) for _ in range(parts - 1)]
    last = words.copy()
    for mask in masks:
        last -= mask
    return [*masks, last]


def enough_for_cycles(party: Party, receivers: Sequence[str]) -> None:
    """Refuse too few owners for two cycles, and receivers none of which is an owner."""
    owners = len(party.roles.owners)
    if owners < LEAST:
        raise RefusedError(f"Edge-disjoint cycles need at least {LEAST} owners. There are "
                           f"{owners}, which have one cycle only. Use secure_sum.")
    first_owner(party, receivers)


async def cycle_sum(party: Party, values: Any, *, because: str, to: Sequence[str] = (),
                    scale: int = 0) -> Any:
    """Return the total to those in `to`, None to the others; non-owners give zeros."""
    return await sum_by(party, values, CYCLES, because=because, to=to, scale=scale)


async def cycle_total(party: Party, words: Words, receivers: Sequence[str],
                      length: int) -> Words | None:
    """Send each share round its own cycle, all starting at the same owner."""
    owners = party.roles.owners
    first = first_owner(party, receivers)
    cycles = [_from(first, [owners[i] for i in cycle]) for cycle in disjoint_cycles(len(owners))]
    shares = split(words, len(cycles)) if party.name in owners else [words] * len(cycles)
    # No two cycles share a link, so they cannot get into each other's way.
    totals = await asyncio.gather(*(
        once_round(party, share, cycle, f"sum.cycle{i}", length)
        for i, (cycle, share) in enumerate(zip(cycles, shares, strict=True))))
    if party.name != first:
        return await receive_total(party, first, receivers, length)
    whole = total(part for part in totals if part is not None)
    await hand_on(party, whole, receivers)
    return whole


def _from(first: str, cycle: list[str]) -> list[str]:
    place = cycle.index(first)
    return cycle[place:] + cycle[:place]


CYCLES = SumWay("cycles", enough_for_cycles, cycle_total)
