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

from tacit.joint.errors import RefusedError
from tacit.joint.party import Party
from tacit.joint.protocols.trees.choosing import hot_greatest
from tacit.joint.protocols.trees.growth import Rules
from tacit.joint.protocols.trees.layout import Ints
from tacit.joint.protocols.trees.scores import classes, scored, while_open
from tacit.joint.protocols.trees.sites import Shape, indicators
from tacit.joint.protocols.trees.vertical_growing import BLOCK, Growing, Records
from tacit.joint.ring import Shared, concatenate

MOST_WORDS = 1 << 28


@dataclass(frozen=True, eq=False)
class Hidden:
    """A full tree on shares: `hot` (nodes, questions of all sites), level by level; classes."""

    hot: Shared
    classes: Shared


class HiddenGrowing(Growing):
    """The tree as it grows; every level has all its nodes, whatever the data are."""

    def __init__(self, party: Party, shape: Shape, rules: Rules, rows: int) -> None:
        super().__init__(party, shape, rules, rows, ())
        self.hot: list[Shared] = []
        self.alive: list[Shared] = []
        self.totals: list[Shared] = []
        kinds = 1 if shape.class_known else len(shape.classes)
        if shape.branches ** max(0, rules.max_depth - 1) * kinds * rows > MOST_WORDS:
            raise RefusedError(f"A hidden tree must have at most {MOST_WORDS:,} numbers: nodes of "
                               "the last level that asks, times classes, times records. This one "
                               "has more. Lower 'max_depth' or 'branches', or take fewer records.")

    async def grow(self, codes: Ints | None, labels: Ints | None) -> Hidden:
        """Return the tree on shares."""
        await self.begin(codes, labels)
        own, above = self.leaves.of([0])
        while self.tested():
            counts = await self._counts()
            hot = await self._chosen(counts)
            self.depth += 1
            if self.tested():
                await self._all_children(hot)
            else:
                own, above = await self._leaves(counts, hot)
        return Hidden(self._every_hot(), await classes(self.party, own, above))

    async def _chosen(self, counts: Shared) -> Shared:
        """Return the question of every node (nodes, questions); a closed node asks nothing."""
        scores, size = await scored(self.party, self.first, counts)
        if self.alive:
            scores = while_open(scores, self._spread(self.alive[-1], len(self.open)))
        hot = await hot_greatest(self.party, scores, size, self.rules.min_records)
        self.hot.append(hot)
        self.alive.append(hot.sum(axis=1).within(0, 1))
        self.totals.append(counts[:, -1])
        return hot

    def _spread(self, value: Shared, nodes: int) -> Shared:
        """Return what nodes have for their descendants on a level of so many nodes."""
        return value.with_share(np.repeat(value.share, nodes // value.shape[0], axis=0))

    def _every_hot(self) -> Shared:
        if self.hot:
            return concatenate(self.hot)
        return self.party.public(np.zeros((0, len(self.sites) * self.shape.slots), np.int64))

    async def _all_children(self, hot: Shared) -> None:
        """Make the numbers of all children, a block of records at a time."""
        nodes, kinds, rows = self.records.inside.shape
        others = self.shape.branches - 1
        new = np.empty((nodes, others + 1, kinds, rows), np.uint64)
        for part in blocks(rows, nodes * kinds * others):
            bits = await answered(self.party, hot, self.answers[:, part], others)
            inside = self.records.inside[:, None, :, part]
            made = await self.party.multiply(inside, bits.reshape(nodes, others, 1, -1))
            new[:, :-1, :, part] = made.share
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
        first, *made = await together(self.party, [
            (hot.reshape(nodes, -1, 1, 1), by_question), *changes])
        others = first.sum(axis=1).within(0, self.rows)
        rest = counts[:, -1] - others.sum(axis=1)
        own = concatenate([others, rest.within(0, self.rows).reshape(nodes, 1, kinds)], 1)
        own = own.reshape(nodes * arity, kinds)
        above = self._spread(self.totals[0], nodes * arity)
        for change in made:
            above = above + self._spread(change, nodes * arity)
        return own, above.within(0, self.rows)


def blocks(rows: int, wide: int) -> list[slice]:
    """Return slices of records such that so many numbers a record fit into memory."""
    step = max(1, BLOCK // max(1, wide))
    return [slice(start, min(rows, start + step)) for start in range(0, rows, step)]


async def answered(party: Party, hot: Shared, answers: Shared, others: int) -> Shared:
    """Return (nodes, answers but one, records): how each record answers the question of a node."""
    questions, rows = hot.shape[1], answers.shape[1]
    flat = answers.reshape(questions, others * rows)
    found = (await party.matmul(hot, flat)).within(0, 1)
    return found.reshape(hot.shape[0], others, rows)


async def together(party: Party, pairs: Sequence[tuple[Shared, Shared]]) -> list[Shared]:
    """Return the products of several pairs of arrays in one step."""
    wide = [np.broadcast_shapes(one.shape, other.shape) for one, other in pairs]
    sides = [concatenate([pair[side].with_share(np.broadcast_to(pair[side].share, shape).ravel())
                          for pair, shape in zip(pairs, wide, strict=True)]) for side in (0, 1)]
    found = await party.multiply(*sides)
    ends = np.cumsum([int(np.prod(shape)) for shape in wide])
    return [found[end - int(np.prod(shape)):end].reshape(*shape)
            for end, shape in zip(ends.tolist(), wide, strict=True)]


async def shared_answers(party: Party, shape: Shape, sites: Sequence[str], codes: Ints | None,
                         rows: int) -> Shared:
    """Share the answers of new records to all questions of all sites."""
    cells = shape.slots * (shape.branches - 1)
    own = None if codes is None else indicators(codes, shape).reshape(cells, -1)
    return concatenate([await party.share(own if name == party.name else None, name,
                                          (cells, rows), 0, 1) for name in sites])


async def predicted(party: Party, shape: Shape, tree: Hidden, answers: Shared) -> Shared:
    """Return the number of the class of every record on shares, from the leaves to the root."""
    rows, others = answers.shape[1], shape.branches - 1
    if not tree.hot.shape[0]:
        return tree.classes[np.zeros(rows, np.int64)]
    found = []
    for part in blocks(rows, tree.hot.shape[0] * others):
        bits = await answered(party, tree.hot, answers[:, part], others)
        found.append(await _climbed(party, bits, tree.classes))
    return concatenate(found)


async def _climbed(party: Party, bits: Shared, leaves: Shared) -> Shared:
    """Return the class of each record: at every node that of the child it goes to."""
    others, end = bits.shape[1], bits.shape[0]
    value = leaves.reshape(-1, 1)
    while value.shape[0] > 1:
        children = value.reshape(value.shape[0] // (others + 1), others + 1, -1)
        nodes, last = children.shape[0], children[:, -1:]
        made = await party.multiply(bits[end - nodes:end], children[:, :-1] - last)
        value = (made.sum(axis=1) + last[:, 0]).within(leaves.low, leaves.high)
        end -= nodes
    return value[0]
