"""The book's union of locally large itemsets (vcz2006 section 6.2.1), by name only.

A set that is frequent in all is large at one owner at least, so that only the union of what is
large somewhere needs to be compared. The union itself says more than the result does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.ristretto import fresh_order
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.union import union, union_disclosures

EVERY, SHARES, ENCRYPTED = "every", "union", "union-encrypted"
METHODS = (EVERY, SHARES, ENCRYPTED)
UNION = "which candidates are large, or said to be, at one owner or more"
_FREE = SetRules(least=0)


def union_told(owners: Sequence[str], method: str) -> tuple[Disclosure, ...]:
    """Return what the union discloses, to all who take part."""
    if method == EVERY:
        return ()
    if method == SHARES:
        return (Disclosure(UNION),)
    told = union_disclosures(UNION, owners, owners, _FREE, "encryption")
    return (Disclosure(UNION), *told[1:])


async def in_union(party: Party, large: Bools, sets: Ints, method: str, fakes: int) -> Bools:
    """Return which candidates are large at some owner, or among the fakes that it adds."""
    universe = [" ".join(map(str, row)) for row in sets.tolist()]
    chosen = np.flatnonzero(large | _fake(large, fakes))
    found = await union(party, [universe[i] for i in chosen], universe, because=UNION,
                        method="shares" if method == SHARES else "encryption", rules=_FREE)
    known = set(found or ())
    return np.fromiter((one in known for one in universe), np.bool_, len(universe))


def _fake(large: Bools, fakes: int) -> Bools:
    """Choose candidates that are not large, as nobody else can know."""
    others = np.flatnonzero(~large)
    out = np.zeros(large.size, np.bool_)
    out[others[fresh_order(others.size)[:fakes]]] = True
    return out
