"""A random forest over rows of several owners: trees that grow side by side in the same messages.

Every owner draws as many of its own rows as it has, with replacement, for every tree; the draws
never leave it. Which attributes count at a node is drawn from a public seed, the same for all. The
nodes of all trees of a level are one batch, so that a forest takes the rounds of one tree.

  discloses: what one tree does, for each tree. Who is no receiver gets trees that name their leaves
    by number; votes over those names mean nothing.
  differs from drawing in one place: an owner with n rows gives exactly n draws to every tree.
  cost: the bytes of its trees; questions that do not count at a node cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.errors import InputError, explain
from unspoken.joint.mpc.checkpoints import kept_secret
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.tree.level_growth import Sapling
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams
from unspoken.joint.tasks.tree.program_rows import (
    Given,
    TreeOverRows,
    agreed,
    code_rows,
    grow,
    own_rows,
    refuse_too_many,
    standing_in,
)
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.tree_ensemble import TreeVote
from unspoken.numerics.random import fresh_seed, generator
from unspoken.release.parameters import Whole, check

MOST_TREES = 1000


def draw_rows(rows: int, trees: int, seed: bytes | None = None) -> Ints:
    """Return how often each row was drawn for each tree; the seed is the owner's secret."""
    random = generator(fresh_seed() if seed is None else seed, "draws")
    drawn = random.integers(0, max(1, rows), (trees, rows))
    flat = (drawn + rows * np.arange(trees)[:, None]).ravel()
    return np.bincount(flat, minlength=trees * rows).reshape(trees, rows)


class Attributes:
    """Which questions count at a node: those of a few attributes, drawn from a public seed."""

    def __init__(self, layout: TreeLayout, count: int, seed: int) -> None:
        self.asked, self.size = layout.asked[0], len(layout.attributes)
        self.count, self.seed = min(count, self.size), seed

    def __call__(self, tree: Sapling, nodes: Sequence[int]) -> Bools:
        """Return (nodes, questions); a node's number is public, and so is its draw."""
        draws = [np.random.default_rng([self.seed, node]).permutation(self.size)[:self.count]
                 for node in nodes]
        return np.array([np.isin(self.asked, drawn) for drawn in draws])


class ForestOverRows(TreeOverRows):
    """The program: every owner gives its rows and its draws."""

    def __init__(
        self,
        layout: TreeLayout,
        rules: TreeParams,
        trees: int = 10,
        *,
        attributes: int = 0,
        seed: int = 0,
        receivers: Sequence[str] = (),
        spans: Any = None,
    ) -> None:
        super().__init__(layout, rules, receivers, spans)
        check("A forest", {"trees": (Whole(1), "Use 10."), "attributes": (Whole(0), "0: the root "
              "of their number."), "seed": (Whole(0), "Use 0.")},
              {"trees": trees, "attributes": attributes, "seed": seed})
        if trees > MOST_TREES:
            raise InputError(explain("A forest: 'trees'", f"at most {MOST_TREES}", trees))
        self.trees, self.seed = trees, seed
        self.count = attributes or int(np.ceil(np.sqrt(len(layout.attributes))))

    async def __call__(self, party: Party, data: Given | None) -> TreeVote:  # type: ignore[override]
        """Grow all trees together."""
        coded = own_rows(party, self.layout, self.rules, data)
        await refuse_too_many(party, self.rules, coded.labels.size)
        weights = coded.weights
        if weights is None:
            seed = await kept_secret(party, "draws", fresh_seed)
            weights = draw_rows(coded.labels.size, self.trees, seed)
        layout, coded = await agreed(party, self.layout, self.rules, self.spans, coded)
        chosen = Attributes(layout, self.count, self.seed)
        return TreeVote(tuple(await grow(party, layout, self.rules, coded, self.receivers,
                                         self.trees, weights, chosen)))


def mine_forest_rows(
    parts: Sequence[Mapping[str, Any]],
    layout: TreeLayout,
    rules: TreeParams | None = None,
    mode: str = "dealer",
    *,
    trees: int = 10,
    attributes: int = 0,
    seed: int = 0,
    spans: Any = None,
    **how: Any,
) -> tuple[list[TreeVote], list[Ledger]]:
    """Grow a forest over the rows of all owners; return each party's forest and ledger.

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
    trees : int, default 10
        The number of trees, at most 1000.
    attributes : int, default 0
        Attributes that count at a node; 0 is the root of their number.
    seed : int, default 0
        Public; which attributes count at which node.
    spans : mapping of str to Span, optional
        Numeric attributes whose cut points are to be agreed on.
    **how : Any
        `receivers` (who learns the classes of leaves); the rest is passed on to `run_local`.

    Returns
    -------
    tuple of (list of TreeVote, list of Ledger)
        Each party's forest and ledger, in the order of owners.

    Examples
    --------
    >>> forests, ledgers = mine_forest_rows([a, b], layout, trees=20)  # doctest: +SKIP
    """
    receivers = how.pop("receivers", ())
    layout = standing_in(layout, spans or {})
    coded = [code_rows(layout, part, spans or {}) for part in parts]
    drawn = [replace(g, weights=draw_rows(g.labels.size, trees)) for g in coded]
    program = ForestOverRows(layout, rules or TreeParams(), trees, attributes=attributes, seed=seed,
                               receivers=receivers, spans=spans)
    outputs = run_local(program, drawn, mode, **how)
    return [forest for forest, _ in outputs], [ledger for _, ledger in outputs]
