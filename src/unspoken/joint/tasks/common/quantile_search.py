"""Quantiles of everybody's numbers by halving on a public grid: nothing is opened but them.

The owners' counts of values at or below a grid point are added up as shares and compared with the
wanted part of all known values. The answer, one bit, says where to go on, so all answers together
are the quantile and nothing else (vcz2006 section 4.3 has categories only). All quantiles of all
columns are searched at once.
  discloses: the quantiles, to everybody. Each is the first grid point with at least that part of
    all known values at or below it: on a fine grid it lies close above somebody's value, so choose
    a grid no finer than what may be known. How many values there are does not show.
  safe against: as comparisons in the mode.
  cost: a comparison of all quantiles for each bit of the finest grid and one more, 9 rounds each.

**left out** (`leave_out_thin`): quantiles that have fewer than a stated number of values on one of
their sides are not searched.
  discloses: which these are, to everybody, and so a bound on the number of known values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack

MOST_VALUES = 1 << 30
"""How many values a column has at most at all owners together, where a study does not say it."""


@dataclass(frozen=True)
class Grid:
    """A public range in 2^bits steps, and which quantiles are wanted: (1, 4) is a quarter."""

    low: float
    high: float
    bits: int
    wanted: tuple[tuple[int, int], ...]

    def points(self, steps: Ints) -> Floats:
        """Return grid points."""
        return self.low + (self.high - self.low) * (steps / (1 << self.bits))


def even_parts(parts: int) -> tuple[tuple[int, int], ...]:
    """Return the quantiles between `parts` equal parts."""
    return tuple((part, parts) for part in range(1, parts))


def below_or_at(values: Floats, points: Floats) -> Ints:
    """Return how many values lie at or below each point, as questions ask it."""
    ordered = np.sort(np.asarray(values, np.float64))
    return np.searchsorted(ordered, points, side="right").astype(np.int64)


def plain_quantiles(values: Floats, grid: Grid) -> Floats:
    """Return the reference: the first grid points with enough values at or below."""
    below = below_or_at(values, grid.points(np.arange((1 << grid.bits) + 1)))
    enough = [below * parts >= part * values.size for part, parts in grid.wanted]
    places = [int(each.argmax()) if each.any() else 1 << grid.bits for each in enough]
    return grid.points(np.array(places, np.int64))


class QuantileSearch:
    """Halving for every quantile at once; all of it is public but the counts.

    An owner's values come without missing ones; who owns none gives none.
    """

    def __init__(self, grids: Mapping[str, Grid], values: Mapping[str, Floats]) -> None:
        self.grids, self.values = grids, values
        self.wanted = [part for grid in grids.values() for part, _ in grid.wanted]
        self.parts = [parts for grid in grids.values() for _, parts in grid.wanted]
        self.size = len(self.wanted)
        self.low = np.zeros(self.size, np.int64)
        self.high = np.array([1 << grid.bits for grid in grids.values() for _ in grid.wanted])
        self.left_out = np.zeros(self.size, bool)

    def _slices(self) -> list[tuple[str, Grid, slice]]:
        ends = np.cumsum([len(grid.wanted) for grid in self.grids.values()]).tolist()
        return [(name, grid, slice(end - len(grid.wanted), end))
                for (name, grid), end in zip(self.grids.items(), ends, strict=True)]

    def known(self) -> Ints:
        """Return how many values the column of every search has here."""
        return np.array([len(self.values.get(name, ())) for name, grid in self.grids.items()
                         for _ in grid.wanted], np.int64)

    def counts(self) -> Ints:
        """Return how many values lie at or below the middle of every search."""
        middle = (self.low + self.high) // 2
        below = np.concatenate([below_or_at(self.values.get(name, np.zeros(0)),
                                            grid.points(middle[part]))
                                for name, grid, part in self._slices()])
        # A search that has ended asks nothing more: at the end of the range the answer would
        # say whether values lie beyond it.
        return np.where(self.low < self.high, below, self.known())

    def answer(self, too_few: Bools) -> None:
        """Go on above the middle where too few values lie below it, else at or below it."""
        middle = (self.low + self.high) // 2
        going = self.low < self.high
        self.low = np.where(going & too_few, middle + 1, self.low)
        self.high = np.where(going & ~too_few, middle, self.high)

    def leave_out(self, some: Bools) -> None:
        """Search some quantiles no further."""
        self.left_out = np.asarray(some, bool)
        self.high = np.where(self.left_out, self.low, self.high)

    def ends(self) -> dict[str, Floats]:
        """Return where the searches ended, in the order of the wanted ones; NaN if left out."""
        return {name: np.where(self.left_out[part], np.nan, grid.points(self.low[part]))
                for name, grid, part in self._slices()}


async def search_on_shares(party: Party, search: QuantileSearch, most: int, *,
                           because: str) -> None:
    """Carry a search to its end; every party learns every answer."""
    own = party.name in party.roles.owners
    for _ in range(max(grid.bits for grid in search.grids.values()) + 1):
        local = np.stack([search.counts(), search.known()]) if own else None
        shared = (await share_sum(party, local, (2, search.size), 0, most)).within(0, most)
        short = _multiples(shared[0], search.parts) - _multiples(shared[1], search.wanted)
        search.answer(np.asarray(await reveal(party, await less_than(party, short, 0),
                                              because=because)))


async def leave_out_thin(party: Party, search: QuantileSearch, fewest: int, *,
                         because: str) -> None:
    """Leave out quantiles that have fewer than `fewest` known values on one of their sides."""
    own = search.known() if party.name in party.roles.owners else None
    shared = await share_sum(party, own, (search.size,), 0, MOST_VALUES)
    sides = [min(part, parts - part) for part, parts in zip(search.wanted, search.parts,
                                                            strict=True)]
    lacking = stack([values - fewest * parts for values, parts in zip(
        _each(_multiples(shared.within(0, MOST_VALUES), sides)), search.parts, strict=True)])
    search.leave_out(np.asarray(await reveal(party, await less_than(party, lacking, 0),
                                             because=because)))


def _each(values: Shared) -> list[Shared]:
    return [values[place] for place in range(values.size)]


def _multiples(values: Shared, factors: list[int]) -> Shared:
    """Return every value times its own public number."""
    return stack([value * factor for value, factor in zip(_each(values), factors, strict=True)])
