"""LightGBM models as their own text: read with suspicion, written back line by line.

LightGBM sends x to the left if x <= threshold in float64. A child number below zero is a leaf:
-1 is leaf 0. Only the lines that the encoding changed are written anew, so a decoded model is
byte for byte the text of the original.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import MissingExtraError, explain
from unspoken.models.boosted_text import ShapedTree, lightgbm_lines
from unspoken.models.comparison import SAME, Comparison
from unspoken.models.hostile_json import (
    DEFAULT_LIMITS,
    Fields,
    Limits,
    Source,
    as_text,
    read_bytes,
    refuse,
)
from unspoken.models.model import Ensemble, Predictor
from unspoken.models.tree import check_format
from unspoken.numerics.treewalk import Shape, ShapeError, check_shape
from unspoken.table.atomic_files import write_file

END = "end of trees"
FORMAT = "lightgbm-text"


@dataclass(frozen=True, eq=False)
class LeafwiseTree(ShapedTree):
    """The inner nodes of one LightGBM tree, and its shape with leaves numbered after them."""

    feature: Ints
    threshold: Floats
    decision: Ints
    shape: Shape | None
    categorical: bool
    linear: bool
    rows: int = 0


@dataclass(frozen=True, eq=False)
class LightGBMModel(Predictor, Ensemble):
    """A LightGBM model held as its text."""

    format = FORMAT

    text: str
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        """Read everything once, so that a malformed text is refused here."""
        self.trees  # noqa: B018

    @classmethod
    def load(cls, source: Source, limits: Limits = DEFAULT_LIMITS) -> LightGBMModel:
        """Read LightGBM's model text: a path, or its text or bytes."""
        return cls(as_text(read_bytes(source, limits)), limits)

    @classmethod
    def from_object(cls, model: Any, limits: Limits = DEFAULT_LIMITS) -> LightGBMModel:
        """Take over a live lightgbm Booster or LGBMModel through its text."""
        booster = model.booster_ if hasattr(model, "booster_") else model
        return cls.load(booster.model_to_string().encode(), limits)

    @cached_property
    def _blocks(self) -> tuple[list[str], list[list[str]], list[str]]:
        """Return the lines of the header, of each tree and of what follows."""
        count = self.text.count("\n")
        self.limits.check("lines", count, 64 * self.limits.max_trees + 100_000)
        lines = self.text.split("\n")
        if lines[0] != "tree" or END not in lines:
            refuse("file", "LightGBM's model text, complete", lines[0][:40])
        end = lines.index(END)
        starts = [i for i, line in enumerate(lines[:end]) if line.startswith("Tree=")]
        self.limits.check("Tree", len(starts), self.limits.max_trees)
        edges = [*starts, end]
        blocks = [lines[a:b] for a, b in pairwise(edges)]
        return lines[: edges[0]], blocks, lines[end:]

    @cached_property
    def header(self) -> dict[str, str]:
        """Return the header's fields."""
        return _fields(self._blocks[0][1:], "header")

    @cached_property
    def parameters(self) -> dict[str, str]:
        """Return the training parameters as written at the end of the text."""
        found = {}
        for line in self._blocks[2]:
            if line.startswith("[") and line.endswith("]") and ": " in line:
                name, value = line[1:-1].split(": ", 1)
                found[name] = value
        return found

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the feature names."""
        return tuple(_need(self.header, "feature_names", "header").split(" "))

    @property
    def features(self) -> tuple[str, ...]:
        """Return the feature names."""
        return self.feature_names

    def leaf_values(self, tree: int) -> Floats:
        """Return what the leaves of a tree add."""
        values = _fields(self._blocks[1][tree][1:], f"Tree={tree}")["leaf_value"]
        return np.array(values.split(" "), np.float64)

    @property
    def feature_infos(self) -> tuple[str, ...]:
        """Return the range of each feature as written: [low:high], a:b:c or none."""
        return tuple(_need(self.header, "feature_infos", "header").split(" "))

    @cached_property
    def trees(self) -> tuple[LeafwiseTree, ...]:
        """Return the trees, each checked."""
        names = self.feature_names
        self.limits.check("feature_names", len(names), self.limits.max_features)
        if len(self.feature_infos) != len(names):
            refuse("feature_infos", f"{len(names)} long", f"{len(self.feature_infos)}")
        found, total = [], 0
        for number, block in enumerate(self._blocks[1]):
            if block[0] != f"Tree={number}":
                refuse(f"Tree={number}", "the next tree", block[0][:40])
            tree = _read_tree(_fields(block[1:], block[0]), block[0], len(names), self.limits)
            total += tree.feature.size
            self.limits.check("Tree", total, self.limits.max_total_nodes)
            found.append(tree)
        return tuple(found)

    def with_thresholds(
        self, thresholds: Sequence[Floats], infos: Sequence[str], names: Sequence[str]
    ) -> LightGBMModel:
        """Return the same model with other thresholds, feature ranges and feature names."""
        header, blocks, tail = self._blocks
        new_blocks = [_rewritten(b, {"threshold": _numbers(t)}) if t.size else b
                      for b, t in zip(blocks, thresholds, strict=True)]
        sizes = " ".join(str(len(("\n".join(b) + "\n").encode())) for b in new_blocks)
        wanted = {"feature_infos": " ".join(infos), "feature_names": " ".join(names)}
        if blocks:
            wanted["tree_sizes"] = sizes
        tail = _renamed(tail, dict(zip(self.feature_names, names, strict=True)))
        lines = [*_rewritten(header, wanted), *(line for b in new_blocks for line in b), *tail]
        return LightGBMModel("\n".join(lines), self.limits)

    def to_json(self) -> dict[str, Any]:
        """Return the text inside an object; `save` writes the text itself, for LightGBM."""
        return {"format": FORMAT, "version": 1, "text": self.text}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> LightGBMModel:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        if not isinstance(fields.raw("text"), str):
            refuse("text", "LightGBM's model text", type(fields.raw("text")).__name__)
        return cls(fields.raw("text"), limits)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the text file that LightGBM loads."""
        write_file(Path(path), self.text.encode())

    def booster(self) -> Any:
        """Return a live lightgbm Booster; needs the lightgbm package."""
        try:
            import lightgbm
        except ImportError:
            raise MissingExtraError(explain("'predict' of a LightGBM model",
                                            "used with lightgbm installed", "no lightgbm",
                                            "Install lightgbm.")) from None
        return lightgbm.Booster(model_str=self.text)

    def predict(self, data: Any, **options: Any) -> npt.NDArray[Any]:
        """Predict original records with lightgbm itself; columns by name, or an array in order."""
        return np.asarray(self.booster().predict(self._numbers(data), **options))

    def _lines(self, full: bool) -> list[str]:
        leaves = [tree.leaves for tree in self.trees] or [0]
        head = (f"LightGBM {self.header.get('objective', 'model')}: {len(self.trees)} trees of "
                f"{min(leaves)} to {max(leaves)} leaves, {len(self.feature_names)} features")
        return [head, *lightgbm_lines(self, full)]

    def _compare(self, other: LightGBMModel) -> Comparison:
        where = "header"
        mine, theirs = (_without_sizes(m.text) for m in (self, other))
        for a, b in zip(mine, theirs, strict=False):
            if a.startswith("Tree="):
                where = f"tree {a[5:]}"
            if a != b:
                return _line_difference(where, a, b)
        if len(mine) != len(theirs):
            return Comparison(f"number of lines: {len(mine)} and {len(theirs)}")
        return SAME


