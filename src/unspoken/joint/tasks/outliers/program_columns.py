"""Outliers over columns that are spread among owners (vcz2006 section 7.3.4, Algorithm 4).

Every owner has some columns of all objects, in one order. For each pair an owner computes
sum |x - y|^order over its own columns; the sum over the owners exists as shares alone, and so do
the far bit and the counts.
  discloses: how many objects there are; which are outliers, to the receivers and nobody else. How
    many columns an owner has is public here, because it bounds the numbers.
  improves on the book: each pair is compared once, not twice; all pairs of a block travel
    together; any number of owners, two without a third; the sign is exact where the book compares
    in a field ("> 0" there means the lower half).
  safe against: whom comparisons are. (The book's chain of masked sums breaks if the neighbours of
    an owner work together.)
  cost: n (n - 1) / 2 comparisons as wide as the distances, and as many bits turned to numbers.
  what the outliers themselves give away is given away: that most others are far from one, and,
    where it is, that a neighbour of it is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.local_sum import sum_kept
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.grid_distances import powers, rounded, to_power
from unspoken.joint.tasks.common.public_sizes import SIZES, one_size
from unspoken.joint.tasks.outliers.count_near import (
    BLOCK,
    OUTLIERS,
    Counts,
    Pairs,
    far_bits,
    pairs_of,
    tell,
)
from unspoken.joint.tasks.outliers.farthest_objects import farthest, in_blocks, kth_distances
from unspoken.joint.tasks.outliers.params import OutlierParams, check_objects
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.outliers import Outliers


def disclosures(receivers: Sequence[str] = ()) -> tuple[Disclosure, ...]:
    """Return everything that outliers over columns disclose."""
    return Disclosure(SIZES), Disclosure(OUTLIERS, tuple(receivers))


class OutliersOverColumns:
    """The program: every owner gives its columns of all objects."""

    def __init__(
        self,
        rules: OutlierParams,
        widths: Mapping[str, int],
        receivers: Sequence[str] = (),
        block: int = BLOCK,
    ) -> None:
        self.rules, self.widths, self.block = rules, dict(widths), block
        self.receivers = tuple(receivers)
        columns = sum(self.widths.values())
        self.reach, self.limit = rules.reach(columns), rules.limit(columns)
        self.disclosures = disclosures(receivers)

    async def __call__(self, party: Party, data: Any) -> Outliers | None:
        """Find the outliers; those who may not know them get None."""
        units = self._own(party, data)
        objects = await one_size(party, units.shape[0], list(self.widths))
        check_objects(objects, self.rules)
        if self.rules.top is not None:
            flags = await self._farthest(party, units, objects)
            return await tell(party, flags, self.rules, self.receivers)
        counts = Counts(party, objects)
        for pairs in pairs_of(objects, self.block):
            distance = await self._distances(party, units, pairs)
            counts.add_pairs(await far_bits(party, distance, self.limit), pairs)
        return await tell(party, counts.shared(), self.rules, self.receivers)

    def _own(self, party: Party, data: Any) -> Ints:
        """Check an owner's columns before anything is sent."""
        if party.name not in self.widths:
            return np.zeros((0, 1), np.int64)
        units = rounded(np.zeros((0, 1)) if data is None else data, self.rules)
        if units.shape[1] != self.widths[party.name]:
            raise InputError(explain(f"The columns of '{party.name}'",
                                     f"{self.widths[party.name]}, as agreed", units.shape[1]))
        return units

    async def _distances(self, party: Party, units: Ints, pairs: Pairs) -> Shared:
        """Return the powers of the distances of a block of pairs, as shares."""
        mine = None
        if party.name in self.widths:
            mine = np.zeros(pairs.size, np.int64)
            for column in units.T:
                mine += to_power(pairs.firsts(column) - pairs.seconds(column), self.rules.order)
        return await sum_kept(party, mine, self.widths, (pairs.size,), 0, self.reach)

    async def _farthest(self, party: Party, units: Ints, objects: int) -> Shared:
        """Return 1 for the objects whose k-th neighbour is farthest."""
        scores = [await kth_distances(party, await self._to_all(party, units, block, objects),
                                      self.rules)
                  for block in in_blocks(slice(0, objects), objects, self.block)]
        return await farthest(party, concatenate(scores), self.rules)

    async def _to_all(self, party: Party, units: Ints, block: slice, objects: int) -> Shared:
        """Return the powers of the distances of some objects to all; to itself each is beyond."""
        mine, shape = None, (block.stop - block.start, objects)
        if party.name in self.widths:
            mine = powers(units[block, None], units[None], self.rules.order)
        if mine is not None and party.name == next(iter(self.widths)):
            mine[np.arange(shape[0]), np.arange(block.start, block.stop)] = self.reach + 1
        return await sum_kept(party, mine, self.widths, shape, 0, self.reach + 1)


def outliers_columns(sites: Sequence[Any], rules: OutlierParams, mode: str = "dealer", *,
                      names: Sequence[str] | None = None, receivers: Sequence[str] = (),
                      block: int = BLOCK, **how: Any
                      ) -> tuple[list[Outliers | None], list[Ledger]]:
    """Find outliers among objects whose columns several owners have.

    Parameters
    ----------
    sites : sequence of array-like
        Each owner's columns (objects, columns).
    rules : OutlierParams
        The fraction, the distance, and how both are meant.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    receivers : sequence of str, default ()
        Who learns the outliers (all if nobody is named).
    block : int, default 2**20
        Pairs of objects that travel together, at most.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of Outliers or None, list of Ledger)
        Each party's outliers (None for who is no receiver) and ledger, in the order of owners.
    """
    named = list(names) if names is not None else [f"p{i}" for i in range(len(sites))]
    widths = {name: np.shape(part)[1] if np.ndim(part) == 2 else 0
              for name, part in zip(named, sites, strict=True)}
    program = OutliersOverColumns(rules, widths, receivers, block)
    outputs = run_local(program, list(sites), mode, names=named, **how)
    return [output for output, _ in outputs], [ledger for _, ledger in outputs]
