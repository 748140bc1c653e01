"""What naive Bayes costs, from public sizes alone: two holders and a dealer, about."""

from __future__ import annotations

from unspoken.joint.tasks.common import primitive_costs as costs
from unspoken.joint.tasks.common.primitive_costs import Cost, divide, logarithm

WIDE = 4
"""Limbs of long numbers, about."""


def wide_product(n: int, limbs: int) -> Cost:
    """Return products of long numbers and their carries."""
    return (costs.multiply(limbs * n) + costs.truncate(2 * WIDE * n) + costs.truncate(2 * WIDE * n)
            + costs.truncate(WIDE * n))


def moments(numbers: int, classes: int, most: int) -> Cost:
    """Return means and variances of classes."""
    found = divide(classes, most) + wide_product(classes, 6)
    return found + wide_product(2 * numbers * classes, 15) + wide_product(numbers * classes, 25)


def ratios(cells: int, numbers: int, classes: int, most: int, parties: tuple[int, int]) -> Cost:
    """Return naive Bayes over rows; `parties`: how many, and how many learn the model."""
    everybody, receivers = parties
    size = (1 + cells + 2 * numbers) * classes
    found = costs.share(1, everybody - 2) + costs.less_than(1, most.bit_length() + 3)
    found += costs.reveal(1, everybody) + costs.share(size, everybody - 2)
    found += divide((1 + cells) * classes, most << 10) + costs.truncate(size)
    if numbers:
        found += moments(numbers, classes, most)
    return found + costs.reveal(size, receivers)


def learning(rows: int, cells: int, numbers: int, classes: int) -> Cost:
    """Return naive Bayes over columns, parameters on shares."""
    found = Cost(4) + costs.matmul(cells, rows, classes) + costs.matmul(2 * numbers, rows, classes)
    found += logarithm((1 + 2 * cells) * classes, rows << 10)
    if numbers:
        found += moments(numbers, classes, rows) + logarithm(numbers * classes, 1 << 30)
        found += divide(numbers * classes, 1 << 30) + logarithm(numbers * classes, 1 << 46)
    return found


def classifying(rows: int, cells: int, numbers: int, classes: int, receivers: int) -> Cost:
    """Return classes of new records."""
    found = Cost(2) + costs.matmul(rows, cells, classes)
    for _ in range(2 if numbers else 0):
        found += costs.multiply(rows * numbers * classes) + costs.truncate(rows * numbers * classes)
    return found + costs.argmin(rows, classes, 52) + costs.reveal(rows, receivers)


def adding(rows: int, classes: int, sites: int, receivers: int) -> Cost:
    """Return classes of new records if every site has scores of its own."""
    found = costs.share(rows * classes, sites - 2) + costs.argmin(rows, classes, 60)
    return found + costs.reveal(rows, receivers)


def by_tree(rows: int, columns: int, depth: int, receivers: int) -> Cost:
    """Return classes of new records by a full tree."""
    asked = 2**depth - 1
    found = Cost(5) + costs.matmul(rows, columns, asked) + costs.less_than(rows * asked, 43)
    found += costs.to_numbers(rows * asked)
    for level in range(1, depth):
        found += costs.multiply(rows * 2**level)
    return found + costs.matmul(1, 2**depth, rows) + costs.reveal(rows, receivers)
