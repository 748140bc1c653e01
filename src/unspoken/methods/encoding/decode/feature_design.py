"""The features of a mined model: which released columns it has, in which order, and as what.

A model may have been mined from some of the released columns, in any order. Numbers go through the
code book. Categories are numbered by the miner in the order of their released labels, and the
original's are numbered in the same way; so a split on them, threshold or set, is the original's as
it stands, and what has to be put back are the names behind the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError, InputError
from unspoken.methods.encoding.code_book import ColumnCode, PiecewiseBook
from unspoken.methods.encoding.decode.code_ranks import Places, place_of
from unspoken.methods.encoding.target_units import TargetUnits
from unspoken.models.category_groups import (
    Groups,
    category_numbers,
    column_of,
    indicator,
    indicator_name,
    is_indicator,
)
from unspoken.models.named_columns import named, numbers_of

GENERIC = re.compile(r"(x|f|Column_)[0-9]+")


@dataclass(frozen=True)
class Feature:
    """One input of a model: a column of the code book, or categories and their numbers."""

    original: str
    released: str
    place: int = -1
    groups: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, repr=False)
class Design:
    """A code book as a model sees it: its own features in its own order."""

    book: PiecewiseBook
    parts: tuple[Feature, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """Return the original names."""
        return tuple(part.original for part in self.parts)

    @property
    def released_features(self) -> tuple[str, ...]:
        """Return the released names."""
        return tuple(part.released for part in self.parts)

    @property
    def classes(self) -> Mapping[Any, Any] | None:
        """Return released label to original label, or None if labels were kept."""
        return self.book.classes

    @property
    def units(self) -> TargetUnits | None:
        """Return the secret units of a numeric target."""
        return self.book.units

    @property
    def increasing(self) -> bool:
        """Return True if larger originals have larger codes."""
        return self.book.increasing

    @property
    def float64_values(self) -> bool:
        """Return True if the values are the originals to the last bit, none of them merged."""
        return self.book.float64_values

    @property
    def categorical(self) -> tuple[bool, ...]:
        """Return which features are categories."""
        return tuple(part.place < 0 for part in self.parts)

    def column(self, index: int) -> tuple[Floats, Ints]:
        """Return distinct values and codes of one feature; categories keep their numbers."""
        part = self.parts[index]
        if part.place >= 0:
            return self.book.column(part.place)
        numbers = np.arange(len(part.groups))
        return numbers.astype(np.float64), numbers

    def encode(self, data: Floats) -> Floats:
        """Return the codes of training records in their original order."""
        out = np.empty(data.shape, np.float64, order="F")
        for index, part in enumerate(self.parts):
            if part.place < 0:
                out[:, index] = data[:, index]
                continue
            codes, missing = self.book.columns[part.place].encode(data[:, index])
            out[:, index] = codes
            if missing is not None:
                out[missing, index] = np.nan
        return out

    def places(self, data: Floats) -> Places | None:
        """Return where each value stands in its code table; None if records draw their codes."""
        columns = [None if part.place < 0 else self.book.columns[part.place]
                   for part in self.parts]
        if any(column is not None and column.record.any() for column in columns):
            return None
        out = np.empty(data.shape, np.int32, order="F")
        for index, column in enumerate(columns):
            if column is None:
                out[:, index] = np.where(np.isnan(data[:, index]), -1, data[:, index])
                continue
            out[:, index], strange = place_of(data[:, index], column.values)
            if strange is not None:
                out[:, index] = _rounded_places(column, data[:, index])
        return out

    def order(self, rows: int) -> Ints | None:
        """Return the original row of each released row."""
        return self.book.order(rows)

    def numbers(self, data: Any) -> Floats | None:
        """Return original records as numbers, one column per feature; None stays None."""
        if data is None:
            return None
        found = named(data, [column_of(part.original, part.groups) for part in self.parts])
        if found is None:
            return self._array(data)
        columns = [self._number(part, found) for part in self.parts]
        return np.column_stack(columns) if columns else np.zeros((0, 0))

    def _array(self, data: Any) -> Floats:
        if any(self.categorical):
            raise InputError("The model has columns of categories, so the training data must come "
                             "with names. Pass a Table or a data frame.")
        values = np.asarray(data, np.float64)
        if values.ndim != 2 or values.shape[1] not in (len(self.parts), len(self.book.columns)):
            raise InputError(f"The training data must have the shape (rows, {len(self.parts)}). "
                             f"Got {values.shape}.")
        if values.shape[1] != len(self.parts):
            values = values[:, [part.place for part in self.parts]]
        return np.column_stack([_rounded(self.book.columns[part.place], values[:, index])
                                for index, part in enumerate(self.parts)])

    def _number(self, part: Feature, columns: Mapping[str, Any]) -> Floats:
        name = column_of(part.original, part.groups)
        if name not in columns:
            raise InputError(f"The training data must have the column '{name}', which the model "
                             "was mined from.")
        column = columns[name]
        if part.place < 0:
            return category_numbers(column, part.groups)
        return _rounded(self.book.columns[part.place], numbers_of(part.original, column))

    def groups(self, names: Sequence[str]) -> Groups:
        """Return the categories behind the numbers, by the names of the decoded model."""
        return {name: part.groups for name, part in zip(names, self.parts, strict=True)
                if part.place < 0}


def _rounded(column: ColumnCode, data: Floats) -> Floats:
    """Return values as they were encoded; most are levels already, and a hash finds those."""
    if not column.floor.size:
        return column.rounded(data)
    places, _ = place_of(data, column.values)
    out = np.append(column.values, np.nan)[places]
    rest = np.flatnonzero((places < 0) & ~np.isnan(data))
    out[rest] = column.rounded(data[rest])
    return out


def _rounded_places(column: ColumnCode, data: Floats) -> Places:
    """Return the places of values that are still to be rounded; refuse those nobody encoded."""
    places, strange = place_of(_rounded(column, data), column.values)
    if strange is not None:
        column.encode(data)
    return places


Lists = Mapping[str, Sequence[str]]
"""Released labels in the order in which a model numbers them, by its name of the column."""


def design_of(book: PiecewiseBook, names: Sequence[str] | None, width: int,
              lists: Lists | None = None) -> Design:
    """Return the design of a model from its names, or from how many features it has."""
    everything = [_feature(book, name) for name in book.everything]
    if names and not all(GENERIC.fullmatch(name) for name in names):
        known = {part.released: part for part in everything}
        known |= {written(part.released): part for part in everything}
        if not known.keys() >= set(names):
            known = {part.released: part for part in _indicators(book)} | known
        parts = tuple(_named(known, name) for name in names)
    else:
        parts = _by_width(everything, width)
    labelled = [_listed(book, part, name, lists or {})
                for part, name in zip(parts, names or [p.released for p in parts], strict=True)]
    return Design(book, tuple(labelled))


def written(name: str) -> str:
    """Return a name as LightGBM writes it: blanks would end a name in its text."""
    return re.sub(r"\s", "_", name)


def _feature(book: PiecewiseBook, name: str) -> Feature:
    if name in book.features:
        place = book.features.index(name)
        return Feature(name, book.columns[place].released, place)
    released = str((book.categories or {})[name]["released"])
    return Feature(name, released, -1, tuple(book.groups(name).values()))


def _indicators(book: PiecewiseBook) -> list[Feature]:
    """Return the columns that say whether a record has one label, of every column of labels."""
    return [Feature(indicator_name(name, group), indicator_name(str(entry["released"]), (label,)),
                    -1, indicator(group))
            for name, entry in (book.categories or {}).items()
            for label, group in book.groups(name).items()]


def _named(known: Mapping[str, Feature], name: str) -> Feature:
    if name not in known:
        raise DecodeError("The model's feature names are not those of the release: "
                          f"'{name[:60]}' is not one of them. Is this the key of another release?")
    return known[name]


def _by_width(everything: Sequence[Feature], width: int) -> tuple[Feature, ...]:
    numeric = [part for part in everything if part.place >= 0]
    for parts in (everything, numeric):
        if len(parts) == width:
            return tuple(parts)
    raise DecodeError(f"The model has {width} features without names, and the release has "
                      f"{len(everything)}, {len(numeric)} of them numbers. Fit on a data frame, so "
                      "that the model names its columns. Or is this the key of another release?")


def _listed(book: PiecewiseBook, part: Feature, name: str, lists: Lists) -> Feature:
    """Number categories as the model does, where it says how."""
    if part.place >= 0 or name not in lists or is_indicator(part.groups):
        return part
    groups = book.groups(part.original)
    strange = next((label for label in lists[name] if label not in groups), None)
    if strange is not None:
        raise DecodeError(f"The model's column '{name[:60]}' has the label '{strange[:60]}', which "
                          "the release does not have. Is this the key of another release?")
    return Feature(part.original, part.released, -1, tuple(groups[label] for label in lists[name]))
