"""One of several boosted trees over columns, as it grows; see `program_columns` for what it shows.

For every open node two shared rows are kept, one number a record: whether the record is there, and
its word (`packed_slopes`) if it is. One matrix product a level gives the sums of all questions; of
two children only the first is multiplied, the other has what is left of the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.mpc.ops.again_claims import must_repeat, tests_again
from unspoken.joint.mpc.ops.choice import floor
from unspoken.joint.mpc.ops.fixed_operand_matmul import PooledBlocks
from unspoken.joint.mpc.ops.own_choice import keep_where
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public
from unspoken.joint.tasks.boosted_trees.column_gains import best_questions, ratios
from unspoken.joint.tasks.boosted_trees.packed_slopes import MOST_RATIO, Bits, taken_apart
from unspoken.joint.tasks.boosted_trees.params import Boost
from unspoken.joint.tasks.tree.column_steps import BLOCK, QUESTION, SITES
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.tree_sites import TreeShape
from unspoken.models.asked_question import Asked
from unspoken.models.site_tree_part import TreePart

NUMBERS = "the number of every leaf"
OPENED = 12
"""Fractional bits of the numbers of leaves: those that are opened are those that are used."""
RATE = 20


@dataclass(frozen=True, eq=False)
class Ground:
    """What all trees of a run grow on: what is agreed on, and the answers of all records."""

    party: Party
    shape: TreeShape
    rules: TreeParams
    boost: Boost
    bits: Bits
    table: Shared
    """The first answers of all questions, (questions, records)."""
    answers: PooledBlocks
    codes: Ints | None
    asked: tuple[Asked, ...]

    @property
    def me(self) -> int:
        """Return this party's place among the sites, -1 if it is none."""
        sites = self.party.roles.owners
        return sites.index(self.party.name) if self.party.name in sites else -1


@dataclass(eq=False)
class Level:
    """The open nodes of a level: who is there, their words, and the sums of all questions."""

    nodes: list[int]
    inside: Shared
    words: Shared
    above: Shared | None = None
    """Sums of the parents, one row for two children."""


