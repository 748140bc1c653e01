"""The steps of growing and of using a tree that nobody sees; see `hidden` for what they show.

The tree is full: every node of a level has `branches` children, and child k of node n is node
n branches + k of the next level. The question of a node is a shared row of numbers, one for each
question of all sites, 1 at the one that is asked. A node that asks nothing has zeros only, and
sends all its records to its last child, which is then closed like the node itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.ops.choice import argmax
from unspoken.joint.mpc.ops.fixed_operand_matmul import FixedRight
from unspoken.joint.mpc.ops.less_than import equal
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import share
from unspoken.joint.mpc.ops.whole_log import serves
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.rehearsal import ask_ahead, blank
from unspoken.joint.mpc.shared import Shared, concatenate, public, stack
from unspoken.joint.tasks.forest.program_rows import draw_rows
from unspoken.joint.tasks.tree.column_steps import BLOCK, Growing, Records, with_last
from unspoken.joint.tasks.tree.first_greatest import hot_greatest
from unspoken.joint.tasks.tree.hidden_votes import HiddenForest
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.question_scores import classes, scored, while_open
from unspoken.joint.tasks.tree.tree_sites import TreeShape

MOST_WORDS = 1 << 28


@dataclass(frozen=True, eq=False)
class Hidden:
    """Full trees on shares: `hot` (nodes, questions of all sites), level by level; classes."""

    hot: Shared
    classes: Shared
    trees: int = 1


class HiddenGrowing(Growing):
    """The tree as it grows; every level has all its nodes, whatever the data are."""

    def __init__(self, party: Party, shape: TreeShape, rules: TreeParams, rows: int,
                 forest: HiddenForest | None = None) -> None:
        super().__init__(party, shape, rules, rows, ())
        self.forest, trees = forest, 1 if forest is None else forest.trees
        self.open = list(range(trees))
        self.hot: list[Shared] = []
        self.alive: list[Shared] = []
        self.totals: list[Shared] = []
        kinds = 1 if shape.class_known else len(shape.classes)
        if trees * shape.branches ** max(0, rules.max_depth - 1) * kinds * rows > MOST_WORDS:
            raise RefusedError(f"A hidden tree must have at most {MOST_WORDS:,} numbers: nodes of "
                               "the last level that asks, times classes, times records. This one "
                               "has more. Lower 'max_depth' or 'branches', or take fewer records.")

    async def grow(self, codes: Ints | None, labels: Ints | None) -> Hidden:
        """Return the tree, or all trees, on shares."""
        await self.begin(codes, labels)
        trees = len(self.open)
        self._fix()
        own, above = self.leaves.of(self.open)
        while self.tested():
            counts = await self._counts()
            hot = await self._chosen(counts)
            self.depth += 1
            if self.tested():
                await self._all_children(hot)
            else:
                own, above = await self._leaves(counts, hot)
        return Hidden(self._every_hot(), await classes(self.party, own, above), trees)

    async def _classes(self, hot: Ints | None, count: int) -> Records:
        """Return the records of the roots; in a forest as often as the class site drew them."""
        if self.forest is None:
            return await super()._classes(hot, count)
        party, shape, trees = self.party, self.shape, self.forest.trees
        own_draws = None
        if party.name == shape.class_site and hot is not None:
            drawn = draw_rows(self.rows, trees)[:, None]
            own_draws = drawn if shape.class_known else drawn * hot
        kinds = 1 if shape.class_known else count
        shared = await share(party, own_draws, shape.class_site, (trees, kinds, self.rows), 0,
                             self.rows)
        return Records(shared, count, hot if shape.class_known else None)

    async def _chosen(self, counts: Shared) -> Shared:
        """Return the question of every node (nodes, questions); a closed node asks nothing."""
        allowed = None if self.forest is None else self.forest.allowed(
            self.depth, self.open, len(self.sites) * self.shape.slots)
        alive = self._spread(self.alive[-1], len(self.open)) if self.alive else None
        if serves(self.party, counts):
            await ask_ahead(self.party, lambda alone: self._hot(
                blank(alone, counts), None if alive is None else blank(alone, alive), allowed))
        hot = await self._hot(counts, alive, allowed)
        self.hot.append(hot)
        self.alive.append(hot.sum(axis=1).within(0, 1))
        self.totals.append(counts[:, -1])
        return hot

    async def _hot(self, counts: Shared, alive: Shared | None, allowed: Bools | None) -> Shared:
        scores, size = await scored(counts.party, self.first, counts, allowed)
        if alive is not None:
            scores = while_open(scores, alive)
        return await hot_greatest(counts.party, scores, size, self.rules.min_records)

    def _spread(self, value: Shared, nodes: int) -> Shared:
        """Return what nodes have for their descendants on a level of `nodes` nodes."""
        return value.with_share(np.repeat(value.share, nodes // value.shape[0], axis=0))

    def _every_hot(self) -> Shared:
        if self.hot:
            return concatenate(self.hot)
        return public(self.party, np.zeros((0, len(self.sites) * self.shape.slots), np.int64))

    def _fix(self) -> None:
        """Prepare products with the answers, which stay the same: they are opened once for all."""
        rows, kinds, others = self.rows, self.records.inside.shape[1], self.shape.branches - 1
        levels = [len(self.open) * self.shape.branches**d for d in range(self.rules.max_depth)]
        counted = [size * self.records.count for n in levels for size in self._at_once(n)]
        self.counting = FixedRight(self.party, self.answers.T, counted)
        self.parts = blocks(rows, max(levels[:-1], default=0) * kinds * others)
        questions = self.answers.shape[0] // others
        self.moving = [FixedRight(self.party, self.answers[:, part].reshape(questions, -1),
                                  levels[:-1]) for part in self.parts]

    def _at_once(self, nodes: int) -> list[int]:
        """Return how many nodes are counted at once, so that they fit into memory."""
        step = max(1, BLOCK // (self.rows * self.records.count))
        return [min(step, nodes - start) for start in range(0, nodes, step)]

    async def _counts(self) -> Shared:
        """Return counts (nodes, branches, classes) of every answer, and those of the node."""
        parts, start, count = [], 0, self.records.count
        for size in self._at_once(len(self.open)):
            flat = self.records.numbers(slice(start, start + size)).reshape(-1, self.rows)
            products = await self.counting.product(flat, (0, self.rows))
            parts.append(products.reshape(size, count, products.shape[1]))
            start += size
        total = self.records.numbers().sum(axis=2).within(0, self.rows)
        return with_last(concatenate(parts), total, self.shape.branches)

    async def _all_children(self, hot: Shared) -> None:
        """Make the numbers of all children, a block of records at a time."""
        nodes, kinds, rows = self.records.inside.shape
        others = self.shape.branches - 1
        shape = nodes, others + 1, kinds, rows
        new = np.empty_like(self.records.inside.share, shape=shape)
        for part, fixed in zip(self.parts, self.moving, strict=True):
            bits = await fixed.product(hot, (0, 1))
            inside = self.records.inside[:, None, :, part]
            products = await multiply(self.party, inside, bits.reshape(nodes, others, 1, -1))
            new[:, :-1, :, part] = products.share
        new[:, -1] = self.records.inside.share - new[:, :-1].sum(axis=1, dtype=np.uint64)
        inside = self.records.inside.with_share(new.reshape(-1, kinds, rows))
        self.records = Records(inside, self.records.count, self.records.by_class)
        self.open = list(range(nodes * (others + 1)))

    async def _leaves(self, counts: Shared, hot: Shared) -> tuple[Shared, Shared]:
        """Return the class counts of all leaves, and of the last node on the way that asked."""
        nodes, kinds, arity = hot.shape[0], counts.shape[2], self.shape.branches
        by_question = counts[:, :-1].reshape(nodes, hot.shape[1], arity, kinds)[:, :, :-1]
        # As nodes stay closed, what changes on the way adds up; all levels travel together.
        changes = [(alive.reshape(-1, 1), below - self._spread(above, below.shape[0]))
                   for alive, below, above in zip(self.alive[1:], self.totals[1:], self.totals,
                                                  strict=False)]
        first, *gained = await together(self.party, [
            (hot.reshape(nodes, -1, 1, 1), by_question), *changes])
        others = first.sum(axis=1).within(0, self.rows)
        rest = counts[:, -1] - others.sum(axis=1)
        own = concatenate([others, rest.within(0, self.rows).reshape(nodes, 1, kinds)], 1)
        own = own.reshape(nodes * arity, kinds)
        above = self._spread(self.totals[0], nodes * arity)
        for change in gained:
            above = above + self._spread(change, nodes * arity)
        return own, above.within(0, self.rows)


def blocks(rows: int, wide: int) -> list[slice]:
    """Return slices of records such that `wide` numbers per record fit into memory."""
    step = max(1, BLOCK // max(1, wide))
    return [slice(start, min(rows, start + step)) for start in range(0, rows, step)]


async def together(party: Party, pairs: Sequence[tuple[Shared, Shared]]) -> list[Shared]:
    """Return the products of several pairs of arrays in one step."""
    wide = [np.broadcast_shapes(one.shape, other.shape) for one, other in pairs]
    one, other = (concatenate([
        pair[side].with_share(np.broadcast_to(pair[side].share, shape).ravel())
        for pair, shape in zip(pairs, wide, strict=True)]) for side in (0, 1))
    products = await multiply(party, one, other)
    ends = np.cumsum([int(np.prod(shape)) for shape in wide])
    return [products[end - int(np.prod(shape)):end].reshape(*shape)
            for end, shape in zip(ends.tolist(), wide, strict=True)]


async def predicted(party: Party, shape: TreeShape, tree: Hidden, answers: Shared) -> Shared:
    """Return the number of the class of every record on shares, from the leaves to the root."""
    rows, others = answers.shape[1], shape.branches - 1
    values = tree.classes.reshape(-1, 1)
    if tree.trees > 1:
        values = await _one_hot(party, tree.classes, len(shape.classes))
    if not tree.hot.shape[0]:
        every = values.reshape(*values.shape, 1)[:, :, np.zeros(rows, np.int64)]
        return await _voted(party, tree, every)
    weights, last = await _weights(party, tree, values, others)
    top, climbed = values.high, []
    for part in blocks(rows, weights.shape[0]):
        sums = await matmul(party, weights, answers[:, part])
        value = (sums[-last.size:] + last.reshape(-1, 1)).within(0, top)
        bits = sums[:-last.size].within(0, 1)
        climbed.append(await _climbed(party, bits.reshape(-1, others, 1, bits.shape[1]),
                                      value.reshape(*last.shape, -1), tree.trees))
    return await _voted(party, tree, concatenate(climbed, 2))


async def _one_hot(party: Party, numbers: Shared, kinds: int) -> Shared:
    """Return (leaves, classes but the first): 1 where a leaf has the class."""
    if kinds == 2:
        return numbers.reshape(-1, 1)
    every = np.broadcast_to(np.arange(1, kinds), (numbers.size, kinds - 1))
    same = await equal(party, stack([numbers] * (kinds - 1)).T, public(party, every))
    return await to_numbers(party, same)


async def _voted(party: Party, tree: Hidden, value: Shared) -> Shared:
    """Return the class that most trees say; `value` is (trees, 1 or classes but one, records)."""
    if tree.trees == 1:
        return value[0, 0]
    votes = value.sum(axis=0).within(0, tree.trees)
    first = (tree.trees - votes.sum(axis=0)).within(0, tree.trees)
    place, _ = await argmax(party, concatenate([first.reshape(1, -1), votes]).T)
    return place


async def _weights(party: Party, tree: Hidden, values: Shared,
                   others: int) -> tuple[Shared, Shared]:
    """Return what answers are multiplied with, and the values of the last child of last nodes.

    Rows for the answers of nodes above, and one for each value at each node of the last level: its
    question and the values of its leaves are multiplied once, and not for every record.
    """
    kinds, questions = values.shape[1], tree.hot.shape[1]
    leaves = values.reshape(-1, others + 1, kinds)
    nodes = leaves.shape[0]
    change = (leaves[:, :-1] - leaves[:, -1:])
    change = change.with_share(change.share.transpose(0, 2, 1)).reshape(nodes, kinds, 1, others)
    ends = await multiply(party, tree.hot[-nodes:].reshape(nodes, 1, questions, 1), change)
    above = tree.hot.share[:-nodes]
    shape = above.shape[0], others, questions, others
    spread = np.zeros_like(above, shape=shape)
    for branch in range(others):
        spread[:, branch, :, branch] = above
    upper = tree.hot.with_share(spread.reshape(-1, questions * others))
    return concatenate([upper, ends.reshape(nodes * kinds, questions * others)]), leaves[:, -1]


async def _climbed(party: Party, bits: Shared, value: Shared, trees: int) -> Shared:
    """Return the value of each record: at every node that of the child it goes to."""
    others, end = bits.shape[1], bits.shape[0]
    while value.shape[0] > trees:
        children = value.reshape(-1, others + 1, *value.shape[1:])
        nodes, last = children.shape[0], children[:, -1:]
        steps = await multiply(party, bits[end - nodes:end], children[:, :-1] - last)
        value = (steps.sum(axis=1) + last[:, 0]).within(value.low, value.high)
        end -= nodes
    return value
