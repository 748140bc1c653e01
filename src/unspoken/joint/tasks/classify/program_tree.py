"""Private classification by a tree: one side has the tree, another the records.

Both agree on columns, categories, ranges (`Layout`) and a depth. The tree is brought to a full tree
of two branches of that depth: a question with many answers becomes several, short paths are filled
up. So neither the shape of the tree nor its questions show. All questions of all records are
answered at once by two matrix products and one batch of comparisons, products along the paths say
which leaf a record reaches, and only its class is opened.

  discloses: the class of every record, to the receivers; how many records there are, and the
    agreed depth. Not: the record, the tree, the path.
  what classes give away is given away: who may ask for many records can copy the tree.
  safe against: as products and comparisons in the mode.
  error: none for categories; a number within 2^-40 of the range of a threshold may go either way.
  cost: 2^depth comparisons of 42 bits and products a record; one round of products for each level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, stack
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.classify.params import MAX_DEPTH, MOST_RECORDS
from unspoken.joint.tasks.classify.program_bayes import PREDICTED, Sides
from unspoken.joint.tasks.common.aligned_records import ROWS, same_everywhere
from unspoken.joint.tasks.naive_bayes.class_tallies import one_hot
from unspoken.joint.tasks.naive_bayes.params import BayesLayout, Given
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.categorical_tree import CategoricalTree

FINE = 40
ONE = 1 << FINE


@dataclass(frozen=True, eq=False)
class FullTree:
    """Questions of a full tree, level by level: left if hot @ places + z @ numbers < limits."""

    places: Ints
    numbers: Ints
    limits: Floats
    classes: Ints

    @property
    def depth(self) -> int:
        """Return how many questions a record is asked."""
        return int(self.classes.size).bit_length() - 1


def full_tree(tree: CategoricalTree, layout: BayesLayout, depth: int) -> FullTree:
    """Return a tree as a full one of `depth` levels; refused if it is deeper."""
    if tree.classes != layout.classes:
        raise DataError(explain("The classes of the tree", "the agreed ones, in their order",
                                tree.classes))
    size = 2**depth - 1
    full = FullTree(np.zeros((sum(layout.sizes), size), np.int64),
                    np.zeros((len(layout.numeric), size), np.int64), np.zeros(size),
                    np.zeros(2**depth, np.int64))
    _fill(tree, layout, full, [0], 0, 0)
    return full


def _fill(tree: CategoricalTree, layout: BayesLayout, out: FullTree, open_: list[int], node: int,
          level: int) -> None:
    """Put a node of the tree, or the rest of the answers of one, in its place."""
    here = 2**level - 1 + node
    first = open_[0]
    if len(open_) == 1 and tree.feature[first] < 0:
        _leaf(out, node, level, int(tree.value[first].argmax()))
        return
    if level >= out.depth:
        raise RefusedError(f"The tree must have at most {out.depth} levels of two answers. It has "
                           "more. Agree on a greater depth.")
    left, right = ([first], open_[1:]) if len(open_) > 1 else _question(tree, layout, out, first,
                                                                        here)
    if len(open_) > 1:
        _ask_child(tree, layout, out, first, here)
    _fill(tree, layout, out, left, 2 * node, level + 1)
    _fill(tree, layout, out, right, 2 * node + 1, level + 1)


def _leaf(out: FullTree, node: int, level: int, label: int) -> None:
    """Fill everything below a leaf; questions that are left ask nothing."""
    span = 2 ** (out.depth - level)
    out.classes[node * span:(node + 1) * span] = label


def _question(tree: CategoricalTree, layout: BayesLayout, out: FullTree, node: int,
              here: int) -> tuple[list[int], list[int]]:
    """Write down a node's first question; return what follows to the left and to the right."""
    children = [int(tree.first_child[node]) + i for i in range(int(tree.children[node]))]
    name = tree.features[int(tree.feature[node])]
    if tree.route[node]:
        _ask_child(tree, layout, out, children[0], here)
        return [children[0]], children[1:]
    column = next((c for c in layout.numeric if c.name == name), None)
    if column is None:
        raise DataError(f"Column '{name}' of the tree must be one of the agreed numbers.")
    out.numbers[layout.numeric.index(column), here] = 1
    cut = (_greatest_left(tree, node) - column.middle) / column.half
    out.limits[here] = np.rint(np.clip(cut, -1.5, 1.5) * ONE) + 1
    return [children[0]], [children[1]]