@dataclass(eq=False)
class BoostedTree:
    """A tree as it grows: its public shape, this site's questions, and the leaves on shares."""

    ground: Ground
    owner: list[int] = field(default_factory=lambda: [-1])
    first_child: list[int] = field(default_factory=lambda: [-1])
    own: dict[int, int] = field(default_factory=dict)
    leaves: list[int] = field(default_factory=list)
    inside: list[Shared] = field(default_factory=list)
    sums: list[Shared] = field(default_factory=list)

    async def grow(self, words: Shared) -> None:
        """Grow from the words of all records."""
        ground, rows = self.ground, words.size
        all_inside = replace(public(ground.party, np.ones((1, rows), np.int64)), low=0)
        level = Level([0], all_inside, words.reshape(1, rows))
        sums = await taken_apart(ground.party, level.words.sum(axis=1), ground.bits)
        for depth in range(ground.rules.max_depth):
            if not level.nodes:
                return
            level, sums = await self._grown(level, depth)
        self._close(level.nodes, level.inside, sums)

    def _close(self, nodes: Sequence[int], inside: Shared, sums: Shared) -> None:
        """Keep nodes as leaves."""
        if nodes:
            self.leaves += nodes
            self.inside.append(inside)
            self.sums.append(sums)

    async def _grown(self, level: Level, depth: int) -> tuple[Level, Shared]:
        """Ask the best questions of a level; return the next one, and the sums of its nodes."""
        ground, party = self.ground, self.ground.party
        sums_of_words = await self._sums(level)
        totals = level.words.sum(axis=1).reshape(-1, 1)
        most = ground.bits.most_word
        words = concatenate([sums_of_words, totals], 1).within(-most, most)
        sums = await taken_apart(party, words, ground.bits)
        size = level.inside.sum(axis=1).within(0, ground.bits.rows)
        hot = await best_questions(party, sums, size, ground.boost.penalty,
                                   ground.rules.min_records, ground.bits)
        asking = await self._asking(hot)
        slots = await self._own_questions(hot, asking)
        return await self._split(level, sums_of_words, sums, hot, asking, slots,
                                 last=depth + 1 == ground.rules.max_depth)

    async def _sums(self, level: Level) -> Shared:
        """Return the sums of words (nodes, questions) over the first answers of all questions."""
        most = self.ground.bits.most_word
        if level.above is None:
            return await self.ground.answers.product(level.words, (-most, most))
        first = await self.ground.answers.product(level.words[::2], (-most, most))
        second = (level.above - first).within(-most, most)
        return _in_turn(first, second)

    async def _asking(self, hot: Shared) -> Ints:
        """Open which site asks at each node; -1 at leaves."""
        sites, slots = len(self.ground.party.roles.owners), self.ground.shape.slots
        by_site = hot.reshape(hot.shape[0], sites, slots).sum(axis=2).within(0, 1)
        opened = np.asarray(await reveal(self.ground.party, by_site, because=SITES))
        return np.where(opened.any(axis=1), opened.argmax(axis=1), -1)

    async def _own_questions(self, hot: Shared, asking: Ints) -> Ints:
        """Open to every site which of its questions were chosen; -1 elsewhere."""
        slots, count = np.full(asking.size, -1, np.int64), self.ground.shape.slots
        places = np.arange(hot.shape[1]).astype(np.uint64)
        share_of = np.asanyarray((hot.share * places).sum(axis=1, dtype=np.uint64))
        place = Shared(hot.party, share_of, 0, hot.shape[1] - 1)
        for site, name, nodes in self._by_site(asking):
            opened = await reveal(hot.party, place[nodes], because=QUESTION, to=[name])
            if opened is not None:
                slots[nodes] = opened - site * count
        return slots

    def _by_site(self, asking: Ints) -> list[tuple[int, str, Ints]]:
        """Return the nodes of every site that asks at some."""
        names = enumerate(self.ground.party.roles.owners)
        asked_nodes = [(i, name, np.flatnonzero(asking == i)) for i, name in names]
        return [each for each in asked_nodes if each[2].size]

    async def _split(self, level: Level, sums_of_words: Shared, sums: Shared, hot: Shared,
                     asking: Ints, slots: Ints, *, last: bool) -> tuple[Level, Shared]:
        """Close the nodes that ask nothing, and return the children of the others."""
        ends, split = np.flatnonzero(asking < 0), np.flatnonzero(asking >= 0)
        self._close([level.nodes[i] for i in ends], level.inside[ends], sums[ends, -1])
        children = self._named([level.nodes[i] for i in split], asking[split], slots[split])
        if not split.size:
            return Level([], level.inside[:0], level.words[:0]), sums[:0, -1]
        chosen = await multiply(hot.party, hot[split].reshape(split.size, -1, 1),
                                sums[split, :-1])
        first = chosen.sum(axis=1).within(sums.low, sums.high)
        second = (sums[split, -1] - first).within(sums.low, sums.high)
        parts = [level.inside[split]] if last else [level.inside[split], level.words[split]]
        if tests_again(hot.party):
            answers = await self._shared_bits(asking[split], slots[split])
            self._claim(answers, hot[split], asking[split])
            parted = await _parted(hot.party, parts, answers)
        else:
            parted = await self._parted_by_site(parts, asking[split], slots[split])
        below = Level(children, parted[0], parted[-1], sums_of_words[split])
        return below, _in_turn(first, second)

    def _named(self, nodes: Sequence[int], asking: Ints, slots: Ints) -> list[int]:
        """Put the new nodes into the public shape, and return them."""
        start = len(self.owner)
        for node, site, slot in zip(nodes, asking.tolist(), slots.tolist(), strict=True):
            self.owner[node], self.first_child[node] = site, len(self.owner)
            self.owner += [-1, -1]
            self.first_child += [-1, -1]
            if slot >= 0:
                self.own[node] = slot
        return list(range(start, len(self.owner)))

    def _answers(self, site: int, slots: Ints) -> Any:
        """Return which records have the first answer to these questions; None to other sites."""
        if site != self.ground.me or self.ground.codes is None:
            return None
        return (self.ground.codes[slots] == 0).astype(np.int64)

    async def _parted_by_site(self, parts: Sequence[Shared], asking: Ints,
                              slots: Ints) -> list[Shared]:
        """Return every part for both children in turn, a few nodes of one site at a time."""
        step, order, first = max(1, BLOCK // self.ground.bits.rows), [], []
        for site, name, nodes in self._by_site(asking):
            for at in range(0, nodes.size, step):
                some = nodes[at:at + step]
                order.append(some)
                first.append(await keep_where(self.ground.party, [part[some] for part in parts],
                                              self._answers(site, slots[some]), name))
        back = np.argsort(np.concatenate(order))
        kept = [concatenate([each[place] for each in first])[back] for place in range(len(parts))]
        return [_in_turn(one, (part - one).within(one.low, one.high))
                for part, one in zip(parts, kept, strict=True)]

    async def _shared_bits(self, asking: Ints, slots: Ints) -> Shared:
        """Share, by every site for its nodes, which records have the first answer."""
        parts, order, rows = [], [], self.ground.bits.rows
        for site, name, nodes in self._by_site(asking):
            mine = self._answers(site, slots[nodes])
            parts.append(await share(self.ground.party, mine, name, (nodes.size, rows), 0, 1))
            order.append(nodes)
        return concatenate(parts)[np.argsort(np.concatenate(order))]

    def _claim(self, answers: Shared, hot: Shared, asking: Ints) -> None:
        """Claim that sites shared the answers that they have to the questions chosen."""
        slots = self.ground.shape.slots
        for site, name, nodes in self._by_site(asking) if tests_again(hot.party) else ():
            own = np.broadcast_to(site * slots + np.arange(slots), (nodes.size, slots))
            must_repeat(hot.party, answers[nodes], hot[nodes[:, None], own], self.ground.table, own,
                        name)

    async def numbers(self) -> Shared:
        """Return the numbers of all leaves, -rate G / (H + penalty), rounded to 12 bits."""
        ground = self.ground
        ratio = await ratios(ground.party, concatenate(self.sums), ground.boost.penalty,
                             ground.bits)
        rate = max(1, round(ground.boost.rate * (1 << RATE)))
        cut = RATE + ground.bits.ratio - OPENED
        raised = replace(ratio, scale=0) * -rate + (1 << (cut - 1))
        rounded = await floor(ground.party, raised, cut)
        most = MOST_RATIO << OPENED
        return replace(rounded, scale=OPENED).within(-most, most)

    async def reached(self, numbers: Shared) -> Shared:
        """Return the number of the leaf that every record reaches."""
        inside, parts = concatenate(self.inside), []
        step = max(1, BLOCK // len(self.leaves))
        for start in range(0, inside.shape[1], step):
            block = inside[:, start:start + step]
            parts.append(await matmul(self.ground.party, numbers.reshape(1, -1), block,
                                      (numbers.low, numbers.high)))
        return concatenate(parts, 1).reshape(-1)

    def part(self, numbers: Floats | None) -> tuple[TreePart, Floats]:
        """Return this site's part, and the numbers in the order of its leaves."""
        ground, size = self.ground, len(self.owner)
        owner, first = np.array(self.owner, np.int64), np.array(self.first_child, np.int64)
        asked = {node: ground.asked[slot] for node, slot in sorted(self.own.items())}
        tree = TreePart(ground.party.name, ground.party.roles.owners, ground.shape.classes, owner,
                        first, np.where(owner >= 0, 2, 0), np.full(size, -1, np.int64), asked)
        order = np.argsort(np.array(self.leaves))
        return tree, np.zeros(0) if numbers is None else np.asarray(numbers)[order]


def _in_turn(first: Shared, second: Shared) -> Shared:
    """Return rows of two arrays, one of each in turn."""
    count = first.shape[0]
    return concatenate([first, second])[np.arange(2 * count).reshape(2, count).T.ravel()]


async def _parted(party: Party, parts: Sequence[Shared], answers: Shared) -> list[Shared]:
    """Return every part for both children of its nodes in turn, a few nodes at a time."""
    nodes, rows = answers.shape
    out = []
    step = max(1, BLOCK // rows)
    for part in parts:
        first = concatenate([(await multiply(party, part[at:at + step], answers[at:at + step]))
                             for at in range(0, nodes, step)])
        low, high = min(0, part.low), max(0, part.high)
        first = first.within(low, high)
        out.append(_in_turn(first, (part - first).within(low, high)))
    return out
