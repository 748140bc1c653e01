"""What trees that nobody sees cost: all sizes are public, so nothing is guessed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from unspoken.joint.mpc.ops.fixed_operand_matmul import AHEAD
from unspoken.joint.mpc.shared import width_of
from unspoken.joint.tasks.common.primitive_costs import (
    Cost,
    argmin,
    both,
    dealt,
    equal,
    matmul,
    messages,
    multiply,
    reveal,
    share,
    times,
    to_numbers,
    x_log_x,
)
from unspoken.joint.tasks.tree.column_steps import BLOCK
from unspoken.joint.tasks.tree.costs import first_greatest
from unspoken.joint.tasks.tree.hidden_steps import blocks
from unspoken.joint.tasks.tree.hidden_votes import HiddenForest
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.question_scores import SCALE, SETBACK
from unspoken.joint.tasks.tree.tree_sites import TreeShape


@dataclass(frozen=True)
class HiddenCosts:
    """The public sizes; the first two sites hold the shares, and the class site is one of them."""

    shape: TreeShape
    rules: TreeParams
    sites: int
    forest: HiddenForest | None = None

    @property
    def trees(self) -> int:
        """Return how many trees there are."""
        return 1 if self.forest is None else self.forest.trees

    @property
    def questions(self) -> int:
        """Return how many questions all sites have room for."""
        return self.sites * self.shape.slots

    @property
    def others(self) -> int:
        """Return how many answers but one a question has."""
        return self.shape.branches - 1

    def nodes(self, level: int) -> int:
        """Return the nodes of a level of all trees."""
        return self.trees * int(self.shape.branches**level)

    def growing(self, rows: int) -> Cost:
        """Return the cost of growing, without aligning."""
        depth, kinds = self.rules.max_depth, 1 if self.shape.class_known else len(
            self.shape.classes)
        found = met(self.sites) + self._shared(rows) + Cost(1) + self._counting(rows)
        for level in range(depth):
            found += self._choosing(self.nodes(level), rows, bool(level))
        levels = [self.nodes(level) for level in range(depth - 1)]
        for size in _sizes(rows, max(levels, default=0) * kinds * self.others) if levels else ():
            found += _fixed(levels, self.questions, self.others * size)
            for nodes in levels:
                found += multiply(nodes * kinds * self.others * size)
        return found + self._leaves(rows)

    def classifying(self, rows: int, receivers: int) -> Cost:
        """Return the cost of classifying new records with trees that are on shares."""
        found, kinds = self._shared(rows), len(self.shape.classes)
        values = 1 if self.trees == 1 else kinds - 1
        if values > 1:
            size = self.nodes(self.rules.max_depth) * values
            found += equal(size, width_of(1 - kinds, kinds - 1)) + to_numbers(size)
        if self.rules.max_depth:
            found += self._climbing(rows, values)
        if self.trees > 1:
            found += argmin(rows, kinds, width_of(-self.trees, self.trees))
        return found + reveal(rows, receivers)

    def _climbing(self, rows: int, values: int) -> Cost:
        depth = self.rules.max_depth
        ends = self.nodes(depth - 1) * values
        sums = ends + self.others * sum(self.nodes(level) for level in range(depth - 1))
        found = multiply(ends * self.questions * self.others)
        for size in _sizes(rows, sums):
            found += matmul(sums, self.questions * self.others, size)
            for level in range(depth - 1):
                found += multiply(self.nodes(level) * self.others * values * size)
        return found

    def _shared(self, rows: int) -> Cost:
        """Return the answers of all sites, one site after the other."""
        outside = max(0, self.sites - 2)
        size = self.shape.slots * self.others * rows
        return times(share(size, 1), outside) + Cost(self.sites - outside)

    def _counting(self, rows: int) -> Cost:
        kinds, sizes = len(self.shape.classes), []
        step = max(1, BLOCK // (rows * kinds))
        for nodes in map(self.nodes, range(self.rules.max_depth)):
            sizes += [min(step, nodes - start) * kinds for start in range(0, nodes, step)]
        return _fixed(sizes, rows, self.questions * self.others)

    def _choosing(self, nodes: int, rows: int, closing: bool) -> Cost:
        """Return scores and the best question; below the roots nodes may be closed."""
        kinds, slots, least = len(self.shape.classes), self.questions, self.rules.min_records
        span = math.ceil(rows * (math.log(kinds) * (1 << SCALE) + 200)) + rows * SETBACK * (
            slots + 1)
        counting = slots if self.forest is None else self.forest.count(slots)
        for doubled in (self.forest is not None, closing):
            span = 2 * span + 1 if doubled else span
        sizes = width_of(-least, rows - least) if least > 1 else 0
        found = x_log_x(nodes * (counting * self.shape.branches + 1) * (kinds + 1), rows)
        found += first_greatest(nodes, slots + 1, width_of(-span, span), sizes)
        return found

    def _leaves(self, rows: int) -> Cost:
        """Return the counts of leaves, and their classes."""
        depth, kinds, found = self.rules.max_depth, len(self.shape.classes), Cost()
        if depth:
            inner = sum(self.nodes(level) for level in range(1, depth))
            found = multiply(self.nodes(depth - 1) * self.questions * self.others * kinds
                             + inner * kinds)
        most = rows * (rows + 1) + rows
        return found + first_greatest(self.nodes(depth), kinds, width_of(-most, most))


def met(parties: int) -> Cost:
    """Return what it costs that everybody says how many records there are."""
    return messages(parties * (parties - 1), 8)


def parting(rows: int, parties: int) -> Cost:
    """Return what it costs to open which records are new."""
    return Cost(1) + reveal(rows, parties)


def _sizes(rows: int, wide: int) -> list[int]:
    return [part.stop - part.start for part in blocks(rows, wide)]


def _fixed(sizes: Sequence[int], middle: int, columns: int) -> Cost:
    """Return products of left operands of so many rows with one that is opened now and then."""
    found = Cost()
    for start in range(0, len(sizes), AHEAD):
        rows = sum(sizes[start:start + AHEAD])
        found += dealt(8 * rows * columns) + both(8 * middle * columns)
    for size in sizes:
        found += both(8 * size * middle)
    return found
