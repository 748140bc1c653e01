"""The pattern TreePart: what one site knows of a tree whose questions are spread over sites.

Everybody knows the shape: which site asks at each node and how many branches it has. What is
asked is known to that site alone, and the class of a leaf to the class site (vcz2006 section 4.4,
Figure 4.3). `join_parts` puts the parts together, for a party that has them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.errors import DataError, ModelError
from unspoken.models.asked_question import Asked as Asked
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.child_spans import check_spans, deepest
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import TreeLike
from unspoken.models.tree import check_format
from unspoken.models.tree_text import SHOWN, Drawing

FORMAT = "unspoken-tree-part"
VERSION = 1


@dataclass(frozen=True, eq=False)
class TreePart(TreeLike):
    """One site's part; node 0 is the root, a node's children follow one another.

    `owner` is the place of the asking site in `sites`, -1 at leaves. `asked` has this site's own
    nodes; `leaf_class` is -1 where the class is not this site's to know.
    """

    format = FORMAT

    site: str
    sites: tuple[str, ...]
    classes: tuple[str, ...]
    owner: Ints
    first_child: Ints
    children: Ints
    leaf_class: Ints
    asked: Mapping[int, Asked]

    def __post_init__(self) -> None:
        """Refuse arrays that are no tree."""
        size = self.owner.size
        for name in ("first_child", "children", "leaf_class"):
            if getattr(self, name).shape != (size,):
                refuse(name, f"of length {size}", str(getattr(self, name).shape))
        inner = self.owner >= 0
        if np.any(inner != (self.first_child >= 0)) or np.any(inner != (self.children >= 2)):
            refuse("owner, children", "given together, for inner nodes", "others")
        check_spans(self.first_child, self.children)
        self._check_asked()

    def _check_asked(self) -> None:
        for node, asked in self.asked.items():
            own = 0 <= node < self.owner.size and self.owner[node] >= 0
            if not own or self.sites[int(self.owner[node])] != self.site:
                refuse("asked", "about this site's own nodes", node)
            if asked.branches != self.children[node]:
                refuse("asked", f"with {self.children[node]} answers at node {node}",
                       asked.branches)

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return int(self.owner.size)

    @property
    def leaves(self) -> int:
        """Return the number of leaves."""
        return int(self.leaf_nodes.size)

    @property
    def leaf_nodes(self) -> Ints:
        """Return every leaf."""
        return np.flatnonzero(self.owner < 0)

    @property
    def depth(self) -> int:
        """Return the depth of the deepest leaf; a single node has depth 0."""
        return deepest(self.first_child, self.children)

    def answers(self, node: int, columns: Mapping[str, Any]) -> Ints:
        """Return the branch that rows take at one of this site's nodes."""
        if node not in self.asked:
            raise ModelError(f"Node {node} of the tree does not belong to '{self.site}'.")
        name = self.asked[node].column
        if name not in columns:
            raise DataError(f"The site's data has no column '{name}'. Columns: "
                            f"{', '.join(map(str, columns))}.")
        return self.asked[node].answers(columns[name])

    def _lines(self, full: bool) -> list[str]:
        head = (f"part of '{self.site}' in a tree of {self.nodes} nodes, {self.leaves} leaves, "
                f"depth {self.depth}, over {', '.join(self.sites)}")
        return [head, *self.drawing(full).lines(None if full else SHOWN)]

    def drawing(self, full: bool = False) -> Drawing:
        """Return the part as something that can be drawn; others' questions stay theirs."""
        first, many = self.first_child, self.children
        return Drawing(
            self.nodes, lambda node: range(int(first[node]), int(first[node] + many[node])),
            lambda node, side: self._answer(node, side, full),
            lambda node: (self.classes[int(self.leaf_class[node])] if self.leaf_class[node] >= 0
                          else "a class that another site knows"))

    def _answer(self, node: int, side: int, full: bool) -> str:
        asked = self.asked.get(node)
        if asked is None:
            owner = self.sites[int(self.owner[node])]
            return f"answer {side + 1} of {int(self.children[node])} of '{owner}'"
        return asked.answer(side, full)

    def _compare(self, other: TreePart) -> Comparison:
        return first_difference(
            lambda: compare_scalars("site", self.site, other.site),
            lambda: compare_sequences("site", self.sites, other.sites),
            lambda: compare_sequences("class", self.classes, other.classes),
            lambda: compare_scalars("number of nodes", self.nodes, other.nodes),
            *(lambda n=name: compare_arrays("node", n, getattr(self, n), getattr(other, n))
              for name in ("owner", "first_child", "children", "leaf_class")),
            lambda: compare_sequences("question", sorted(self.asked.items()),
                                      sorted(other.asked.items())))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back."""
        arrays = ("owner", "first_child", "children", "leaf_class")
        return {"format": FORMAT, "version": VERSION, "site": self.site,
                "sites": list(self.sites), "classes": list(self.classes), "nodes": self.nodes,
                **{name: getattr(self, name).tolist() for name in arrays},
                "asked": [{"node": node, **a.to_json()} for node, a in sorted(self.asked.items())]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> TreePart:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        size = fields.whole("nodes", 1, limits.max_nodes)
        sites, classes = _texts(fields, "sites"), _texts(fields, "classes")
        if not isinstance(fields.raw("site"), str):
            refuse("site", "a text", fields.raw("site"))
        return cls(str(fields.raw("site")), sites, classes,
                   fields.ints("owner", size, -1, len(sites) - 1),
                   fields.ints("first_child", size, -1, size - 1),
                   fields.ints("children", size, 0, size - 1),
                   fields.ints("leaf_class", size, -1, len(classes) - 1),
                   _asked(fields, size))


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    listed = fields.items(name, fields.limits.max_features)
    if not listed or not all(isinstance(item, str) for item in listed):
        refuse(name, "a list of texts", "something else")
    return tuple(listed)


def _asked(fields: Fields, size: int) -> dict[int, Asked]:
    asked: dict[int, Asked] = {}
    for place, item in enumerate(fields.items("asked", size)):
        each = Fields(item, f"asked[{place}]", fields.limits)
        asked[each.whole("node", 0, size - 1)] = Asked.from_fields(each)
    return asked


def join_parts(parts: Sequence[TreePart], features: Sequence[str]) -> CategoricalTree:
    """Return the whole tree from the parts of all sites, with columns in the given order."""
    first = parts[0]
    asked = {node: a for part in parts for node, a in part.asked.items()}
    leaf = np.max([part.leaf_class for part in parts], axis=0)
    size, inner = first.nodes, np.flatnonzero(first.owner >= 0).tolist()
    if set(asked) != set(inner) or (leaf[first.leaf_nodes] < 0).any():
        raise ModelError("The parts of some sites are missing. Join the parts of all sites.")
    value = np.zeros((size, len(first.classes)))
    value[first.leaf_nodes, leaf[first.leaf_nodes]] = 1.0
    place = {name: i for i, name in enumerate(features)}
    feature, threshold = np.full(size, -1, np.int64), np.zeros(size)
    for node in inner:
        feature[node], threshold[node] = place[asked[node].column], asked[node].cut
    return CategoricalTree(
        "classification", tuple(features), first.classes,
        {a.column: a.categories for a in asked.values() if a.categories}, feature, threshold,
        np.zeros(size, np.bool_), first.first_child, first.children,
        tuple(tuple(range(len(asked[n].categories))) if n in asked else () for n in range(size)),
        value, np.zeros(size, np.int64), np.zeros(size))
