"""What growing a tree costs, from public sizes alone: rounds and bytes, step by step.

Exact for two holders and a dealer, frame headers included; other modes are scaled from it. The
size of the tree is not known before: forecasts take the number of tested nodes of each level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.joint.frames import HEADER_BYTES
from tacit.joint.planes import plane_words
from tacit.joint.primitives.comparison import tree
from tacit.joint.primitives.leading import prefix_steps
from tacit.joint.primitives.normal import by_prefix, last_exponent
from tacit.joint.protocols.trees.choosing import MOST_PAIRS
from tacit.joint.protocols.trees.sites import Shape

ASK = 60
WIDTHS = ((8, 1), (16, 2), (32, 4), (64, 8))


@dataclass(frozen=True)
class Cost:
    """Rounds (requests to the dealer among them), messages and bytes between all parties."""

    rounds: int = 0
    bytes: int = 0
    messages: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.rounds + other.rounds, self.bytes + other.bytes,
                    self.messages + other.messages)

    def seconds(self, latency: float = 0.0006, rate: float = 150e6) -> float:
        """Return how long that takes if a round has a latency and bytes a rate."""
        return self.rounds * latency + self.bytes / rate


def messages(count: int, size: int, rounds: int = 1) -> Cost:
    """Return so many messages of one size that travel at once."""
    chunks = max(1, -(-size // (1 << 20)))
    return Cost(rounds, count * (size + chunks * HEADER_BYTES), count)


def dealt(size: int) -> Cost:
    """Return a request to the dealer and its answer."""
    return messages(1, ASK) + messages(1, size, 0)


def both(size: int) -> Cost:
    """Return an opening between two holders."""
    return messages(2, size)


def less_than(n: int, width: int) -> Cost:
    """Return a batch of comparisons."""
    words, levels = plane_words(n), tree(width - 1)
    narrow = next(size for bits, size in WIDTHS if width <= bits)
    found = dealt(8 * words * (width + 2 * sum(levels))) + both(n * narrow)
    for nodes in levels:
        found += both(24 * nodes * words)
    return found


def leading(n: int, width: int, top: int) -> Cost:
    """Return where numbers start."""
    words, sizes = plane_words(n), [len(high) for high, _ in prefix_steps(width)]
    found = dealt(8 * words * (width + 3 * sum(sizes) + top - 1))
    found += both(n * next(s for b, s in WIDTHS if width <= b)) + both(16 * (top - 1) * words)
    for size in sizes:
        found += both(24 * size * words) + both(16 * size * words)
    return found


def to_numbers(n: int) -> Cost:
    """Return bits turned into numbers."""
    return dealt(8 * n) + both(8 * plane_words(n))


def multiply(n: int) -> Cost:
    """Return products."""
    return dealt(8 * n) + both(16 * n)


def matmul(n: int, k: int, m: int) -> Cost:
    """Return a matrix product."""
    return dealt(8 * n * m) + both(8 * (n * k + k * m))


def truncate(n: int) -> Cost:
    """Return values divided by a power of two."""
    return dealt(16 * n) + both(8 * n)


def x_log_x(n: int, high: int) -> Cost:
    """Return x ln x of counts up to a bound."""
    top = last_exponent(high)
    if by_prefix(n):
        full = -(-n // 64) * 64
        found = leading(full, high.bit_length(), top) + to_numbers(full * (top + 1))
    else:
        found = less_than(n * (top + 1), high.bit_length() + 1) + to_numbers(n * (top + 1))
    for products, cuts in ((1, 0), (1, 1), (2, 2), (0, 1), (1, 1), (1, 0)):
        found += multiply(products * n) if products else Cost()
        found += truncate(cuts * n) if cuts else Cost()
    return found


def argmin(rows: int, columns: int, width: int) -> Cost:
    """Return the place of the least of some columns."""
    found = Cost()
    while columns > 1:
        half = rows * (columns // 2)
        found += less_than(half, width) + to_numbers(half) + multiply(2 * half)
        columns -= columns // 2
    return found


def first_greatest(rows: int, columns: int, width: int, sizes: int = 0) -> Cost:
    """Return the first place of the greatest: all pairs where they are few.

    `sizes`: the width of the sizes if small rows are to give 0.
    """
    pairs = rows * columns * (columns - 1) // 2
    if columns < 3 or pairs > MOST_PAIRS:
        test = less_than(rows, sizes) + to_numbers(rows) + multiply(rows) if sizes else Cost()
        return argmin(rows, columns, width) + test
    tests = rows if sizes else 0
    found = less_than(pairs + tests, width) + to_numbers(rows * columns)
    left = columns - 1 + bool(sizes)
    words = [plane_words(rows * columns * half) for half in tree(left)]
    found += dealt(8 * sum(words))
    for each in words:
        found += both(16 * each)
    return found


def reveal(n: int, receivers: int) -> Cost:
    """Return an opening to some parties by two holders; the holders themselves save one each."""
    return messages(max(1, 2 * receivers - min(2, receivers)), 8 * n)


def share(n: int, senders: int) -> Cost:
    """Return values of owners who hold no shares, on their way to a holder."""
    return messages(senders, 8 * n) if senders else Cost(1)


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
    return argmin(leaves, classes, 2 * most.bit_length() + 2) + reveal(leaves, receivers)


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


def vertical(levels: Sequence[int], leaves: int, rows: int, shape: Shape, sites: int,
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
