"""What growing a tree costs, from public sizes alone.

The size of the tree is not known before: forecasts take the number of tested nodes of each level.
"""

from __future__ import annotations

from collections.abc import Sequence

from unspoken.joint.mpc.bit_planes import plane_words
from unspoken.joint.mpc.shared import width_of
from unspoken.joint.tasks.common.primitive_costs import (
    Cost,
    divide,
    is_zero,
    less_than,
    matmul,
    messages,
    multiply,
    reveal,
    share,
    times,
    to_numbers,
    x_log_x,
)
from unspoken.joint.tasks.tree.first_greatest import groups_of, in_groups
from unspoken.joint.tasks.tree.tree_sites import TreeShape


def first_greatest(rows: int, columns: int, width: int, sizes: int = 0) -> Cost:
    """Return the first place of the greatest: all pairs where they are few, else groups.

    `sizes`: the width of the sizes if small rows are to give 0.
    """
    if columns == 1:
        return Cost()
    if not in_groups((rows, columns)):
        return _winners(rows, columns, width, sizes)
    groups, each = groups_of(columns)
    return (_winners(rows * groups, each, width) + _winners(rows, groups, width, sizes)
            + times(multiply(rows * groups * each), 2))


def _winners(rows: int, columns: int, width: int, sizes: int = 0) -> Cost:
    tests = rows * columns * (columns - 1) // 2 + (rows if sizes else 0)
    found = less_than(tests, max(width, sizes)) + to_numbers(tests)
    return found if tests == rows else found + is_zero(rows * columns, columns)


def best_questions(nodes: int, branches: int, questions: int, classes: int,
                   most: int, least: int) -> Cost:
    """Return the cost of scoring and choosing for the tested nodes of a level.

    `branches`: those of all questions that count in all these nodes together, and one a node.
    """
    width = (most << 30).bit_length() + 1
    found = x_log_x(branches * (classes + 1), most)
    sizes = most.bit_length() + 1 if least > 1 else 0
    return found + first_greatest(nodes, questions + 1, width, sizes)


def leaf_classes(leaves: int, classes: int, most: int, receivers: int) -> Cost:
    """Return the cost of the classes of all leaves."""
    return first_greatest(leaves, classes, 2 * most.bit_length() + 2) + reveal(leaves, receivers)


def horizontal(levels: Sequence[tuple[int, int]], leaves: int, sizes: tuple[int, int, int, int],
               most: int, least: int, parties: tuple[int, int]) -> Cost:
    """Return the cost of a tree over rows.

    `levels`: tested nodes of each level, and branches as in `best_questions`; `sizes`: cells,
    branches, questions, classes; `parties`: how many, and how many learn the classes.
    """
    cells, _, questions, classes = sizes
    everybody, receivers = parties
    found = share(1, everybody - 2) + less_than(1, most.bit_length() + 3) + reveal(1, everybody)
    for nodes, branches in levels:
        found += share(nodes * cells * classes, everybody - 2) + reveal(nodes, everybody)
        found += best_questions(nodes, branches, questions, classes, most, least)
    return found + leaf_classes(leaves, classes, most, receivers)


def boosted(levels: Sequence[tuple[int, int]], leaves: int, sizes: tuple[int, int, int, int],
            most: int, least: int, parties: tuple[int, int]) -> Cost:
    """Return the cost of one tree of a sum, with the arguments of `horizontal`."""
    cells, _, questions, _ = sizes
    everybody, small = parties[0], most.bit_length() + 1 if least > 1 else 0
    found = divide(leaves, most << 10) + reveal(leaves, everybody)
    for nodes, branches in levels:
        found += share(3 * nodes * cells, everybody - 2) + reveal(nodes, everybody)
        found += divide(branches, most << 10) + multiply(branches)
        found += first_greatest(nodes, questions + 1, (most << 42).bit_length(), small)
    return found


def cut_points(spans: Sequence[tuple[int, int]], most: int, everybody: int) -> Cost:
    """Return the cost of agreeing on cut points; `spans`: how many of each range, and its bits."""
    if not spans:
        return Cost()
    count, widest = sum(points for points, _ in spans), max(points for points, _ in spans)
    each = share(2 * count, everybody - 2) + reveal(plane_words(count), everybody)
    each += less_than(count, width_of(-most * widest, most * (widest + 1)))
    return sum([each] * (1 + max(bits for _, bits in spans)), Cost())


def vertical(levels: Sequence[int], leaves: int, rows: int, shape: TreeShape, sites: int,
             least: int, tested: Sequence[int] | None = None) -> Cost:
    """Return the cost of a tree over columns, without aligning.

    `levels`: open nodes of each level. `tested`: children of each level that are tested in the
    next one but for the last of each node; by default what is left of the next level.
    """
    cells, classes = sites * shape.slots * (shape.branches - 1), len(shape.classes)
    outside, kinds = max(0, sites - 2), 1 if shape.class_known else len(shape.classes)
    found = share(cells // sites * rows, outside)
    made = tested or [max(0, nodes - -(-nodes // 2)) for nodes in [*levels[1:], 0]]
    for nodes, products in zip(levels, made, strict=True):
        found += matmul(cells, rows, nodes * classes)
        found += best_questions(nodes, nodes * (sites * shape.slots * shape.branches + 1),
                                sites * shape.slots, classes, rows, least)
        found += less_than(nodes * sites, 12) + reveal(nodes * sites, sites) + Cost(3 * sites)
        found += multiply(nodes * shape.slots * shape.branches * classes)
        if products:
            found += share(products * rows // sites, outside) + multiply(products * rows * kinds)
    return found + leaf_classes(leaves, classes, rows, 1)


def together(rows: int, depth: int, sites: int, receivers: int) -> Cost:
    """Return the cost of classifying with a full tree of two answers, paths unseen."""
    inner, outside = 2**depth - 1, max(0, sites - 2)
    found = messages(sites * (sites - 1), 40) + share(inner * rows // sites, outside)
    for level in range(depth):
        found += multiply(2**level * rows)
    found += share(inner + 1, 0) + matmul(1, inner + 1, rows)
    return found + reveal(rows, receivers) + Cost(sites)


def walking(rows: int, depth: int, sites: int) -> Cost:
    """Return the cost of records that walk, if every site asks in every level but the first."""
    steps = 1 + (depth - 1) * sites
    return messages(sites * (sites - 1), 40, 2) + sum(
        [messages(sites - 1, 8 * rows)] * steps, Cost())
