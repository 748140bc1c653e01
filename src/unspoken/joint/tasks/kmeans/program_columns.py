"""k-means over columns that are spread among owners (vcz2006 section 7.2.2).

Every owner has some columns of all records, in one order. Two ways:

**hidden** (the default): all on shares (`hidden`); the owners get the parts of the final centres
in their own columns, the receivers the final assignments.
**assignments** (the book's): every owner knows every round's assignments, moves its part of the
centres itself, and shares its part of every squared distance; the nearest centre is found on
shares, or permuted and compared as in the book (closest="permuted").

  discloses: how many records there are; the final assignments, to the receivers; to each owner
    its part of the centres (a mean over records, and so, with its own columns, nothing new once
    it has the assignments). By "assignments": those of every round, to everybody. With a
    tolerance: one bit a round. By closest="permuted": what `closest` says.
  start: records whose public numbers are drawn whatever the data is; each owner knows its own
    part of them anyway. Starts that depend on the data (k-means++) would point at records.
  improves on the book: any number of owners from two on; fresh disguises come from shares; the
    stop is an exact comparison (the book compares intervals in a field); nothing but the result
    needs to be known. The distance is squared, as k-means has it; the book writes |mu - x|.
  safe against: whom comparisons are; a cluster with one record gives its owner's part away to
    nobody but that owner, but the assignments say which record is alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.local_sum import sum_kept
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.public_sizes import SIZES, not_empty, one_size
from unspoken.joint.tasks.kmeans.all_on_shares import MOVED, Hidden, assignment_bits, chosen
from unspoken.joint.tasks.kmeans.first_centres import spread
from unspoken.joint.tasks.kmeans.nearest_centre import (
    COMPARED,
    WON,
    aligned,
    closest,
    closest_permuted,
    permuting_owner,
)
from unspoken.joint.tasks.kmeans.params import (
    KMeansParams,
    as_floats,
    check_enough,
    distances,
    first_records,
    means,
    movement,
    rounded,
    threshold,
    totals,
)
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.clusters import Clusters

ASSIGNED = "the cluster of every record"
EVERY = "the cluster of every record in every round"
WAYS = ("hidden", "assignments")
CLOSEST = ("shares", "permuted")


@dataclass(frozen=True)
class KMeansSite:
    """An owner's columns, and its part of the first centres where they are given."""

    values: Any
    names: tuple[str, ...] = ()
    start: Any = None

    def take_rows(self, places: Ints) -> KMeansSite:
        """Return the site with some of its records."""
        return replace(self, values=np.asarray(self.values)[places])


def part_of(owner: str) -> str:
    """Return the words for an owner's part of the centres."""
    return f"the centres in the columns of {owner}"


def disclosures(
    owners: Sequence[str],
    holders: Sequence[str],
    rules: KMeansParams,
    way: str = "hidden",
    nearest: str = "shares",
    receivers: Sequence[str] = (),
) -> tuple[Disclosure, ...]:
    """Return everything that k-means over columns discloses."""
    disclosed = [Disclosure(SIZES), Disclosure(ASSIGNED, tuple(receivers))]
    if rules.tolerance is not None:
        disclosed.append(Disclosure(MOVED))
    if way == "hidden":
        disclosed += [Disclosure(part_of(name), (name,)) for name in owners]
    elif nearest == "permuted":
        disclosed += [Disclosure(COMPARED, tuple(holders)), Disclosure(WON)]
    else:
        disclosed.append(Disclosure(EVERY))
    return tuple(disclosed)


