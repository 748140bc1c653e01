"""Records in one order at all sites: what is said about it, and the check that it is so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.errors import DataError
from tacit.joint.frames import Purpose
from tacit.joint.party import Party
from tacit.joint.primitives.alignment import plan_alignment
from tacit.joint.study import Study
from tacit.joint.tasks import Plan

COMMON = "which records all sites have"
ROWS = "how many records each site has"


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
