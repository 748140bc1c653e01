"""Claims about what an owner gives a second time; an engine with tags tests them on shares.

Other engines assume that everybody follows the protocol, and take no step here. See
`authentic/given_again` for how it is tested.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.mpc.authentic.given_again import Rows, Zeros
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared


def tests_again(party: Party) -> bool:
    """Return True if claims are tested; where they are not, they need not be worked out."""
    return party.engine.guarded is not None


def must_be_zero(party: Party, value: Shared, owner: str) -> None:
    """Claim that an owner gave what makes values zero; tested before the next opening."""
    if party.engine.guarded is not None and value.size:
        party.engine.guarded.claim_again(Zeros(owner, value.share.ravel()))


def must_choose(party: Party, choice: Shared, place: Shared, owner: str) -> None:
    """Claim that every row of zeros and ones that an owner gave has its one 1 at a shared place."""
    if not tests_again(party):
        return
    places = np.arange(choice.shape[1]).astype(np.uint64)
    weighed = choice.with_share(np.asanyarray(choice.share * places))
    must_be_zero(party, choice.sum(axis=1) - 1, owner)
    must_be_zero(party, weighed.sum(axis=1) - place, owner)


def must_repeat(party: Party, rows: Shared, choice: Shared, table: Shared, index: Ints,
                owner: str) -> None:
    """Claim that every row is the one of table[index] that its choice says."""
    if party.engine.guarded is not None and rows.size:
        party.engine.guarded.claim_again(
            Rows(owner, rows.share, choice.share, table.share, index))
