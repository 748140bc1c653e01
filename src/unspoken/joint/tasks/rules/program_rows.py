"""Association rules over baskets that are spread among owners (vcz2006 section 6.2.1).

Every owner has baskets of its own customers, over one agreed list of items. Level by level, each
counts the same candidates in its own baskets; den * count - num * baskets of all owners is added
up as shares and compared with 0. Only the answer is opened: frequent, or not. Rules are tested
the same way, on den * count(whole) - num * count(left).

  discloses: which itemsets are frequent, to all who take part, because the next candidates follow
    from them; which rules are sure enough, to the receivers. By agreement (supports="shown") the
    counts of frequent sets and the number of baskets, to the receivers; never of other sets.
    Not: counts, how many baskets anybody has, what is frequent at whom.
  improves on the book (Kantarcioglu and Clifton): no union of locally large sets. Every candidate
    is compared, which is cheap and hides how many were large at several owners. The comparison is
    by the sign: the printed "R + sum >= R" is wrong modulo m. The book's union is in `museum`.
  safe against: as comparisons in the mode. Two owners: a frequent set that is rare at one of them
    must be frequent at the other: that is in the result. Shown supports of two are refused.
  what the rules themselves give away is given away (section 6.3).
  cost: 10 rounds a level and 10 for the rules; about 35 bytes a candidate and 8 from each owner
    who holds no shares. `plan` in `horizontal_task` counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.joint.mpc.checkpoints import kept
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.secure_sum import refuse_two
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.rules.candidate_levels import Ladder, splits
from unspoken.joint.tasks.rules.count_candidates import LocalCounts
from unspoken.joint.tasks.rules.params import (
    RULES,
    SETS,
    SUPPORTS,
    RuleParams,
    digest,
    own_baskets,
    ready,
)
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.associations import Associations
from unspoken.table.baskets import Baskets


def disclosures(terms: RuleParams, receivers: Sequence[str]) -> tuple[Disclosure, ...]:
    """Return everything that mining rules over baskets discloses."""
    shown = (Disclosure(SUPPORTS, tuple(receivers)),) if terms.shown else ()
    return (Disclosure(SETS), Disclosure(RULES, tuple(receivers)), *shown)


class RulesOverRows:
    """The program: every owner gives its baskets; who is no receiver gets None."""

    way = "every"
    """What the parties must agree on: every candidate is compared."""

    def __init__(self, terms: RuleParams, receivers: Sequence[str] = ()) -> None:
        self.terms, self.receivers = terms, tuple(receivers)
        self.disclosures = disclosures(terms, receivers)

    async def __call__(self, party: Party, data: Baskets | None) -> Associations | None:
        """Mine; refused on all sides before anything is counted if one cannot begin."""
        terms, owns = self.terms, party.name in party.roles.owners
        if terms.shown:
            refuse_two(party.roles.owners, self.receivers or party.names)
        baskets, problem = own_baskets(data, terms) if owns else (None, 0)
        await ready(party, digest("horizontal", terms, self.receivers, self.way), problem)
        mined = self.mining(party, baskets)
        while mined.ladder.going:
            await mined.level()
        return await mined.result(self.receivers)

    def mining(self, party: Party, baskets: Baskets | None) -> Mining:
        """Return one party's side of a run."""
        return Mining(party, self.terms, baskets)


