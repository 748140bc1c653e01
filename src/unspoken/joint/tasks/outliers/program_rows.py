"""Outliers over rows that are spread among owners (vcz2006 section 7.3.3, Algorithm 3).

Every owner has all columns of some objects. Pairs within an owner are counted by that owner
alone; pairs across owners by a matrix product on shares. For an even order the power of a
distance is a sum of products, (x - y)^2 = x^2 - 2 x y + y^2 and so on: one matrix product for a
whole block. For order 1 each column's |x - y| needs a comparison of its own.
  discloses: how many objects each owner has; which objects are outliers: to each owner those
    among its own objects (or all of them to named receivers, and nothing to the others).
  improves on the book: scalar products are on shares, safe however short the vectors are (the
    book allows any secure product, and over few columns the product itself gives values away);
    each pair once; any number of owners; the counts are compared on shares, where the book lets a
    designated party add them up.
  safe against: whom products and comparisons are.
  cost: a comparison and a bit turned to a number for each pair of different owners, and columns
    times as many multiplications inside matrix products. Without a dealer those cost 1 kB each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.joint.mpc.checkpoints import in_batches, recalled_shares, remember_shares
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.grid_distances import across, check_order, powers, rounded
from unspoken.joint.tasks.common.public_sizes import SIZES, open_sizes
from unspoken.joint.tasks.outliers.count_near import (
    BLOCK,
    OUTLIERS,
    Counts,
    enough,
    far_bits,
    tell,
)
from unspoken.joint.tasks.outliers.farthest_objects import farthest, in_blocks, kth_distances
from unspoken.joint.tasks.outliers.params import OutlierParams, check_objects
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.outliers import Outliers

Rectangle = tuple[tuple[int, int], slice, slice]
"""Two owners, by their places, and objects of each."""


def own_outliers(owner: str) -> str:
    """Return the words for the outliers among an owner's objects."""
    return f"which objects of {owner} are outliers"


def disclosures(owners: Sequence[str], receivers: Sequence[str] = ()) -> tuple[Disclosure, ...]:
    """Return everything that outliers over rows disclose."""
    if receivers:
        return Disclosure(SIZES), Disclosure(OUTLIERS, tuple(receivers))
    return (Disclosure(SIZES), *(Disclosure(own_outliers(name), (name,)) for name in owners))


