"""What a dry run assumes about trees, which nobody knows before they are grown.

Every node that may ask something asks a question in the middle of those that are left, on up to
twelve levels: about the largest tree that the parameters allow. Quantiles lie evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Ints
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.tasks.tree.column_steps import QUESTION, SITES
from unspoken.joint.tasks.tree.cut_points import CUTS, Span, agreed_cuts, cut_search, with_cuts
from unspoken.joint.tasks.tree.level_growth import Sapling
from unspoken.joint.tasks.tree.params import TreeLayout, TreeParams
from unspoken.joint.tasks.tree.program_rows import SPLITS
from unspoken.joint.tasks.tree.tree_sites import TreeShape

LEVELS, NODES = 12, 4096
ASSUMES = f"trees as large as they may become (up to {LEVELS} levels and {NODES:,} nodes a level)"


class AssumedRows:
    """The answers for trees over rows: cut points, then questions, level by level."""

    def __init__(self, layout: TreeLayout, rules: TreeParams, spans: Mapping[str, Span],
                 trees: int = 1, choosing: Any = None) -> None:
        self.layout, self.rules, self.spans, self.trees = layout, rules, spans, trees
        self.choosing = choosing
        self.search = cut_search(spans, {}) if spans else None
        self.tree: Sapling | None = None

    def answers(self) -> Answers:
        """Return what is assumed, by the reason of the opening."""
        return {CUTS: self.quantiles, SPLITS: self.questions}

    def quantiles(self, shape: tuple[int, ...]) -> Bools:
        """Say for every search whether it must go on above its middle."""
        search = self.search
        assert search is not None
        bits = [span.bits for span in self.spans.values() for _ in range(span.count)]
        wanted = [(k << b) // n for k, n, b in zip(search.wanted, search.parts, bits, strict=True)]
        too_few = (search.low + search.high) // 2 < np.array(wanted)
        search.answer(too_few)
        return np.asarray(too_few)

    def questions(self, shape: tuple[int, ...]) -> Ints:
        """Choose the question of every tested node; a new tree follows one that has ended."""
        if self.tree is None or not self.tree.tested():
            cuts = {} if self.search is None else agreed_cuts(self.search)
            self.layout = with_cuts(self.layout, cuts)
            self.tree = Sapling(self.layout, self.rules, self.trees)
        tree, nodes = self.tree, self.tree.tested()
        allowed = tree.allowed(nodes)
        if self.choosing is not None:
            allowed = allowed & self.choosing(self.layout)(tree, nodes)
        places = np.array([_middle(row) for row in allowed], np.int64)
        if tree.depth >= LEVELS or len(nodes) > NODES * self.trees:
            places[:] = 0
        tree.split(nodes, places)
        return places


def _middle(allowed: Bools) -> int:
    """Return one more than the middle one of the questions that may be asked, 0 for none."""
    places = np.flatnonzero(allowed)
    return int(places[places.size // 2]) + 1 if places.size else 0


def columns_answers(shape: TreeShape, sites: tuple[str, ...], name: str) -> Answers:
    """Return what is assumed over columns: sites take turns, and ask their first question."""
    levels = iter(range(1 << 30))
    own = sites.index(name) if name in sites else 0

    def asking(size: tuple[int, ...]) -> Bools:
        level = next(levels)
        ended = level >= LEVELS or size[1] > NODES
        turn = -1 if ended else level % len(sites)
        return np.broadcast_to(np.arange(size[0])[:, None] <= turn, size)

    return {SITES: asking, QUESTION: lambda size: np.full(size, 1 + own * shape.slots)}
