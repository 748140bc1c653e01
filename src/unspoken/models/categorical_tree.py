"""The pattern CategoricalTree: numbers and categories, two or many children a node (fu2010).

An inner node over numbers asks `float32(x) <= threshold`; a node over categories sends every
category of the training table to one of its children, also those that none of its records has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import DataError, ModelError, explain
from unspoken.models.comparison import (
    SAME,
    Comparison,
    compare_arrays,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.json_files import JsonFile
from unspoken.models.labels import Label, Task
from unspoken.models.tree import (
    check_format,
    header_from_json,
    header_to_json,
    label_array,
    same_header,
)

Categories = Mapping[str, tuple[str | None, ...]]

FORMAT = "unspoken-mixed-tree"
VERSION = 1
SHOWN = 40
ARRAYS = ("feature", "threshold", "missing_left", "first_child", "children", "value",
          "n_samples", "impurity")


@dataclass(frozen=True, eq=False)
class CategoricalTree(JsonFile):
    """A tree as flat arrays; node 0 is the root, a node's children follow one another.

    Leaves have feature and first_child -1 and no children. `route` holds, for a node over
    categories, the child (0, 1, ...) of each of `categories[feature]`; it is empty elsewhere.
    """

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

    def apply(self, columns: Mapping[str, npt.ArrayLike]) -> Ints:
        """Return the leaf of each row; columns by name, categories as texts, missing as None."""
        used = sorted({int(f) for f in self.feature if f >= 0})
        data = {f: self._read(self.features[f], columns) for f in used}
        rows = len(next(iter(data.values()))) if data else _rows(columns)
        leaf = np.zeros(rows, np.int64)
        for node in np.flatnonzero(self.feature >= 0).tolist():
            here = np.flatnonzero(leaf == node)
            side = self._ask(node, data[int(self.feature[node])][here])
            leaf[here] = self.first_child[node] + side
        return leaf

    def _read(self, name: str, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[Any]:
        if name not in columns:
            raise DataError(explain("The columns", f"such that '{name}' is there", list(columns)))
        if name not in self.categories:
            return np.asarray(columns[name], np.float32).astype(np.float64)
        code = {label: place for place, label in enumerate(self.categories[name])}
        values: Any = np.asarray(columns[name], object).tolist()
        return np.array([code.get(None if v is None else str(v), -1) for v in values], np.int64)

    def _ask(self, node: int, values: npt.NDArray[Any]) -> npt.NDArray[np.integer]:
        if not self.route[node]:
            left = np.where(np.isnan(values), self.missing_left[node],
                            values <= self.threshold[node])
            return np.where(left, 0, 1)
        span = slice(int(self.first_child[node]), int(self.first_child[node]
                                                      + self.children[node]))
        unknown = int(np.argmax(self.n_samples[span]))
        return np.asarray(np.array([*self.route[node], unknown], np.int64)[values])

    def predict(self, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[Any]:
        """Return the class, or the number, predicted for each row."""
        found = self.value[self.apply(columns)]
        if self.task == "classification":
            return np.asarray(label_array(self.classes)[found.argmax(axis=1)])
        return np.asarray(found[:, 0])

    def same_as(self, other: object) -> Comparison:
        """Compare with another tree, bit for bit, and say where they first differ."""
        if not isinstance(other, CategoricalTree):
            return Comparison(f"kind: CategoricalTree and {type(other).__name__}")
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
            found = compare_sequences(f"category of '{name}'", self.categories.get(name, ()),
                                      other.categories.get(name, ()))
            if not found:
                return found
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

    def summary(self) -> str:
        """Return the tree as indented lines: answers above what follows from them."""
        rows = int(self.n_samples[0])
        # Trees that were mined jointly hide how many records they came from.
        known = f", {rows} rows" if rows else ""
        head = f"{self.task} tree: {self.nodes} nodes, {self.leaves} leaves{known}"
        lines = self._drawn()
        more = ["  ..."] if len(lines) > SHOWN else []
        return "\n".join([head, *lines[:SHOWN], *more])

    def _drawn(self) -> list[str]:
        """Return one line more than is shown, at most; a stack, because trees may be deep."""
        lines: list[str] = []
        waiting = [(0, 1, "")]
        while waiting and len(lines) <= SHOWN:
            node, depth, answer = waiting.pop()
            if answer:
                lines.append(f"{'  ' * (depth - 1)}{answer}")
            if self.feature[node] < 0:
                lines.append(f"{'  ' * depth}-> {self._said(node)}")
            waiting += [(int(self.first_child[node]) + side, depth + 1, self._answer(node, side))
                        for side in reversed(range(int(self.children[node])))]
        return lines

    def _said(self, node: int) -> str:
        value = self.value[node]
        return str(self.classes[int(np.argmax(value))]) if self.classes else f"{value[0]:.6g}"

    def _answer(self, node: int, side: int) -> str:
        name = self.features[int(self.feature[node])]
        if not self.route[node]:
            return f"{name} {'>' if side else '<='} {self.threshold[node]:.9g}"
        there = ["missing" if c is None else str(c) for c, to in
                 zip(self.categories[name], self.route[node], strict=True) if to == side]
        return f"{name} in {{{', '.join(there[:4])}{', ...' * (len(there) > 4)}}}"

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        found = {name: getattr(self, name).ravel().tolist() for name in ARRAYS}
        found["threshold"] = [v if np.isfinite(v) else str(v) for v in found["threshold"]]
        found["missing_left"] = self.missing_left.astype(int).tolist()
        return {"format": FORMAT, "version": VERSION, **header_to_json(self),
                "categories": {n: list(c) for n, c in self.categories.items()},
                "nodes": self.nodes, **found, "route": [list(r) for r in self.route]}

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
        )


def check_spans(first_child: Ints, children: Ints) -> None:
    """Refuse children that stand before their parent, or are not each node but the root once."""
    parents = np.flatnonzero(first_child >= 0)
    first = first_child[parents]
    order = np.argsort(first)
    ends = first[order] + children[parents[order]]
    tiled = np.array_equal(np.append(1, ends), np.append(first[order], first_child.size))
    if not tiled or np.any(first <= parents):
        refuse("first_child", "children after their parent, each node once", "others")


def _rows(columns: Mapping[str, npt.ArrayLike]) -> int:
    if not columns:
        raise ModelError(explain("The columns", "at least one", "none"))
    return len(np.asarray(next(iter(columns.values()))))


def _categories(fields: Fields) -> dict[str, tuple[str | None, ...]]:
    inside = fields.fields("categories")
    found = {}
    for name in inside.data:
        listed = inside.items(name, fields.limits.max_features)
        if not all(label is None or isinstance(label, str) for label in listed):
            refuse(inside.at(name), "texts or null", "something else")
        found[str(name)] = tuple(listed)
    return found


def _routes(fields: Fields, size: int) -> tuple[tuple[int, ...], ...]:
    listed = fields.items("route", size)
    for route in listed:
        if not isinstance(route, list) or not all(type(c) is int for c in route):
            refuse("route", "lists of whole numbers", route)
    return tuple(tuple(route) for route in listed)
