"""Meeting before anything is computed: everybody's input is good, and how large it is.

Shapes of shared arrays are public, so protocols that compare records one by one must open these
numbers; they say so in their disclosures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.wire.frames import Purpose

SIZES = "how many records each owner has"
MOST = 1 << 40


async def ready(party: Party) -> None:
    """Wait until everybody has checked its input: who refuses does so before data are sent."""
    party.begin("ready")
    await party.swap(party.peers, "ready", np.zeros(1, np.uint8), Purpose.CONTROL)


async def open_sizes(party: Party, own: int, owners: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return every owner's number of records, in the order of `owners`."""
    await ready(party)
    mine = np.zeros(len(owners), np.int64)
    if party.name in owners:
        mine[owners.index(party.name)] = own
    total = await share_sum(party, mine, (len(owners),), 0, MOST)
    return np.asarray(await reveal(party, total, because=SIZES), np.int64)


async def one_size(party: Party, own: int, owners: Sequence[str]) -> int:
    """Return the number of records that all owners must have in common."""
    sizes = await open_sizes(party, own, owners)
    if len(set(sizes.tolist())) != 1:
        listed = ", ".join(f"{n}: {s:,}" for n, s in zip(owners, sizes, strict=True))
        raise RefusedError(f"Owners of columns must have the same records in the same order. They "
                           f"have different numbers ({listed}). Align them first.")
    return int(sizes[0])


def not_empty(rows: int) -> None:
    """Refuse an owner without records, before anything is sent."""
    if rows == 0:
        raise RefusedError("Every owner must have records. This one has none. Leave it out of the "
                           "study.")
