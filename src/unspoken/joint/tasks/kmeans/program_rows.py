"""k-means over rows that are spread among owners (vcz2006 section 7.2.1, without its variances).

Every owner has all columns of some records. Two ways:

**hidden** (the default): all on shares (`hidden`); only the final centres are opened, to the
receivers, and each owner who is one finds the clusters of its own records itself.
**revealed** (the book's, by name): every round the sums and counts of all clusters are added up
by a secure sum and opened to all owners, who assign their records themselves.

  discloses: the final centres, to the receivers. By "hidden" also how many records each owner
    has, because shapes of shared arrays are public. By "revealed" the sums and counts of every
    cluster in every round, to all owners: if one record moved between two rounds the difference
    is that record (`museum.message_leaks.moved_points`), and a cluster with one record shows it.
    It is refused for two owners, of whom each could take off its own part.
  start: "hidden": records with public numbers, or far from each other (`starts`), as shares.
    "revealed": a random partition of each owner's records; a record as a centre would be known.
  improves on the book: nothing needs to be known on the way. (It says that more than one moved
    record cannot be solved for; two can be, from sums and sums of squares.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import kept
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.choice import in_steps
from unspoken.joint.mpc.ops.secure_sum import secure_sum
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.public_sizes import SIZES, not_empty, open_sizes, ready
from unspoken.joint.tasks.kmeans.all_on_shares import MOVED, SMALL, Hidden, chosen, public_centres
from unspoken.joint.tasks.kmeans.first_centres import spread
from unspoken.joint.tasks.kmeans.params import (
    ROW_WAYS,
    KMeansParams,
    as_floats,
    check_enough,
    first_records,
    means,
    movement,
    rounded,
    threshold,
    totals,
)
from unspoken.joint.tasks.kmeans.pooled import nearest
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.clusters import Clusters

CENTRES = "the centres"
TOTALS = "sums and counts of all clusters in every round"


def disclosures(rules: KMeansParams, owners: Sequence[str], way: str = "hidden",
                receivers: Sequence[str] = ()) -> tuple[Disclosure, ...]:
    """Return everything that k-means over rows discloses."""
    if way == "revealed":
        return (Disclosure(TOTALS, tuple(owners)),)
    disclosed = [Disclosure(SIZES), Disclosure(CENTRES, tuple(receivers)),
                 *([Disclosure(SMALL)] if rules.smallest_group else [])]
    return tuple(disclosed if rules.tolerance is None else [*disclosed, Disclosure(MOVED)])


class KMeansOverRows:
    """The program: every owner gives its records, all with the same columns."""

    def __init__(self, rules: KMeansParams, columns: Sequence[str], owners: Sequence[str],
                 way: str = "hidden", receivers: Sequence[str] = (), start: Any = None) -> None:
        if way not in ROW_WAYS:
            raise InputError(explain("k-means over rows: 'way'", "one of " + ", ".join(ROW_WAYS),
                                     way))
        if way == "revealed" and len(owners) < 3:
            raise RefusedError("Sums of two owners tell each the other's part. Way 'revealed' "
                               "needs three owners or more. Use way='hidden'.")
        if way == "revealed" and rules.smallest_group:
            raise RefusedError("Way 'revealed' opens the sums of every cluster in every round, "
                               "small ones too. 'smallest_group' needs way='hidden'.")
        if way == "revealed" and rules.bits is not None:
            raise RefusedError("Way 'revealed' opens sums exactly, in every round. 'bits' needs "
                               "way='hidden'.")
        if way == "revealed" and rules.start != "records":
            raise RefusedError("Centres that are drawn by their distances are records. Way "
                               "'revealed' would show them. Use way='hidden'.")
        rules.reach(len(columns))
        self.rules, self.columns, self.owners = rules, tuple(columns), tuple(owners)
        self.way, self.receivers = way, tuple(receivers)
        self.start = None if start is None else self._first(start)
        self.disclosures = disclosures(rules, owners, way, receivers)

    def _first(self, start: Any) -> Ints:
        centres = rounded(start, self.rules, "first centres")
        if centres.shape != (self.rules.k, len(self.columns)):
            raise InputError(explain("First centres", f"of shape ({self.rules.k}, "
                                     f"{len(self.columns)})", centres.shape))
        return centres

    async def __call__(self, party: Party, data: Any) -> Clusters | None:
        """Cluster; who learns the centres also gets the clusters of its own records."""
        if self.way == "revealed" and set(party.names) != set(self.owners):
            raise RefusedError("Way 'revealed' is for owners alone. Leave other parties out.")
        units = self._own(party, data)
        run = self._hidden if self.way == "hidden" else self._revealed
        centres = await run(party, units)
        if centres is None:
            return None
        mine = nearest([as_floats(units, self.rules)], [centres], self.rules)
        return Clusters(self.columns, centres, mine if party.name in self.owners else None)

    def _own(self, party: Party, data: Any) -> Ints:
        """Check an owner's records before anything is sent."""
        if party.name not in self.owners:
            return np.zeros((0, len(self.columns)), np.int64)
        units = rounded(np.zeros((0, len(self.columns))) if data is None else data, self.rules)
        not_empty(units.shape[0])
        if units.shape[1] != len(self.columns):
            raise InputError(explain(f"The columns of '{party.name}'",
                                     f"{len(self.columns)}, as agreed", units.shape[1]))
        return units

    async def _hidden(self, party: Party, units: Ints) -> Floats | None:
        sizes = await open_sizes(party, units.shape[0], self.owners)
        check_enough(self.rules, int(sizes.sum()))
        data = await self._shared(party, units, sizes)
        loop = Hidden(party, data, await self._start(party, data), self.rules)
        await loop.run()
        if self.rules.smallest_group:
            await loop.refuse_small()
        found = loop.centres
        if self.rules.bits is not None:
            found = await in_steps(party, found, self.rules.bits)
        centres = await reveal(party, found, because=CENTRES, to=self.receivers)
        return None if centres is None else np.asarray(centres)

    async def _shared(self, party: Party, units: Ints, sizes: Ints) -> Shared:
        bound, parts = self.rules.units, []
        for name, rows in zip(self.owners, sizes.tolist(), strict=True):
            mine = units if party.name == name else None
            parts.append(await share(party, mine, name, (rows, len(self.columns)), -bound, bound))
        return concatenate(parts)

    async def _start(self, party: Party, data: Shared) -> Shared:
        if self.start is not None:
            return public_centres(party, self.start, self.rules)
        if self.rules.start == "spread":
            return await spread(party, data, self.rules)
        return chosen(data, first_records(self.rules, data.shape[0]).tolist())

    async def _revealed(self, party: Party, units: Ints) -> Floats | None:
        """Run the book's loop: the owners know centres, and assign their records themselves."""
        rules, rows = self.rules, as_floats(units, self.rules)
        await ready(party)
        if self.start is None:
            rng = np.random.default_rng([rules.seed, party.index])
            parts = np.asarray(rng.integers(rules.k, size=rows.shape[0]), np.int64)
            centres = await self._means(party, units, parts, np.zeros((rules.k, rows.shape[1])))
        else:
            centres = as_floats(self.start, rules)
        for _ in range(rules.iterations):
            assigned, before = nearest([rows], [centres], rules), centres
            centres = await self._means(party, units, assigned, before)
            # Everybody knows the centres, and so whether they moved.
            if rules.tolerance is not None and movement(
                    centres, before, rules) <= threshold(rules):
                break
        return centres

    async def _means(self, party: Party, units: Ints, assigned: Ints, before: Floats) -> Floats:
        mine = np.column_stack(totals(units, assigned, self.rules.k))
        total = np.asarray(await kept(party, "sums of a round", lambda: secure_sum(
            party, mine, because=TOTALS, to=self.owners)), np.int64)
        check_enough(self.rules, int(total[:, -1].sum()))
        return means(as_floats(total[:, :-1], self.rules), total[:, -1].astype(np.float64), before)


