"""Association rules over baskets whose items are spread among owners (vcz2006 section 6.2.2).

Every owner has some items of the same baskets, in the same order. A set of one owner's items is
counted by that owner and enters as a shared number. Others are counted on shared bitmaps: all
pairs by one matrix product (`pair_counts`), larger sets as the AND of what each owner can look up
of it alone (`bit_counts`). Counts are compared with the threshold on shares, level by level.

  discloses: which itemsets are frequent, to all who take part, because the next candidates follow
    from them; which rules are sure enough, to the receivers; how many baskets there are, which
    every owner knows. By agreement (supports="shown") the counts of frequent sets, to the
    receivers. Not: counts of sets that are not frequent, nor which baskets hold anything.
  improves on the book: no party sees an encrypted column; nothing is said about candidates but
    whether they are frequent. The book's faster ways are there by name: see `encrypted`.
  safe against: as products and comparisons in the mode.
  probing: an owner who makes up columns asks about single baskets. It gets no answer below the
    threshold, a threshold of fewer than `fewest` baskets is refused, and the columns are as many as
    were agreed on. That makes probing dear; only honest owners do not do it.
  cost: 3 rounds for each 8,192 baskets and about 12 a level, 35 from three items on. 4 bytes for
    each basket and frequent item each way; from three items on about 1.5 bytes for each basket and
    candidate. `plan` in `vertical_task` counts them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.bit_counts import bit_counts, share_columns_of_bits
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.pair_counts import pair_counts
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.pair_count_ring import cross_places
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.rules.candidate_levels import Ladder, splits
from unspoken.joint.tasks.rules.item_sites import Parts, Sites, columns_of, own_counts
from unspoken.joint.tasks.rules.params import (
    FEWEST,
    RULES,
    SETS,
    SUPPORTS,
    RuleParams,
    digest,
    own_baskets,
    ready,
)
from unspoken.joint.tasks.rules.program_rows import pattern
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.associations import Associations
from unspoken.table.baskets import Baskets

ROWS = "how many baskets there are"


def disclosures(terms: RuleParams, receivers: Sequence[str] = ()) -> tuple[Disclosure, ...]:
    """Return everything that mining rules over columns of baskets discloses."""
    shown = (Disclosure(SUPPORTS, tuple(receivers)),) if terms.shown else ()
    return (Disclosure(ROWS), Disclosure(SETS), Disclosure(RULES, tuple(receivers)), *shown)


class RulesOverColumns:
    """The program: every owner gives its part of the same baskets."""

    def __init__(self, terms: RuleParams, sites: Sites, receivers: Sequence[str] = (),
                 fewest: int = FEWEST) -> None:
        check_items(terms, sites)
        self.terms, self.sites, self.receivers = terms, sites, tuple(receivers)
        self.fewest = fewest
        self.disclosures = disclosures(terms, receivers)

    async def __call__(self, party: Party, data: Baskets | None) -> Associations | None:
        """Mine; who is no receiver gets None."""
        agreed = digest("vertical", self.terms, list(self.sites.items.items()), self.receivers,
                        self.fewest)
        baskets, rows = await begun(party, self.terms, self.sites, data, agreed)
        least = least_of(self.terms, rows, self.fewest)
        mined = Mining(party, self.terms, self.sites, baskets, rows)
        while mined.ladder.going:
            await mined.level(least)
        return await mined.result(self.receivers)


def check_items(terms: RuleParams, sites: Sites) -> None:
    """Refuse terms over other items than the owners have."""
    if terms.items != sites.names:
        raise InputError(explain("'items'", "those of the owners, in their order", "others"))


async def begun(party: Party, terms: RuleParams, sites: Sites, data: Any,
                agreed: bytes) -> tuple[Baskets | None, int]:
    """Check the own baskets, and that everybody has as many; refused on all sides if not."""
    baskets = await checked(party, terms, sites, data, agreed)
    return baskets, await _agreed_rows(party, 0 if baskets is None else len(baskets))


async def checked(party: Party, terms: RuleParams, sites: Sites, data: Any,
                  agreed: bytes) -> Baskets | None:
    """Return the own baskets over the own items; refused on all sides if one cannot begin."""
    if tuple(sites.items) != party.roles.owners:
        raise InputError(explain("The owners of items", ", ".join(party.roles.owners),
                                 ", ".join(sites.items)))
    owns = party.name in sites.items
    part = replace(terms, items=sites.items[party.name]) if owns else terms
    baskets, problem = own_baskets(data, part) if owns else (None, 0)
    await ready(party, agreed, problem)
    return baskets


async def _agreed_rows(party: Party, own: int) -> int:
    """Tell everybody how many baskets this owner has; all must have the same."""
    party.begin("rows")
    party.opening(ROWS, (), (len(party.roles.owners),))
    owners, announced = party.roles.owners, np.array([own], np.uint64)
    sources = [name for name in owners if name != party.name]
    sends = [party.send(name, "rows", announced, Purpose.DISCLOSURE) for name in party.peers
             if party.name in owners]
    takes = [party.receive(name, "rows", "<u8", (1,), Purpose.DISCLOSURE) for name in sources]
    got = (await asyncio.gather(*takes, *sends))[:len(takes)]
    rows = {name: int(word[0]) for name, word in zip(sources, got, strict=True)
            if word is not None} | ({party.name: own} if party.name in owners else {})
    if len(set(rows.values())) > 1:
        raise RefusedError("All owners must have the same baskets in the same order. They have "
                           + ", ".join(f"{rows[name]:,} ('{name}')" for name in owners)
                           + ". Align them by their ids first.")
    return rows[owners[0]]


def least_of(terms: RuleParams, rows: int, fewest: int) -> int:
    """Return the least number of baskets of a frequent set; too few would be single customers."""
    num, den = terms.support.as_integer_ratio()
    least = max(-(-num * rows // den), 1)
    if least < fewest:
        raise RefusedError(f"A frequent set must be in at least {fewest} baskets. {rows:,} baskets "
                           f"and this support make {least}. A column that somebody made up would "
                           "ask about single baskets. Ask for a higher support.")
    return least


class Mining:
    """One party's side of a run."""

    def __init__(self, party: Party, terms: RuleParams, sites: Sites, baskets: Baskets | None,
                 rows: int) -> None:
        self.party, self.terms, self.sites, self.rows = party, terms, sites, rows
        self.ladder = Ladder(len(terms.items), terms.longest)
        self.bitmaps = None if baskets is None else baskets.bitmaps()
        self.start = sites.place(party.name)[0] if baskets is not None else 0
        self.kept: list[Shared] = []

    async def level(self, least: int) -> None:
        """Count and compare all candidates of a level."""
        sets, known = self.ladder.sets, recalled(self.party, "a level")
        if known is None:
            counts = await self._counts()
            rare = await less_than(self.party, counts, least)
            frequent = np.asarray(await reveal(self.party, ~rare, because=SETS))
            await remember(self.party, "a level", frequent)
            self.kept.append(counts[np.flatnonzero(frequent)])
        else:
            frequent = known[0]
            if frequent.any():
                self.kept.append(await self._counts_of(sets[frequent]))
        self.ladder.keep(frequent)

    async def _counts(self) -> Shared:
        """Return the counts of all candidates, shared."""
        return await self._counts_of(self.ladder.sets)

    async def _counts_of(self, sets: Ints) -> Shared:
        """Return the counts of sets, shared: of one owner's sets, then of the others."""
        owner = self.sites.owner_of(sets)
        alone = np.all(owner == owner[:, :1], axis=1)
        parts = [await self._own(sets[alone], owner[alone, 0])]
        if not alone.all():
            parts.append(await self._crossing(sets[~alone], owner[~alone]))
        order = np.argsort(np.r_[np.flatnonzero(alone), np.flatnonzero(~alone)])
        return concatenate(parts)[order]

    async def _own(self, sets: Ints, owner: Ints) -> Shared:
        """Share the counts of sets that one owner has alone."""
        counts = np.zeros(len(sets), np.int64)
        if self.bitmaps is not None:
            mine = owner == list(self.sites.items).index(self.party.name)
            counts[mine] = own_counts(self.bitmaps, sets[mine], self.start)
        shared = await share_sum(self.party, counts, counts.shape, 0, self.rows)
        return shared.within(0, self.rows)

    async def _crossing(self, sets: Ints, owner: Ints) -> Shared:
        dealt = self.party.engine.has_tables
        if sets.shape[1] == 2 and dealt:
            return await self._pairs(sets)
        return await self._by_bits(Parts.of(sets, owner, len(self.sites.items)))

    async def _pairs(self, sets: Ints) -> Shared:
        """Count all pairs of frequent items of different owners at once."""
        kept = self.ladder.levels[0][:, 0]
        widths = dict(zip(self.sites.items, np.bincount(
            self.sites.owner_of(kept), minlength=len(self.sites.items)).tolist(), strict=True))
        own = None
        if self.bitmaps is not None:
            first, last = self.sites.place(self.party.name)
            own = self.bitmaps[kept[(kept >= first) & (kept < last)] - first]
        counts = await pair_counts(self.party, own, widths, self.rows)
        ranks = np.searchsorted(kept, sets)
        return counts[cross_places(ranks[:, 0], ranks[:, 1], list(widths.values()))]

    async def _by_bits(self, parts: Parts) -> Shared:
        """Count sets as the AND of their owners' parts, those of as many parts together."""
        counts = {name: len(sets) for name, sets in zip(self.sites.items, parts.sets, strict=True)}
        own = None
        if self.bitmaps is not None:
            mine = parts.sets[list(self.sites.items).index(self.party.name)]
            own = columns_of(self.bitmaps, mine, self.start)
        columns = await share_columns_of_bits(self.party, own, counts, -(-self.rows // 64))
        length = np.array([len(one) for one in parts.chosen])
        groups = [np.flatnonzero(length == n) for n in np.unique(length)]
        counted = [await bit_counts(self.party, columns, np.array(
            [parts.chosen[i] for i in at], np.int64), self.rows) for at in groups]
        return concatenate(counted)[np.argsort(np.concatenate(groups))]

    async def result(self, receivers: Sequence[str]) -> Associations | None:
        """Test the rules and put everything together, for the receivers."""
        sets = self.ladder.frequent()
        counts = concatenate(self.kept or [public(self.party, np.zeros(0, np.int64))])
        ways = splits(sets)
        num, den = self.terms.confidence.as_integer_ratio()
        rest = counts[ways[:, 0]] * den - counts[ways[:, 1]] * num
        sure = await reveal(self.party, ~await less_than(self.party, rest, 0), because=RULES,
                            to=receivers)
        shown = None
        if self.terms.shown:
            shown = await reveal(self.party, counts, because=SUPPORTS, to=receivers)
            shown = None if shown is None else np.r_[shown, self.rows]
        return None if sure is None else pattern(self.terms, sets, ways[sure], shown)


def mine_rules_columns(parts: Mapping[str, Baskets], terms: RuleParams, mode: str = "dealer", *,
                        receivers: Sequence[str] = (), fewest: int = FEWEST,
                        **how: Any) -> tuple[list[Associations | None], list[Ledger]]:
    """Mine rules over baskets whose items are spread; return each party's result and ledger.

    Parameters
    ----------
    parts : mapping of str to Baskets
        Each owner's columns of the same baskets, by its name.
    terms : RuleParams
        What is public; `terms.items` are all items, in the order of the owners.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    receivers : sequence of str, default ()
        Who learns the rules (all if nobody is named).
    fewest : int, default 10
        A support threshold of fewer baskets is refused.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of Associations or None, list of Ledger)
        Each party's result (None for who is no receiver) and ledger, in the order of owners.

    Examples
    --------
    >>> found, ledgers = mine_rules_columns({'a': a, 'b': b}, terms)  # doctest: +SKIP
    """
    sites = Sites.of({name: part.items for name, part in parts.items()})
    program = RulesOverColumns(terms, sites, receivers, fewest)
    outputs = run_local(program, list(parts.values()), mode, names=list(parts), **how)
    return [associations for associations, _ in outputs], [ledger for _, ledger in outputs]
