"""What primitives cost, from public sizes alone: rounds and bytes, step by step.

Exact for two holders and a dealer, frame headers included; other modes are scaled from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from unspoken.joint.mpc.bit_planes import plane_words
from unspoken.joint.mpc.ops import whole_log
from unspoken.joint.mpc.ops.leading_bit import prefix_steps
from unspoken.joint.mpc.ops.normalise import last_exponent
from unspoken.joint.mpc.packed_small_ints import lane_type
from unspoken.joint.mpc.words.masked_comparison import tree
from unspoken.joint.wire.frames import HEADER_BYTES

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


def equal(n: int, width: int) -> Cost:
    """Return a batch of tests for zero."""
    words, levels = plane_words(n), tree(width)
    narrow = next(size for bits, size in WIDTHS if width <= bits)
    found = dealt(8 * words * (width + sum(levels))) + both(n * narrow)
    for nodes in levels:
        found += both(16 * nodes * words)
    return found


def is_zero(n: int, most: int) -> Cost:
    """Return small numbers compared with zero by a table."""
    narrow = next(size for bits, size in WIDTHS if most.bit_length() <= bits)
    return dealt(8 * n << most.bit_length()) + both(n * narrow)


def leading_openings(n: int, width: int, top: int) -> Cost:
    """Return what passes between the holders to find where numbers start."""
    words, sizes = plane_words(n), [len(high) for high, _ in prefix_steps(width)]
    found = both(n * next(s for b, s in WIDTHS if width <= b)) + both(16 * (top - 1) * words)
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
    words, top = plane_words(n), whole_log.last_exponent(high)
    found = sum((dealt(8 * sum(sum(need.sent_lengths) for need in needs))
                 for needs in whole_log.steps(n, high)), Cost())
    found += leading_openings(64 * words, max(3, high).bit_length(), top)
    found += both(8 * words * (top + top.bit_length()))
    # A product and an opening in the small ring, a truncation and a product in the large one.
    small = 64 * words * lane_type(top + 1).itemsize
    return found + both(2 * small) + both(small) + both(512 * words) + both(1024 * words)


def argmin(rows: int, columns: int, width: int) -> Cost:
    """Return the place of the least of some columns."""
    found = Cost()
    while columns > 1:
        half = rows * (columns // 2)
        found += less_than(half, width) + to_numbers(half) + multiply(2 * half)
        columns -= columns // 2
    return found


def reveal(n: int, receivers: int) -> Cost:
    """Return an opening to some parties by two holders; the holders themselves save one each."""
    return messages(max(1, 2 * receivers - min(2, receivers)), 8 * n)


def share(n: int, senders: int) -> Cost:
    """Return values of owners who hold no shares, on their way to a holder."""
    return messages(senders, 8 * n) if senders else Cost(1)


def normalise(n: int, high: int) -> Cost:
    """Return mantissa and exponent of values up to a bound."""
    top = last_exponent(high) + 1
    return (less_than(n * top, high.bit_length() + 1) + to_numbers(n * top)
            + multiply(n))


def divide(n: int, high: int) -> Cost:
    """Return quotients whose divisors are up to a bound."""
    found = normalise(n, high) + truncate(n)
    for count in (1, 2, 2, 1):
        found += multiply(count * n) + truncate(count * n)
    return found + multiply(n) + truncate(n) + multiply(n) + truncate(n)


def logarithm(n: int, high: int) -> Cost:
    """Return logarithms of values up to a bound."""
    found = normalise(n, high)
    for count in (1, 2, 4):
        found += multiply(count * n) + truncate(count * n)
    return found + truncate(n)


def times(cost: Cost, count: int) -> Cost:
    """Return a cost so many times."""
    return Cost(cost.rounds * count, cost.bytes * count, cost.messages * count)
