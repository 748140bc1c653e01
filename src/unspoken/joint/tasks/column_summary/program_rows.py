"""Known and missing values, mean and variance of columns over all owners (vcz2006 section 3.3.2).

Every owner counts its values below, within and above an agreed range and those that are missing,
and adds up the known ones, moved to the ends of the range where they lie beyond it, and their
squares; the totals of all owners are opened, and receivers work out mean and variance.
  discloses: these six totals of each column, to the receivers. The least and the greatest value do
    not show: the range that was agreed on takes their place, with how many lie beyond it. With two
    owners the totals less one's own are the other's. A column with fewer than `fewest` known values
    comes out as zeros, on shares, so that nothing of it shows but that.
  error: each owner rounds a sum once, to 2^-bits of half the range; `SummaryParams.bits`.
  safe against: as comparisons and choices in the mode. An owner can bring made-up values.
With an epsilon every owner adds its part of discrete Gaussian noise instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.selection import keep
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_summary.params import NUMBERS, SummaryParams
from unspoken.joint.tasks.common.noise_in_parts import open_noisy
from unspoken.joint.wire.hollow_arrays import is_dry

SUMMARY = ("how many values of each column are known, missing, below and above its range, their "
           "sum and the sum of their squares")


class SummaryOverRows:
    """What describes columns over all owners' rows; how many rows each has stays private."""

    def __init__(self, study: Study) -> None:
        self.params = SummaryParams.of(study.parameters)
        self.receivers = study.having("receiver")
        self.owners = len(study.having("owner"))
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Any) -> dict[str, Any] | None:
        """Add up, and describe the columns to the receivers."""
        party.begin("summary")
        way = self._with_noise if self.params.epsilon is not None else self._exactly
        totals = await way(party, data)
        return None if totals is None else self.params.described(np.asarray(totals), self.owners)

    async def _with_noise(self, party: Party, data: Any) -> Any:
        units = np.zeros((NUMBERS, len(self.params.columns)), np.int64) if data is None else data
        if party.name in party.roles.owners and not is_dry():
            units = units + self.params.noise(self.owners)
        return await open_noisy(party, units, 0, because=SUMMARY, to=self.receivers)

    async def _exactly(self, party: Party, data: Any) -> Any:
        bound = self.params.most << self.params.bits(self.owners)
        totals = await share_sum(party, data, (NUMBERS, len(self.params.columns)), -bound, bound)
        if self.params.least:
            totals = await self._where_enough(party, totals)
        return await reveal(party, totals, because=SUMMARY, to=self.receivers)

    async def _where_enough(self, party: Party, totals: Shared) -> Shared:
        """Return the totals of columns with enough known values, and zeros of the others."""
        known = totals[:3].within(0, self.owners * self.params.most).sum(axis=0)
        enough = ~await less_than(party, known, self.params.least)
        return stack(await keep(party, enough, [totals[place] for place in range(NUMBERS)]))