class OutliersOverRows:
    """The program: every owner gives its objects, all with the same columns."""

    def __init__(self, rules: OutlierParams, columns: int, owners: Sequence[str],
                 receivers: Sequence[str] = (), block: int = BLOCK) -> None:
        check_order("outliers", rules.order)
        self.rules, self.columns, self.owners = rules, columns, tuple(owners)
        self.receivers, self.block = tuple(receivers), block
        self.reach, self.limit = rules.reach(columns), rules.limit(columns)
        self.disclosures = disclosures(owners, receivers)

    async def __call__(self, party: Party, data: Any) -> Outliers | None:
        """Find the outliers; an owner learns which of its own objects are some."""
        units = self._own(party, data)
        sizes = await open_sizes(party, units.shape[0], self.owners)
        check_objects(int(sizes.sum()), self.rules)
        ends = np.cumsum(sizes)
        rows = [slice(int(e - s), int(e)) for s, e in zip(sizes, ends, strict=True)]
        if self.rules.top is not None:
            return await self._tell(party, await self._farthest(party, units, rows), rows)
        counts = Counts(party, int(sizes.sum()))
        await self._within(party, units, counts, rows)
        for batch in in_batches(self._rectangles(rows)):
            known = recalled_shares(party, "a batch of pairs", [counts.shared()])
            if known is not None:
                counts.share = known[0].share
                continue
            for rectangle in batch:
                await self._across(party, units, counts, rectangle, rows)
            await remember_shares(party, "a batch of pairs", [counts.shared()])
        return await self._tell(party, counts.shared(), rows)

    def _own(self, party: Party, data: Any) -> Ints:
        """Check an owner's objects before anything is sent."""
        if party.name not in self.owners:
            return np.zeros((0, self.columns), np.int64)
        units = rounded(np.zeros((0, 1)) if data is None else data, self.rules)
        if units.shape[1] != self.columns:
            raise InputError(explain(f"The columns of '{party.name}'", f"{self.columns}, as agreed",
                                     units.shape[1]))
        return units

    async def _within(self, party: Party, units: Ints, counts: Counts,
                      rows: Sequence[slice]) -> None:
        """Share what every owner counts among its own objects."""
        for name, place in zip(self.owners, rows, strict=True):
            size = place.stop - place.start
            mine = self._local(units) if party.name == name else None
            counts.add(await share(party, mine, name, (size,), 0, max(0, size - 1)), place)

    def _local(self, units: Ints) -> Ints:
        step = max(1, self.block // max(1, units.shape[0]))
        far = [(powers(units[start:start + step, None], units[None], self.rules.order)
                > self.limit).sum(axis=1) for start in range(0, units.shape[0], step)]
        return np.concatenate(far).astype(np.int64)

    def _rectangles(self, rows: Sequence[slice]) -> list[Rectangle]:
        """Return the blocks of all pairs of two owners' objects."""
        return [((one, other), *places) for one in range(len(rows))
                for other in range(one + 1, len(rows))
                for places in self._blocks(rows[one], rows[other])]

    async def _across(self, party: Party, units: Ints, counts: Counts, rectangle: Rectangle,
                      rows: Sequence[slice]) -> None:
        """Count a block of pairs of two owners' objects."""
        two, *places = rectangle
        names = self.owners[two[0]], self.owners[two[1]]
        sides = [self._side(party, units, name, place, rows[owner])
                 for name, owner, place in zip(names, two, places, strict=True)]
        distance = await self.distances(party, names, sides, (places[0], places[1]))
        counts.add_block(await self.far(party, distance), *places)

    def _side(self, party: Party, units: Ints, name: str, place: slice, all_of: slice
              ) -> Ints | None:
        first = all_of.start
        return units[place.start - first:place.stop - first] if party.name == name else None

    def _blocks(self, one: slice, other: slice) -> Iterator[tuple[slice, slice]]:
        """Yield rectangles of at most `block` pairs, unless a single row is longer."""
        step = max(1, self.block // max(1, other.stop - other.start))
        for start in range(one.start, one.stop, step):
            yield slice(start, min(one.stop, start + step)), other

    async def far(self, party: Party, distance: Shared) -> Shared:
        """Return 1 where objects lie far from each other."""
        return await far_bits(party, distance, self.limit)

    async def distances(self, party: Party, names: tuple[str, str], sides: Sequence[Ints | None],
                        places: tuple[slice, slice]) -> Shared:
        """Return the powers of the distances of a block, objects of one owner by the other's."""
        n, m = (place.stop - place.start for place in places)
        return await across(party, self.rules, names, sides, (n, m, self.columns))

    async def _farthest(self, party: Party, units: Ints, rows: Sequence[slice]) -> Shared:
        """Return 1 for the objects whose k-th neighbour is farthest."""
        scores = [await kth_distances(party, await self._to_all(party, units, (one, block), rows),
                                      self.rules)
                  for one, place in enumerate(rows)
                  for block in in_blocks(place, rows[-1].stop, self.block)]
        return await farthest(party, concatenate(scores), self.rules)

    async def _to_all(self, party: Party, units: Ints, some: tuple[int, slice],
                      rows: Sequence[slice]) -> Shared:
        """Return the powers of the distances of some objects to all, in the order of owners."""
        (one, block), parts = some, list[Shared]()
        for other, place in enumerate(rows):
            names = self.owners[one], self.owners[other]
            mine = self._side(party, units, names[0], block, rows[one])
            if one == other:
                parts.append(await self._inside(party, units, mine, names[0], (block, place)))
            else:
                sides = mine, self._side(party, units, names[1], place, place)
                parts.append(await self.distances(party, names, sides, (block, place)))
        return concatenate(parts, 1)

    async def _inside(self, party: Party, units: Ints, mine: Ints | None, name: str,
                      places: tuple[slice, slice]) -> Shared:
        """Share the distances among one owner's objects; to itself each is beyond all others."""
        block, place = places
        shape, own = (block.stop - block.start, place.stop - place.start), None
        if mine is not None:
            own = powers(mine[:, None], units[None], self.rules.order)
            own[np.arange(shape[0]), np.arange(block.start, block.stop) - place.start] = \
                self.reach + 1
        return await share(party, own, name, shape, 0, self.reach + 1)

    async def _tell(self, party: Party, counts: Shared,
                    rows: Sequence[slice]) -> Outliers | None:
        if self.receivers:
            return await tell(party, counts, self.rules, self.receivers)
        flags = await to_numbers(party, await enough(party, counts, self.rules))
        mine = None
        for name, place in zip(self.owners, rows, strict=True):
            opened = await reveal(party, flags[place], because=own_outliers(name), to=[name])
            if opened is not None:
                mine = Outliers(np.asarray(opened, np.int64).astype(np.bool_), self.rules.words())
        return mine


def outliers_rows(parts: Sequence[Any], rules: OutlierParams, mode: str = "dealer", *,
                        names: Sequence[str] | None = None, receivers: Sequence[str] = (),
                        block: int = BLOCK, **how: Any
                        ) -> tuple[list[Outliers | None], list[Ledger]]:
    """Find outliers among the objects of several owners; return what each learns, and ledgers.

    Parameters
    ----------
    parts : sequence of array-like
        Each owner's objects (objects, columns).
    rules : OutlierParams
        The fraction, the distance, and how both are meant.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    receivers : sequence of str, default ()
        Who learns all outliers; if nobody is named each owner learns its own.
    block : int, default 2**20
        Pairs of objects that travel together, at most.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of Outliers or None, list of Ledger)
        What each party learns, and its ledger, in the order of owners.
    """
    named = list(names) if names is not None else [f"p{i}" for i in range(len(parts))]
    columns = next((np.shape(part)[1] for part in parts if np.ndim(part) == 2), 0)
    program = OutliersOverRows(rules, columns, named, receivers, block)
    outputs = run_local(program, list(parts), mode, names=named, **how)
    return [output for output, _ in outputs], [ledger for _, ledger in outputs]
