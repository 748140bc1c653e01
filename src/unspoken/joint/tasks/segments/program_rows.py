"""Counts and means by segment over the rows of all owners, small segments left out on shares.

Joint averages (vcz2006 chapter 8: benchmarking, forecasting). Every owner counts its records and
adds up its columns by segment; these are shared and added. Which segments have enough records is
found by comparisons on shares, counts and sums of the others are multiplied by 0 there, and only
then is anything opened: nobody learns how many records a segment has that is not shown.
  discloses: to the receivers counts and sums, so means, of the segments that are shown; which are
    not. Not: anything of a single owner. Of two owners each subtracts its own part and has the
    other's: `others` then asks that each of them has so many records in a segment that is shown.
  safe against: as products and comparisons in the mode. Who takes part with other records again
    learns from the difference: `least_changes` refuses that.
  cost: a comparison for each segment (one more for each owner with `others`), a product for each
    segment and column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share, share_sum
from unspoken.joint.mpc.ops.zero_test import is_zero
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, stack
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.segments.params import MOST, OwnSegments, SegmentParams, bound_of

MEANS = "records and means of every segment that has enough records"


class SegmentsOverRows:
    """The program: every owner gives its records and sums by segment."""

    def __init__(self, params: SegmentParams, receivers: Sequence[str] = ()) -> None:
        self.params, self.receivers = params, tuple(receivers)
        self.disclosures: tuple[Disclosure, ...] = (Disclosure(MEANS, self.receivers),)

    async def __call__(self, party: Party, data: OwnSegments | None) -> dict[str, Any] | None:
        """Return counts and means to the receivers."""
        await ready(party)
        counts, sums = await self._shared(party, data)
        enough = await self._enough(party, counts)
        both = concatenate([counts.sum(0).reshape(-1, 1), sums], axis=1)
        kept = await multiply(party, both, enough.reshape(-1, 1))
        opened = await reveal(party, kept, because=MEANS, to=self.receivers)
        return None if opened is None else self.params.shown(opened)

    async def _shared(self, party: Party, data: OwnSegments | None) -> tuple[Shared, Shared]:
        """Return every owner's records (owners, segments), and the sums of all owners."""
        shape, owners = (len(self.params.labels), len(self.params.columns)), party.roles.owners
        counts = [await share(party, data.counts if data is not None and party.name == owner else
                              None, owner, shape[:1], 0, MOST) for owner in owners]
        bound = bound_of(len(owners))
        return stack(counts), await share_sum(party, None if data is None else data.sums, shape,
                                              -bound, bound)

    async def _enough(self, party: Party, counts: Shared) -> Shared:
        """Return 1 for a segment that may be shown, by all of what was agreed, and 0 for others."""
        whole = counts.sum(0)
        gaps = [whole - self.params.least]
        if self.params.others:
            gaps += [whole - counts[place] - self.params.others
                     for place in range(counts.shape[0])]
        short = await to_numbers(party, await less_than(party, stack(gaps), 0))
        return await is_zero(party, short.sum(0))
