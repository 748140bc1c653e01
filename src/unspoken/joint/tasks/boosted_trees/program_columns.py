"""Boosted trees over columns that are spread among sites: second order, on shares.

Every site has some attributes of the same records, and one of them the class of two (XGBoost, Chen
and Guestrin 2016; SecureBoost, Cheng and others 2021, without the gradients that its label owner
sees by node). Gradients, curvatures, log-odds, sums and gains stay on shares throughout. The site
of the best question shares which of its records have the first answer, and products make the rows
of the children.

  discloses: to all, how many records there are, and the shape of the trees: which site asks at
    each node, and which nodes are leaves. What is asked is known to the asking site; the numbers of
    leaves to the class site, rounded to 2^-12. Aligning shows which ids are in common.
    Not: gradients, sums, gains, sizes of nodes, which records are in a node, how many attributes a
    site has, why a node is a leaf.
  what the numbers of leaves give away: that of a leaf of the first tree is a ratio of its counts of
    both classes, so the class site learns about these; of a leaf with few records it learns them.
    `min_records` keeps small nodes from being split, not leaves from being small.
  safe against: as products and comparisons in the mode.
  among equals the site that comes first wins, and of one site the question that comes first.
  fixed point: see `packed_slopes` and `column_gains`. What is opened of a leaf is what later trees
    are grown with, so the trees are those of the opened numbers.
  cost: 8 N slots bytes a site once (again when the masks are used up). A tree of depth d: 16 N
    2^(d-1) for the sums, 32 N 2^(d-1) and 16 N 2^(d-1) for the rows of the children (80 and 40
    where the asking site holds no shares, or no dealer serves), 16 N 2^d for the log-odds, 1.2 kB N
    for gradients; then about 2 kB for each question and node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.fixed_operand_matmul import PooledBlocks
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.boosted_trees.boost_sites import BoostSite
from unspoken.joint.tasks.boosted_trees.column_growth import (
    NUMBERS,
    OPENED,
    BoostedTree,
    Ground,
)
from unspoken.joint.tasks.boosted_trees.packed_slopes import MOST_ALIGNED, Bits, slopes
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.common.aligned_records import ROWS, same_everywhere
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.logistic.sigmoid import SCALE
from unspoken.joint.tasks.tree.column_steps import QUESTION, SITES, shared_answers
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.boosted_part import BoostedPart
from unspoken.models.site_tree_part import TreePart

MOST_DEPTH = 12
MOST_WORDS = 1 << 28
POOL = 1 << 25


def disclosures(sites: Sequence[str], class_site: str) -> tuple[Disclosure, ...]:
    """Return everything that boosting over columns discloses."""
    return (Disclosure(ROWS), Disclosure(SITES),
            *(Disclosure(QUESTION, (site,)) for site in sites),
            Disclosure(NUMBERS, (class_site,)))


class BoostOverColumns:
    """The program: every site gives a BoostSite, and gets its part of the trees."""

    def __init__(self, shape: TreeShape, rules: TreeParams, boost: Boost,
                 sites: Sequence[str]) -> None:
        if len(shape.classes) != 2:
            raise InputError(explain("Boosted trees", "for two classes", len(shape.classes)))
        if rules.max_depth > MOST_DEPTH:
            raise InputError(explain("Boosting over columns: 'max_depth'",
                                     f"at most {MOST_DEPTH}", rules.max_depth))
        self.shape, self.rules, self.boost = replace(shape, branches=2), rules, boost
        self.disclosures = disclosures(sites, shape.class_site)

    async def check_first(self, party: Party, data: BoostSite | None) -> None:
        """Check a site before its rows are aligned."""
        self._own(party, data)

    def _own(self, party: Party, data: BoostSite | None) -> BoostSite | None:
        """Check a site before anything is sent; who owns nothing gives nothing."""
        if party.name not in party.roles.owners:
            return None
        if data is None:
            raise DataError("Every site must give its columns. This one gave nothing.")
        return data.fits(self.shape, party.name)

    async def __call__(self, party: Party, data: BoostSite | None) -> BoostedPart | None:
        """Add up trees, and return this site's part of them."""
        site = self._own(party, data)
        rows = await same_everywhere(party, -1 if site is None else site.codes.shape[1])
        self._check_size(rows)
        ground = await self._ground(party, site, rows)
        own_labels = site.classes if site is not None else None
        labels = await share(party, own_labels, self.shape.class_site, (rows,), 0, 1)
        odds: Shared | None = None
        parts: list[tuple[TreePart, Floats]] = []
        for place in range(self.boost.rounds):
            tree = BoostedTree(ground)
            await tree.grow(await slopes(party, odds, labels, ground.bits))
            numbers = await tree.numbers()
            if place + 1 < self.boost.rounds:
                odds = _added(odds, await tree.reached(numbers))
            opened = await reveal(party, numbers, because=NUMBERS, to=[self.shape.class_site])
            if site is not None:
                parts.append(tree.part(opened))
        return self._kept(party, parts)

    def _check_size(self, rows: int) -> None:
        """Refuse what does not fit into words or into memory."""
        if rows > MOST_ALIGNED:
            raise RefusedError(f"Boosting over columns is for at most {MOST_ALIGNED:,} records. "
                               f"There are {rows:,}.")
        if rows << max(0, self.rules.max_depth - 1) > MOST_WORDS:
            raise RefusedError(f"Records times the nodes of the last level that asks must be at "
                               f"most {MOST_WORDS:,}. They are more. Lower 'max_depth'.")

    async def _ground(self, party: Party, site: BoostSite | None, rows: int) -> Ground:
        """Share the answers of all records to all questions."""
        codes = None if site is None else site.codes
        answers = await shared_answers(party, self.shape, party.roles.owners, codes, rows)
        # The masks of one tree at least, of as many as fit into memory, of no more than there are.
        each = 1 << max(0, self.rules.max_depth - 1)
        pool = each * max(1, min(self.boost.rounds, POOL // (rows * each)))
        return Ground(party, self.shape, self.rules, self.boost, Bits(rows),
                      answers, PooledBlocks(party, answers.T, pool), codes,
                      () if site is None else site.questions)

    def _kept(self, party: Party,
              parts: list[tuple[TreePart, Floats]]) -> BoostedPart | None:
        """Return this site's part."""
        if not parts:
            return None
        knows = party.name == self.shape.class_site
        return BoostedPart(tuple(tree for tree, _ in parts),
                           tuple(numbers for _, numbers in parts) if knows else ())


def _added(odds: Shared | None, numbers: Shared) -> Shared:
    """Return log-odds with the numbers of one more tree."""
    more = replace(replace(numbers, scale=0) * (1 << (SCALE - OPENED)), scale=SCALE)
    return more if odds is None else odds + more


def mine_boost_columns(
    sites: Mapping[str, BoostSite],
    shape: TreeShape,
    rules: TreeParams | None = None,
    boost: Boost | None = None,
    mode: str = "dealer",
    *,
    align: SetRules | None = None,
    **how: Any,
) -> tuple[dict[str, BoostedPart], dict[str, Ledger]]:
    """Boost trees over the columns of all sites; return each site's part and ledger.

    Parameters
    ----------
    sites : mapping of str to BoostSite
        Each site's questions and rows, by its name.
    shape : TreeShape
        What is public: two classes, the class site, room for questions.
    rules : TreeParams, optional
        When a tree stops growing. Default: a depth of at most 3.
    boost : Boost, optional
        How trees are added up. Default: `Boost()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    align : SetRules, optional
        Rules for aligning rows by ids. Default: same records in the same order everywhere.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (dict of str to BoostedPart, dict of str to Ledger)
        Each site's part of the trees and its ledger, by site.

    Examples
    --------
    >>> parts, ledgers = mine_boost_columns({'a': a, 'b': b}, shape)  # doctest: +SKIP
    """
    names = list(sites)
    if shape.class_site not in names:
        raise InputError(explain("The class site", "of " + ", ".join(names), shape.class_site))
    for name, site in sites.items():
        site.fits(shape, name)
    inner = BoostOverColumns(shape, rules or TreeParams(max_depth=3), boost or Boost(), names)
    outputs = run_local(InOneOrder(inner, names, align), list(sites.values()), mode, names=names,
                        **how)
    return ({name: part for name, (part, _) in zip(names, outputs, strict=True)},
            {name: ledger for name, (_, ledger) in zip(names, outputs, strict=True)})