def _without_sizes(text: str) -> list[str]:
    # They follow from the trees: named first, they would hide which tree differs.
    return [line for line in text.split("\n") if not line.startswith("tree_sizes=")]


def _line_difference(where: str, first: str, second: str) -> Comparison:
    name, _, values = first.partition("=")
    other_name, _, others = second.partition("=")
    if name != other_name:
        return Comparison(f"{where}: line '{first[:60]}' and '{second[:60]}'")
    for index, (a, b) in enumerate(zip(values.split(" "), others.split(" "), strict=False)):
        if a != b:
            return Comparison(f"{where}, node {index}: {name} {a[:40]} and {b[:40]}")
    return Comparison(f"{where}: {name} of another length")


def _fields(lines: Sequence[str], where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        name, mark, value = line.partition("=")
        if not mark:
            continue
        if name in found:
            refuse(f"{where}.{name}", "given once", "twice")
        found[name] = value
    return found


def _need(fields: dict[str, str], name: str, where: str) -> str:
    if name not in fields:
        refuse(f"{where}.{name}", "present", "nothing")
    return fields[name]


def _whole(fields: dict[str, str], name: str, where: str, limit: int) -> int:
    found = _need(fields, name, where)
    if not found.isdecimal() or len(found) > 12 or int(found) > limit:
        refuse(f"{where}.{name}", f"a whole number up to {limit}", found[:40])
    return int(found)


def _read_tree(
    fields: dict[str, str], where: str, features: int, limits: Limits
) -> LeafwiseTree:
    leaves = _whole(fields, "num_leaves", where, limits.max_nodes // 2)
    categorical = _whole(fields, "num_cat", where, limits.max_nodes) > 0
    linear = fields.get("is_linear", "0") != "0"
    _floats(fields, "leaf_value", where, max(leaves, 1), finite=True)
    if leaves <= 1:
        none = np.zeros(0, np.int64)
        return LeafwiseTree(none, np.zeros(0), none, None, categorical, linear)
    inner = leaves - 1
    return LeafwiseTree(
        _ints(fields, "split_feature", where, inner, 0, features - 1),
        _floats(fields, "threshold", where, inner),
        _ints(fields, "decision_type", where, inner, 0, 255),
        _shape(fields, where, leaves, limits), categorical, linear,
        int(_floats(fields, "internal_count", where, inner, finite=True)[0]),
    )


def _shape(fields: dict[str, str], where: str, leaves: int, limits: Limits) -> Shape:
    inner = leaves - 1
    sides = []
    for name in ("left_child", "right_child"):
        child = _ints(fields, name, where, inner, -leaves, inner - 1)
        child = np.where(child >= 0, child, inner - 1 - child)
        sides.append(np.r_[child, np.full(leaves, -1)])
    try:
        return check_shape(sides[0], sides[1], limits.max_depth)
    except ShapeError as error:
        refuse(f"{where}.left_child", "one binary tree", str(error))


def _ints(
    fields: dict[str, str], name: str, where: str, size: int, low: int, high: int
) -> Ints:
    found = _floats(fields, name, where, size, finite=True)
    if np.any(found != np.rint(found)) or found.min() < low or found.max() > high:
        refuse(f"{where}.{name}", f"whole numbers from {low} to {high}", "others")
    return found.astype(np.int64)


def _floats(
    fields: dict[str, str], name: str, where: str, size: int, finite: bool = False
) -> Floats:
    words = _need(fields, name, where).split(" ")
    if len(words) != size:
        refuse(f"{where}.{name}", f"{size} long", f"{len(words)}")
    try:
        found = np.array([float(word) for word in words], np.float64)
    except ValueError as error:
        refuse(f"{where}.{name}", "numbers", str(error)[:80])
    if np.isnan(found).any() or (finite and np.isinf(found).any()):
        refuse(f"{where}.{name}", "numbers" + " that are finite" * finite, "others")
    return found


def _numbers(values: Floats) -> str:
    return " ".join(format(value, ".17g") for value in values.tolist())


def _rewritten(lines: Sequence[str], wanted: dict[str, str]) -> list[str]:
    out = []
    for line in lines:
        name, mark, _ = line.partition("=")
        out.append(f"{name}={wanted[name]}" if mark and name in wanted else line)
    return out


def _renamed(tail: Sequence[str], names: dict[str, str]) -> list[str]:
    """Rename features in the list of importances that follows the trees."""
    out, inside = [], False
    for line in tail:
        inside = (inside or line == "feature_importances:") and line != ""
        name, mark, value = line.rpartition("=")
        out.append(f"{names.get(name, name)}={value}" if inside and mark else line)
    return out
