"""Boosted trees over rows of several owners: gradients of the logistic loss, summed as shares.

In every round each owner has, for each of its records, the gradient g = p - y and the curvature
h = p (1 - p) of the loss at the trees so far. Their sums over the cells of a histogram are added up
as shares; with G, H of a branch its worth is G^2 / (H + lambda), and the best question of a node
is the one whose branches are worth most (XGBoost; SecureBoost), found on shares. The number of a
leaf, -rate G / (H + lambda), is opened, because owners need it for the next round.

  discloses: the trees and the numbers of their leaves, to all who take part, and one bit, whether
    there are more records than agreed. A leaf's number is a ratio of sums over its records: with
    two owners each learns an equation about the other's records in every leaf, so two are refused
    unless `two_may_learn` says that this is agreed. `min_records` keeps small nodes from being
    split, not leaves from being small: the number of a leaf of one record tells its class. Nobody
    sees whether a third owner has any rows. Cut points that are agreed on show as in `cuts`.
  fixed point: g and h are whole multiples of 2^-12 for each record, so that sums are exact; the
    ratio is right to 2^-19. Questions whose worth differs by less than 5 J |T| 2^-20 may fall
    differently than in one place; equals fall to the first.
  cost: as a tree with two sums in place of classes, and a division of each branch (20 rounds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.boosted_trees.params import MOST, MOST_RECORDS, Boost
from unspoken.joint.tasks.boosted_trees.split_gains import (
    FINE,
    best_worth,
    ratios,
)
from unspoken.joint.tasks.tree.cut_points import CUTS, Span
from unspoken.joint.tasks.tree.leaf_classes import Leaves
from unspoken.joint.tasks.tree.level_growth import Rows, Sapling
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams
from unspoken.joint.tasks.tree.program_rows import (
    SPLITS,
    TOO_MANY,
    Given,
    agreed,
    code_rows,
    own_rows,
    refuse_too_many,
    standing_in,
)
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.tree_ensemble import TreeSum

VALUES = "the number of every leaf"
# Beyond this the loss hardly changes, and |g| / h would have no bound.
CLIP = 6.0
# Rounding on shares changes the number of a leaf by less than this.
ROUNDING = 2.0**-12


def gradients(scores: Floats, labels: Ints) -> Ints:
    """Return g, h and 1 of every record, g and h in units of 2^-12."""
    p = 1.0 / (1.0 + np.exp(-np.clip(scores, -CLIP, CLIP)))
    slopes = np.stack([p - labels, p * (1 - p)])
    whole = np.rint(np.ldexp(slopes, FINE)).astype(np.int64)
    return np.concatenate([whole, np.ones((1, labels.size), np.int64)])


def disclosures(cuts: bool = False) -> tuple[Disclosure, ...]:
    """Return everything that boosting over rows discloses."""
    always = (Disclosure(SPLITS), Disclosure(VALUES), Disclosure(TOO_MANY))
    return (*always, Disclosure(CUTS)) if cuts else always


class BoostOverRows:
    """The program: every owner gives the codes and the two classes of its rows."""

    def __init__(self, layout: TreeLayout, rules: TreeParams, boost: Boost,
                 spans: Mapping[str, Span] | None = None) -> None:
        if len(layout.classes) != 2:
            raise InputError(explain("Boosted trees", "for two classes", len(layout.classes)))
        if rules.most > MOST_RECORDS:
            raise InputError(explain("Boosting: 'most'", f"at most {MOST_RECORDS:,}", rules.most))
        self.layout, self.rules, self.boost = layout, rules, boost
        self.spans = dict(spans or {})
        self.disclosures = disclosures(bool(self.spans))

    async def __call__(self, party: Party, data: Given | None) -> TreeSum:
        """Add up trees."""
        coded = own_rows(party, self.layout, self.rules, data)
        if len(party.roles.owners) == 2 and not self.boost.two_may_learn:
            raise RefusedError("Boosting shows the numbers of leaves, from which one of two owners "
                               "learns about the other's records in every leaf. Find a third "
                               "owner, grow a forest, or agree to it: two_may_learn=True.")
        await refuse_too_many(party, self.rules, coded.labels.size)
        layout, coded = await agreed(party, self.layout, self.rules, self.spans, coded)
        scores, trees = np.zeros(coded.labels.size), []
        for _ in range(self.boost.rounds):
            tree, values = await self._round(party, layout, coded, scores)
            trees.append(tree.regression(values.tolist()))
            scores = scores + reached(layout, tree, coded.codes, values)
        return TreeSum(tuple(trees), (layout.classes[0], layout.classes[1]))

    async def _round(self, party: Party, layout: TreeLayout, coded: Given,
                     scores: Floats) -> tuple[Sapling, Floats]:
        """Return a tree and the numbers of its leaves, those of an earlier attempt if it had."""
        known = recalled(party, "a tree")
        if known is not None:
            return known_tree(layout, self.rules, known[0]), known[1]
        rows = Rows(layout, coded.codes, coded.labels)
        tree, values = await self._tree(party, rows, gradients(scores, coded.labels))
        await remember(party, "a tree", np.asarray(tree.question), values, within=ROUNDING)
        return tree, values

    async def _tree(self, party: Party, rows: Rows, numbers: Ints) -> tuple[Sapling, Floats]:
        """Grow one tree, and open the numbers of its leaves."""
        layout, rules = rows.layout, self.rules
        tree, leaves = Sapling(layout, rules), Leaves()
        bound = rules.most << FINE
        while nodes := tree.tested():
            local = rows.sums(nodes, numbers)
            shared = (await share_sum(party, local, local.shape, -bound, bound)).within(
                -bound, bound)
            place, sums = await best_worth(party, layout, shared, rules, self.boost.penalty,
                                           tree.allowed(nodes))
            tree.split(nodes, np.asarray(await reveal(party, place, because=SPLITS)))
            rows.move(tree)
            leaves.branches(tree, nodes, sums)
        if not leaves.parts:
            local = rows.sums(tree.level, numbers)[:, :layout.attributes[0].cells].sum(axis=1)
            root = (await share_sum(party, local, local.shape, -bound, bound)).within(-bound, bound)
            leaves.take(tree.level, root, root)
        leaf_ratios = await ratios(party, leaves.of(tree.leaves)[0], rules, self.boost.penalty)
        opened = np.asarray(await reveal(party, leaf_ratios, because=VALUES))
        return tree, -self.boost.rate * opened


def known_tree(layout: TreeLayout, rules: TreeParams, questions: Ints) -> Sapling:
    """Return the tree with these questions, level by level; -1 is a leaf."""
    tree = Sapling(layout, rules)
    while nodes := tree.tested():
        tree.split(nodes, questions[nodes] + 1)
    return tree


def reached(layout: TreeLayout, tree: Sapling, codes: Ints, values: Floats) -> Floats:
    """Return the number of the leaf that every row reaches."""
    number = np.zeros(len(tree.question))
    number[tree.leaves] = values
    node = np.zeros(codes.shape[1], np.int64)
    question, first = np.asarray(tree.question), np.asarray(tree.first_child)
    for _ in range(tree.depth):
        asked = question[node]
        inner = np.flatnonzero(asked >= 0)
        code = codes[layout.asked[0][asked[inner]], inner]
        node[inner] = first[node[inner]] + layout.routes[asked[inner], code]
    return np.asarray(number[node])


def mine_boost_rows(parts: Sequence[Mapping[str, Any]], layout: TreeLayout,
                          rules: TreeParams | None = None, boost: Boost | None = None,
                          mode: str = "dealer", *, spans: Mapping[str, Span] | None = None,
                          **how: Any) -> tuple[list[TreeSum], list[Ledger]]:
    """Boost trees over the rows of all owners; return each party's model and ledger.

    Parameters
    ----------
    parts : sequence of mapping
        Each owner's columns by name, the class among them.
    layout : TreeLayout
        Attributes and classes, in the order that every owner uses.
    rules : TreeParams, optional
        When a tree stops growing. Default: a depth of at most 3.
    boost : Boost, optional
        How trees are added up. Default: `Boost()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    spans : mapping of str to Span, optional
        Numeric attributes whose cut points are to be agreed on.
    **how : Any
        Passed on to `run_local`, such as names or processes=True.

    Returns
    -------
    tuple of (list of TreeSum, list of Ledger)
        Each party's model and ledger, in the order of owners.

    Examples
    --------
    >>> models, ledgers = mine_boost_rows([a, b, c], layout)  # doctest: +SKIP
    """
    rules, layout = rules or TreeParams(max_depth=3, most=MOST), standing_in(layout, spans or {})
    coded = [code_rows(layout, part, spans or {}) for part in parts]
    program = BoostOverRows(layout, rules, boost or Boost(), spans)
    outputs = run_local(program, coded, mode, **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
