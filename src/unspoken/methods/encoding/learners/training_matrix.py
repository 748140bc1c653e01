"""The rows that a learner sees: numbers as they are, categories by number.

Categories are numbered in the sorted order of their labels. Labels of a release are random, so this
order says nothing; who compares with the original numbers its categories in the same order
(`categories`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import SchemaError
from unspoken.models.category_groups import (
    Groups,
    category_numbers,
    category_texts,
    column_of,
    indicator,
    indicator_name,
    is_indicator,
)
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table

Wanted = Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Matrix:
    """Features as numbers, their names, what was left out, and the categories behind numbers."""

    data: Floats
    columns: tuple[str, ...]
    left_out: tuple[str, ...]
    groups: Groups

    @property
    def flags(self) -> list[bool]:
        """Return which columns are categories by number; indicators are numbers as they stand."""
        return [name in self.groups and not is_indicator(self.groups[name])
                for name in self.columns]

    @property
    def plain_names(self) -> list[str] | None:
        """Return names that LightGBM takes, None if it would refuse one or confuse two."""
        names = [re.sub(r"\s", "_", name) for name in self.columns]
        strange = any(re.search(r'[,:\[\]{}"]', name) or not name for name in names)
        return None if strange or len(set(names)) < len(names) else names


def matrix_of(source: Release | Table, categories: Wanted | None = None,
              onehot: bool = False) -> Matrix:
    """Return the features of a release or a table, in the order of its schema.

    `onehot`: one column for each label instead of numbers; it follows from `categories`, if those
    are of such columns.
    """
    table = source.table if isinstance(source, Release) else source
    columns, left_out = _columns(table, source.guarantee.facts if isinstance(source, Release)
                                 else None)
    rows = table.arrow(columns)
    labelled = set(table.schema.of_kind("categorical"))
    groups = {name: _groups(rows[name], name, categories or {})
              for name in columns if name in labelled}
    listed = [group for each in (categories or {}).values() for group in [tuple(map(tuple, each))]]
    if onehot or any(map(is_indicator, listed)):
        columns, groups = _indicators(columns, groups, categories or {})
    data = np.empty((rows.num_rows, len(columns)), np.float64, order="F")
    for place, name in enumerate(columns):
        data[:, place] = (category_numbers(rows[column_of(name, groups[name])], groups[name])
                          if name in groups else to_numbers(rows[name]))
    return Matrix(data, tuple(columns), left_out, groups)


def _indicators(columns: list[str], groups: dict[str, Any],
                wanted: Wanted) -> tuple[list[str], dict[str, Any]]:
    """Return one column for each label in place of each column of labels."""
    listed = {name: tuple(map(tuple, each)) for name, each in wanted.items()}
    names: list[str] = []
    out: dict[str, Any] = {}
    for column in columns:
        known = {name: each for name, each in listed.items()
                 if is_indicator(each) and column_of(name, each) == column}
        if column not in groups:
            names.append(column)
            continue
        fresh = known or {indicator_name(column, label): indicator(label)
                          for label in groups[column]}
        out |= fresh
        names += list(fresh)
    return names, out


def _groups(column: Any, name: str, wanted: Wanted) -> tuple[tuple[str, ...], ...]:
    listed = wanted.get(name, wanted.get(re.sub(r"\s", "_", name)))
    if listed is not None:
        return tuple(tuple(group) for group in listed)
    texts = category_texts(column).unique().drop_null().to_pylist()
    return tuple((text,) for text in sorted(texts))


def _columns(table: Table, facts: Mapping[str, Any] | None) -> tuple[list[str], tuple[str, ...]]:
    """Return the features that are learned from, of a release those that its promise is about."""
    numeric = table.schema.of_kind("numeric", "ordinal")
    labelled = table.schema.of_kind("categorical")
    if facts is not None:
        known = facts.get("categorical")
        labelled = tuple(n for n in labelled if isinstance(known, list) and n in known)
        only = facts.get("predictors")
        numeric = tuple(n for n in numeric if not isinstance(only, list) or n in only)
    kept = [name for name in table.schema.features if name in numeric or name in labelled]
    left_out = tuple(name for name in table.schema.features if name not in kept)
    if not kept:
        raise SchemaError("Mining needs at least one numeric or labelled feature. Got none.")
    if left_out:
        warnings.warn("Left out, because a threshold learner would order their labels, or because "
                      f"the release names other predictors: {', '.join(left_out[:10])}.",
                      UserWarning, stacklevel=4)
    return kept, left_out
