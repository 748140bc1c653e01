"""The sum of columns over all owners (vcz2006 section 3.3.2).

Receivers learn the sum of each column and nothing else; how many rows an owner has stays private.
With two owners a sum gives the other's part away, so that masks are refused for two. With an
epsilon every owner adds its part of discrete Gaussian noise before anything is shared: nobody knows
the noise of the result, and a stated number of owners who subtract their own parts do not know
enough of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.joint.mpc.ops.secure_sum import secure_sum
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import LIMIT
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_sums.params import SumParams
from unspoken.joint.tasks.common.noise_in_parts import open_noisy
from unspoken.joint.wire.hollow_arrays import is_dry

SUM = "sum of each column"


class SumOverRows:
    """The sum of each column over all owners' rows; how many rows each has stays private."""

    def __init__(self, study: Study) -> None:
        self.params = SumParams.of(study.parameters)
        self.receivers = study.having("receiver")
        self.shares = study.facts.has_shares
        self.disclosures = study.disclosures
        self.owners = len(study.having("owner"))

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Sum, and name the columns in the result."""
        values = np.zeros(len(self.params.labels)) if data is None else data
        way = self._with_noise if self.params.epsilon is not None else \
            self._by_shares if self.shares else self._by_masks
        sums = await way(party, values)
        return None if sums is None else dict(zip(self.params.labels, sums.tolist(), strict=True))

    async def _with_noise(self, party: Party, values: Any) -> Any:
        """Add this owner's part of the noise; sums and noise are whole numbers of units."""
        units = np.asarray(values)
        if units.dtype.kind == "f":
            units = np.rint(units * 2.0**self.params.scale).astype(np.int64)
        if party.name in party.roles.owners and not is_dry():
            units = units + self.params.noise(self.owners)
        return await open_noisy(party, units, self.params.scale, because=SUM, to=self.receivers)

    async def _by_masks(self, party: Party, values: Any) -> Any:
        return await secure_sum(party, values, because=SUM, to=self.receivers,
                                scale=self.params.scale)

    async def _by_shares(self, party: Party, values: Any) -> Any:
        bound = (LIMIT - 1) // len(party.roles.owners)
        total = await share_sum(party, values, (len(self.params.labels),), -bound, bound,
                                self.params.scale)
        return await reveal(party, total, because=SUM, to=self.receivers)