def kmeans_rows(parts: Sequence[Any], rules: KMeansParams, mode: str = "dealer", *,
                      way: str = "hidden", start: Any = None, columns: Sequence[str] = (),
                      names: Sequence[str] | None = None, receivers: Sequence[str] = (),
                      **how: Any) -> tuple[list[Clusters | None], list[Ledger]]:
    """Cluster the records of several owners; return each party's clusters and ledger.

    Parameters
    ----------
    parts : sequence of array-like
        Each owner's records (records, columns).
    rules : KMeansParams
        k, when to stop, and how large values may be.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    way : {'hidden', 'revealed'}, default 'hidden'
        All on shares, or with the sums and counts of every iteration opened to all owners.
    start : array-like, optional
        First centres that everybody knows.
    columns : sequence of str, default ()
        The names of the columns. Default: column 1, column 2, and so on.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    receivers : sequence of str, default ()
        Who learns the final centres if hidden (all if nobody is named).
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of Clusters or None, list of Ledger)
        Each party's clusters (None for who is no receiver) and ledger, in the order of owners.
    """
    named = list(names) if names is not None else [f"p{i}" for i in range(len(parts))]
    width = next((np.shape(part)[1] for part in parts if np.ndim(part) == 2), 0)
    shown = tuple(columns) or tuple(f"column {i + 1}" for i in range(width))
    program = KMeansOverRows(rules, shown, named, way, receivers, start)
    outputs = run_local(program, list(parts), mode, names=named, **how)
    return [output for output, _ in outputs], [ledger for _, ledger in outputs]
