"""Outliers over rows with a third party that compares (vcz2006 section 7.3.7): faster, and weak.

The owners compute shares of every distance as in `horizontal`, and a third party without data
adds them up, compares, and hands shares of the far bits back. There are no secure comparisons.
  discloses, besides what `horizontal` does: **every distance between objects of different owners,
    to the third party**. The book calls that "not very significant". It is the data: from the
    distances between two owners' objects alone the third party rebuilds all points up to a
    motion of space (rotated, reflected, translated), and a few records that it knows
    (columns + 1) fix the motion. `museum.distance_attack` does it.
  safe against: no one who colludes with the third party; owners see no more than in `horizontal`.
Refused for a third party that owns data or holds shares, and without `accept` saying so in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.outliers.count_near import BLOCK
from unspoken.joint.tasks.outliers.params import OutlierParams
from unspoken.joint.tasks.outliers.program_rows import OutliersOverRows, disclosures
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.outliers import Outliers

DISTANCES = "every distance between objects of different owners, and so their places"
ACCEPT = "the third party can find all points up to a motion"


class ThirdPartyOutliers(OutliersOverRows):
    """The program of section 7.3.7; the third party runs it too and gives no data."""

    def __init__(self, rules: OutlierParams, columns: int, owners: Sequence[str], third: str,
                 receivers: Sequence[str] = (), block: int = BLOCK, accept: str = "") -> None:
        if third in owners:
            raise RefusedError(f"The third party must not own data. '{third}' does. It would know "
                               "the others' points at once.")
        if accept != ACCEPT:
            raise RefusedError("Outliers with a third party show it every distance. Accept that "
                               f"with accept='{ACCEPT}', or use outliers_rows.")
        super().__init__(rules, columns, owners, receivers, block)
        self.third = third
        self.disclosures = (*disclosures(owners, receivers), Disclosure(DISTANCES, (third,)))

    async def __call__(self, party: Party, data: Any) -> Outliers | None:
        """Find the outliers; the third party compares."""
        if self.third not in party.names or self.third in party.holders:
            raise RefusedError(f"The third party must be a party that holds no shares. "
                               f"'{self.third}' is not.")
        return await super().__call__(party, data)

    async def far(self, party: Party, distance: Shared) -> Shared:
        """Let the third party compare, and share what it found."""
        opened = await reveal(party, distance, because=DISTANCES, to=[self.third])
        far = None if opened is None else (np.asarray(opened) > self.limit).astype(np.int64)
        return await share(party, far, self.third, distance.shape, 0, 1)


def outliers_third_party(parts: Sequence[Any], rules: OutlierParams, *, accept: str = "",
                         third: str = "third", mode: str = "dealer",
                         names: Sequence[str] | None = None, receivers: Sequence[str] = (),
                         block: int = BLOCK, **how: Any
                         ) -> tuple[list[Outliers | None], list[Ledger]]:
    """Find outliers as `outliers_rows` does, with a third party that compares distances."""
    named = list(names) if names is not None else [f"p{i}" for i in range(len(parts))]
    columns = next((np.shape(part)[1] for part in parts if np.ndim(part) == 2), 0)
    program = ThirdPartyOutliers(rules, columns, named, third, receivers, block, accept)
    outputs = run_local(program, [*parts, None], mode, names=[*named, third], **how)
    return [output for output, _ in outputs], [ledger for _, ledger in outputs]
