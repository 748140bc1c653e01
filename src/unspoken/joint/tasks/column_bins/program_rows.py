"""Columns in bins over all owners, with counts by class (vcz2006 section 3.3.2; Siddiqi 2006).

Edges are agreed on, or are quantiles of all owners' values (`common.quantile_search`). Then every
owner counts its values by bin and class, and the totals of all are opened; receivers work weights
of evidence and information values out of them (`evidence_weights`).
  discloses: to everybody the edges that are quantiles, and which of them were left out because too
    few values lie on one of their sides; to the receivers the counts. A bin with fewer than
    `fewest` values comes out as zeros (`hidden_bins`), and nothing of it shows but that. With two
    owners the counts less one's own are the other's. A bin all of whose values are of one class
    says the class of everybody in it.
  safe against: as comparisons and choices in the mode. An owner can bring made-up values.
With an epsilon every owner adds its part of discrete Gaussian noise to the counts instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_bins.evidence_weights import OwnRows, counted, described
from unspoken.joint.tasks.column_bins.hidden_bins import hide_small
from unspoken.joint.tasks.column_bins.params import BinParams
from unspoken.joint.tasks.common.noise_in_parts import draw_part, open_noisy
from unspoken.joint.tasks.common.quantile_search import (
    MOST_VALUES,
    QuantileSearch,
    leave_out_thin,
    search_on_shares,
)
from unspoken.joint.wire.hollow_arrays import is_dry

EDGES = "the edges of bins that are quantiles, on the agreed grid"
THIN = "which edges have too few known values on one of their sides"
COUNTS = "how many values each bin has, by class"


class BinsOverRows:
    """Bins of columns over all owners' rows, with counts by class."""

    def __init__(self, study: Study) -> None:
        self.params = BinParams.of(study.parameters)
        self.receivers = study.having("receiver")
        self.owners = len(study.having("owner"))
        self.disclosures = study.disclosures
        self.size = (sum(map(self.params.cells, self.params.columns)), self.params.kinds)

    async def __call__(self, party: Party, data: OwnRows | None) -> dict[str, Any] | None:
        """Agree on edges, count, and give bins and weights to the receivers."""
        party.begin("bins")
        edges = self.params.edges(await self._searched(party, data))
        own = None if data is None else counted(data, self.params, edges)
        way = self._with_noise if self.params.epsilon is not None else self._exactly
        counts = await way(party, own)
        return None if counts is None else described(self.params, edges, counts)

    async def _searched(self, party: Party, data: OwnRows | None) -> Mapping[str, Floats]:
        """Return the quantiles between the bins of columns that have a range."""
        grids = self.params.grids
        if not grids:
            return {}
        values = {} if data is None else {name: data.known(name) for name in grids}
        search = QuantileSearch(grids, values)
        await leave_out_thin(party, search, max(1, self.params.least), because=THIN)
        await search_on_shares(party, search, MOST_VALUES, because=EDGES)
        return search.ends()

    async def _with_noise(self, party: Party, own: Ints | None) -> Any:
        units = np.zeros(self.size, np.int64) if own is None else own
        if party.name in party.roles.owners and not is_dry():
            drawn = [draw_part(self.params.cells(name) * self.params.kinds, scale)
                     for name, scale in self.params.parts(self.owners).items()]
            units = units + np.concatenate(drawn).reshape(self.size)
        return await open_noisy(party, units, 0, because=COUNTS, to=self.receivers)

    async def _exactly(self, party: Party, own: Ints | None) -> Any:
        counts = (await share_sum(party, own, self.size, 0, MOST_VALUES)).within(0, MOST_VALUES)
        if self.params.least:
            sizes = [self.params.cells(name) for name in self.params.columns]
            counts = await hide_small(party, counts, sizes, self.params.least)
        return await reveal(party, counts, because=COUNTS, to=self.receivers)
