"""The next values of the sum of owners' series, and nothing of the series (vcz2006 chapter 8).

Forecasting in a supply chain: every firm has its own figures by period, all want to know what their
sum will be. Means, lines and exponential smoothing are linear: forecasts of owners add up to that
of the sum. Which weight smoothing takes is not linear: every owner shares its forecasts and its
misses one ahead for nine weights, misses are added, squared and added up on shares, the weight with
the least sum is found by a tournament, and only its forecast is opened.
  discloses: to the receivers the forecast of each column, as many numbers as periods ahead. Not:
    any series, any sum of a period (but of the last, where a window or weight of 1 makes it the
    forecast), nor which weight was taken. Of two owners each subtracts its own forecast and has the
    other's, up to the weight.
  safe against: as sums, squares and comparisons in the mode. Who comes again with another series
    learns no more than from its own difference.
  cost: a sum; with a chosen weight nine squares for each period and column, and a tournament of
    nine.
"""

from __future__ import annotations

from collections.abc import Sequence

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.argmin import argmin
from unspoken.joint.mpc.ops.less_than import equal
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.series_forecast.params import ForecastParams, OwnForecasts

AHEAD = "the forecast of each column"


class ForecastOverRows:
    """The program: every owner gives its own forecasts and, if a weight is chosen, its misses."""

    def __init__(self, params: ForecastParams, receivers: Sequence[str] = ()) -> None:
        self.params, self.receivers = params, tuple(receivers)
        self.disclosures: tuple[Disclosure, ...] = (Disclosure(AHEAD, self.receivers),)

    async def __call__(self, party: Party,
                       data: OwnForecasts | None) -> dict[str, list[float]] | None:
        """Return the next values to the receivers."""
        await ready(party)
        laws, columns = len(self.params.laws), len(self.params.columns)
        bound = self.params.bound
        ahead = await share_sum(party, None if data is None else data.ahead,
                                (laws, self.params.ahead, columns), -bound, bound)
        if laws > 1:
            ahead = await self._chosen(party, ahead, await self._misses(party, data))
        opened = await reveal(party, ahead.reshape(self.params.ahead, columns), because=AHEAD,
                              to=self.receivers)
        return None if opened is None else self.params.told(opened)

    async def _misses(self, party: Party, data: OwnForecasts | None) -> Shared:
        """Return (columns, laws): the squared misses of all periods."""
        periods, owners = self.params.periods - 1, len(party.roles.owners)
        shape = (len(self.params.laws), periods, len(self.params.columns))
        most = self.params.most_missed(owners)
        missed = await share_sum(party, None if data is None else data.misses, shape, -most, most)
        squares = await multiply(party, missed, missed)
        sums = squares.sum(1).within(0, periods * (most * owners) ** 2)
        return stack([sums[:, column] for column in range(shape[2])])

    async def _chosen(self, party: Party, ahead: Shared, sums: Shared) -> Shared:
        """Return the forecast of the law that missed least, for every column by itself."""
        place, _ = await argmin(party, sums)
        laws = len(self.params.laws)
        hit = await to_numbers(party, await equal(
            party, stack([place - law for law in range(laws)]), 0))
        kept = await multiply(party, ahead, hit.reshape(laws, 1, -1))
        return kept.sum(0).within(ahead.low, ahead.high)
