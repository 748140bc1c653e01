"""A number's place among those of other owners, without showing any (vcz2006 chapter 8).

Benchmarking: firms want to know where they stand, and none wants its figure seen. Every owner
shares one number a column. For every two owners the sign of the difference is found by comparisons
on shares; an owner's signs add up to how many bring less than it, less how many bring more. That
balance is opened to the owner itself, and to nobody else; with `groups` only the part of the ranks
in which it lies, found by comparisons with public limits.
  discloses: to every owner its own rank (or group) in each column. Not: numbers, distances, anybody
    else's rank. Ties share the middle of their ranks, so that nobody learns whether there are any,
    but where the rank says so: with two owners a tie shows, and so the other's number.
  safe against: as comparisons in the mode. An owner that takes part again and again with made-up
    numbers finds the others' by halving; agree on one study.
  cost: two comparisons for every two owners and column, all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.choice import sign
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.percentile.params import PercentileParams


def own_place(owner: str) -> str:
    """Return the words for an owner's place."""
    return f"where {owner} stands among all owners in each column"


class PercentileOverRows:
    """The program: every owner gives one number a column; named owners learn their own place."""

    def __init__(self, params: PercentileParams, owners: Sequence[str],
                 receivers: Sequence[str] = ()) -> None:
        self.params, self.owners = params, tuple(owners)
        self.learners = tuple(name for name in owners if not receivers or name in receivers)
        self.disclosures = tuple(Disclosure(own_place(name), (name,)) for name in self.learners)

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Return this owner's place in every column, None to a party that learns none."""
        units = self.params.units(data) if party.name in self.owners else None
        await ready(party)
        bound, shape = self.params.bound, (len(self.params.columns),)
        numbers = stack([await share(party, units if party.name == owner else None, owner, shape,
                                     -bound, bound) for owner in self.owners])
        return await self._told(party, await self._places(party, numbers))

    async def _places(self, party: Party, numbers: Shared) -> Shared:
        """Return (owners, columns): how many bring less, less how many bring more."""
        one, other = np.triu_indices(len(self.owners), 1)
        signs = await sign(party, numbers[one] - numbers[other])
        balance = stack([signs[np.flatnonzero(one == place)].sum(0)
                         - signs[np.flatnonzero(other == place)].sum(0)
                         for place in range(len(self.owners))])
        most = len(self.owners) - 1
        return await self._grouped(party, balance.within(-most, most))

    async def _grouped(self, party: Party, balance: Shared) -> Shared:
        """Return the number of limits that a balance reaches, where only that is told."""
        if not self.params.groups:
            return balance
        gaps = [balance - limit for limit in self.params.limits(len(self.owners))]
        short = (await to_numbers(party, await less_than(party, stack(gaps), 0))).sum(0)
        return (self.params.groups - 1 - short).within(0, self.params.groups - 1)

    async def _told(self, party: Party, places: Shared) -> dict[str, Any] | None:
        """Open every learner's places to itself."""
        own = None
        for name in self.learners:
            opened = await reveal(party, places[self.owners.index(name)], because=own_place(name),
                                  to=(name,))
            own = opened if name == party.name else own
        return None if own is None else self.params.standing(own, len(self.owners))
