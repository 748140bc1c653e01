"""The book's union of locally large itemsets (vcz2006 section 6.2.1).

A set that is frequent in all is large at one owner at least, so that only the union of what is
large somewhere needs to be compared. The union itself says more than the result does: it shows
sets that are large at one owner only. `method="union"` finds it with an OR of shared bits,
"union-encrypted" with commutative encryption, which also discloses how many duplicates there were;
`fakes` adds sets that are not large, which blurs both and costs comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.errors import InputError, explain
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.ristretto import fresh_order
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.sets.union import union, union_disclosures
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.rules.params import RuleParams
from unspoken.joint.tasks.rules.program_rows import Mining, RulesOverRows
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.associations import Associations
from unspoken.table.baskets import Baskets

SHARES, ENCRYPTED = "union", "union-encrypted"
METHODS = (SHARES, ENCRYPTED)
UNION = "which candidates are large, or claimed to be, at one owner or more"
_FREE = SetRules(least=0)


def union_told(owners: Sequence[str], method: str) -> tuple[Disclosure, ...]:
    """Return what the union discloses to all parties."""
    if method == SHARES:
        return (Disclosure(UNION),)
    declared = union_disclosures(UNION, owners, owners, _FREE, "encryption")
    return (Disclosure(UNION), *declared[1:])


async def in_union(party: Party, large: Bools, sets: Ints, method: str, fakes: int) -> Bools:
    """Return which candidates are large at some owner, or among the fakes that it adds."""
    universe = [" ".join(map(str, row)) for row in sets.tolist()]
    chosen = np.flatnonzero(large | _fake(large, fakes))
    members = await union(party, [universe[i] for i in chosen], universe, because=UNION,
                          method="shares" if method == SHARES else "encryption", rules=_FREE)
    known = set(members or ())
    return np.fromiter((one in known for one in universe), np.bool_, len(universe))


def _fake(large: Bools, fakes: int) -> Bools:
    """Choose candidates that are not large, in a way that other parties cannot know."""
    others = np.flatnonzero(~large)
    out = np.zeros(large.size, np.bool_)
    out[others[fresh_order(others.size)[:fakes]]] = True
    return out


class RulesByUnion(RulesOverRows):
    """The program: only candidates that are large at some owner are compared."""

    def __init__(self, terms: RuleParams, receivers: Sequence[str] = (), *,
                 owners: Sequence[str] = (), method: str = SHARES, fakes: int = 0) -> None:
        if method not in METHODS:
            raise InputError(explain("'method'", "one of " + ", ".join(METHODS), method))
        if not isinstance(fakes, int) or fakes < 0:
            raise InputError(explain("'fakes'", "an int >= 0", fakes))
        if method == ENCRYPTED and not owners:
            raise InputError("A union by encryption needs 'owners', the names of all owners.")
        super().__init__(terms, receivers)
        self.way, self.fakes = method, fakes
        self.disclosures = (*self.disclosures, *union_told(owners, method))

    def mining(self, party: Party, baskets: Baskets | None) -> Mining:
        """Return one party's side of a run."""
        return UnionMining(party, self.terms, baskets, self.way, self.fakes)


class UnionMining(Mining):
    """One party's side of a run."""

    def __init__(self, party: Party, terms: RuleParams, baskets: Baskets | None, method: str,
                 fakes: int) -> None:
        super().__init__(party, terms, baskets)
        self.method, self.fakes = method, fakes

    async def chosen(self, counts: Ints) -> Bools:
        """Return which candidates are large at some owner, or claimed to be."""
        return await in_union(self.party, self._large(counts), self.ladder.sets, self.method,
                              self.fakes)

    def _large(self, counts: Ints) -> Bools:
        """Return what is frequent at this owner alone."""
        num, den = self.terms.support.as_integer_ratio()
        return np.asarray((den * counts >= num * self.rows) & (counts > 0))


def mine_rules_by_union(parts: Sequence[Baskets], terms: RuleParams, mode: str = "dealer", *,
                        method: str = SHARES, fakes: int = 0,
                        names: Sequence[str] | None = None, receivers: Sequence[str] = ()
                        ) -> tuple[list[Associations | None], list[Ledger]]:
    """Mine as `mine_rules_rows` does, over the union; return each party's result and ledger."""
    owners = list(names) if names is not None else [f"p{i}" for i in range(len(parts))]
    program = RulesByUnion(terms, receivers, owners=owners, method=method, fakes=fakes)
    outputs = run_local(program, list(parts), mode, names=owners)
    return [output for output, _ in outputs], [ledger for _, ledger in outputs]
