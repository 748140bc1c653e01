"""Quantiles of columns over all owners, found by halving on shares (`common.quantile_search`).

  discloses: to everybody the quantiles, each a point of a public grid, and which were left out
    because fewer than `fewest` known values lie on one of their sides. No number of values shows.
  error: none on the grid: each is its first point with at least that share of all known values at
    or below it, so that the quantile itself lies less than a step below. One at an end of the range
    may lie beyond it.
  safe against: as comparisons in the mode. An owner can bring made-up values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unspoken.arrays import Floats
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.column_quantiles.params import QuantileParams
from unspoken.joint.tasks.common.quantile_search import (
    MOST_VALUES,
    QuantileSearch,
    leave_out_thin,
    search_on_shares,
)

QUANTILES = "the quantiles of each column, on the agreed grid"
THIN = "which quantiles have too few known values on one of their sides"


class QuantilesOverRows:
    """The quantiles of columns over all owners' rows."""

    def __init__(self, study: Study) -> None:
        self.params = QuantileParams.of(study.parameters)
        self.disclosures = study.disclosures

    async def __call__(self, party: Party, data: Mapping[str, Floats] | None) -> dict[str, Any]:
        """Return the quantiles to everybody; an owner's columns come without missing values."""
        party.begin("quantiles")
        search = QuantileSearch(self.params.grids, data or {})
        await leave_out_thin(party, search, self.params.fewest, because=THIN)
        await search_on_shares(party, search, MOST_VALUES, because=QUANTILES)
        return self.params.described(search.ends())
