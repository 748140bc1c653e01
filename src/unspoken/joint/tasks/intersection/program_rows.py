"""How many ids all owners have in common (vcz2006 section 6.2.2), as a program of a study."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.intersection import intersection_size
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.intersection.params import IntersectionParams

COMMON = "how many ids all owners have in common"


class CommonIds:
    """The size of the intersection of all owners' ids."""

    def __init__(self, study: Study) -> None:
        self.rules = IntersectionParams.of(study.parameters).rules
        self.receivers = study.having("receiver")
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, int] | None:
        """Count; an owner's data are its ids and its budget."""
        ids, budget = (None, None) if data is None else data
        size = await intersection_size(party, ids, because=COMMON, to=self.receivers,
                                       rules=replace(self.rules, budget=budget))
        return None if size is None else {COMMON: size}