class Mining:
    """One party's side of a run."""

    def __init__(self, party: Party, terms: RuleParams, baskets: Baskets | None) -> None:
        self.party, self.terms = party, terms
        self.ladder = Ladder(len(terms.items), terms.longest)
        self.rows = 0 if baskets is None else len(baskets)
        self.local = None if baskets is None else LocalCounts(baskets)

    async def level(self) -> None:
        """Count all candidates of a level, and compare those that are chosen."""
        counts = self._counts()
        frequent = await kept(self.party, "a level", lambda: self._frequent(counts))
        if self.local is not None:
            self.local.keep(counts, frequent)
        self.ladder.keep(frequent)

    async def _frequent(self, counts: Ints) -> Bools:
        """Open which of the chosen candidates are frequent."""
        chosen = await self.chosen(counts)
        frequent = np.zeros(counts.size, np.bool_)
        num, den = self.terms.support.as_integer_ratio()
        frequent[chosen] = await self._reached(counts[chosen], np.int64(self.rows), (num, den),
                                               SETS, ())
        return frequent

    async def chosen(self, counts: Ints) -> Bools:
        """Return which candidates are compared: all of them."""
        return np.ones(counts.size, np.bool_)

    def _counts(self) -> Ints:
        if self.local is None:
            return np.zeros(self.ladder.sets.shape[0], np.int64)
        return self.local.count(self.ladder)

    async def _reached(self, over: Ints, under: Any, ratio: tuple[int, int], because: str,
                       to: Sequence[str]) -> Any:
        """Open where the owners' `over` is at least ratio times `under`, and nothing else."""
        num, den = ratio
        part = den * over - num * under
        low, high = -num * self.terms.most, den * self.terms.most
        shared = await share_sum(self.party, part, part.shape, low, high)
        return await reveal(self.party, ~await less_than(self.party, shared, 0), because=because,
                            to=to)

    async def result(self, receivers: Sequence[str]) -> Associations | None:
        """Test the rules and put everything together, for the receivers."""
        sets = self.ladder.frequent()
        ways = splits(sets)
        counts = np.zeros(len(sets), np.int64)
        if self.local is not None:
            counts = np.concatenate([np.zeros(0, np.int64), *self.local.kept])
        sure = await self._reached(counts[ways[:, 0]], counts[ways[:, 1]],
                                   self.terms.confidence.as_integer_ratio(), RULES, receivers)
        shown = await self._supports(counts, receivers) if self.terms.shown else None
        return None if sure is None else pattern(self.terms, sets, ways[sure], shown)

    async def _supports(self, counts: Ints, receivers: Sequence[str]) -> Any:
        """Open the counts of frequent sets, the number of baskets last."""
        part = np.r_[counts, self.rows]
        shared = await share_sum(self.party, part, part.shape, 0, self.terms.most)
        return await reveal(self.party, shared, because=SUPPORTS, to=receivers)


def pattern(terms: RuleParams, sets: tuple[tuple[int, ...], ...], ways: Ints,
            shown: Ints | None) -> Associations:
    """Return the associations; `shown` holds counts, and the number of baskets last."""
    known = (None, None) if shown is None else (shown[:-1], int(shown[-1]))
    return Associations(terms.items, sets, tuple(sets[i] for i in ways[:, 1]),
                        tuple(sets[i] for i in ways[:, 2]), terms.min_support,
                        terms.min_confidence, *known)


def from_counts(terms: RuleParams, sets: tuple[tuple[int, ...], ...], counts: Ints,
                total: int) -> Associations:
    """Return the associations of counted sets, with the counts only where they are shown."""
    ways = splits(sets)
    num, den = terms.confidence.as_integer_ratio()
    sure = den * counts[ways[:, 0]] >= num * counts[ways[:, 1]]
    return pattern(terms, sets, ways[sure], np.r_[counts, total] if terms.shown else None)


def mine_rules_rows(parts: Sequence[Baskets], terms: RuleParams, mode: str = "dealer", *,
                          names: Sequence[str] | None = None, receivers: Sequence[str] = (),
                          **how: Any) -> tuple[list[Associations | None], list[Ledger]]:
    """Mine rules over the baskets of all owners; return each party's result and ledger.

    Parameters
    ----------
    parts : sequence of Baskets
        Each owner's baskets.
    terms : RuleParams
        What is public: items, thresholds, what is disclosed.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    receivers : sequence of str, default ()
        Who learns the rules (all if nobody is named).
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of Associations or None, list of Ledger)
        Each party's result (None for who is no receiver) and ledger, in the order of owners.

    Examples
    --------
    >>> found, ledgers = mine_rules_rows([a, b, c], terms)  # doctest: +SKIP
    """
    program = RulesOverRows(terms, receivers)
    outputs = run_local(program, list(parts), mode, names=names, **how)
    return [associations for associations, _ in outputs], [ledger for _, ledger in outputs]
