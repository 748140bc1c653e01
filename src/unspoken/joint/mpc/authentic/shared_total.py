"""The total of all owners' words on shares with tags, where no dealer is trusted with its mask.

  discloses: the total, to the receivers. safe against: whatever the shares are.
  cost: an input of every owner, and an output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unspoken.arrays import Words

if TYPE_CHECKING:
    from unspoken.joint.mpc.party import Party


async def shared_total(party: Party, words: Words, receivers: Sequence[str],
                       length: int) -> Words | None:
    """Return the total to its receivers; `words` are this owner's."""
    guarded = party.engine.guarded
    if guarded is None:
        raise RuntimeError("only an engine with tags adds on shares with tags")
    first, *others = party.roles.owners
    summed = await guarded.input_unbounded(_own(party, words, first), first, length)
    for owner in others:
        summed = summed + await guarded.input_unbounded(_own(party, words, owner), owner, length)
    return await guarded.output(summed, receivers, bits=False)


def _own(party: Party, words: Words, owner: str) -> Words | None:
    return words if owner == party.name else None
