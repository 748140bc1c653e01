"""A tree while it grows, level by level: what is public about it, and one owner's rows in it.

Owners and `central` run the same code; they differ only in how the best question of a node is
found. Several trees (a forest) grow side by side, so that their nodes share all messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Ints
from unspoken.errors import InputError, explain
from unspoken.joint.tasks.tree.params import TreeLayout
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.release.parameters import Whole, check

MAX_NODES = 100_000
# x ln x must stay below 2^62 with 30 fractional bits.
MOST_RECORDS = 1 << 27
_RULES = {"max_depth": (Whole(0), "Use 5."), "min_records": (Whole(1), "Use 1."),
          "most": (Whole(1), "It is how many records there are at most, in all, as a public "
                             "bound.")}


@dataclass(frozen=True)
class TreeParams:
    """When growing stops, and the public bound on the number of all records.

    Attributes
    ----------
    max_depth : int, default 5
        The greatest depth of a tree.
    min_records : int, default 1
        Nodes with fewer records are not split.
    most : int, default 2**20
        A public bound on the number of all records; smaller is cheaper.
    """

    max_depth: int = 5
    min_records: int = 1
    most: int = 1 << 20

    def __post_init__(self) -> None:
        check("A tree", _RULES, {name: getattr(self, name) for name in _RULES})
        if self.most > MOST_RECORDS:
            raise InputError(explain("A tree: 'most'", f"at most {MOST_RECORDS:,}", self.most))


@dataclass
class Sapling:
    """The public part of one or several trees; nodes are numbered level by level."""

    layout: TreeLayout
    rules: TreeParams
    trees: int = 1
    question: list[int] = field(default_factory=list)
    first_child: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    branch: list[int] = field(default_factory=list)
    depth: int = 0
    level: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._add([-1] * self.trees, [0] * self.trees)
        whole = np.array([(0, a.cells) for a in self.layout.attributes], np.int64)
        self.spans = np.broadcast_to(whole, (self.trees, *whole.shape))

    def _add(self, parents: Sequence[int], branches: Sequence[int]) -> None:
        """Begin a level with new nodes."""
        start = len(self.question)
        if start + len(parents) > MAX_NODES:
            raise InputError(explain("A tree", f"of at most {MAX_NODES} nodes", "more",
                                     "Lower 'max_depth'."))
        self.question += [-1] * len(parents)
        self.first_child += [-1] * len(parents)
        self.parent += parents
        self.branch += branches
        self.level = list(range(start, start + len(parents)))

    def tested(self) -> list[int]:
        """Return the nodes of this level that are tested: none if depth or questions ran out."""
        if self.depth >= self.rules.max_depth or not self.level:
            return []
        parting = np.flatnonzero(self._parting().any(axis=1)) + self.level[0]
        return [int(node) for node in parting]

    def allowed(self, nodes: Sequence[int]) -> Bools:
        """Return (nodes, questions): which questions may be chosen."""
        return np.asarray(self._parting()[np.asarray(nodes) - self.level[0]])

    def _parting(self) -> Bools:
        """Return which questions still part the records that can be in each node of this level.

        An attribute that was asked, or a cut outside what is left of the range, has no gain there
        whatever the data are; everybody sees that from the way to the node.
        """
        attribute, cut = self.layout.asked
        low, high = self.spans[:, attribute, 0], self.spans[:, attribute, 1]
        return np.where(cut >= 0, (low <= cut) & (cut < high - 1), high - low > 1)

    def split(self, nodes: Sequence[int], places: npt.NDArray[np.integer]) -> None:
        """Put in what was chosen for the tested nodes (0: a leaf) and begin the next level."""
        start, spans = self.level[0], self.spans
        parents: list[int] = []
        branches: list[int] = []
        for node, place in zip(nodes, places.tolist(), strict=True):
            if place:
                self.question[node] = place - 1
                self.first_child[node] = len(self.question) + len(parents)
                count = self.layout.questions[place - 1].branches
                parents += [node] * count
                branches += range(count)
        self.depth += 1
        self._add(parents, branches)
        self.spans = self._narrowed(spans[np.array(parents, np.int64) - start],
                                    np.array(parents, np.int64), np.array(branches, np.int64))

    def _narrowed(self, spans: Ints, parents: Ints, branches: Ints) -> Ints:
        """Return what is left of every attribute's cells in the children."""
        asked = np.asarray(self.question)[parents]
        attribute, cut = (column[asked] for column in self.layout.asked)
        rows, out = np.arange(parents.size), spans.copy()
        low, high = spans[rows, attribute].T
        first = np.where(cut < 0, branches, np.where(branches == 0, low, cut + 1))
        last = np.where(cut < 0, branches + 1, np.where(branches == 0, cut + 1, high))
        out[rows, attribute, 0] = np.maximum(low, first)
        out[rows, attribute, 1] = np.minimum(high, last)
        return out

    @property
    def leaves(self) -> list[int]:
        """Return every leaf."""
        return [node for node, question in enumerate(self.question) if question < 0]

    def roots(self) -> Ints:
        """Return the tree that each node belongs to."""
        tree_of = np.arange(len(self.parent))
        for node in range(self.trees, len(self.parent)):
            tree_of[node] = tree_of[self.parent[node]]
        return tree_of

    def patterns(self, classes: Sequence[int] | None) -> list[CategoricalTree]:
        """Return the trees; without classes, leaves are named by their numbers."""
        roots = self.roots()
        values = dict(zip(self.leaves, classes, strict=True)) if classes is not None else None
        return [self._pattern(np.flatnonzero(roots == tree), values)
                for tree in range(self.trees)]

    def _pattern(self, nodes: Ints, classes: dict[int, int] | None) -> CategoricalTree:
        place = {node: i for i, node in enumerate(nodes.tolist())}
        asked = [self.question[n] for n in place]
        leaves = [n for n in place if self.question[n] < 0]
        if classes is None and self.trees > 1:
            # Trees of one forest must have one set of names.
            names = tuple(f"leaf {i}" for i in range(int(np.bincount(self.roots()).max())))
            classes = place
        elif classes is None:
            names = tuple(f"leaf {place[n]}" for n in leaves)
            classes = {n: i for i, n in enumerate(leaves)}
        else:
            names = self.layout.classes
        value = np.zeros((len(place), len(names)))
        for leaf in leaves:
            value[place[leaf], classes[leaf]] = 1.0
        return self._assembled(asked, value, names,
                               [place.get(self.first_child[n], -1) for n in place])

    def regression(self, values: Sequence[float]) -> CategoricalTree:
        """Return the one tree with a number at every leaf."""
        value = np.zeros((len(self.question), 1))
        value[self.leaves, 0] = values
        return self._assembled(self.question, value, (), self.first_child)

    def _assembled(self, asked: list[int], value: npt.NDArray[np.float64],
                   names: tuple[str, ...], first: list[int]) -> CategoricalTree:
        """Return the pattern; counts and impurities are nobody's to know, and zero."""
        layout, size = self.layout, len(asked)
        known = [layout.questions[q] if q >= 0 else None for q in asked]
        of = layout.attributes
        return CategoricalTree(
            "classification" if names else "regression", tuple(a.name for a in of), names,
            {of[q.attribute].name: of[q.attribute].categories for q in known
             if q is not None and q.cut < 0},
            feature=np.array([-1 if q is None else q.attribute for q in known], np.int64),
            threshold=np.array([of[q.attribute].cuts[q.cut] if q is not None and q.cut >= 0
                                else 0.0 for q in known], np.float64),
            missing_left=np.zeros(size, np.bool_), first_child=np.array(first, np.int64),
            children=np.array([0 if q is None else q.branches for q in known], np.int64),
            route=tuple(tuple(range(q.branches)) if q is not None and q.cut < 0 else ()
                        for q in known),
            value=value, n_samples=np.zeros(size, np.int64), impurity=np.zeros(size))