class KMeansOverColumns:
    """The program: every owner gives a Site."""

    def __init__(self, rules: KMeansParams, widths: Mapping[str, int], holders: Sequence[str] = (),
                 way: str = "hidden", nearest: str = "shares",
                 receivers: Sequence[str] = (), has_start: bool = False) -> None:
        if way not in WAYS or nearest not in CLOSEST:
            raise InputError(explain("k-means over columns", f"given a way of {', '.join(WAYS)} "
                                     f"and closest of {', '.join(CLOSEST)}", f"{way}, {nearest}"))
        if (way, nearest) == ("hidden", "permuted"):
            raise RefusedError("Permuted comparisons tell assignments in every round. Way 'hidden' "
                               "tells none. Use way='assignments' for them.")
        if way == "assignments" and rules.start != "records":
            raise RefusedError("Centres that are drawn by their distances are records far from "
                               "all others. Way 'assignments' would show which. Use way='hidden'.")
        self.rules, self.widths = rules, dict(widths)
        self.way, self.nearest, self.receivers = way, nearest, tuple(receivers)
        self.has_start = has_start
        self.reach = rules.reach(sum(self.widths.values()))
        self.disclosures = disclosures(tuple(widths), holders, rules, way, nearest, receivers)

    async def __call__(self, party: Party, data: KMeansSite | None) -> Clusters | None:
        """Cluster; an owner gets its part of the centres, a receiver the assignments too."""
        if self.nearest == "permuted":
            permuting_owner(party)
        units, start = self._own(party, data)
        records = await one_size(party, units.shape[0], list(self.widths))
        check_enough(self.rules, records)
        if self.way == "hidden":
            centres, assigned = await self._hidden(party, units, start, records)
        else:
            centres, assigned = await self._open(party, units, start, records)
        if data is None or party.name not in self.widths:
            return None if assigned is None else Clusters(
                (), np.zeros((self.rules.k, 0)), assigned)
        names = data.names or tuple(f"{party.name}.{i}" for i in range(units.shape[1]))
        return Clusters(names, centres, assigned)

    def _own(self, party: Party, data: KMeansSite | None) -> tuple[Ints, Ints | None]:
        """Check an owner's columns before anything is sent."""
        if data is None or party.name not in self.widths:
            return np.zeros((0, 0), np.int64), None
        units = rounded(data.values, self.rules)
        not_empty(units.shape[0])
        check_enough(self.rules, units.shape[0])
        width = self.widths[party.name]
        if units.shape[1] != width:
            raise InputError(explain(f"The columns of '{party.name}'", f"{width}, as agreed",
                                     units.shape[1]))
        if not self.has_start:
            return units, None
        start = rounded(np.zeros((0, 1)) if data.start is None else data.start, self.rules,
                        "first centres")
        if start.shape != (self.rules.k, width):
            raise InputError(explain("First centres", f"of shape ({self.rules.k}, {width}), from "
                                     "every owner", start.shape))
        return units, start

    async def _hidden(self, party: Party, units: Ints, start: Ints | None,
                      records: int) -> tuple[Floats, Ints | None]:
        data = await self._shared(party, units, records)
        loop = Hidden(party, data, await self._start(party, data, start), self.rules)
        await loop.run()
        bits = assignment_bits(party, await loop.nearest(), records)
        hot = await reveal(party, bits, because=ASSIGNED, to=self.receivers)
        assigned = None if hot is None else np.argmax(hot[:, :records], axis=0).astype(np.int64)
        return await self._parts(party, loop.centres), assigned

    async def _start(self, party: Party, data: Shared, start: Ints | None) -> Shared:
        """Return the first centres: given parts if every owner has some, else records."""
        if self.has_start:
            return await self._shared(party, start, self.rules.k)
        if self.rules.start == "spread":
            return await spread(party, data, self.rules)
        return chosen(data, first_records(self.rules, data.shape[0]).tolist())

    async def _shared(self, party: Party, units: Ints | None, rows: int) -> Shared:
        """Return every owner's columns side by side, as shares."""
        bound, parts = self.rules.units, []
        for name, width in self.widths.items():
            mine = units if party.name == name else None
            parts.append(await share(party, mine, name, (rows, width), -bound, bound))
        return concatenate(parts, axis=1)

    async def _parts(self, party: Party, centres: Shared) -> Floats:
        """Open to each owner the centres in its own columns."""
        first, mine = 0, np.zeros((self.rules.k, 0))
        for name, width in self.widths.items():
            part = centres[:, first:first + width]
            own_part = await reveal(party, part, because=part_of(name), to=[name])
            mine, first = mine if own_part is None else own_part, first + width
        return mine

    async def _open(self, party: Party, units: Ints, start: Ints | None,
                    records: int) -> tuple[Floats, Ints | None]:
        """Run the book's loop: assignments are known, centres stay where their columns are."""
        rules, rows = self.rules, as_floats(units, self.rules)
        places = first_records(rules, records)
        centres = as_floats(start, rules) if start is not None else rows[places] if rows.size \
            else np.zeros((rules.k, 0))
        assigned = await self._nearest(party, rows, centres, records)
        for _ in range(rules.iterations):
            before, centres = centres, _moved(units, assigned, centres, rules)
            stop = rules.tolerance is not None and not await self._moves(party, before, centres)
            known, assigned = assigned, await self._nearest(party, rows, centres, records)
            # Everybody sees that nothing changed: no later round would differ.
            if stop or np.array_equal(known, assigned):
                break
        return centres, assigned

    async def _nearest(self, party: Party, rows: Floats, centres: Floats, records: int) -> Ints:
        """Return every record's nearest centre, which everybody learns."""
        local = distances(rows, centres, self.rules) if rows.size else None
        shape = self.rules.k, records
        shared = await sum_kept(party, local, self.widths, shape, 0, self.reach)
        if self.nearest == "permuted":
            return await closest_permuted(party, shared)
        hot = await reveal(party, await closest(party, aligned(shared)), because=EVERY)
        return np.asarray(np.argmax(hot[:, :records], axis=0), np.int64)

    async def _moves(self, party: Party, before: Floats, after: Floats) -> bool:
        """Open one bit: whether all parts of the centres together moved too far to stop."""
        own = np.array([movement(after, before, self.rules)], np.int64)
        bound = self.reach * self.rules.k
        total = await sum_kept(party, own, self.widths, (1,), 0, bound)
        more = await less_than(party, -total, -threshold(self.rules))
        return bool((await reveal(party, more, because=MOVED))[0])


