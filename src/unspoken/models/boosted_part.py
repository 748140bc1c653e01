"""The pattern BoostedPart: what one site knows of boosted trees whose questions are spread.

Every tree is a TreePart: all sites know which site asks at each node, that site alone what it asks.
The numbers of leaves are known to the class site alone; they add up to the log-odds of the second
class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.models.comparison import SAME, Comparison, compare_arrays, compare_scalars
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Ensemble
from unspoken.models.site_tree_part import TreePart
from unspoken.models.tree import check_format
from unspoken.models.tree_text import SHOWN, Drawing, number

FORMAT = "unspoken-boosted-trees-part"
VERSION = 1


@dataclass(frozen=True, eq=False)
class BoostedPart(Ensemble):
    """One site's part of boosted trees.

    `numbers` has one array for each tree, the numbers of its leaves in the order of `leaf_nodes`;
    it is empty where they are not this site's to know.
    """

    format = FORMAT

    trees: tuple[TreePart, ...]
    numbers: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts of different studies, and numbers that are not those of the leaves."""
        if not self.trees or len(self.trees[0].classes) != 2:
            refuse("trees", "one or more, for two classes", len(self.trees))
        first = self.trees[0]
        for tree in self.trees:
            if (tree.site, tree.sites, tree.classes) != (first.site, first.sites, first.classes):
                refuse("trees", "of one site and of one study", "others")
        if self.numbers and [n.shape for n in self.numbers] != [(t.leaves,) for t in self.trees]:
            refuse("numbers", "one for each leaf of every tree", "others")

    @property
    def site(self) -> str:
        """Return the site whose part it is."""
        return self.trees[0].site

    @property
    def sites(self) -> tuple[str, ...]:
        """Return all sites."""
        return self.trees[0].sites

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the two classes."""
        return self.trees[0].classes

    def _lines(self, full: bool) -> list[str]:
        lines = [f"part of '{self.site}' in {len(self.trees)} boosted trees over "
                 f"{', '.join(self.sites)}; they add up to the log-odds of {self.classes[1]} "
                 f"against {self.classes[0]}"]
        for place in range(len(self.trees) if full else 1):
            lines += [f"tree {place}:", *self._drawing(place, full).lines(None if full else SHOWN)]
        return lines

    def _drawing(self, place: int, full: bool) -> Drawing:
        tree = self.trees[place]
        leaf_numbers = dict(zip(tree.leaf_nodes.tolist(), self.numbers[place].tolist(),
                                strict=True)) if self.numbers else {}
        plain = tree.drawing(full)
        return Drawing(plain.nodes, plain.children, plain.answer,
                       lambda node: number(leaf_numbers[node], full) if leaf_numbers
                       else "a number that another site knows")

    def _compare(self, other: BoostedPart) -> Comparison:
        if len(self.trees) != len(other.trees):
            return Comparison(f"number of trees: {len(self.trees)} and {len(other.trees)}")
        known = compare_scalars("numbers known", bool(self.numbers), bool(other.numbers))
        trees = (one.same_as(two).inside(f"tree {place}") for place, (one, two) in enumerate(
            zip(self.trees, other.trees, strict=True)))
        numbers = (compare_arrays("leaf", "number", one, two).inside(f"tree {place}")
                   for place, (one, two) in enumerate(zip(self.numbers, other.numbers,
                                                          strict=False)))
        return next((each for each in chain([known], trees, numbers) if not each), SAME)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back."""
        return {"format": FORMAT, "version": VERSION, "trees": [t.to_json() for t in self.trees],
                "numbers": [each.tolist() for each in self.numbers]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> BoostedPart:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        items = fields.items("trees", limits.max_trees)
        nested = [Fields(item, f"trees[{i}]", limits) for i, item in enumerate(items)]
        limits.check("trees", sum(each.whole("nodes", 1, limits.max_nodes) for each in nested),
                     limits.max_total_nodes)
        listed = fields.items("numbers", limits.max_trees)
        numbers = [Fields({"numbers": each}, f"numbers[{i}]", limits).floats("numbers", None)
                   for i, each in enumerate(listed)]
        return cls(tuple(TreePart.from_json(item, limits) for item in items),
                   tuple(np.asarray(each, np.float64) for each in numbers))
