"""Releases as numbers that any learner takes, and that an original record can be put beside.

A number, or a band of numbers, is its middle; a suppressed one is missing. A category, or a set of
categories, is one column per original category: a share of one, or of one over the size of the set.
So a learner is trained on whatever a method publishes and tested on original records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.anonymity.adversaries.table_adversary import Meaning, described, meaning
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

MOST_VALUES = 60
"""Categories of more values are counted among the commonest, and one for the rest."""


@dataclass(frozen=True)
class Features:
    """How the columns of an original become numbers: None for a number, else its categories."""

    categories: Mapping[str, tuple[str, ...] | None]

    @classmethod
    def of(cls, original: Table, names: Sequence[str]) -> Features:
        """Read the columns of an original."""
        kinds: dict[str, tuple[str, ...] | None] = {}
        for name in names:
            column = coded(original.arrow([name])[name])
            counts = np.bincount(column.codes, minlength=column.missing + 1)[:column.missing]
            often = np.argsort(-counts, kind="stable")[:MOST_VALUES]
            values = column.values()
            kinds[name] = None if is_number(column.labels.type) else tuple(
                str(values[at]) for at in sorted(often.tolist()))
        return cls(kinds)

    def original(self, table: Table) -> Floats:
        """Return the features of original records."""
        return np.column_stack([self._plain(name, table.arrow([name])[name])
                                for name in self.categories])

    def released(self, release: Release) -> Floats:
        """Return the features of released records; a column that is not there is missing."""
        about, parts = described(release.mechanism), []
        for name in self.categories:
            if name not in release.schema.names:
                parts.append(np.full((release.table.rows, self._width(name)), np.nan))
                continue
            column = release.table.arrow([name])[name]
            parts.append(self._shown(name, meaning(column, about.get(name, {})),
                                     about.get(name, {}).get("form")))
        return np.column_stack(parts)

    def _width(self, name: str) -> int:
        known = self.categories[name]
        return 1 if known is None else len(known) + 1

    def _plain(self, name: str, column: Any) -> Floats:
        values = coded(column)
        known = self.categories[name]
        if known is None:
            return _numbers(values)[values.codes][:, None]
        place = {value: at for at, value in enumerate(known)}
        table = np.zeros((values.missing + 1, len(known) + 1))
        for at, value in enumerate(values.values()):
            table[at, place.get(str(value), len(known))] = 1.0
        return np.asarray(table[values.codes])

    def _shown(self, name: str, shown: Meaning, form: Any) -> Floats:
        known, codes = self.categories[name], shown.found.codes
        if known is None:
            return _middles(shown, form)[codes][:, None]
        place = {value: at for at, value in enumerate(known)}
        table = np.zeros((shown.found.missing + 1, len(known) + 1))
        for at, label in enumerate(shown.found.values()):
            held = (shown.groups or {}).get(str(label), frozenset([str(label)]))
            for value in held:
                table[at, place.get(value, len(known))] += 1.0 / len(held)
        table[-1] = np.nan
        return np.asarray(table[codes])


def _numbers(values: Coded) -> Floats:
    if not is_number(values.labels.type):
        return np.full(values.missing + 1, np.nan)
    return np.asarray(np.r_[np.asarray(to_numbers(values.labels), np.float64), np.nan])


def _middles(shown: Meaning, form: Any) -> Floats:
    """Return the number that every label stands for; NaN where it could be any."""
    if is_number(shown.found.labels.type) and form != "suppressed":
        return _numbers(shown.found)
    if shown.low is not None and shown.high is not None:
        with np.errstate(invalid="ignore"):
            middle = (shown.low + shown.high) / 2
        return np.where(np.isfinite(middle), middle, np.nan)
    if shown.groups is None:
        return np.full(shown.found.missing + 1, np.nan)
    means = [np.mean([float(v) for v in shown.groups.get(str(label), frozenset([str(label)]))])
             if _all_numbers(shown.groups.get(str(label), frozenset([str(label)]))) else np.nan
             for label in shown.found.values()]
    return np.array([*means, np.nan])


def _all_numbers(held: frozenset[str]) -> bool:
    try:
        return bool([float(value) for value in held])
    except ValueError:
        return False
