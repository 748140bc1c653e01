"""Records in one order at all sites: what is said about it, and the check that it is so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.alignment import Places, align, align_disclosures, plan_alignment
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.task import Plan
from unspoken.joint.wire.frames import Purpose

Digest = npt.NDArray[np.uint8]


class HasIds(Protocol):
    """A site that may have ids."""

    @property
    def ids(self) -> Sequence[Any] | None:
        """Return them."""


COMMON = "which records all sites have"
ROWS = "how many records each site has"


def common_told(sites: Sequence[str], rules: SetRules | None) -> tuple[Disclosure, ...]:
    """Return what aligning discloses, if rows are aligned; the first site counts."""
    return () if rules is None else align_disclosures(COMMON, sites, sites[0], rules)


async def common_places(party: Party, site: HasIds | None,
                        rules: SetRules | None) -> Places | None:
    """Return where a site's rows in the common order are, if rows are aligned."""
    if rules is None:
        return None
    if site is not None and site.ids is None:
        raise RefusedError("A site must give ids where rows are to be aligned. This one gave none.")
    return await align(party, None if site is None else site.ids, because=COMMON, rules=rules)


async def same_digest(party: Party, peers: Sequence[str], label: str, own: Digest,
                      otherwise: str) -> None:
    """Refuse to go on, in the words of `otherwise`, unless all have the same digest."""
    theirs = await party.swap(peers, label, own, Purpose.CONTROL)
    if any(not np.array_equal(own, each) for each in theirs):
        raise DataError(otherwise)


async def same_everywhere(party: Party, rows: int) -> int:
    """Return the number of rows, which all sites must share; -1 stands for somebody without."""
    party.begin("rows")
    party.opening(ROWS, (), (1,))
    told = np.array([rows], np.int64)
    got = [rows, *(int(x[0]) for x in await party.swap(party.peers, "tree.rows", told,
                                                       Purpose.DISCLOSURE))]
    sizes = {size for size in got if size >= 0}
    if len(sizes) != 1 or sizes == {0}:
        raise DataError("Sites must have the same records, one or more, in the same order. Their "
                        "numbers differ, or are zero. Give ids and align, or correct the tables.")
    return sizes.pop()


def with_alignment(plan: Plan, study: Study, rows: int) -> Plan:
    """Return a plan with what aligning so many records costs, if the study has ids."""
    if "ids" not in study.parameters:
        return plan
    rounds, size, seconds = plan_alignment(rows, len(study.having("owner")))
    return replace(plan, rounds=plan.rounds + rounds, bytes=plan.bytes + size,
                   computing=plan.computing + seconds)
