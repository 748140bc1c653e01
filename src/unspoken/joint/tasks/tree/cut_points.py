"""Cut points that all owners agree on without showing values: quantiles of everybody's numbers.

Each quantile is searched on a public grid by halving (`common.quantile_search`).
  discloses: the cut points, to everybody, and which quantiles each of them is. Two owners: how many
    records the other has is not known, so that a quantile bounds its part and gives no count.
  safe against: as comparisons in the mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.party import Party
from unspoken.joint.tasks.common.quantile_search import (
    Grid,
    QuantileSearch,
    even_parts,
    plain_quantiles,
    search_on_shares,
)
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

    @property
    def grid(self) -> Grid:
        """Return the grid and the quantiles that are cut points."""
        return Grid(self.low, self.high, self.bits, even_parts(self.count + 1))

    def even(self) -> tuple[float, ...]:
        """Return as many cut points, to stand in for those that are not known yet."""
        return tuple(np.linspace(self.low, self.high, self.count).tolist())


def plain_cuts(values: Floats, span: Span) -> tuple[float, ...]:
    """Return the reference: the first grid points with enough values at or below."""
    return tuple(np.unique(plain_quantiles(values, span.grid)).tolist())


def cut_search(spans: Mapping[str, Span], values: Mapping[str, Floats]) -> QuantileSearch:
    """Return the search of all cut points at its beginning."""
    return QuantileSearch({name: span.grid for name, span in spans.items()}, values)


def agreed_cuts(search: QuantileSearch) -> dict[str, tuple[float, ...]]:
    """Return the cut points, where the searches ended."""
    return {name: tuple(np.unique(ends).tolist()) for name, ends in search.ends().items()}


async def agree_cuts(party: Party, spans: Mapping[str, Span], values: Mapping[str, Floats],
                     most: int) -> dict[str, tuple[float, ...]]:
    """Return the cut points of every attribute; owners of no rows give no values."""
    if not spans:
        return {}
    known = recalled(party, "cut points")
    if known is not None:
        return {name: tuple(cuts.tolist()) for name, cuts in zip(spans, known, strict=True)}
    search = cut_search(spans, values)
    await search_on_shares(party, search, most, because=CUTS)
    cuts = agreed_cuts(search)
    await remember(party, "cut points", *(cuts[name] for name in spans))
    return cuts


def with_cuts(layout: TreeLayout, cuts: Mapping[str, tuple[float, ...]]) -> TreeLayout:
    """Return a layout with agreed cut points in the place of those that stood in for them."""
    return replace(layout, attributes=tuple(
        Attribute(a.name, cuts=cuts[a.name]) if a.name in cuts else a for a in layout.attributes))
