"""What leaves besides codes: relabelled categories and classes, and the records themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import View
from unspoken.disclosure.ground_truth import Truth, Truths
from unspoken.methods.encoding.adversaries.release_adversary import Rows
from unspoken.methods.encoding.code_book import PiecewiseBook
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table

NEEDS_KEY = "its labels were drawn at random: scoring needs the key"


@dataclass(frozen=True)
class LabelColumn:
    """One relabelled column: labels in order, categories in order, and which is which.

    `owner` is the category of every label, the most frequent one where rare ones share a label;
    `label_of` the label of every category. `rows` holds the label of every released record,
    `originals` the category of every record of the original table; `in_order` says that labels are
    numbered as their categories are sorted.
    """

    name: str
    released: str
    labels: tuple[str, ...]
    categories: tuple[str, ...]
    owner: Ints
    label_of: Ints
    rows: Rows
    originals: Rows
    in_order: bool = False

    @cached_property
    def counts(self) -> Ints:
        """Return how many released records carry every label."""
        return np.bincount(self.rows[self.rows >= 0], minlength=len(self.labels))

    @cached_property
    def original_counts(self) -> Ints:
        """Return how many of the original's records every category has."""
        return np.bincount(self.originals[self.originals >= 0], minlength=len(self.categories))

    @property
    def original_shares(self) -> Floats:
        """Return the share of the original's records that every category has."""
        return self.original_counts / max(int(self.original_counts.sum()), 1)


def positions(column: Any, known: tuple[str, ...]) -> Rows:
    """Return where every entry stands in a list of texts, -1 where it is missing or not there."""
    texts = pc.index_in(column.cast(pa.string()), pa.array(list(known), pa.string()))
    return np.asarray(pc.fill_null(texts, -1).to_numpy(zero_copy_only=False), np.int32)


def label_columns(table: Table, release: Release,
                  key: Key | None) -> tuple[list[LabelColumn], dict[str, str]]:
    """Return the relabelled columns, and why others cannot be scored."""
    if key is None:
        unscored = dict.fromkeys(release.schema.of_kind("categorical", "basket"), NEEDS_KEY)
        return _renamed_target(table, release), unscored
    book = PiecewiseBook.from_key(key)
    maps = {name: (str(entry["released"]), dict(entry["labels"]))
            for name, entry in (book.categories or {}).items()}
    out = [_column(table, release, name, *entry) for name, entry in maps.items()]
    return out + _renamed_target(table, release), {}


def _renamed_target(table: Table, release: Release) -> list[LabelColumn]:
    """Return the classes where they carry neutral names, which are numbered in sorted order."""
    name, released = table.schema.target, release.schema.target
    if name is None or released is None or not _is_renamed(table, release):
        return []
    originals = table.engine.distinct(table.frame, name)
    labels = [str(label) for label in release.table.engine.distinct(release.table.frame, released)]
    if len(originals) != len(labels):
        return []
    texts = [_text(table, name, label) for label in originals]
    column = _column(table, release, name, released, dict(zip(texts, labels, strict=True)))
    return [replace(column, in_order=True)]


def _text(table: Table, name: str, label: Any) -> str:
    kind = table.engine.schema(table.frame).field(name).type
    return str(pa.scalar(label, kind).cast(pa.string()).as_py())


def _is_renamed(table: Table, release: Release) -> bool:
    kinds = [side.engine.schema(side.frame).field(side.target).type
             for side in (table, release.table)]
    if not pa.types.is_string(kinds[1]):
        return False
    labels = {str(v) for v in table.engine.distinct(table.frame, table.target)}
    return labels != {str(v) for v in release.table.engine.distinct(release.table.frame,
                                                                    release.table.target)}


def _column(table: Table, release: Release, name: str, released: str,
            labels: dict[str, str]) -> LabelColumn:
    categories, names = tuple(sorted(labels)), tuple(sorted(set(labels.values())))
    place = {label: index for index, label in enumerate(names)}
    label_of = np.array([place[labels[category]] for category in categories], np.int64)
    originals = positions(table.arrow([name])[name], categories)
    return LabelColumn(name, released, names, categories, _owners(label_of, originals, len(names)),
                       label_of, positions(release.table.arrow([released])[released], names),
                       originals)


def _owners(label_of: Ints, originals: Rows, labels: int) -> Ints:
    """Return the most frequent category of every label, the best guess for its records."""
    counts = np.bincount(originals[originals >= 0], minlength=label_of.size)
    owner = np.empty(labels, np.int64)
    rarest_first = np.argsort(counts, kind="stable")
    owner[label_of[rarest_first]] = rarest_first
    return owner


@dataclass(frozen=True)
class Records:
    """Released and original records in the same terms: the number of the code or label."""

    names: tuple[str, ...]
    released: tuple[Rows, ...]
    originals: tuple[Rows, ...]

    @property
    def rows(self) -> int:
        """Return the number of released records."""
        return int(self.released[0].size) if self.released else 0

    def same(self, record: int, person: int) -> bool:
        """Return True if a released record is that of a person, in every column."""
        return all(one[record] == other[person]
                   for one, other in zip(self.released, self.originals, strict=True))

    def find(self, person: int) -> int:
        """Return the first released record equal to that of a person."""
        left = np.arange(self.rows)
        for one, other in zip(self.released, self.originals, strict=True):
            left = left[one[left] == other[person]]
        return int(left[0]) if left.size else 0

    def in_place(self) -> float:
        """Return the share of people whose record stands where it stood in the original."""
        fits = np.ones(self.rows, np.bool_)
        for one, other in zip(self.released, self.originals, strict=True):
            fits &= one == other
        return float(fits.mean())


def records_of(table: Table, release: Release, view: View, truths: Truths,
               labels: list[LabelColumn]) -> Records:
    """Put released and original records beside each other, for scoring."""
    numeric = [truth for truth in truths.columns.values() if truth.values.size]
    released = [_codes(release, view, truth) for truth in numeric]
    originals = [_code_of_rows(truth, table) for truth in numeric]
    return Records(tuple(t.name for t in numeric) + tuple(c.name for c in labels),
                   (*released, *(c.rows for c in labels)),
                   (*originals, *(_labels_of_rows(c) for c in labels)))


def _codes(release: Release, view: View, truth: Truth) -> Rows:
    data = to_numbers(release.table.arrow([truth.released])[truth.released])
    codes = view[truth.released].codes
    place = np.clip(np.searchsorted(codes, data), 0, codes.size - 1).astype(np.int32)
    return np.asarray(np.where(np.isnan(data.astype(np.float64)), -1, place), np.int32)


def _code_of_rows(truth: Truth, table: Table) -> Rows:
    pair = truth.rows(table)
    return np.asarray(np.where(pair >= 0, truth.where[pair], -1), np.int32)


def _labels_of_rows(column: LabelColumn) -> Rows:
    return np.asarray(np.r_[column.label_of, -1][column.originals], np.int32)
