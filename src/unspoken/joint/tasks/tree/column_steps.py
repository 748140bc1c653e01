"""The steps of ID3 over columns, a level at a time; see `vertical` for what they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.ops.again_claims import tests_again
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public, stack
from unspoken.joint.tasks.tree.given_answers import GivenAnswers
from unspoken.joint.tasks.tree.leaf_classes import Leaves
from unspoken.joint.tasks.tree.level_growth import MAX_NODES
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.question_scores import best_of
from unspoken.joint.tasks.tree.tree_sites import TreeShape, indicators
from unspoken.joint.wire.frames import Purpose
from unspoken.models.site_tree_part import Asked, TreePart

SITES = "which site asks at each node, and which nodes are leaves"
ARITY = "how many answers the question of each node has"
QUESTION = "the question of each node, to the site that asks it"
LEAVES = "the class of every leaf"
BLOCK = 1 << 23
MOST_ANSWERS = 3 << 25


class Records:
    """For every open node, class and record: a shared 1 where the record is there.

    `inside` is (nodes, classes, records); where the class is known to all it is (nodes, 1,
    records), and `by_class`, (classes, records), is public.
    """

    def __init__(self, inside: Shared, count: int, by_class: Ints | None = None) -> None:
        self.inside, self.count, self.by_class = inside, count, by_class

    def numbers(self, nodes: slice = slice(None)) -> Shared:
        """Return them by class for some nodes."""
        part = self.inside[nodes]
        if part.shape[1] == self.count:
            return part
        if self.by_class is None:
            # A party that holds no shares has zeros in any shape.
            return part.with_share(np.repeat(part.share, self.count, axis=1))
        return part.with_share(part.share * self.by_class[None].astype(np.uint64))


class Growing:
    """The tree as it grows: its public shape, and the shared numbers of its open nodes."""

    def __init__(self, party: Party, shape: TreeShape, rules: TreeParams, rows: int,
                 asked: Sequence[Asked]) -> None:
        self.party, self.shape, self.rules, self.rows = party, shape, rules, rows
        self.sites, self.asked = party.roles.owners, asked
        self.me = self.sites.index(party.name) if party.name in self.sites else -1
        self.owner, self.first_child, self.children = [-1], [-1], [0]
        self.own: dict[int, int] = {}
        self.open, self.depth, self.leaves = [0], 0, Leaves()
        self.first = np.arange(len(self.sites) * shape.slots + 1) * shape.branches

    async def begin(self, codes: Ints | None, labels: Ints | None) -> None:
        """Share the answers to all questions and the classes."""
        self.answers = await shared_answers(self.party, self.shape, self.sites, codes, self.rows)
        count = len(self.shape.classes)
        hot = None if labels is None else (labels == np.arange(count)[:, None]).astype(np.int64)
        self.records = await self._classes(hot, count)
        root = self.records.numbers().sum(axis=2).within(0, self.rows)
        self.leaves.take(self.open, root, root)

    async def _classes(self, hot: Ints | None, count: int) -> Records:
        """Return the records of the roots, given a 1 for the class of each (classes, records)."""
        party, shape = self.party, self.shape
        if shape.class_known:
            inside = public(party, np.ones((1, 1, self.rows), np.int64)).within(0, 1)
            return Records(replace(inside, low=0), count, hot)
        own_classes = hot if party.name == shape.class_site else None
        shared = await share(party, own_classes, shape.class_site, (count, self.rows), 0, 1)
        return Records(shared.reshape(1, count, self.rows), count)

    def tested(self) -> bool:
        """Say whether a level is left to be tested."""
        return bool(self.open) and self.depth < self.rules.max_depth

    async def level(self, codes: Ints | None) -> None:
        """Test all open nodes, and split those that gain by it."""
        counts = await self._counts()
        known, place = recalled(self.party, "a level"), None
        if known is None or tests_again(self.party):
            # What sites give again is tested against the question that is best.
            place = await best_of(self.party, self.first, counts, self.rules.min_records)
        asking, slots, arity = known or await self._questions(place)
        split = np.flatnonzero(asking >= 0)
        self._grow(asking, slots, arity)
        if split.size:
            await self._child_counts(counts, place, asking, slots, arity)
            if self.tested():
                await self._child_records(codes, asking, slots, arity)

    async def _questions(self, place: Any) -> tuple[Ints, Ints, Ints]:
        """Return who asks at each open node, which of the own questions, and with what answers."""
        asking = await self._asking(place)
        slots = await self._own_questions(place, asking)
        arity = await self._arity(asking, slots)
        await remember(self.party, "a level", asking, slots, arity)
        return asking, slots, arity

    async def _counts(self) -> Shared:
        """Return counts (nodes, branches, classes) of every answer, and those of the node."""
        count = self.records.count
        step, blocks = max(1, BLOCK // (max(self.answers.shape) * count)), []
        for start in range(0, len(self.open), step):
            flat = self.records.numbers(slice(start, start + step)).reshape(-1, self.rows)
            products = (await matmul(self.party, self.answers, flat.T)).within(0, self.rows)
            blocks.append(products.T.reshape(-1, count, products.shape[0]))
        total = self.records.numbers().sum(axis=2).within(0, self.rows)
        return with_last(concatenate(blocks), total, self.shape.branches)

    async def _asking(self, place: Shared) -> Ints:
        """Open which site asks at each node; -1 at leaves."""
        starts = 1 + self.shape.slots * np.arange(len(self.sites))
        limits = public(self.party, np.broadcast_to(starts[:, None], (starts.size, place.size)))
        reached = ~await less_than(self.party, stack([place] * starts.size), limits)
        opened = np.asarray(await reveal(self.party, reached, because=SITES))
        return np.asarray(opened.sum(axis=0) - 1)

    async def _own_questions(self, place: Shared, asking: Ints) -> Ints:
        """Open to every site which of its questions were chosen; -1 elsewhere."""
        slots = np.full(asking.size, -1, np.int64)
        for number, name, nodes in self._by_site(asking):
            opened = await reveal(self.party, place[nodes], because=QUESTION, to=[name])
            if opened is not None:
                slots[nodes] = opened - 1 - number * self.shape.slots
        return slots

    def _by_site(self, asking: Ints) -> list[tuple[int, str, Ints]]:
        """Return the nodes of every site that asks at some."""
        asked_nodes = [(i, name, np.flatnonzero(asking == i)) for i, name in enumerate(self.sites)]
        return [each for each in asked_nodes if each[2].size]

    async def _arity(self, asking: Ints, slots: Ints) -> Ints:
        """Let every site tell how many answers its questions have."""
        arity = np.zeros(asking.size, np.int64)
        for number, name, nodes in self._by_site(asking):
            mine = [self.asked[s].branches for s in slots[nodes]] if number == self.me else None
            arity[nodes] = await _announced(self.party, name, mine, nodes.size)
            if (arity[nodes] < 2).any() or (arity[nodes] > self.shape.branches).any():
                self.party.refuse(name, "told of a question with an impossible number of answers")
        return arity

    def _grow(self, asking: Ints, slots: Ints, arity: Ints) -> None:
        """Put the new nodes into the public shape."""
        size = len(self.owner)
        if size + int(arity.sum()) > MAX_NODES:
            raise RefusedError(f"A tree must have at most {MAX_NODES} nodes. This one would have "
                               "more. Lower 'max_depth'.")
        for node, site, slot, count in zip(self.open, asking.tolist(), slots.tolist(),
                                           arity.tolist(), strict=True):
            if count:
                self.owner[node], self.first_child[node] = site, len(self.owner)
                self.children[node] = count
                self.owner += [-1] * count
                self.first_child += [-1] * count
                self.children += [0] * count
            if slot >= 0:
                self.own[node] = slot
        self.open, self.depth = list(range(size, len(self.owner))), self.depth + 1

    async def _child_counts(self, counts: Shared, place: Any, asking: Ints,
                            slots: Ints, arity: Ints) -> None:
        """Keep the counts of all children: the sites share which question it was, and no more."""
        shape, split = self.shape, np.flatnonzero(asking >= 0)
        hot = (slots[:, None] == np.arange(shape.slots)).astype(np.int64)
        order, picked = await self._from_sites(asking, hot, (shape.slots,))
        self.given = GivenAnswers(self.party, shape, order, picked)
        self.given.questions(self._by_site(asking), place)
        blocks = counts[order, :-1].reshape(order.size, len(self.sites), shape.slots,
                                            shape.branches, -1)
        own = blocks[np.arange(order.size), asking[order]]
        chosen = await multiply(self.party, picked.reshape(*picked.shape, 1, 1), own)
        child_counts = chosen.sum(axis=1).within(0, self.rows)
        self.given.children(self._by_site(asking), child_counts, arity)
        back = np.argsort(order)
        rows = np.repeat(back, arity[split])
        branch = np.concatenate([np.arange(k) for k in arity[split]])
        self.leaves.take(self.open, child_counts[rows, branch], counts[order[rows], -1])

    async def _from_sites(self, asking: Ints, values: Ints,
                          shape: tuple[int, ...]) -> tuple[Ints, Shared]:
        """Share what every site has for its nodes; return the nodes in order, and the values."""
        parts, order = [], []
        for number, name, nodes in self._by_site(asking):
            mine = values[nodes] if number == self.me else None
            parts.append(await share(self.party, mine, name, (nodes.size, *shape), 0, 1))
            order.append(nodes)
        return np.concatenate(order), concatenate(parts)

    async def _child_records(self, codes: Ints | None, asking: Ints, slots: Ints,
                             arity: Ints) -> None:
        """Make the numbers of the children: products with answers, the last by subtraction."""
        split = np.flatnonzero(asking >= 0)
        kinds, start = self.records.inside.shape[1], 0
        new = np.empty_like(self.records.inside.share, shape=(len(self.open), kinds, self.rows))
        step = max(1, BLOCK // (self.rows * kinds * (self.shape.branches - 1)))
        for first in range(0, split.size, step):
            nodes = split[first:first + step]
            children = await self._products(codes, asking, slots, arity, nodes)
            new[start:start + children.shape[0]] = children.share
            start += children.shape[0]
        self.records = Records(self.records.inside.with_share(new), self.records.count,
                               self.records.by_class)

    async def _products(self, codes: Ints | None, asking: Ints, slots: Ints, arity: Ints,
                        nodes: Ints) -> Shared:
        """Return the children of some nodes, in order."""
        node = np.repeat(nodes, arity[nodes] - 1)
        branch = np.concatenate([np.arange(k - 1) for k in arity[nodes]])
        mine = np.zeros((node.size, self.rows), np.int64)
        if codes is not None and (own := asking[node] == self.me).any():
            mine[own] = codes[slots[node[own]]] == branch[own, None]
        order, bits = await self._from_sites(asking[node], mine, (self.rows,))
        self.given.answers(self._by_site(asking[node]), bits, node, branch, self.answers)
        parents = self.records.inside[node[order]]
        bits = bits.reshape(order.size, 1, self.rows)
        products = (await multiply(self.party, parents, bits)).within(0, 1)
        return self._with_rest(products[np.argsort(order)], nodes, arity)

    def _with_rest(self, products: Shared, nodes: Ints, arity: Ints) -> Shared:
        """Return children with the last of each node, which has what the others have not."""
        kinds = products.shape[1]
        size = int(arity[nodes].sum()), kinds, self.rows
        out = np.empty_like(products.share, shape=size)
        at = start = 0
        for node, count in zip(nodes.tolist(), arity[nodes].tolist(), strict=True):
            out[at:at + count - 1] = products.share[start:start + count - 1]
            rest = products.share[start:start + count - 1].sum(axis=0, dtype=np.uint64)
            out[at + count - 1] = self.records.inside.share[node] - rest
            at, start = at + count, start + count - 1
        return products.with_share(out)

    async def finish(self) -> TreePart | None:
        """Tell the class site the classes of leaves, and return this site's part."""
        leaves = [node for node, owner in enumerate(self.owner) if owner < 0]
        opened = await self.leaves.classes(self.party, leaves, LEAVES, [self.shape.class_site])
        if self.me < 0:
            return None
        known = np.full(len(self.owner), -1, np.int64)
        if opened is not None:
            known[leaves] = opened
        return TreePart(self.party.name, self.sites, self.shape.classes,
                        np.array(self.owner, np.int64), np.array(self.first_child, np.int64),
                        np.array(self.children, np.int64), known,
                        {node: self.asked[slot] for node, slot in self.own.items()})


