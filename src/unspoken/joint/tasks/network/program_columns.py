"""K2 over columns that are spread among sites (vcz2006 section 4.5.3; Wright and Yang).

Every node begins without parents. In each step the score of every node with every candidate
parent is found on shares, and one number a node is opened: the parent that makes its score
greatest, or that none makes it greater. All nodes of a step travel together.

The score is the logarithm of K2's, sum over combinations j of the parents of
ln (d - 1)! - ln (a_j + d - 1)! + sum_k ln a_jk!, with exact factorials (`factorials`): the joint
network is that of pooled columns, bit for bit. Of equally good parents the first in the order is
taken, and no parent if none is better.

  discloses, to all: the parents of every node, in the order in which they were found, and how many
    records there are. Names, sites and numbers of values are public. Aligning shows which ids are
    in common.
    Not: counts or scores, and by how much a parent was better.
  improves on the book: any number of sites; no dealer is needed (mode two-party); Stirling's
    formula, whose small terms the book drops, picks other networks in many tables.
  safe against: as products and comparisons in the mode.
  cost, a step: 40 N cells bytes for each further site, 16 N (cells + values) for the counts, then
    about 90 root N bytes a count. About 60 rounds and 9 for each halving of the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.choice import argmax
from unspoken.joint.mpc.ops.products import matmul
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.shared import Shared, concatenate, public, stack
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.aligned_records import (
    ROWS,
    same_digest,
    same_everywhere,
)
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.network.log_factorials import Factorials, factorials, log_factorials
from unspoken.joint.tasks.network.params import NetworkParams, NetworkSite, Order
from unspoken.joint.tasks.network.parent_counts import Family, candidates, combinations, values
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.bayes_net import BayesNet

PARENTS = "the parents of every node, in the order in which they are found"


def disclosures() -> tuple[Disclosure, ...]:
    """Return everything that learning a network discloses."""
    return Disclosure(PARENTS), Disclosure(ROWS)


class NetworkOverColumns:
    """The program: every site gives its coded columns; all get the network."""

    def __init__(self, order: Order, rules: NetworkParams | None = None) -> None:
        self.order, self.rules = order, rules or NetworkParams()
        self.disclosures = disclosures()

    async def __call__(self, party: Party, data: NetworkSite | None) -> BayesNet:
        """Add parents step by step."""
        codes, rows = await self._same_rows(party, data)
        growing = Growing(party, self.order, codes, rows)
        await growing.begin()
        for _ in range(self.rules.max_parents):
            tested = growing.tested()
            if not tested:
                break
            self._check(growing, tested)
            await growing.add(tested)
        return network(self.order, growing.families)

    async def check_first(self, party: Party, data: Any) -> None:
        """Check a site before its rows are aligned."""
        self._own(party, data)

    def _own(self, party: Party, data: NetworkSite | None) -> NetworkSite | None:
        """Check a site before anything is sent."""
        if party.name not in self.order.sites:
            return None
        if data is None:
            raise DataError("Every site must give its columns. This one gave nothing.")
        return data.fits(self.order, party.name)

    async def _same_rows(
        self, party: Party, data: NetworkSite | None
    ) -> tuple[dict[int, Ints], int]:
        """Return the columns of this site's nodes, and how many records all sites have."""
        site = self._own(party, data)
        table = None if site is None else site.codes
        rows = await same_everywhere(party, -1 if table is None else table.shape[1])
        mine = {} if table is None else dict(zip(self.order.of(party.name), table, strict=True))
        return mine, rows

    def _check(self, growing: Growing, tested: Sequence[int]) -> None:
        cells = sum(growing.families[n].cells(self.order) for n in tested)
        counts, most = cells * sum(self.order.sizes), self.rules.max_cells
        if counts > most:
            raise RefusedError(f"A step must have at most {most:,} counts. It would have "
                               f"{counts:,}. Allow more, fewer parents, or fewer values.")


