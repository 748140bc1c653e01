"""Values of single people that stand in a model: thresholds, and leaves that few people reach.

A threshold that equals a value which fewer than k people have shows it. A leaf that fewer than k
people reach tells their target, and whoever knows the questions on the way tells who they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints
from unspoken.audit.published.misplaced_numbers import ends_of, telling
from unspoken.disclosure.attribute_disclosure import wilson
from unspoken.disclosure.audit_rows import Row
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.model import Predictor, TreeLike
from unspoken.models.named_columns import number_rows
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.table import Table

NOTHING = "only the model"
SINGLE = "(single numbers)"


def memorised_rows(model: Any, table: Table, k: int) -> Iterator[Row]:
    """Yield shares of thresholds that are values of few people, and of people in small leaves."""
    if isinstance(model, TreeLike):
        yield from _threshold_rows(model, table, k)
        yield from _leaf_rows(model, table, k)
    else:
        yield from _number_rows(model, table, k)


def trees_of(model: Any) -> tuple[Any, ...]:
    """Return the trees of a model one by one."""
    return tuple(getattr(model, "trees", (model,)))


def thresholds_of(tree: Any) -> tuple[Ints, Floats]:
    """Return the features and thresholds of the inner nodes of a tree of any kind."""
    values = np.asarray(tree.condition if hasattr(tree, "condition") else tree.threshold)
    inner: Bools = np.asarray(tree.inner if hasattr(tree, "inner") else tree.feature >= 0)
    if isinstance(tree, CategoricalTree):
        inner = inner & np.array([not route for route in tree.route], np.bool_)
    inner = inner[:values.size] & (np.asarray(tree.feature)[:values.size] >= 0)
    return np.asarray(tree.feature)[:values.size][inner], values[inner].astype(np.float64)


def _threshold_rows(model: Any, table: Table, k: int) -> Iterator[Row]:
    for name, mine in thresholds_by_column(model).items():
        values = np.unique(np.concatenate([mine, ends_of(model, name)]))
        if values.size and name in table.schema.names:
            shown = _held_by_few(table, name, values, k)
            yield _row("thresholds", name, int(shown.sum()), values.size)


def thresholds_by_column(model: Any) -> dict[str, Floats]:
    """Return the different thresholds of a model of trees, by column."""
    parts = [thresholds_of(tree) for tree in trees_of(model)]
    feature = np.concatenate([part[0] for part in parts])
    value = np.concatenate([part[1] for part in parts])
    return {name: np.unique(value[feature == index]) for index, name in enumerate(model.features)}


def _held_by_few(table: Table, name: str, values: Floats, k: int) -> Bools:
    """Return which values are those of at least one person but of fewer than k."""
    column = table.arrow([name])[name]
    if not is_number(column.type):
        return np.zeros(values.size, np.bool_)
    # Libraries hold thresholds in single precision, so values are compared in both.
    exact = np.asarray(to_numbers(column), np.float64)
    held = np.zeros(values.size, np.bool_)
    for numbers, wanted in ((exact, values), (exact.astype(np.float32), values.astype(np.float32))):
        known, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
        at = np.minimum(np.searchsorted(known, wanted), max(known.size - 1, 0))
        if known.size:
            held |= (known[at] == wanted) & (counts[at] < k)
    return held


def _leaf_rows(model: Any, table: Table, k: int) -> Iterator[Row]:
    """Yield how many people stand in a leaf of fewer than k, in one of the trees at least."""
    small = np.zeros(table.rows, np.bool_)
    for leaves in _leaves(model, table):
        small |= np.bincount(leaves)[leaves] < k
    yield _row("leaves", "(people)", int(small.sum()), small.size, "small leaves")


def _leaves(model: Any, table: Table) -> Iterator[Ints]:
    rows = None
    for tree in trees_of(model):
        if hasattr(tree, "leaf_of"):
            rows = _rows(model, table) if rows is None else rows
            yield np.asarray(tree.leaf_of(rows))
        else:
            yield np.asarray(tree.apply(table))


def _rows(model: Any, table: Table) -> Floats:
    return number_rows(table, model.features, getattr(model, "categories", None) or {})


def _number_rows(model: Any, table: Table, k: int) -> Iterator[Row]:
    """Yield how many numbers of a model are values that few people have, and nobody else's."""
    numbers = np.unique(np.array(list(_numbers(model.to_json())), np.float64))
    # Small whole numbers are counts and places of the model itself more often than values.
    numbers = telling(numbers)
    if not numbers.size:
        return
    names = [n for n in (model.features if isinstance(model, Predictor) else table.schema.names)
             if n in table.schema.names]
    shown = np.zeros(numbers.size, np.bool_)
    for name in names:
        shown |= _held_by_few(table, name, numbers, k)
    yield _row("numbers", SINGLE, int(shown.sum()), numbers.size)


def _numbers(data: Any) -> Iterator[float]:
    """Yield every number of a document, without recursion."""
    waiting = [data]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield float(one)


def _row(adversary: str, column: str, hits: int, of: int, measure: str = "memorised") -> Row:
    return Row(adversary, NOTHING, column, measure, hits / of, *wilson(hits, of), 0.0, of)