async def shared_answers(party: Party, shape: TreeShape, sites: Sequence[str], codes: Ints | None,
                         rows: int) -> Shared:
    """Share the answers of records to all questions of all sites (questions x answers, records)."""
    cells = shape.slots * (shape.branches - 1)
    if cells * len(sites) * rows > MOST_ANSWERS:
        raise RefusedError(f"Sites x slots x (branches - 1) x records must be at most "
                           f"{MOST_ANSWERS:,}. It is {cells * len(sites) * rows:,}. Agree on "
                           "fewer slots or branches.")
    own = None if codes is None else indicators(codes, shape).reshape(cells, -1)
    return concatenate([await share(party, own if name == party.name else None, name,
                                    (cells, rows), 0, 1) for name in sites])


def with_last(cells: Shared, total: Shared, branches: int) -> Shared:
    """Return counts (nodes, branches, classes): the last answer is what is left of the node."""
    nodes, count = total.shape
    by_slot = cells.share.reshape(nodes, count, -1, branches - 1)
    rest = total.share[:, :, None] - by_slot.sum(axis=3, dtype=np.uint64)
    full = np.concatenate([by_slot, rest[..., None]], axis=3).reshape(nodes, count, -1)
    out = np.concatenate([full, total.share[:, :, None]], axis=2).transpose(0, 2, 1)
    return total.with_share(out.copy())


async def _announced(party: Party, name: str, values: Sequence[int] | None, size: int) -> Ints:
    """Let one site tell everybody a few numbers; it stands in the ledger as an opening."""
    party.begin("answers")
    party.opening(ARITY, (), (size,))
    if party.name != name:
        got = await party.receive(name, "tree.answers", "<i8", (size,), Purpose.DISCLOSURE)
        answers = got.astype(np.int64)
    else:
        answers = np.array(values, np.int64)
        for peer in party.peers:
            await party.send(peer, "tree.answers", answers, Purpose.DISCLOSURE)
    party.learned(party.names, answers)
    return answers
