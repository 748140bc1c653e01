"""The pattern BayesNet: which attributes depend on which, as an acyclic graph (vcz2006 4.5.3).

Nodes stand in an order, and the parents of a node stand before it. Only the structure is kept:
probabilities are counts of one owner's, or of nobody's, data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unspoken.models.comparison import Comparison, compare_sequences, first_difference
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Model
from unspoken.models.tree import check_format
from unspoken.models.tree_text import SHOWN

FORMAT = "unspoken-bayes-net"
VERSION = 1


@dataclass(frozen=True)
class BayesNet(Model):
    """Nodes in order, and the parents of each as names, in the order in which they were found."""

    format = FORMAT

    nodes: tuple[str, ...]
    parents: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        """Refuse what is no network in this order."""
        if not self.nodes or len(set(self.nodes)) != len(self.nodes):
            refuse("nodes", "one or more different names", str(len(self.nodes)))
        if len(self.parents) != len(self.nodes):
            refuse("parents", f"{len(self.nodes)} lists", str(len(self.parents)))
        for place, parents in enumerate(self.parents):
            if len(set(parents)) != len(parents) or not set(parents) <= set(self.nodes[:place]):
                refuse(f"parents of {self.nodes[place]}", "different nodes that stand before it",
                       ", ".join(parents))

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Return every edge from parent to child."""
        return tuple((parent, node) for node, parents in zip(self.nodes, self.parents, strict=True)
                     for parent in parents)

    def _compare(self, other: BayesNet) -> Comparison:
        """Compare with another network; parents as sets."""
        return first_difference(
            lambda: compare_sequences("node", self.nodes, other.nodes),
            *(lambda n=n, a=a, b=b: compare_sequences(f"parent of {n}", sorted(a), sorted(b))
              for n, a, b in zip(self.nodes, self.parents, other.parents, strict=False)))

    def _lines(self, full: bool) -> list[str]:
        lines = [f"{node} <- {', '.join(parents)}" if parents else node
                 for node, parents in zip(self.nodes, self.parents, strict=True)]
        shown = lines if full else lines[:SHOWN]
        more = [f"... {len(lines) - len(shown):,} more nodes"] * (len(shown) < len(lines))
        return [f"network of {len(self.nodes)} nodes and {len(self.edges)} edges", *shown, *more]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back."""
        return {"format": FORMAT, "version": VERSION, "nodes": list(self.nodes),
                "parents": [list(parents) for parents in self.parents]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> BayesNet:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        nodes = fields.texts("nodes", limits.max_features)
        lists = fields.items("parents", len(nodes))
        if any(not isinstance(one, list) or any(not isinstance(n, str) for n in one)
               for one in lists):
            refuse("parents", "lists of names", "others")
        return cls(nodes, tuple(tuple(one) for one in lists))
