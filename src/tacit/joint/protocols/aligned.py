"""Records in one order at all sites: what is said about it, and the check that it is so."""

from __future__ import annotations

import numpy as np

from tacit.errors import DataError
from tacit.joint.frames import Purpose
from tacit.joint.party import Party

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
