"""Classifying new records with a tree whose questions are spread over sites (vcz2006 section 4.4).

**ClassifyTogether**: every site shares the answers of all its nodes for all records, products along
the paths say which leaf a record reaches, and only its class is opened (and how many records
there are). Nobody learns a path.
  cost: one round of products for each level; 40 bytes for each record, node and answer but one.

**ClassifyWalking**, the book's way: the site that asks tells the others which node comes next.
  discloses: the path of every record to all sites, so which records have the same answers to
    questions that a site does not know. The class site learns the class.
  cost: 8 bytes a record, level and asking site, to every other site.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.errors import DataError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public, stack
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.aligned_records import ROWS, same_digest, same_everywhere
from unspoken.joint.wire.frames import Purpose
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.site_tree_part import TreePart

PREDICTED = "the predicted class of every record"
PATHS = "the path of every record through the tree"
Given = tuple[TreePart, Mapping[str, Any]]


class ClassifyTogether:
    """The program: every site gives its part of the tree and its columns of the new records."""

    def __init__(self, class_site: str, receivers: Sequence[str] = ()) -> None:
        self.class_site, self.receivers = class_site, tuple(receivers)
        self.disclosures = (Disclosure(PREDICTED, self.receivers), Disclosure(ROWS))

    async def __call__(self, party: Party, data: Given | None) -> npt.NDArray[Any] | None:
        """Return the class of every record to the receivers."""
        part, answers, rows = await _ready(party, data, self.class_site)
        bits = await shared_answers(party, part, answers, rows)
        inside = await leaves_reached(party, part, bits, rows)
        known = part.leaf_class[part.leaf_nodes] if party.name == self.class_site else None
        top = len(part.classes) - 1
        value = await share(party, known, self.class_site, (part.leaves,), 0, top)
        classes = (await matmul(party, value.reshape(1, -1), inside)).within(0, top)
        opened = await reveal(party, classes[0], because=PREDICTED, to=self.receivers)
        return None if opened is None else np.array(part.classes, object)[opened]


class ClassifyWalking:
    """The program of the book: records go from site to site."""

    def __init__(self, class_site: str) -> None:
        self.class_site = class_site
        self.disclosures = (Disclosure(PATHS), Disclosure(ROWS))

    async def __call__(self, party: Party, data: Given | None) -> npt.NDArray[Any] | None:
        """Return the class of every record to the class site."""
        part, answers, rows = await _ready(party, data, self.class_site)
        node = np.zeros(rows, np.int64)
        for level in levels(part):
            for number, name in enumerate(part.sites):
                asked = [n for n in level if part.owner[n] == number]
                if asked:
                    moved = _moved(part, node, asked, answers)
                    node = await _next(party, part, name, moved, rows)
        if party.name != self.class_site:
            return None
        return np.array(part.classes, object)[part.leaf_class[node]]


def levels(part: TreePart) -> list[list[int]]:
    """Return the inner nodes of every level."""
    all_levels, level = [], [0]
    while inner := [n for n in level if part.owner[n] >= 0]:
        all_levels.append(inner)
        level = [int(part.first_child[n]) + b for n in inner for b in range(part.children[n])]
    return all_levels


async def _ready(party: Party, data: Given | None,
                 class_site: str) -> tuple[TreePart, dict[int, Ints], int]:
    """Answer all own questions, and check that all sites have one tree and the same records."""
    if data is None:
        raise DataError("Everybody who takes part must give a part of the tree. This one gave "
                        "nothing.")
    part, columns = data
    blind = party.name == class_site and (part.leaf_class[part.leaf_nodes] < 0).any()
    if class_site not in part.sites or blind:
        raise DataError(f"The class site must be the one that knows the classes of leaves. "
                        f"'{class_site}' does not.")
    answers = {node: part.answers(node, columns) for node in part.asked}
    sizes = {len(x) for x in columns.values()}
    if len(sizes) > 1 or part.site != party.name:
        raise DataError("A site must give its own part of the tree, and columns of one length.")
    party.begin("tree")
    shape = (part.owner, part.first_child, part.children)
    digest = hashlib.sha256(b"".join(a.astype("<i8").tobytes() for a in shape)).digest()
    await same_digest(party, party.peers, "tree.shape", np.frombuffer(digest, np.uint8),
                      "Sites must have parts of one tree. They have not.")
    return part, answers, await same_everywhere(party, sizes.pop() if sizes else -1)


async def shared_answers(party: Party, part: TreePart, answers: Mapping[int, Ints],
                         rows: int) -> dict[int, Shared]:
    """Share, for every inner node, a bit for each answer but the last."""
    bits: dict[int, Shared] = {}
    for number, name in enumerate(part.sites):
        nodes = np.flatnonzero(part.owner == number).tolist()
        size = sum(int(part.children[n]) - 1 for n in nodes)
        if not size:
            continue
        mine = np.concatenate([answers[n] == np.arange(part.children[n] - 1)[:, None]
                               for n in nodes]).astype(np.int64) if name == party.name else None
        shared = await share(party, mine, name, (size, rows), 0, 1)
        ends = np.cumsum([int(part.children[n]) - 1 for n in nodes]).tolist()
        bits |= {n: shared[end - int(part.children[n]) + 1:end]
                 for n, end in zip(nodes, ends, strict=True)}
    return bits


async def leaves_reached(party: Party, part: TreePart, bits: Mapping[int, Shared],
                         rows: int) -> Shared:
    """Return (leaves, records): 1 where a record reaches a leaf."""
    inside = {0: replace(public(party, np.ones(rows, np.int64)), low=0)}
    for level in levels(part):
        parents = stack([inside[n] for n in level for _ in range(part.children[n] - 1)])
        below = (await multiply(party, parents, concatenate([bits[n] for n in level]))).within(0, 1)
        at = 0
        for node in level:
            first, count = int(part.first_child[node]), int(part.children[node]) - 1
            for branch in range(count):
                inside[first + branch] = below[at + branch]
            rest = inside[node] - below[at:at + count].sum(axis=0)
            inside[first + count], at = rest.within(0, 1), at + count
    return stack([inside[leaf] for leaf in part.leaf_nodes.tolist()])


def _moved(part: TreePart, node: Ints, asked: Sequence[int],
           answers: Mapping[int, Ints]) -> Ints | None:
    """Return where this site sends records, if it is the one that asks."""
    if asked[0] not in answers:
        return None
    new = node.copy()
    for each in asked:
        here = node == each
        new[here] = part.first_child[each] + answers[each][here]
    return new


async def _next(party: Party, part: TreePart, name: str, moved: Ints | None,
                rows: int) -> Ints:
    """Let the site that asks tell everybody the next node of every record."""
    party.begin("walk")
    party.opening(PATHS, (), (rows,))
    if moved is None:
        got = await party.receive(name, "tree.walk", "<i8", (rows,), Purpose.DISCLOSURE)
        if got.min(initial=0) < 0 or got.max(initial=0) >= part.nodes:
            party.refuse(name, "sent nodes that the tree has not")
        moved = got.astype(np.int64)
    else:
        for peer in party.peers:
            await party.send(peer, "tree.walk", moved, Purpose.DISCLOSURE)
    party.learned(party.names, moved.astype(np.int64))
    return moved


def classify_in_parts(parts: Mapping[str, TreePart], records: Mapping[str, Mapping[str, Any]],
                      class_site: str, mode: str = "dealer", *, walking: bool = False,
                      receivers: Sequence[str] = (),
                      **how: Any) -> tuple[dict[str, Any], dict[str, Ledger]]:
    """Classify new records of which every site has its columns; the book's way if they walk.

    Records that walk need no shares (mode "sums"), and only the class site learns their classes.
    """
    names = list(parts)
    program = ClassifyWalking(class_site) if walking else ClassifyTogether(class_site, receivers)
    inputs = [(parts[name], records[name]) for name in names]
    outputs = run_local(program, inputs, mode, names=names, **how)
    return ({name: classes for name, (classes, _) in zip(names, outputs, strict=True)},
            {name: ledger for name, (_, ledger) in zip(names, outputs, strict=True)})
