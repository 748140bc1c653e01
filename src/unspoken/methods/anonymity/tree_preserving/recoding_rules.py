"""How columns are recoded so that every tree asks the same (fu2010 sections 3.2 to 3.4).

A column that no tree asks about becomes one value. A number is replaced by what its block stands
for (`stats.blocks`). Categories that every node of every tree sends to the same child become one
group; a category that no record of a node has goes with the node's largest child, there and in
the release. In a node with one child per category nothing present can be merged, as Theorem 1 says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints
from unspoken.methods.anonymity.method import SAFE
from unspoken.methods.anonymity.tree_preserving.block_values import nearest_to_means
from unspoken.methods.anonymity.tree_preserving.kept_trees import Question
from unspoken.methods.anonymity.tree_preserving.threshold_blocks import (
    Blocks,
    min_block,
    one_block,
    safe,
)
from unspoken.numerics.splitting import NUMERIC
from unspoken.table.integer_columns import Coded

Group = tuple[str | None, tuple[str | None, ...]]

SUPPRESSED = "*"


@dataclass(frozen=True)
class Recoding:
    """The block of each code of a column, missing last for numbers, and what blocks stand for."""

    owner: npt.NDArray[np.integer]
    count: int
    representatives: npt.NDArray[np.float64] | None = None
    groups: tuple[Group, ...] = ()

    @property
    def values(self) -> list[Any]:
        """Return what each block is released as; None is missing."""
        if self.representatives is None:
            return [label for label, _ in self.groups]
        blank = [None] * (self.count - self.representatives.size)
        return [*self.representatives.tolist(), *blank]


class Recoder:
    """Recodes columns step by step; what was asked before is not worked out again."""

    def __init__(self, columns: Mapping[str, Coded], rule: str) -> None:
        self.columns, self.rule = columns, rule
        self.whole: set[str] = set()
        self._known: dict[tuple[str, Any], Recoding] = {}
        self._counted: dict[str, Ints] = {}

    def recode(self, asked: Sequence[Question]) -> dict[str, Recoding]:
        """Return the recoding of every column that is asked about."""
        recodings = {}
        for name in sorted({q.column for q in asked}, key=list(self.columns).index):
            here = [q for q in asked if q.column == name]
            recodings[name] = (self._numbers if self.columns[name].kind == NUMERIC
                               else self._categories)(name, here)
        return recodings

    def near_means(self, name: str, recoding: Recoding, asked: Sequence[Question]) -> Recoding:
        """Return a recoding with blocks as near to their means as thresholds allow."""
        values = self.columns[name].values
        if recoding.representatives is None or values is None:
            return recoding
        shown = nearest_to_means(values, self._weights(name)[:-1],
                                 recoding.owner[:-1].astype(np.int64), self.pairs(name, asked),
                                 recoding.representatives)
        return replace(recoding, representatives=shown)

    def pairs(self, name: str, asked: Sequence[Question]) -> tuple[tuple[int, int], ...]:
        """Return the codes beside every threshold of a column."""
        size = self.columns[name].size
        return tuple(sorted({q.cut for q in asked if q.column == name and q.cut is not None
                             and q.cut[1] < size}))

    def _numbers(self, name: str, asked: Sequence[Question]) -> Recoding:
        pairs = self.pairs(name, asked)
        if (name, pairs) not in self._known:
            self._known[name, pairs] = self._blocks(name, pairs)
        return self._known[name, pairs]

    def _blocks(self, name: str, pairs: tuple[tuple[int, int], ...]) -> Recoding:
        values, weights = self.columns[name].values, self._weights(name)
        assert values is not None
        make = safe if self.rule == SAFE else min_block
        blocks: Blocks = make(values, pairs, weights[:-1])
        missing = int(weights[-1] > 0)
        owner = np.append(blocks.owner, blocks.count)
        return Recoding(narrowed(owner), blocks.count + missing, blocks.representatives)

    def _weights(self, name: str) -> Ints:
        """Return how many records have each value of a column, those without one last."""
        if name not in self._counted:
            column = self.columns[name]
            counts = np.bincount(column.codes, minlength=column.size + 1)
            self._counted[name] = counts.astype(np.int64)
        return self._counted[name]

    def _categories(self, name: str, asked: Sequence[Question]) -> Recoding:
        labels = self.columns[name].labels
        routes = [q.route for q in asked if q.route is not None]
        if name in self.whole:
            routes.append(np.arange(len(labels)))
        known = (name, b"".join(route.tobytes() for route in routes))
        if known not in self._known:
            owner = _grouped(routes)
            members: list[tuple[str | None, ...]] = [() for _ in range(int(owner.max()) + 1)]
            for label, group in zip(labels, owner.tolist(), strict=True):
                members[group] += (label,)
            self._known[known] = Recoding(narrowed(owner), len(members),
                                          groups=name_groups(name, members))
        return self._known[known]


def suppressed(column: Coded) -> Any:
    """Return the one value of a column that no tree asks about: its mean, or *."""
    if column.values is None:
        return SUPPRESSED
    weights = np.bincount(column.codes, minlength=column.size + 1)[:-1]
    if not weights.any():
        return None
    return one_block(column.values, weights.astype(np.int64)).representatives[0].item()


def narrowed(owner: Ints) -> npt.NDArray[np.integer]:
    """Return blocks in the smallest type that holds their number."""
    return owner.astype(np.min_scalar_type(int(owner.max(initial=0)) + 1))


def _grouped(routes: Sequence[npt.NDArray[np.integer]]) -> Ints:
    """Number categories with the same routes, in the order of their first members."""
    number: dict[tuple[int, ...], int] = {}
    ways = zip(*(route.tolist() for route in routes), strict=True)
    return np.array([number.setdefault(way, len(number)) for way in ways], np.int64)


def name_groups(column: str, members: Sequence[tuple[str | None, ...]]) -> tuple[Group, ...]:
    """Name every group: a single category keeps its name, small groups list theirs."""
    taken = {m[0] for m in members if len(m) == 1}
    groups: list[Group] = []
    for index, group in enumerate(members):
        label = group[0] if len(group) == 1 else _joined(group)
        if len(group) > 1 and (label is None or label in taken):
            label = f"{column} group {index + 1}"
            while label in taken:
                label += "'"
        taken.add(label)
        groups.append((label, group))
    return tuple(groups)


def _joined(group: Sequence[str | None]) -> str | None:
    text = "|".join("missing" if label is None else label for label in group)
    return text if len(text) <= 60 else None
