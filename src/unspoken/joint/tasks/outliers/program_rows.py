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
from math import comb
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.choice import absolute
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import LIMIT, Shared
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.public_sizes import SIZES, open_sizes
from unspoken.joint.tasks.outliers.count_near import (
    BLOCK,
    OUTLIERS,
    Counts,
    enough,
    far_bits,
    tell,
)
from unspoken.joint.tasks.outliers.params import OutlierParams, check_objects, powers, rounded
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.outliers import Outliers


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
        if rules.order % 2 and rules.order != 1:
            raise RefusedError(explain("outliers over rows: 'order'", "1 or an even number, whose "
                                       "powers are sums of products", rules.order))
        self.rules, self.columns, self.owners = rules, columns, tuple(owners)
        self.receivers, self.block = tuple(receivers), block
        self.reach, self.limit = rules.reach(columns), rules.limit(columns)
        self.disclosures = disclosures(owners, receivers)

    async def __call__(self, party: Party, data: Any) -> Outliers | None:
        """Find the outliers; an owner learns which of its own objects are some."""
        units = self._own(party, data)
        sizes = await open_sizes(party, units.shape[0], self.owners)
        check_objects(int(sizes.sum()))
        counts = Counts(party, int(sizes.sum()))
        ends = np.cumsum(sizes)
        rows = [slice(int(e - s), int(e)) for s, e in zip(sizes, ends, strict=True)]
        await self._within(party, units, counts, rows)
        for one in range(len(rows)):
            for other in range(one + 1, len(rows)):
                await self._across(party, units, counts, (one, other), rows)
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

    async def _across(self, party: Party, units: Ints, counts: Counts, two: tuple[int, int],
                      rows: Sequence[slice]) -> None:
        """Count the pairs of two owners' objects, block by block."""
        names = self.owners[two[0]], self.owners[two[1]]
        for one, other in self._blocks(rows[two[0]], rows[two[1]]):
            sides = [self._side(party, units, name, place, rows[owner])
                     for name, owner, place in zip(names, two, (one, other), strict=True)]
            distance = await self.distances(party, names, sides, (one, other))
            far = await self.far(party, distance)
            counts.add_block(far, one, other)

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
        if self.rules.order == 1:
            return await self._absolute(party, names, sides, (n, m))
        terms, bound = (self.rules.order - 1) * self.columns, self.reach
        left = None if sides[0] is None else _left(sides[0], self.rules.order)
        right = None if sides[1] is None else _right(sides[1], self.rules.order)
        one = await share(party, left, names[0], (n, terms + 1), -bound, bound)
        other = await share(party, right, names[1], (terms + 1, m), -bound, bound)
        # Only the sum is known to lie within its bounds; the ring does not mind the way.
        cross = await matmul(party, one[:, :-1], other[:-1], (-LIMIT + 1, LIMIT - 1))
        words = cross.share + one.share[:, -1:] + other.share[-1:]
        return Shared(party, words, 0, self.reach)

    async def _absolute(self, party: Party, names: tuple[str, str], sides: Sequence[Ints | None],
                        shape: tuple[int, int]) -> Shared:
        """Return sums of |x - y|: a comparison for each column."""
        (n, m), bound, d = shape, self.rules.units, self.columns
        one = await share(party, sides[0], names[0], (n, d), -bound, bound)
        other = await share(party, sides[1], names[1], (m, d), -bound, bound)
        gap = Shared(party, one.share[:, None] - other.share[None], -2 * bound, 2 * bound)
        return (await absolute(party, gap)).sum(axis=2).within(0, self.reach)

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


def _left(units: Ints, order: int) -> Ints:
    """Return x^s for s = 1 ... order - 1, and the sum of x^order as the last column."""
    parts = [units**s for s in range(1, order)] + [(units**order).sum(axis=1, keepdims=True)]
    return np.concatenate(parts, axis=1)


def _right(units: Ints, order: int) -> Ints:
    """Return the binomial factors times y^(order - s), and the sum of y^order as the last row."""
    parts = [comb(order, s) * (-1) ** (order - s) * units ** (order - s) for s in range(1, order)]
    return np.concatenate([*parts, (units**order).sum(axis=1, keepdims=True)], axis=1).T


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
