"""Records in one order at all sites: the check that there are equally many."""

from __future__ import annotations

import asyncio
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
    # A digest of a short list can be tried out, so each pair compares it under a key of its own.
    sends = [party.send(peer, label, party.keyed(party.name, peer, label, own), Purpose.CONTROL)
             for peer in peers]
    takes = [party.receive(peer, label, "|u1", (32,), Purpose.CONTROL) for peer in peers]
    theirs = (await asyncio.gather(*takes, *sends))[:len(takes)]
    if any(not np.array_equal(party.keyed(peer, party.name, label, own), each)
           for peer, each in zip(peers, theirs, strict=True)):
        raise DataError(otherwise)


async def same_everywhere(party: Party, rows: int) -> int:
    """Return the number of rows, which all sites must share; -1 stands for somebody without."""
    party.begin("rows")
    party.opening(ROWS, (), (1,))
    own = np.array([rows], np.int64)
    got = [rows, *(int(x[0]) for x in await party.swap(party.peers, "tree.rows", own,
                                                       Purpose.DISCLOSURE))]
    party.learned(party.names, sorted(got))
    sizes = {size for size in got if size >= 0}
    if len(sizes) != 1 or sizes == {0}:
        raise DataError("Sites must have the same records, one or more, in the same order. Their "
                        "numbers differ, or are zero. Give ids and align, or correct the tables.")
    return sizes.pop()
