"""Records without a class in a study over columns: they are new, and their classes come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party

NEW = "which records have no class yet"


def codes_of(labels: Any, classes: Sequence[str], target: str) -> Ints:
    """Return the number of every record's class, -1 where there is none."""
    place = {name: code for code, name in enumerate(classes)}
    listed = [None if v is None or v == "" else str(v) for v in labels.tolist()]
    codes = np.array([-1 if v is None else place.get(v, -2) for v in listed], np.int64)
    if (codes == -2).any():
        raise StudyError(f"Column '{target}' must hold the agreed classes, or nothing for "
                         "new records. Some rows have another.")
    return codes


def blank_codes(records: int, classes: int) -> Ints:
    """Return blank classes of which the last tenth is missing."""
    codes = np.arange(records) % classes
    codes[assumed_new((records,))] = -1
    return codes


def assumed_new(shape: tuple[int, ...]) -> Any:
    """Assume that the last tenth of the records is new."""
    return np.arange(shape[0]) >= shape[0] - max(1, shape[0] // 10)


async def parted(party: Party, codes: Ints | None, class_site: str,
                 rows: int) -> tuple[Ints, Ints]:
    """Open which records are new, as the class site knows; return the old ones and the new."""
    mine = None if party.name != class_site or codes is None else (codes < 0).astype(np.int64)
    shared = await share(party, mine, class_site, (rows,), 0, 1)
    new = np.asarray(await reveal(party, shared, because=NEW)).astype(bool)
    if new.all() or not new.any():
        raise StudyError("Some records must have a class, and some must not. All or none "
                         "have. Leave the class of new records empty.")
    return np.flatnonzero(~new), np.flatnonzero(new)
