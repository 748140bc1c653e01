"""Shared values kept where an owner's own answers are yes, and zeros elsewhere.

  discloses: nothing. Safe against: as products in the mode. An owner can give other answers than it
    has, as it can share other values.
  cost: where the owner holds shares and a dealer serves, 16 bytes and a bit a value, in one round;
    else answers are shared and multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.sharing import share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared


def keeps_own(party: Party, owner: str) -> bool:
    """Return True if answers of this owner need not be shared first."""
    return party.engine.chooses_own and owner in party.holders


async def keep_where(party: Party, values: Sequence[Shared], answers: Any,
                     owner: str) -> list[Shared]:
    """Return arrays of one shape where an owner's answers (0 or 1; None elsewhere) are 1."""
    shape = values[0].shape
    if not keeps_own(party, owner):
        shared = await share(party, answers, owner, shape, 0, 1)
        return [_bounded(await multiply(party, value, shared), value) for value in values]
    party.begin("keep own")
    bits = None if party.name != owner else np.asarray(answers).ravel().astype(np.uint64)
    rows = np.stack([value.share.ravel() for value in values])
    kept = await party.engine.keep_own(owner, bits, rows)
    return [_bounded(value.with_share(kept[place].reshape(shape)), value)
            for place, value in enumerate(values)]


def _bounded(kept: Shared, value: Shared) -> Shared:
    return kept.within(min(0, value.low), max(0, value.high))
