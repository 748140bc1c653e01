"""ID3 over rows that are spread among owners (vcz2006 section 4.3; Lindell and Pinkas).

Every owner has all columns for some of the records. Level by level, the owners' histograms of all
open nodes are added up as shares; x ln x, the scores and the best question are computed on shares,
and one number a node is opened: the question, or 0 for a leaf. The rows are then split locally.

  discloses: the tree (its questions, and that a node is a leaf), to all who take part, because
    owners must split their rows; the classes of leaves, to the receivers; and one bit, whether
    there are more records than agreed.
    Not: counts, gains, and why a node is a leaf. The book tests "all of one class" after "no
    attributes left", because the other order shows more than the tree does. Here both, too few
    records and no gain are one outcome of one comparison, and depth or attributes that have run
    out, which everybody sees, are not tested at all.
  improves on the book: any number of owners; ln by 8 terms to 3.5e-8 instead of a Taylor series;
    all nodes of a level travel together; numbers and many branches; a class for empty leaves
    (that of the parent), and ties in a stated order.
  safe against: as products and comparisons in the mode. Two owners: nothing that is opened is a
    sum from which one could take off its own part.
  what the tree itself gives away is given away: a pure leaf, a split on a rare category.
  cost: 26 rounds a level, with many nodes and questions 37; 0.4 kB for each branch, class and node,
    most of it from the dealer, who is asked once a level. `costs` counts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.column_checks import numbers
from unspoken.joint.tasks.tree.cut_points import CUTS, Span, agree_cuts, with_cuts
from unspoken.joint.tasks.tree.leaf_classes import Leaves
from unspoken.joint.tasks.tree.level_growth import Rows, Sapling
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams
from unspoken.joint.tasks.tree.question_scores import ask_ahead, best, branch_counts
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.categorical_tree import CategoricalTree

SPLITS = "the questions of the tree, and which nodes are leaves"
LEAVES = "the class of every leaf"
TOO_MANY = "whether there are more records than agreed"
BLOCK = 1 << 19


@dataclass(frozen=True)
class Given:
    """An owner's rows: codes, classes, and the numbers whose cut points are still to be found."""

    codes: Ints
    labels: Ints
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    weights: Ints | None = None


def disclosures(receivers: Sequence[str] = (), cuts: bool = False) -> tuple[Disclosure, ...]:
    """Return everything that growing a tree over rows discloses."""
    always = (Disclosure(SPLITS), Disclosure(LEAVES, tuple(receivers)), Disclosure(TOO_MANY))
    return (*always, Disclosure(CUTS)) if cuts else always


class TreeOverRows:
    """The program: every owner gives the codes and the classes of its rows."""

    def __init__(self, layout: TreeLayout, rules: TreeParams, receivers: Sequence[str] = (),
                 spans: Mapping[str, Span] | None = None) -> None:
        self.layout, self.rules, self.receivers = layout, rules, tuple(receivers)
        self.spans = dict(spans or {})
        self.disclosures = disclosures(receivers, bool(self.spans))

    async def __call__(self, party: Party, data: Given | None) -> CategoricalTree:
        """Grow the tree; who is no receiver gets the numbers of leaves in place of classes."""
        coded = own_rows(party, self.layout, self.rules, data)
        await refuse_too_many(party, self.rules, coded.labels.size)
        layout, coded = await agreed(party, self.layout, self.rules, self.spans, coded)
        return (await grow(party, layout, self.rules, coded, self.receivers))[0]


async def agreed(party: Party, layout: TreeLayout, rules: TreeParams, spans: Mapping[str, Span],
                 coded: Given) -> tuple[TreeLayout, Given]:
    """Find the cut points that are still open, and code the rows by them."""
    cuts = await agree_cuts(party, spans, coded.numbers, rules.most)
    layout, codes = with_cuts(layout, cuts), coded.codes.copy()
    for place, attribute in enumerate(layout.attributes):
        if attribute.name in cuts and coded.labels.size:
            codes[place] = attribute.code(coded.numbers[attribute.name])
    return layout, Given(codes, coded.labels, weights=coded.weights)


async def grow(party: Party, layout: TreeLayout, rules: TreeParams, coded: Given,
               receivers: Sequence[str] = (), trees: int = 1, weights: Ints | None = None,
               allowed: Any = None) -> list[CategoricalTree]:
    """Grow one tree or several side by side; `allowed` as in `grow_pooled`."""
    rows = Rows(layout, coded.codes, coded.labels, trees, weights)
    tree, leaves = Sapling(layout, rules, trees), Leaves()
    while nodes := tree.tested():
        mask = tree.allowed(nodes)
        mask = mask if allowed is None else mask & allowed(tree, nodes)
        places, counts = await _level(party, tree, rows, nodes, mask)
        tree.split(nodes, places)
        rows.move(tree)
        leaves.branches(tree, nodes, counts)
    if not leaves.parts:
        await _only_roots(party, leaves, tree, rows)
    return tree.patterns(await leaves.classes(party, tree.leaves, LEAVES, receivers))