def _greatest_left(tree: CategoricalTree, node: int) -> float:
    """Return the greatest number that a node sends left; a float32 tree rounds before it asks."""
    cut = float(tree.threshold[node])
    if not tree.single:
        return cut
    below = np.float32(cut)
    below = np.nextafter(below, np.float32(-np.inf)) if float(below) > cut else below
    halfway = float(below) / 2 + float(np.nextafter(below, np.float32(np.inf))) / 2
    return halfway if float(np.float32(halfway)) <= cut else float(np.nextafter(halfway, -np.inf))


def _ask_child(
    tree: CategoricalTree, layout: BayesLayout, out: FullTree, child: int, here: int
) -> None:
    """Ask whether a record's category leads to this child of its parent."""
    parent = next(n for n in range(tree.nodes) if tree.first_child[n] >= 0
                  and tree.first_child[n] <= child < tree.first_child[n] + tree.children[n])
    name = tree.features[int(tree.feature[parent])]
    column = next((c for c in layout.nominal if c.name == name), None)
    if column is None or column.categories != tree.categories[name]:
        raise DataError(f"Column '{name}' of the tree must have the agreed categories.")
    start = int(sum(layout.sizes[:layout.nominal.index(column)]))
    for code, route in enumerate(tree.route[parent]):
        if tree.first_child[parent] + route == child:
            out.places[start + code, here] = -1


class ClassifyByTree:
    """The program: the tree's owner gives a FullTree, the records' owner coded records."""

    def __init__(self, layout: BayesLayout, sides: Sides, depth: int) -> None:
        if not 1 <= depth <= MAX_DEPTH:
            raise RefusedError(explain("The depth", f"1 to {MAX_DEPTH}", depth))
        self.layout, self.sides, self.depth = layout, sides, depth
        self.disclosures: tuple[Disclosure, ...] = (Disclosure(PREDICTED, sides.receivers),
                                                    Disclosure(ROWS))

    async def __call__(self, party: Party,
                       data: FullTree | Given | None) -> npt.NDArray[Any] | None:
        """Return the class of every record to the receivers."""
        tree, records = self._own(party, data)
        rows = self.sides.within(
            await same_everywhere(party, -1 if records is None else records.rows))
        model = await share_tree(party, tree, self.sides.model, self.layout, self.depth)
        asked = await share_asked(party, records, self.sides.records, self.layout, rows)
        classes = await tree_classes(party, model, *asked)
        opened = await reveal(party, classes, because=PREDICTED, to=self.sides.receivers)
        return None if opened is None else np.array(self.layout.classes, object)[opened]

    def _own(self, party: Party,
             data: FullTree | Given | None) -> tuple[FullTree | None, Given | None]:
        if party.name == self.sides.model and (not isinstance(data, FullTree)
                                               or data.depth != self.depth):
            raise DataError("The owner of the tree must give it with the agreed depth.")
        if party.name == self.sides.records and (not isinstance(data, Given)
                                                 or not 0 < data.rows <= MOST_RECORDS):
            raise DataError(f"The owner of the records must give 1 to {MOST_RECORDS:,}.")
        return (data if isinstance(data, FullTree) else None,
                data if isinstance(data, Given) and party.name == self.sides.records else None)


@dataclass(frozen=True)
class SharedTree:
    """A full tree on shares; `labels`: the classes of its leaves."""

    places: Shared
    numbers: Shared
    limits: Shared
    labels: Shared


