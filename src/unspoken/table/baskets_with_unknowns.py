"""Baskets of which some cells are unknown: an item may be in a basket or not, and it does not say.

Saygin, Verykios and Clifton (named in vcz2006 section 6.3) hide rules by writing "unknown" instead
of a lie. Supports and confidences are then intervals: their extremes over all ways to fill in the
unknown cells. The bounds of `confidence` are exact, not only the quotient of two bounds: a basket
whose left side is unknown cannot count for the left and not for the right if the right is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.errors import DataError, explain
from unspoken.numerics.packed_bits import bit_counts
from unspoken.table.baskets import Baskets
from unspoken.table.rule_text import Sides

UNKNOWN = "unknown"
COLUMN = "basket"


@dataclass(frozen=True, eq=False)
class PartlyKnown:
    """What is surely in each basket, and what may be; both over the same baskets and items."""

    sure: Baskets
    unknown: Baskets

    def __post_init__(self) -> None:
        """Refuse two parts that do not fit together."""
        if self.sure.items != self.unknown.items or len(self.sure) != len(self.unknown):
            raise DataError(explain("The unknown part", "of the same baskets and items",
                                    f"{self.unknown!r} beside {self.sure!r}"))
        width = max(len(self.sure.items), 1)
        known, open_ = (part.rows * width + part.codes for part in (self.sure, self.unknown))
        both = np.intersect1d(known, open_, assume_unique=True) if open_.size else open_
        if both.size:
            raise DataError(f"Item '{self.sure.items[int(both[0]) % width]}' is both known and "
                            f"unknown in basket {int(both[0]) // width}.")

    @classmethod
    def of(cls, baskets: Baskets) -> PartlyKnown:
        """Return baskets of which everything is known."""
        none = Baskets(np.zeros(len(baskets) + 1, np.int64), np.zeros(0, np.int32), baskets.items)
        return cls(baskets, none)

    def __len__(self) -> int:
        return len(self.sure)

    def __repr__(self) -> str:
        return f"{self.sure!r}, {self.unknown.codes.size:,} cells unknown"

    def filled(self) -> Baskets:
        """Return the baskets as if every unknown cell were there."""
        rows = np.concatenate([self.sure.rows, self.unknown.rows])
        codes = np.concatenate([self.sure.codes, self.unknown.codes])
        return Baskets.from_rows(rows, codes, len(self), self.sure.items)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a Parquet file of two lists of names a row: the sure items and the unknown."""
        import pyarrow as pa

        from unspoken.table.formats.file_formats import write_rows
        from unspoken.table.write_baskets import arrow_lists

        check_ending(path)
        write_rows(pa.table({COLUMN: arrow_lists(self.sure, names=True),
                             UNKNOWN: arrow_lists(self.unknown, names=True)}), path)


def check_ending(path: str | PathLike[str]) -> None:
    """Refuse a file name that partly known baskets cannot be written to."""
    from unspoken.table.formats.file_formats import format_of

    kind = format_of(path)
    if kind.text or kind.write is None:
        raise DataError(explain(f"The ending of '{Path(path).name}'", ".parquet for baskets with "
                                "unknown items", Path(path).suffix or "none"))


def has_unknown(path: str | PathLike[str]) -> bool:
    """Return True if a file was written by `PartlyKnown.save`."""
    from unspoken.table.engines.local import LocalEngine
    from unspoken.table.formats.file_formats import existing_file, format_of, open_file
    from unspoken.table.formats.read_options import ReadOptions

    kind = format_of(existing_file(path))
    if kind.text or kind.write is None:
        return False
    engine = LocalEngine()
    frame = open_file(path, ReadOptions(), engine).frame
    return set(engine.schema(frame).names) == {COLUMN, UNKNOWN}


def read_partly_known(path: str | PathLike[str], items: Any = None) -> PartlyKnown:
    """Read what `PartlyKnown.save` wrote; `items` names all possible items, as in read_baskets."""
    from unspoken.table.basket_files import known_items, read_baskets
    from unspoken.table.baskets import in_order

    sure, unknown = (read_baskets(path, item=name) for name in (COLUMN, UNKNOWN))
    names = in_order((*sure.items, *unknown.items)) if items is None else items
    return PartlyKnown(known_items(sure, names), known_items(unknown, names))


class Bounds:
    """Bounds of counts and of confidences over all ways to fill in unknown cells."""

    def __init__(self, baskets: PartlyKnown) -> None:
        self._baskets = baskets
        self._bits: dict[int, tuple[Words, Words]] = {}

    def count(self, codes: tuple[int, ...]) -> tuple[int, int]:
        """Return in how many baskets a set surely is, and in how many it may be."""
        sure, may = self._all(codes)
        return int(bit_counts(sure)), int(bit_counts(may))

    def confidence(self, rule: Sides) -> tuple[float, float]:
        """Return the least and the most confidence of a rule; nothing out of nothing is 0."""
        left, right = rule
        sure, may = self._all(left + right)
        over, under = int(bit_counts(may)), int(bit_counts(may | self._all(left)[0]))
        return int(bit_counts(sure)) / max(self.against(rule), 1), over / max(under, 1)

    def against(self, rule: Sides) -> int:
        """Return how many baskets count for the left side where confidence is least.

        An itemset, which has no right side, is sure of itself.
        """
        left, right = rule
        sure, may = self._all(left)
        if not right:
            return int(bit_counts(sure))
        return int(bit_counts(may & ~(self._all(right)[0] & ~sure)))

    def _all(self, codes: tuple[int, ...]) -> tuple[Words, Words]:
        """Return the bits of the baskets that surely hold all of these items, and that may."""
        sure, may = zip(*(self._one(code) for code in codes), strict=True)
        return np.bitwise_and.reduce(sure), np.bitwise_and.reduce(may)

    def _one(self, code: int) -> tuple[Words, Words]:
        if code not in self._bits:
            sure, unknown = (part.bitmaps([code])[0]
                             for part in (self._baskets.sure, self._baskets.unknown))
            self._bits[code] = (sure, sure | unknown)
        return self._bits[code]
