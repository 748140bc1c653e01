"""The pattern CategoricalTree: numbers and categories, two or many children a node (fu2010).

An inner node over numbers asks `x <= threshold` in float64, at equality too; a tree that was grown
from float32 values, as scikit-learn's are (`single`), asks `float32(x) <= threshold`. A node over
categories sends every category of the training table to one of its children, also those that none
of its records has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.models.child_spans import check_spans, deepest
from unspoken.models.comparison import (
    SAME,
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.labels import Label, Task, label_array
from unspoken.models.model import Predictor, TreeLike
from unspoken.models.named_columns import by_name, check_there, count_rows, numbers_of, texts_of
from unspoken.models.tree import check_format
from unspoken.models.tree_header import header_from_json, header_to_json, same_header
from unspoken.models.tree_text import (
    SHOWN,
    Drawing,
    category_answer,
    class_line,
    leaf_text,
    number,
    threshold_answer,
)

Categories = Mapping[str, tuple[str | None, ...]]

FORMAT = "unspoken-mixed-tree"
VERSION = 1
ARRAYS = ("feature", "threshold", "missing_left", "first_child", "children", "value",
          "n_samples", "impurity")


@dataclass(frozen=True, eq=False)
class CategoricalTree(Predictor, TreeLike):
    """A tree as flat arrays; node 0 is the root, a node's children follow one another.

    Leaves have feature and first_child -1 and no children. `route` holds, for a node over
    categories, the child (0, 1, ...) of each of `categories[feature]`; it is empty elsewhere.
    """

    format = FORMAT

    task: Task
    features: tuple[str, ...]
    classes: tuple[Label, ...]
    categories: Categories
    feature: Ints
    threshold: Floats
    missing_left: Bools
    first_child: Ints
    children: Ints
    route: tuple[tuple[int, ...], ...]
    value: Floats
    n_samples: Ints
    impurity: Floats
    single: bool = False

    def __post_init__(self) -> None:
        """Refuse arrays that are no tree."""
        size = self.feature.size
        for name in ARRAYS:
            wanted = (size, len(self.classes) or 1) if name == "value" else (size,)
            if getattr(self, name).shape != wanted:
                refuse(name, f"of shape {wanted}", str(getattr(self, name).shape))
        if len(self.route) != size:
            refuse("route", f"a list of {size}", str(len(self.route)))
        self._check_children()
        for node in np.flatnonzero(self.feature >= 0).tolist():
            self._check_node(node)

    def _check_children(self) -> None:
        inner = self.first_child >= 0
        if np.any(inner != (self.feature >= 0)) or np.any(self.children[~inner]):
            refuse("feature, children", "given for inner nodes only", "others")
        if self.children.sum() != self.feature.size - 1 or np.any(self.children[inner] < 2):
            refuse("children", "every node but the root once, two or more a parent", "others")
        check_spans(self.first_child, self.children)

    def _check_node(self, node: int) -> None:
        name = self.features[int(self.feature[node])]
        known = self.categories.get(name)
        if known is None:
            if self.route[node] or self.children[node] != 2 or np.isnan(self.threshold[node]):
                refuse("threshold", f"one number at node {node} over '{name}'", "something else")
        elif (len(self.route[node]) != len(known)
              or set(self.route[node]) != set(range(int(self.children[node])))):
            refuse("route", f"a child for each category of '{name}' at node {node}", "others")

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return int(self.feature.size)

    @property
    def leaves(self) -> int:
        """Return the number of leaves."""
        return int((self.feature < 0).sum())

    @property
    def depth(self) -> int:
        """Return the depth of the deepest leaf; a single node has depth 0."""
        return deepest(self.first_child, self.children)

    def apply(self, data: Any) -> Ints:
        """Return the leaf of each record; the data as in `predict`."""
        used = sorted({int(f) for f in self.feature if f >= 0})
        known, names = by_name(data, self.features), [self.features[f] for f in used]
        check_there(known, names, data)
        read = {name: self._read(name, known[name]) for name in names}
        leaf = np.zeros(count_rows(read, known), np.int64)
        for node in np.flatnonzero(self.feature >= 0).tolist():
            here = np.flatnonzero(leaf == node)
            side = self._ask(node, read[self.features[int(self.feature[node])]][here])
            leaf[here] = self.first_child[node] + side
        return leaf

    def _read(self, name: str, column: Any) -> npt.NDArray[Any]:
        if name not in self.categories:
            numbers = np.asarray(numbers_of(name, column), np.float64)
            return numbers.astype(np.float32).astype(np.float64) if self.single else numbers
        code = {label: place for place, label in enumerate(self.categories[name])}
        return np.array([code.get(text, -1) for text in texts_of(column)], np.int64)

    def _ask(self, node: int, values: npt.NDArray[Any]) -> npt.NDArray[np.integer]:
        if not self.route[node]:
            left = np.where(np.isnan(values), self.missing_left[node],
                            values <= self.threshold[node])
            return np.where(left, 0, 1)
        span = slice(int(self.first_child[node]), int(self.first_child[node]
                                                      + self.children[node]))
        unknown = int(np.argmax(self.n_samples[span]))
        return np.asarray(np.array([*self.route[node], unknown], np.int64)[values])

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the class, or the number, predicted for each record.

        Parameters
        ----------
        data : Table, frame, mapping of columns, or array
            Columns by name in any order; categories as texts, missing ones as None. Only the
            columns that the tree asks about are needed. A bare array has all `features` in order.

        Returns
        -------
        numpy.ndarray
            One class or number per record.
        """
        value = self.value[self.apply(data)]
        if self.task == "classification":
            return np.asarray(label_array(self.classes)[value.argmax(axis=1)])
        return np.asarray(value[:, 0])

    def _compare(self, other: CategoricalTree) -> Comparison:
        return first_difference(
            lambda: same_header(self, other),
            lambda: compare_scalars("number of nodes", self.nodes, other.nodes),
            *(lambda n=name: compare_arrays("node", n, getattr(self, n), getattr(other, n))
              for name in ARRAYS),
            lambda: self._same_routes(other),
        )

    def _same_routes(self, other: CategoricalTree) -> Comparison:
        used = {self.features[int(f)] for f in self.feature if f >= 0}
        for name in sorted(used & {*self.categories, *other.categories}):
            comparison = compare_sequences(f"category of '{name}'", self.categories.get(name, ()),
                                           other.categories.get(name, ()))
            if not comparison:
                return comparison
        pairs = zip(self.route, other.route, strict=True)
        different = [n for n, (a, b) in enumerate(pairs) if a != b]
        return Comparison(f"node {different[0]}: route") if different else SAME

    def with_members(self, groups: Mapping[str, Sequence[tuple[str | None, Sequence[str | None]]]]
                     ) -> CategoricalTree:
        """Return the tree over the original categories, given the members of each group.

        `groups[column]` lists (label, members) in the order of the released labels.
        """
        known, route = dict(self.categories), list(self.route)
        for name, listed in groups.items():
            if name not in known or name not in self.features:
                continue
            labels = sorted((m for _, members in listed for m in members),
                            key=lambda m: (m is None, m or ""))
            place = {label: known[name].index(label) for label, _ in listed
                     if label in known[name]}
            group = {m: place.get(label, -1) for label, members in listed for m in members}
            known[name] = tuple(labels)
            for node in np.flatnonzero(self.feature == self.features.index(name)).tolist():
                route[node] = tuple(self.route[node][group[m]] for m in labels)
        return replace(self, categories=known, route=tuple(route))

    def _lines(self, full: bool) -> list[str]:
        rows = int(self.n_samples[0])
        # Trees that were mined jointly hide how many records they came from.
        known = f", {rows} rows" if rows else ""
        head = (f"{self.task} tree: {self.nodes} nodes, {self.leaves} leaves, "
                f"depth {self.depth}{known}")
        return [head, *class_line(self.classes, full),
                *self.drawing(full).lines(None if full else SHOWN)]

    def drawing(self, full: bool = False) -> Drawing:
        """Return the tree as something that can be drawn."""
        first, many = self.first_child, self.children
        return Drawing(
            self.nodes, lambda node: range(int(first[node]), int(first[node] + many[node])),
            lambda node, side: self._answer(node, side, full),
            lambda node: leaf_text(self.classes, self.value[node].tolist(),
                                   int(self.n_samples[node]), full))

    def _answer(self, node: int, side: int, full: bool) -> str:
        name = self.features[int(self.feature[node])]
        if not self.route[node]:
            return threshold_answer(name, side, number(self.threshold[node], full),
                                    bool(self.missing_left[node]))
        there = [label for label, to in
                 zip(self.categories[name], self.route[node], strict=True) if to == side]
        return category_answer(name, there, full)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        document = {name: getattr(self, name).ravel().tolist() for name in ARRAYS}
        document["threshold"] = [v if np.isfinite(v) else str(v) for v in document["threshold"]]
        document["missing_left"] = self.missing_left.astype(int).tolist()
        if self.single:
            document["single"] = True
        return {"format": FORMAT, "version": VERSION, **header_to_json(self),
                "categories": {n: list(c) for n, c in self.categories.items()},
                "nodes": self.nodes, **document, "route": [list(r) for r in self.route]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> CategoricalTree:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        task, features, classes = header_from_json(fields)
        size, outputs = fields.whole("nodes", 1, limits.max_nodes), len(classes) or 1
        return cls(
            task, features, classes, _categories(fields),
            feature=fields.ints("feature", size, -1, len(features) - 1),
            threshold=fields.floats("threshold", size, infinite=True),
            missing_left=fields.flags("missing_left", size),
            first_child=fields.ints("first_child", size, -1, size - 1),
            children=fields.ints("children", size, 0, size - 1),
            route=_routes(fields, size),
            value=fields.floats("value", size * outputs).reshape(size, outputs),
            n_samples=fields.ints("n_samples", size, 0, 2**62),
            impurity=fields.floats("impurity", size),
            single=_flag(fields, "single"),
        )


def _flag(fields: Fields, name: str) -> bool:
    flag = fields.data.get(name, False)
    if not isinstance(flag, bool):
        refuse(fields.at(name), "true or false", type(flag).__name__)
    return flag


def _categories(fields: Fields) -> dict[str, tuple[str | None, ...]]:
    inside = fields.fields("categories")
    categories = {}
    for name in inside.data:
        listed = inside.items(name, fields.limits.max_features)
        if not all(label is None or isinstance(label, str) for label in listed):
            refuse(inside.at(name), "texts or null", "something else")
        categories[str(name)] = tuple(listed)
    return categories


def _routes(fields: Fields, size: int) -> tuple[tuple[int, ...], ...]:
    listed = fields.items("route", size)
    for route in listed:
        if not isinstance(route, list) or not all(type(c) is int for c in route):
            refuse("route", "lists of whole numbers", route)
    return tuple(tuple(route) for route in listed)