async def share_tree(party: Party, tree: FullTree | None, owner: str, layout: BayesLayout,
                     depth: int) -> SharedTree:
    """Return one owner's tree as shares."""
    size, top = 2**depth - 1, len(layout.classes) - 1
    mine: tuple[Any, ...] = (None,) * 4 if tree is None else (tree.places, tree.numbers,
                                                              tree.limits, tree.classes)
    bounds = (((sum(layout.sizes), size), -1, 0), ((len(layout.numeric), size), 0, 1),
              ((size,), -2 * ONE, 2 * ONE), ((size + 1,), 0, top))
    return SharedTree(*[await share(party, values, owner, shape, low, high)
                        for values, (shape, low, high) in zip(mine, bounds, strict=True)])


async def share_asked(party: Party, records: Given | None, owner: str, layout: BayesLayout,
                      rows: int) -> tuple[Shared, Shared]:
    """Return an owner's records as shares: places of categories, and numbers with 40 bits."""
    places = None if records is None else one_hot(records.codes, layout.sizes)
    scaled = None if records is None else np.rint(records.numbers.T * ONE)
    return (await share(party, places, owner, (rows, sum(layout.sizes)), 0, 1),
            await share(party, scaled, owner, (rows, len(layout.numeric)), -ONE, ONE))


async def tree_classes(party: Party, tree: SharedTree, hot: Shared, z: Shared) -> Shared:
    """Return the number of the class of every record, on shares."""
    answers = await _answers(party, tree, hot, z)
    inside = await _paths(party, answers, tree.labels.size.bit_length() - 1)
    classes = await matmul(party, tree.labels.reshape(1, -1), inside)
    return classes.within(0, tree.labels.high)[0]


async def _answers(party: Party, tree: SharedTree, hot: Shared, z: Shared) -> Shared:
    """Return (questions, records): 1 where a record goes left."""
    gap = -(tree.limits.reshape(1, -1)[np.zeros(hot.shape[0], np.int64)])
    if tree.places.shape[0]:
        # A place that leads left counts as one unit below the limit, which is zero there.
        gap = gap + await matmul(party, hot, tree.places, within=(-1, 0))
    if tree.numbers.shape[0]:
        gap = gap + await matmul(party, z, tree.numbers, within=(-ONE, ONE))
    return (await to_numbers(party, await less_than(party, gap, 0))).T


async def _paths(party: Party, left: Shared, depth: int) -> Shared:
    """Return (leaves, records): 1 where a record reaches a leaf; one product a level."""
    inside = stack([left[0], (1 - left[0]).within(0, 1)])
    for level in range(1, depth):
        first = 2**level - 1
        taken = (await multiply(party, inside, left[first:2 * first + 1])).within(0, 1)
        rest = (inside - taken).within(0, 1)
        inside = stack([taken, rest])
        share = inside.share.transpose(1, 0, 2).reshape(2 ** (level + 1), -1)
        inside = inside.with_share(share.copy())
    return inside


def classify_by_tree(
    tree: CategoricalTree,
    records: Mapping[str, Any],
    layout: BayesLayout,
    depth: int,
    mode: str = "dealer",
    *,
    names: Sequence[str] = ("model", "records"),
    receivers: Sequence[str] = (),
    **how: Any,
) -> tuple[list[npt.NDArray[Any] | None], list[Ledger]]:
    """Classify the second party's records with the first party's tree; as classify_privately."""
    sides = Sides(names[0], names[1], tuple(receivers))
    inputs = [full_tree(tree, layout, depth), layout.records(records),
              *[None] * (len(names) - 2)]
    outputs = run_local(ClassifyByTree(layout, sides, depth), inputs, mode, names=list(names),
                        **how)
    return [classes for classes, _ in outputs], [ledger for _, ledger in outputs]
