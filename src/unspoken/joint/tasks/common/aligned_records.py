"""Records in one order at all sites: the check that there are equally many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unspoken.errors import DataError
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.frames import Purpose

Digest = npt.NDArray[np.uint8]


ROWS = "how many records each site has"


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
    own = np.array([rows], np.int64)
    got = [rows, *(int(x[0]) for x in await party.swap(party.peers, "tree.rows", own,
                                                       Purpose.DISCLOSURE))]
    sizes = {size for size in got if size >= 0}
    if len(sizes) != 1 or sizes == {0}:
        raise DataError("Sites must have the same records, one or more, in the same order. Their "
                        "numbers differ, or are zero. Give ids and align, or correct the tables.")
    return sizes.pop()