class Growing:
    """A network that grows: families, and their scores on shares."""

    def __init__(self, party: Party, order: Order, codes: dict[int, Ints], rows: int) -> None:
        self.party, self.order, self.codes, self.rows = party, order, codes, rows
        self.families = [Family((place,)) for place in range(len(order.nodes))]
        self.open = set(range(len(order.nodes)))
        self.table = factorials(rows + max(order.sizes))
        self.bound = 2 * int(self.table.sums[-1])

    async def begin(self) -> None:
        """Compare tables, share all values, and score every node without parents."""
        await _same_tables(self.party, self.table)
        self.values = await values(self.party, self.order, self.codes, self.rows)
        counts = self.values.sum(0).within(0, self.rows).reshape(1, -1)
        starts = self.order.starts
        parts = [counts[:, starts[n]:starts[n + 1]].T for n in range(len(self.order.nodes))]
        self.scores = await scores(self.party, parts, self.table)

    def tested(self) -> list[int]:
        """Return open nodes that have a candidate left."""
        return sorted(n for n in self.open if candidates(self.families[n]))

    async def add(self, tested: Sequence[int]) -> None:
        """Add the best parent to every node that gets better by one."""
        known = recalled(self.party, "a step")
        if known is not None:
            self._take(tested, known[0], await self._again(tested, known[0]))
            return
        families = [self.families[n] for n in tested]
        gains = await self._gains(tested, [candidates(family) for family in families])
        places, best = await self._best(tested, families, gains)
        await remember(self.party, "a step", places)
        self._take(tested, places, best)

    async def _gains(self, tested: Sequence[int], wanted: Sequence[Sequence[int]]) -> Shared:
        """Return the scores of nodes with each of the wanted candidates as one more parent."""
        party, starts = self.party, self.order.starts
        families = [self.families[n] for n in tested]
        joint = await combinations(party, self.order, families, self.codes, self.rows)
        counts = (await matmul(party, joint.T, self.values)).within(0, self.rows)
        ends = np.cumsum([0, *(family.cells(self.order) for family in families)])
        parts = [counts[ends[i]:ends[i + 1], starts[c]:starts[c + 1]].reshape(
            self.order.sizes[n], -1)
            for i, n in enumerate(tested) for c in wanted[i]]
        return await scores(party, parts, self.table)

    async def _again(self, tested: Sequence[int], places: Ints) -> Shared:
        """Return the scores that an earlier attempt chose: as they were, or with that parent."""
        chosen = {n: [candidates(self.families[n])[place - 1]]
                  for n, place in zip(tested, places.tolist(), strict=True) if place}
        best = self.scores[list(tested)]
        if chosen:
            share = best.share.copy()
            share[np.flatnonzero(places)] = (await self._gains(
                list(chosen), list(chosen.values()))).share
            best = best.with_share(share)
        return best

    async def _best(self, tested: Sequence[int], families: Sequence[Family],
                    gains: Shared) -> tuple[Ints, Shared]:
        """Open what was chosen for every node: 0 for no parent, else a candidate's place."""
        widths = [len(candidates(family)) for family in families]
        worst = public(self.party, np.full(max(widths), -self.bound - 1), self.table.scale)
        rows, at = [], 0
        for node, width in zip(tested, widths, strict=True):
            parts = [self.scores[node:node + 1], gains[at:at + width], worst[:max(widths) - width]]
            rows.append(concatenate([part for part in parts if part.size]))
            at += width
        place, best = await argmax(self.party, stack(rows))
        return np.asarray(await reveal(self.party, place, because=PARENTS)), best

    def _take(self, tested: Sequence[int], places: Ints, best: Shared) -> None:
        share = self.scores.share.copy()
        share[list(tested)] = best.share
        self.scores = replace(self.scores, share=share)
        for node, place in zip(tested, places.tolist(), strict=True):
            family = self.families[node]
            if place == 0:
                self.open.discard(node)
            else:
                chosen = candidates(family)[place - 1]
                self.families[node] = Family((*family.places, chosen))


async def scores(party: Party, parts: Sequence[Shared], table: Factorials) -> Shared:
    """Return K2's score of tables (values of the node, combinations of its parents)."""
    each = [concatenate([(p.sum(0) + (p.shape[0] - 1)).reshape(1, -1), p]).reshape(
        (p.shape[0] + 1) * p.shape[1]) for p in parts]
    logs = await log_factorials(party, concatenate(each).within(0, table.most), table)
    most, out, at = 2 * int(table.sums[-1]), [], 0
    for part in parts:
        size, width = part.shape
        cells = logs.share[at:at + (size + 1) * width].reshape(size + 1, width)
        # Most terms cancel: what is left is small, however many are added up modulo 2^64.
        empty = public(party, np.full(width, table.sums[size - 1]), table.scale)
        share = np.vstack([empty.share - cells[0], cells[1:]]).sum(dtype=np.uint64).reshape(1)
        out.append(replace(empty, share=share, low=-most, high=most))
        at += (size + 1) * width
    return concatenate(out)


async def _same_tables(party: Party, table: Factorials) -> None:
    party.begin("tables")
    await same_digest(party, party.peers, "tables", table.digest(),
                      "Logarithms must be the same on all machines, to the last bit. They are "
                      "not: their mathematical libraries differ. Run on the same versions.")


def network(order: Order, families: Sequence[Family]) -> BayesNet:
    """Return the pattern."""
    names = [node.name for node in order.nodes]
    return BayesNet(tuple(names), tuple(tuple(names[p] for p in family.places[1:])
                                        for family in families))


def mine_network_columns(
    sites: Mapping[str, NetworkSite],
    order: Order,
    rules: NetworkParams | None = None,
    mode: str = "dealer",
    *,
    align: SetRules | None = None,
    **how: Any,
) -> tuple[BayesNet, list[Ledger]]:
    """Learn the network of all sites' columns; return it and each party's ledger.

    Parameters
    ----------
    sites : mapping of str to NetworkSite
        Each site's columns as codes, by its name.
    order : Order
        The nodes in the order of K2.
    rules : NetworkParams, optional
        What everybody agreed on. Default: `NetworkParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    align : SetRules, optional
        Rules for aligning rows by ids. Default: same records in the same order everywhere.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (BayesNet, list of Ledger)
        The network, and each party's ledger, in the order of sites.

    Examples
    --------
    >>> network, ledgers = mine_network_columns({'a': a, 'b': b}, order)  # doctest: +SKIP
    """
    names = list(sites)
    missing = [site for site in order.sites if site not in names]
    if missing:
        raise InputError(explain("Sites", "such that everybody with a node takes part",
                                 f"none for '{missing[0]}'"))
    idle = [name for name in names if name not in order.sites]
    if idle and align is not None:
        raise InputError(explain("Sites that are aligned", "those with a node", idle[0]))
    for name, site in sites.items():
        site.fits(order, name)
    program = InOneOrder(NetworkOverColumns(order, rules), names, align)
    outputs = run_local(program, list(sites.values()), mode, names=names, **how)
    return outputs[0][0], [ledger for _, ledger in outputs]
