"""What regressions cost, from public sizes: rounds and bytes with two holders and a dealer.

Measured and fitted, frame headers included: a run is within a fifth of it where nothing is
guessed. How many steps a search, a selection or Newton take is seen only when they end; their
numbers here are what data usually need.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import ceil, log2

from unspoken.joint.mpc.ops.matrix_inverse import steps_for
from unspoken.joint.tasks.common.primitive_costs import Cost, times
from unspoken.joint.tasks.regression.column_blocks import SPLIT, OwnedColumns
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.term_selection import Selection

EXPECTED = 1000
NEWTON = 6
NEWTON_COLUMNS = 5
"""Newton's steps of a logistic model, as a rule; over columns they end with larger ones."""


def expecting(rows: int) -> str:
    """Return the words about a number of records that nobody knows yet."""
    return f"cost is for {rows:,} records and a dealer"


def inverting(terms: int, condition: float) -> Cost:
    """Return an inverse, and what follows from it."""
    steps = steps_for(condition)
    return Cost(6 * steps + 26, steps * (1740 * terms**2 + 600 * terms + 2700)
                + 20_000 + 3000 * terms)


def beginning(terms: int, owners: int) -> Cost:
    """Return moments of rows on shares, centred and scaled."""
    more = (owners - 2) * (9000 + 1000 * terms + 200 * terms**2)
    return Cost(29 + 4 * owners, 30_000 + 7000 * terms + 1250 * terms**2 + more)


def fitting(
    terms: int, owners: int, rules: RegressionParams, selection: Selection | None = None
) -> Cost:
    """Return a least squares or ridge fit from moments on, with smaller models and selection."""
    found, last = beginning(terms, owners), terms
    if selection is not None:
        found += inverting(terms, rules.condition) + selecting(terms, selection)
        last = kept(terms)
    for names in rules.smaller:
        found += inverting(len(names), rules.condition)
    return found + inverting(last, rules.condition)


def kept(terms: int) -> int:
    """Return how many terms a selection is taken to leave."""
    return (terms + 1) // 2


def selecting(terms: int, selection: Selection) -> Cost:
    """Return the steps of a selection, half of the terms moving."""
    if selection.method == "best":
        products = sum(2**j * (terms - j) ** 2 for j in range(terms))
        return Cost(53 * terms + 10, 100_000 + 25_000 * terms + 6200 * products)
    one = Cost(55 + ceil(5 * log2(terms + 1)), 25_000 + 33_000 * terms + 400 * terms**2)
    found = times(one, kept(terms) + 1)
    if selection.method == "backward":
        found += times(Cost(50, 40_000 + 1000 * terms**2), terms)
    return found


def columns_shared(columns: OwnedColumns, rows: int) -> Cost:
    """Return columns on shares and their products, beyond what rows take."""
    widths = [len(columns.own(owner)) for owner in columns.owners]
    pairs = sum(a + b for a, b in combinations(widths, 2))
    nobodys = len(columns.crossing()) + (columns.held == SPLIT)
    if nobodys:
        pairs += sum(width + nobodys for width in widths) + nobodys
    bytes_ = 32 * pairs + 16 * sum(widths[2:]) + 550 * len(columns.crossing())
    bytes_ += 16 * len(widths) * (columns.held == SPLIT)
    blocks = len(list(combinations(widths, 2))) * (rows // 8192)
    return Cost(3 * len(widths) + 17 * bool(nobodys) + blocks, bytes_ * rows)


def vertical(columns: OwnedColumns, rules: RegressionParams, rows: int,
             selection: Selection | None = None) -> Cost:
    """Return a fit over columns."""
    terms, owners = len(columns.terms.features), len(columns.owners)
    return fitting(terms, owners, rules, selection) + columns_shared(columns, rows)


def logistic(terms: int, owners: int, rules: RegressionParams) -> Cost:
    """Return Newton's steps over rows."""
    one = inverting(terms, rules.condition) + Cost(55, 60_000 + 7000 * terms + 1250 * terms**2)
    return beginning(terms, owners) + times(one, NEWTON)


def logistic_columns(columns: OwnedColumns, rules: RegressionParams, rows: int) -> Cost:
    """Return Newton's steps over columns."""
    terms = len(columns.terms.features)
    one = inverting(terms + 1, rules.condition) + Cost(62, 60_000 + rows * (2300 + 65 * terms))
    last = Cost(70, 60_000 + 1800 * rows)
    if columns.crossing():
        last += Cost(50, 20_000 + 250 * rows * len(columns.crossing()))
    return Cost(30, 30_000) + times(one, NEWTON_COLUMNS) + last


def residuals(owners: int, count: int, terms: int) -> Cost:
    """Return synthetic rows that are shuffled on shares."""
    rows = owners * count
    return Cost(4 + 3 * owners, 5000 + 32 * rows * (rows + terms))


def residuals_columns(widths: Sequence[int], rows: int, groups: int) -> Cost:
    """Return means over groups of records."""
    owners, marks = len(widths), groups * sum(widths)
    sent = 8 * groups * sum(widths[2:])
    return Cost(10 + 4 * owners, 10_000 + rows * (16 * marks + sent + 130 + 20 * owners))


def residuals_crossed(columns: OwnedColumns, rows: int) -> Cost:
    """Return products of columns of different owners beside residuals."""
    count = len(columns.crossing())
    return Cost(14 * count, (5000 + 150 * rows) * count)


def residuals_each(rows: int, owners: int) -> Cost:
    """Return every residual."""
    return Cost(3 + 2 * owners, 2000 + 20 * rows * owners)
