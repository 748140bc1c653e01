"""The program of the intersection bench, importable by the processes that run it."""

from __future__ import annotations

from typing import Any

from unspoken.joint import Party, align, align_disclosures, declares, intersection_size
from unspoken.joint.mpc.sets.intersection import intersection_disclosures

COMMON = "in common"


@declares(*intersection_disclosures(COMMON, ["p0", "p1"], ["p0"]))
async def program(party: Party, data: Any) -> int | None:
    return await intersection_size(party, data, because=COMMON, to=["p0"])


@declares(*align_disclosures(COMMON, ["p0", "p1"], "p0"))
async def align_program(party: Party, data: list[str]) -> Any:
    """Return the rows in common."""
    return await align(party, data, because=COMMON)
