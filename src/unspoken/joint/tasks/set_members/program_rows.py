"""The intersection and the union of the owners' ids over a public list (vcz2006 section 6.2).

Every owner shares one bit for each id of the list, a tree of ANDs puts them together (see
`set_bits`), and which ids are in the result is opened to the receivers alone.
  discloses: the members of the intersection, or of the union, to the receivers. Not: how many ids
    an owner has, whose an id is, which ids some but not all have. But one of two owners knows of
    every id of its own, or of every id that it lacks, whether the other has it: that is the result.
  safe against: as products in the mode. An owner can bring made-up ids of the list.
  cost: about log2 m rounds for m owners; 1 bit an id from each, 2 bits an id and AND.
Ids that cannot be listed: task `intersection` with members=true shows every owner which of its own
all have, and task `schema` unites up to 512 texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.set_bits import common_members
from unspoken.joint.mpc.sets.union import union
from unspoken.joint.tasks.set_members.params import MemberParams

Members = dict[str, list[str]]
COMMON = "which ids all owners have"
ANY = "which ids some owner has, and not whose they are"


class CommonMembers:
    """The program: every owner gives its ids; the receivers learn those that all have."""

    because = COMMON

    def __init__(self, params: MemberParams, receivers: Sequence[str] = ()) -> None:
        self.params, self.receivers = params, tuple(receivers)
        self.disclosures: tuple[Disclosure, ...] = (Disclosure(self.because, self.receivers),)

    async def __call__(self, party: Party, data: Sequence[bytes] | None) -> Members | None:
        """Return the members to the receivers."""
        ids = await self._members(party, data)
        return None if ids is None else {self.because: ids}

    async def _members(self, party: Party, data: Sequence[bytes] | None) -> list[str] | None:
        own = data if party.name in party.roles.owners else None
        flags = await common_members(party, own, self.params.universe, self.because,
                                     self.receivers)
        return None if flags is None else [
            item for item, there in zip(self.params.universe, flags, strict=True) if there]


class UnionMembers(CommonMembers):
    """The program: every owner gives its ids; the receivers learn those that any has."""

    because = ANY

    async def _members(self, party: Party, data: Sequence[bytes] | None) -> list[str] | None:
        return await union(party, data, self.params.universe, because=self.because,
                           to=self.receivers, rules=self.params.rules)
