"""Releases as numbers that any learner takes, and that an original record can be put beside.

A number, or a band of numbers, is its middle; a suppressed one is missing. A category, or a set of
categories, is one column per original category: a share of one, or of one over the size of the set.
So a learner is trained on whatever a method publishes and tested on original records.

Trees that are trained on middles and shares cut where no original value lies. `drawn` therefore
gives values in place of ranges and sets: each record draws one of those that it could have had, as
anybody can who reads the public description.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.anonymity.adversaries.released_meaning import (
    Meaning,
    described,
    meaning,
    number_of,
)
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

    def drawn(self, release: Release, rng: np.random.Generator) -> Floats:
        """Return released records with a value drawn out of every range and every set."""
        about, parts = described(release.mechanism), []
        shares = self.released(release)
        start = 0
        for name, known in self.categories.items():
            here = shares[:, start:start + self._width(name)]
            start += self._width(name)
            if known is not None:
                parts.append(_one_of(here, rng))
            elif name in release.schema.names:
                column = release.table.arrow([name])[name]
                parts.append(_inside(meaning(column, about.get(name, {})), here[:, 0], rng))
            else:
                parts.append(here)
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
            for value in held or ("",):
                table[at, place.get(value, len(known))] += 1.0 / max(len(held), 1)
        table[-1] = np.nan
        return np.asarray(table[codes])


def _numbers(values: Coded) -> Floats:
    if not is_number(values.labels.type):
        return np.full(values.missing + 1, np.nan)
    known = np.asarray(to_numbers(values.labels), np.float64)
    # No learner takes infinity; nothing is known of such a value but that it is extreme.
    return np.asarray(np.r_[np.where(np.isfinite(known), known, np.nan), np.nan])


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
    held = (shown.groups.get(str(label), frozenset([str(label)])) for label in shown.found.values())
    return np.array([*map(_mean, held), np.nan])


def _mean(held: frozenset[str]) -> float:
    """Return the mean of the numbers that a label holds; NaN where some are none."""
    try:
        return float(np.mean([number_of(value) for value in held])) if held else float("nan")
    except ValueError:
        return float("nan")


def _one_of(shares: Floats, rng: np.random.Generator) -> Floats:
    """Draw one category a record by its shares; missing stays missing."""
    below = np.cumsum(shares, axis=1)
    chosen = (rng.random((shares.shape[0], 1)) * below[:, -1:] >= below).sum(axis=1)
    out = np.zeros(shares.shape)
    out[np.arange(chosen.size), np.minimum(chosen, shares.shape[1] - 1)] = 1.0
    out[np.isnan(shares).any(axis=1)] = np.nan
    return out


def _inside(shown: Meaning, middle: Floats, rng: np.random.Generator) -> Floats:
    """Draw a number out of every range; whole ones where all ends are."""
    if shown.low is None or shown.high is None:
        return middle[:, None]
    codes = shown.found.codes
    low, high = shown.low[codes], shown.high[codes]
    wide = np.isfinite(low) & np.isfinite(high) & (high > low)
    ends = np.r_[low[wide], high[wide]]
    at = low[wide] + rng.random(int(wide.sum())) * (high[wide] - low[wide])
    if ends.size and np.array_equal(ends, np.rint(ends)):
        room = high[wide] - low[wide] + 1
        at = np.minimum(np.floor(low[wide] + rng.random(room.size) * room), high[wide])
    out = middle.copy()
    out[wide] = at
    return out[:, None]