def _moved(units: Ints, assigned: Ints, centres: Floats, rules: KMeansParams) -> Floats:
    if not units.size:
        return centres
    sums, counts = totals(units, assigned, rules.k)
    return means(as_floats(sums, rules), counts.astype(np.float64), centres)


def kmeans_columns(sites: Sequence[Any], rules: KMeansParams, mode: str = "dealer", *,
                    way: str = "hidden", closest: str = "shares", start: Any = None,
                    names: Sequence[str] | None = None, receivers: Sequence[str] = (),
                    **how: Any) -> tuple[list[Clusters | None], list[Ledger]]:
    """Cluster records whose columns several owners have; return clusters and ledgers.

    Parameters
    ----------
    sites : sequence of array-like
        Each owner's columns (records, columns).
    rules : KMeansParams
        k, when to stop, and how large values may be.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    way : {'hidden', 'assignments'}, default 'hidden'
        All on shares, or with the assignments of every iteration known to all.
    closest : {'shares', 'permuted'}, default 'shares'
        How the nearest centre is found; 'permuted' needs way='assignments'.
    start : array-like, optional
        First centres over all columns, of which each owner is given its part.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    receivers : sequence of str, default ()
        Who learns the final assignments (all if nobody is named).
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of Clusters or None, list of Ledger)
        Each party's clusters and ledger, in the order of owners.
    """
    named = list(names) if names is not None else [f"p{i}" for i in range(len(sites))]
    columns = [np.shape(part)[1] if np.ndim(part) == 2 else 0 for part in sites]
    starts = [None] * len(sites) if start is None else np.split(
        np.asarray(start, np.float64), np.cumsum(columns)[:-1], axis=1)
    inputs = [KMeansSite(part, start=first) for part, first in zip(sites, starts, strict=True)]
    program = KMeansOverColumns(rules, dict(zip(named, columns, strict=True)),
                             tuple(how.get("holders") or named[:2]), way, closest, receivers,
                             start is not None)
    outputs = run_local(program, inputs, mode, names=named, **how)
    return [output for output, _ in outputs], [ledger for _, ledger in outputs]
