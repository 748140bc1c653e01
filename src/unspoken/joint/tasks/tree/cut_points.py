"""Cut points that all owners agree on without showing values: quantiles of everybody's numbers.

Each quantile is searched on a public grid by halving: the owners' counts of values below a grid
point are added up as shares and compared with the wanted part of all records. The answer, one
bit, says where to go on, so all answers together are the cut point and nothing else (vcz2006
section 4.3 has categories only). All quantiles of all attributes are searched at once.

  discloses: the cut points, to everybody, and which quantiles each of them is. Each is the first
    grid point with at least that part of all records at or below it: on a fine grid it lies close
    above some record's value, so choose a grid no finer than what may be known. Two owners: how
    many records the other has is not known, so that a quantile bounds its part and gives no count.
  safe against: as comparisons in the mode.
  cost: a comparison of all quantiles for each bit of the finest grid and one more, 9 rounds each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import stack
from unspoken.joint.tasks.tree.params import Attribute, TreeLayout

CUTS = "cut points of the numeric attributes"


@dataclass(frozen=True)
class Span:
    """A public range, the number of cut points wanted, and 2^bits steps of the grid."""

    low: float
    high: float
    count: int = 7
    bits: int = 8

    def __post_init__(self) -> None:
        if not np.isfinite([self.low, self.high]).all() or not self.low < self.high:
            raise InputError(explain("The range of a numeric attribute", "two finite numbers, the "
                                     "lower first", f"{self.low} and {self.high}"))
        if not 1 <= self.count <= 255 or not 1 <= self.bits <= 20:
            raise InputError(explain("Cut points of a numeric attribute", "1 to 255, on a grid of "
                                     "1 to 20 bits", f"{self.count}, {self.bits} bits"))

    def even(self) -> tuple[float, ...]:
        """Return as many cut points, to stand in for those that are not known yet."""
        return tuple(np.linspace(self.low, self.high, self.count).tolist())

    def points(self, steps: Ints) -> Floats:
        """Return grid points."""
        return self.low + (self.high - self.low) * (steps / (1 << self.bits))


def plain_cuts(values: Floats, span: Span) -> tuple[float, ...]:
    """Return the reference: the first grid points with enough values at or below."""
    wanted = np.arange(1, span.count + 1) * values.size
    below = below_or_at(values, span.points(np.arange((1 << span.bits) + 1)))
    enough = below[None, :] * (span.count + 1) >= wanted[:, None]
    places = np.where(enough.any(axis=1), enough.argmax(axis=1), 1 << span.bits)
    return tuple(np.unique(span.points(places)).tolist())


def below_or_at(values: Floats, points: Floats) -> Ints:
    """Return how many values lie at or below each point, as questions ask it."""
    ordered = np.sort(np.asarray(values, np.float64))
    return np.searchsorted(ordered, points, side="right").astype(np.int64)


async def agree_cuts(party: Party, spans: Mapping[str, Span], values: Mapping[str, Floats],
                     most: int) -> dict[str, tuple[float, ...]]:
    """Return the cut points of every attribute; owners of no rows give no values."""
    if not spans:
        return {}
    search = QuantileSearch(spans, values)
    rows = max((len(v) for v in values.values()), default=0)
    own = party.name in party.roles.owners
    for _ in range(max(span.bits for span in spans.values()) + 1):
        local = np.stack([search.counts(rows), np.full(search.size, rows)]) if own else None
        shared = (await share_sum(party, local, (2, search.size), 0, most)).within(0, most)
        less = stack([shared[0][i] * k for i, k in enumerate(search.parts)]) - stack(
            [shared[1][i] * k for i, k in enumerate(search.wanted)])
        search.answer(np.asarray(await reveal(party, await less_than(party, less, 0),
                                              because=CUTS)))
    return search.cuts()


class QuantileSearch:
    """Halving for every quantile at once; all of it is public but the counts."""

    def __init__(self, spans: Mapping[str, Span], values: Mapping[str, Floats]) -> None:
        self.spans, self.values = spans, values
        self.wanted = [k for span in spans.values() for k in range(1, span.count + 1)]
        self.parts = [span.count + 1 for span in spans.values() for _ in range(span.count)]
        self.size = len(self.wanted)
        self.low = np.zeros(self.size, np.int64)
        self.high = np.array([1 << span.bits for span in spans.values()
                              for _ in range(span.count)])

    def _slices(self) -> list[tuple[str, Span, slice]]:
        ends = np.cumsum([span.count for span in self.spans.values()]).tolist()
        return [(name, span, slice(end - span.count, end))
                for (name, span), end in zip(self.spans.items(), ends, strict=True)]

    def counts(self, rows: int) -> Ints:
        """Return how many values lie at or below the middle of every search."""
        middle = (self.low + self.high) // 2
        below = np.concatenate([below_or_at(self.values.get(name, np.zeros(0)),
                                            span.points(middle[part]))
                                for name, span, part in self._slices()])
        # A search that has ended asks nothing more: at the end of the range the answer would
        # say whether values lie beyond it.
        return np.where(self.low < self.high, below, rows)

    def answer(self, too_few: npt.NDArray[np.bool_]) -> None:
        """Go on above the middle where too few values lie below it, else at or below it."""
        middle = (self.low + self.high) // 2
        going = self.low < self.high
        self.low = np.where(going & too_few, middle + 1, self.low)
        self.high = np.where(going & ~too_few, middle, self.high)

    def cuts(self) -> dict[str, tuple[float, ...]]:
        """Return the cut points, where the searches ended."""
        return {name: tuple(np.unique(span.points(self.low[part])).tolist())
                for name, span, part in self._slices()}


def with_cuts(layout: TreeLayout, cuts: Mapping[str, tuple[float, ...]]) -> TreeLayout:
    """Return a layout with agreed cut points in the place of those that stood in for them."""
    return replace(layout, attributes=tuple(
        Attribute(a.name, cuts=cuts[a.name]) if a.name in cuts else a for a in layout.attributes))