class Rows:
    """One owner's rows: which node each is in, and the histograms of nodes."""

    def __init__(self, layout: TreeLayout, codes: Ints, labels: Ints, trees: int = 1,
                 weights: Ints | None = None) -> None:
        self.layout = layout
        self.row = np.tile(np.arange(labels.size), trees)
        self.node = np.repeat(np.arange(trees), labels.size)
        self.codes, self.count = codes, len(layout.classes)
        self.keys = codes * self.count + labels
        self.weights = None if weights is None else weights.ravel()
        if self.weights is not None:
            self._keep(self.weights > 0)

    def _keep(self, rows: npt.NDArray[np.bool_]) -> None:
        self.row, self.node = self.row[rows], self.node[rows]
        if self.weights is not None:
            self.weights = self.weights[rows]

    def histograms(self, nodes: Sequence[int]) -> Ints:
        """Return counts (nodes, cells, classes) of the given nodes; other rows are let go."""
        slots = np.full(max([*nodes, self.node.max(initial=0)]) + 1, -1)
        slots[list(nodes)] = np.arange(len(nodes))
        self._keep(slots[self.node] >= 0)
        slot = slots[self.node]
        out = np.zeros((len(nodes), self.layout.cells, self.count), np.int64)
        for place, attribute in enumerate(self.layout.attributes):
            width = attribute.cells * self.count
            counts = np.bincount(slot * width + self.keys[place][self.row], self.weights,
                                 len(nodes) * width)
            start = int(self.layout.starts[place])
            out[:, start:start + attribute.cells] = np.rint(counts).astype(np.int64).reshape(
                len(nodes), attribute.cells, self.count)
        return out

    def sums(self, nodes: Sequence[int], numbers: Ints) -> Ints:
        """Return sums (nodes, cells, kinds) of whole numbers (kinds, rows) of the given nodes."""
        slots = np.full(max([*nodes, self.node.max(initial=0)]) + 1, -1)
        slots[list(nodes)] = np.arange(len(nodes))
        self._keep(slots[self.node] >= 0)
        slot, cells = slots[self.node], self.layout.cells
        out = np.zeros((len(numbers), len(nodes) * cells))
        for place, start in enumerate(self.layout.starts.tolist()):
            key = slot * cells + start + self.codes[place][self.row]
            for kind, each in enumerate(numbers):
                out[kind] += np.bincount(key, each[self.row], len(nodes) * cells)
        return np.rint(out).astype(np.int64).T.reshape(len(nodes), cells, len(numbers))

    def move(self, tree: Sapling) -> None:
        """Send the rows of nodes that were split to their children."""
        question = np.asarray(tree.question)[self.node]
        self._keep(question >= 0)
        question = question[question >= 0]
        asked = self.layout.asked[0][question]
        branch = self.layout.routes[question, self.codes[asked, self.row]]
        self.node = np.asarray(tree.first_child)[self.node] + branch
