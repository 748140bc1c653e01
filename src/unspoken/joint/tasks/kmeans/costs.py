"""What k-means costs, from public sizes alone: two holders and a dealer, frame headers included.

How many records there are is not in a study; plans are for a stated guess.
"""

from __future__ import annotations

from unspoken.joint.mpc.bit_planes import plane_words
from unspoken.joint.mpc.ops.fixed_operand_matmul import AHEAD
from unspoken.joint.mpc.shared import width_of
from unspoken.joint.tasks.common import primitive_costs as costs
from unspoken.joint.tasks.common.primitive_costs import Cost, divide, times
from unspoken.joint.tasks.kmeans.all_on_shares import FINER
from unspoken.joint.tasks.kmeans.params import KMeansParams


def whole(records: int) -> int:
    """Return records filled up to whole words of bits."""
    return 64 * plane_words(records)


def closest(k: int, records: int, width: int) -> Cost:
    """Return a tournament of k centres for every record."""
    found, n, groups = Cost(), whole(records), [1] * k
    while len(groups) > 1:
        half = len(groups) // 2
        found += costs.less_than(half * n, width)
        if len(groups) > 2:
            found += costs.to_numbers(half * n) + costs.multiply(half * n)
        asked = sum(size - 1 for size in groups[:2 * half])
        if asked:
            words = asked * plane_words(n)
            found += costs.dealt(8 * words) + costs.both(16 * words)
        groups = [groups[i] + groups[i + 1] for i in range(0, 2 * half, 2)] + groups[2 * half:]
    return found


def sizes(owners: int, everybody: int) -> Cost:
    """Return the meeting and the numbers of records."""
    return (costs.messages(everybody * (everybody - 1), 1) + costs.share(owners, everybody - 2)
            + costs.reveal(owners, everybody))


def known(rules: KMeansParams, records: int, columns: int, everybody: int) -> Cost:
    """Return the book's way over columns: assignments known, one round more than asked for."""
    n, width = whole(records), width_of(-rules.reach(columns), rules.reach(columns))
    once = costs.share(rules.k * records, everybody - 2) + closest(rules.k, records, width)
    once += costs.messages(2 * everybody - 2, rules.k * n // 8)
    return times(once, rules.iterations + 1) + sizes(everybody, everybody)


def hidden(rules: KMeansParams, records: int, columns: int, everybody: int) -> Cost:
    """Return everything on shares, but what is opened in the end."""
    n, k, d = whole(records), rules.k, columns
    bound = d * rules.units * (rules.units << FINER)
    score = costs.multiply(k * d) + costs.truncate(k) + costs.both(8 * k * d)
    score += closest(k, records, width_of(-4 * bound, 4 * bound))
    move = costs.to_numbers((k - 1) * n) + costs.both(8 * k * records)
    move += costs.less_than(k, records.bit_length() + 1) + costs.to_numbers(k)
    move += divide(k, records) + costs.multiply(k * d) + costs.multiply(k * d)
    found = times(score + move, rules.iterations) + score + sizes(everybody, everybody)
    found += costs.messages(2 * everybody - 2, k * n // 8) + costs.reveal(k * d, 1)
    found += fixed(k, d, n, rules.iterations + 1) + fixed(k, records, d, rules.iterations)
    return found + costs.share(records * d // everybody, everybody - 2) + costs.truncate(k * d)


def fixed(rows: int, middle: int, columns: int, count: int) -> Cost:
    """Return the masks of products with a fixed right operand, opened once for several."""
    found = Cost()
    for start in range(0, count, AHEAD):
        size = min(AHEAD, count - start) * rows * columns
        found += costs.dealt(8 * size) + costs.both(8 * middle * columns)
    return found


def revealed(rules: KMeansParams, columns: int, owners: int) -> Cost:
    """Return secure sums of all clusters, once a round and once for the start."""
    size = 8 * rules.k * (columns + 1)
    once = costs.messages(2 * (owners - 1), size, 2)
    return times(once, rules.iterations + 1)
