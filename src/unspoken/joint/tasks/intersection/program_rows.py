"""How many ids all owners have in common, or which (vcz2006 section 6.2.2), as a study's program.

The number is `intersection_size`. With members=true every owner learns which of its own ids all the
others have, and no id that it lacks: that is `align`, without anything that follows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.alignment import align, align_disclosures
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.intersection import intersection_disclosures, intersection_size
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.intersection.params import IntersectionParams
from unspoken.joint.wire.hollow_arrays import is_dry

COMMON = "how many ids all owners have in common"
MEMBERS = "which of its own ids all owners have"


def disclosures(study: Study) -> tuple[Disclosure, ...]:
    """Return everything that a study discloses: the number, or to every owner the members."""
    params, owners = IntersectionParams.of(study.parameters), study.having("owner")
    if params.members:
        return align_disclosures(MEMBERS, owners, owners[0], params.rules)
    return intersection_disclosures(COMMON, owners, study.having("receiver"), params.rules)


class CommonIds:
    """The size of the intersection of all owners' ids, or to every owner its part of it."""

    def __init__(self, study: Study) -> None:
        params = IntersectionParams.of(study.parameters)
        self.rules, self.members = params.rules, params.members
        self.receivers = study.having("receiver")
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Count, or find the members; an owner's data are its ids and its budget."""
        ids, budget = (None, None) if data is None else data
        rules = replace(self.rules, budget=budget)
        if self.members:
            return await self._members(party, ids, rules)
        size = await intersection_size(party, ids, because=COMMON, to=self.receivers, rules=rules)
        return None if size is None else {COMMON: size}

    async def _members(self, party: Party, ids: Any, rules: SetRules) -> dict[str, Any] | None:
        """Return an owner's ids that all have, in the order of their texts."""
        places = await align(party, ids, because=MEMBERS, rules=rules)
        if places is None or is_dry():
            return None
        return {MEMBERS: sorted(ids[place].decode() for place in places.tolist())}