def own_rows(party: Party, layout: TreeLayout, rules: TreeParams, data: Given | None) -> Given:
    """Check an owner's rows before anything is sent; who owns none has no rows."""
    if data is None or party.name not in party.roles.owners:
        return Given(np.zeros((len(layout.attributes), 0), np.int64), np.zeros(0, np.int64))
    if data.codes.shape != (len(layout.attributes), data.labels.size):
        raise DataError(explain("Coded rows", f"of shape ({len(layout.attributes)}, rows)",
                                data.codes.shape))
    if data.labels.size > rules.most:
        raise RefusedError(f"There must be at most {rules.most:,} records in all, as agreed. This "
                           "owner alone has more. Agree on a greater 'most'.")
    return data


async def refuse_too_many(party: Party, rules: TreeParams, rows: int) -> None:
    """Open one bit: a broken bound would give wrong trees, and nobody would see it."""
    total = await share_sum(party, np.array([rows]), (1,), 0, rules.most)
    more = await less_than(party, -total, -rules.most)
    if bool((await reveal(party, more, because=TOO_MANY))[0]):
        raise RefusedError(f"There must be at most {rules.most:,} records in all, as agreed. All "
                           "owners together have more. Agree on a greater 'most'.")


async def _level(party: Party, tree: Sapling, rows: Rows, nodes: Sequence[int],
                 mask: Bools) -> tuple[Ints, Shared]:
    """Return what was chosen for every node of a level, and the counts of its branches."""
    layout, most = tree.layout, tree.rules.most
    size = max(1, BLOCK // int((layout.first_branch[-1] + 1) * (len(layout.classes) + 1)))
    known = recalled(party, "a level")
    if known is not None:
        return known[0], branch_counts(layout, await _histograms(party, rows, nodes, most))
    asked = len(nodes) <= size
    if asked:
        await ask_ahead(party, layout, len(nodes), tree.rules, mask)
    shared = await _histograms(party, rows, nodes, most)
    chosen = []
    for start in range(0, len(nodes), size):
        part = slice(start, start + size)
        chosen.append(await best(party, layout, shared[part], tree.rules.min_records,
                                 mask[part], asked=asked))
    places, counts = (concatenate(list(parts)) for parts in zip(*chosen, strict=True))
    opened = np.asarray(await reveal(party, places, because=SPLITS))
    await remember(party, "a level", opened)
    return opened, counts


async def _histograms(party: Party, rows: Rows, nodes: Sequence[int], most: int) -> Shared:
    """Return the counts of all owners' rows in some nodes, as shares."""
    local = rows.histograms(nodes)
    return (await share_sum(party, local, local.shape, 0, most)).within(0, most)


async def _only_roots(party: Party, leaves: Leaves, tree: Sapling, rows: Rows) -> None:
    """Count the classes of trees that are not split at all."""
    most, cells = tree.rules.most, tree.layout.attributes[0].cells
    local = rows.histograms(tree.level)[:, :cells].sum(axis=1)
    shared = (await share_sum(party, local, local.shape, 0, most)).within(0, most)
    leaves.take(tree.level, shared, shared)


def mine_tree_rows(parts: Sequence[Mapping[str, Any]], layout: TreeLayout,
                         rules: TreeParams | None = None, mode: str = "dealer", *,
                         names: Sequence[str] | None = None, receivers: Sequence[str] = (),
                         spans: Mapping[str, Span] | None = None,
                         **how: Any) -> tuple[list[CategoricalTree], list[Ledger]]:
    """Grow one tree over the rows of all owners; return each party's tree and ledger.

    Parameters
    ----------
    parts : sequence of mapping
        Each owner's columns by name, the class among them.
    layout : TreeLayout
        Attributes and classes, in the order that every owner uses.
    rules : TreeParams, optional
        What everybody agreed on. Default: `TreeParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    receivers : sequence of str, default ()
        Who learns the classes of leaves (all if nobody is named).
    spans : mapping of str to Span, optional
        Numeric attributes whose cut points are to be agreed on.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of CategoricalTree, list of Ledger)
        Each party's tree and ledger, in the order of owners.

    Examples
    --------
    >>> trees, ledgers = mine_tree_rows([a, b], layout)  # doctest: +SKIP
    """
    layout = standing_in(layout, spans or {})
    coded = [code_rows(layout, part, spans or {}) for part in parts]
    program = TreeOverRows(layout, rules or TreeParams(), receivers, spans)
    outputs = run_local(program, coded, mode, names=names, **how)
    return [tree for tree, _ in outputs], [ledger for _, ledger in outputs]


def code_rows(layout: TreeLayout, columns: Mapping[str, Any],
              spans: Mapping[str, Span]) -> Given:
    """Return an owner's rows as codes; what the layout does not know is refused."""
    if layout.target not in columns:
        raise DataError(explain("The columns", f"such that the class '{layout.target}' is there",
                                ", ".join(map(str, columns))))
    codes, labels = layout.codes(columns), layout.labels(columns[layout.target])
    if codes.shape[1] != labels.size:
        raise DataError(explain("Columns", "of one length", "several"))
    return Given(codes, labels, {name: numbers(name, columns[name]) for name in spans})


def standing_in(layout: TreeLayout, spans: Mapping[str, Span]) -> TreeLayout:
    """Return a layout where attributes without cut points yet have one that stands in."""
    known = {a.name for a in layout.attributes}
    for name in spans:
        if name not in known:
            raise InputError(explain("'spans'", "of " + ", ".join(sorted(known)), name))
    return with_cuts(layout, {name: (span.low,) for name, span in spans.items()})
