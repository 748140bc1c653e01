"""Baskets: many small sets of items, as market baskets are (vcz2006 chapter 6).

Stored as rows of a sparse matrix: `codes[offsets[i]:offsets[i + 1]]` are the items of basket i, in
increasing order and each once. An empty basket is a basket: somebody who bought nothing, or whose
items all went in a randomisation. `items` names every item that could have been bought, whether it
was or not: supports and privacy depend on it, so it is public knowledge, never read off a release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Ints, Words
from unspoken.errors import DataError, InputError, UnseenValueError, explain
from unspoken.numerics.packed_bits import packed
from unspoken.table.write_baskets import write_baskets

Codes = npt.NDArray[np.int32]

MAX_ITEMS = 1 << 24
"""So many distinct items at most."""


@dataclass(frozen=True, eq=False)
class Baskets:
    """Sets of items; build them with `Baskets.of` or `unspoken.read_baskets`.

    Attributes
    ----------
    offsets : array of int
        Where each basket starts in `codes`, one more than there are baskets.
    codes : array of int
        Positions in `items`, increasing inside each basket.
    items : tuple of str
        The names of all items.

    Examples
    --------
    >>> Baskets.of([["beer", "bread"], ["bread"]]).sizes.tolist()
    [2, 1]
    """

    offsets: Ints
    codes: Codes
    items: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse arrays that are no baskets."""
        object.__setattr__(self, "offsets", _whole("offsets", self.offsets, np.int64))
        object.__setattr__(self, "codes", _whole("codes", self.codes, np.int32))
        object.__setattr__(self, "items", tuple(self.items))
        _check_items(self.items)
        _check_offsets(self.offsets, self.codes)
        _check_codes(self)

    @classmethod
    def of(cls, lists: Iterable[Iterable[Any]], items: Sequence[Any] | None = None,
           repeats: str = "refuse") -> Baskets:
        """Build baskets from lists of item names.

        `items` names all possible items; one that is not among them raises UnseenValueError.
        Without it they are those that occur, in order (numbers by size). An item twice in one
        basket is an error; `repeats="drop"` keeps it once.
        """
        baskets = [[str(name) for name in basket] for basket in lists]
        sizes = np.fromiter((len(basket) for basket in baskets), np.int64, len(baskets))
        flat = [name for basket in baskets for name in basket]
        names = in_order(flat) if items is None else tuple(str(name) for name in items)
        place = {name: code for code, name in enumerate(names)}
        codes = np.fromiter((place.get(name, -1) for name in flat), np.int64, len(flat))
        if codes.size and codes.min() < 0:
            raise UnseenValueError(explain("An item", f"one of the {len(names)} items", flat[
                int(np.argmin(codes))], "Name it in 'items', or leave it out of the basket."))
        return cls.from_rows(np.repeat(np.arange(sizes.size), sizes), codes, sizes.size, names,
                             repeats)

    @classmethod
    def from_rows(cls, rows: npt.NDArray[Any], codes: npt.NDArray[Any], count: int,
                  items: Sequence[str], repeats: str = "refuse") -> Baskets:
        """Build `count` baskets from pairs (basket, item code) in any order."""
        if repeats not in ("refuse", "drop"):
            raise InputError(explain("'repeats'", "'refuse' or 'drop'", repeats))
        pairs = np.asarray(rows, np.int64) * max(len(items), 1) + np.asarray(codes, np.int64)
        if pairs.size > 1 and not np.all(pairs[1:] > pairs[:-1]):
            pairs = np.sort(pairs)
            again = pairs[1:] == pairs[:-1]
            if again.any():
                _refuse_repeats(int(pairs[1:][again][0]), items, repeats)
                pairs = pairs[np.r_[True, ~again]]
        row, code = np.divmod(pairs, max(len(items), 1))
        offsets = np.r_[0, np.cumsum(np.bincount(row, minlength=count))]
        return cls(offsets, code.astype(np.int32), tuple(items))

    def __len__(self) -> int:
        return int(self.offsets.size - 1)

    def __repr__(self) -> str:
        return (f"Baskets: {len(self):,} of {len(self.items):,} items, "
                f"{self.codes.size / max(len(self), 1):.4g} in each on average")

    def __iter__(self) -> Iterator[Codes]:
        """Yield the codes of every basket."""
        return (self.codes[a:b] for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True))

    @cached_property
    def sizes(self) -> Ints:
        """Return how many items each basket holds."""
        return np.diff(self.offsets)

    @cached_property
    def rows(self) -> Ints:
        """Return the basket of every entry of `codes`."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def lists(self) -> list[list[str]]:
        """Return every basket as a list of names."""
        names = [self.items[code] for code in self.codes.tolist()]
        ends = self.offsets.tolist()
        return [names[a:b] for a, b in pairwise(ends)]

    def frequencies(self) -> Ints:
        """Return in how many baskets each item occurs."""
        return np.bincount(self.codes, minlength=len(self.items))

    @cached_property
    def columns(self) -> tuple[Ints, Codes]:
        """Return the same by item: where each item starts, and its baskets in order."""
        narrow = self.codes.astype(np.uint16) if len(self.items) <= 1 << 16 else self.codes
        order = np.argsort(narrow, kind="stable")
        return np.r_[0, np.cumsum(self.frequencies())], self.rows[order].astype(np.int32)

    def bitmaps(self, codes: npt.ArrayLike | None = None) -> Words:
        """Return one row of packed bits for each item (or each of `codes`): bit i is basket i."""
        wanted = np.arange(len(self.items)) if codes is None else np.asarray(codes, np.int64)
        starts, rows = self.columns
        return packed(starts, rows, wanted, len(self))

    def take(self, rows: npt.ArrayLike | slice) -> Baskets:
        """Return some baskets, in the order given (numbers, a mask or a slice)."""
        chosen = np.arange(len(self))[rows] if isinstance(rows, slice) else np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        chosen = np.arange(len(self))[chosen]
        sizes = self.sizes[chosen]
        offsets = np.r_[0, np.cumsum(sizes)]
        where = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return Baskets(offsets, self.codes[where], self.items)

    def code_of(self, *names: Any) -> tuple[int, ...]:
        """Return the codes of item names; an unknown one raises UnseenValueError."""
        for name in names:
            if str(name) not in self._places:
                raise UnseenValueError(explain("An item", f"one of the {len(self.items)} items",
                                               str(name), "See '.items'."))
        return tuple(self._places[str(name)] for name in names)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.items)}

    def same_as(self, other: object) -> bool:
        """Return True if the other are the same baskets of the same items in the same order."""
        return (isinstance(other, Baskets) and self.items == other.items
                and np.array_equal(self.offsets, other.offsets)
                and np.array_equal(self.codes, other.codes))

    def summary(self) -> str:
        """Return sizes and the commonest items in a few lines."""
        quartiles = np.quantile(self.sizes, [0, 0.25, 0.5, 0.75, 1]) if len(self) else np.zeros(5)
        counts = self.frequencies()
        top = np.argsort(-counts, kind="stable")[:5].tolist()
        common = ", ".join(f"{self.items[i]} {counts[i] / max(len(self), 1):.1%}" for i in top)
        shown = ", ".join(f"{q:g}" for q in quartiles)
        return f"{self!r}\nsizes (least, quartiles, most): {shown}\ncommonest: {common}"

    def save(self, path: Any) -> None:
        """Write a FIMI `.dat`, comma-separated `.csv` (both also `.gz`) or `.parquet` file."""
        write_baskets(self, path)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct names in order: numbers by size where all are, else as text."""
    distinct = set(names)
    if all(name.isascii() and name.isdigit() and len(name) < 19 for name in distinct):
        return tuple(sorted(distinct, key=lambda name: (int(name), name)))
    return tuple(sorted(distinct))


def _whole(name: str, values: Any, kind: Any) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(explain(f"'{name}' of baskets", "a list of whole numbers",
                                f"{array.dtype} of shape {array.shape}"))
    return np.ascontiguousarray(array, kind)


def _check_items(items: tuple[Any, ...]) -> None:
    if len(items) > MAX_ITEMS:
        raise DataError(explain("'items'", f"at most {MAX_ITEMS}", len(items)))
    strange = next((name for name in items if not isinstance(name, str)), None)
    if strange is not None:
        raise DataError(explain("'items'", "texts", strange))
    if len(set(items)) != len(items):
        seen: set[str] = set()
        twice = next(name for name in items if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f"'items' holds '{twice}' twice. Names of items must be distinct.")


def _check_offsets(offsets: Ints, codes: Codes) -> None:
    if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != codes.size \
            or np.any(np.diff(offsets) < 0):
        raise DataError(explain("'offsets' of baskets", "increasing from 0 to the number of codes "
                                f"({codes.size})", str(offsets[:5])))


def _check_codes(baskets: Baskets) -> None:
    codes, size = baskets.codes, len(baskets.items)
    if codes.size and (codes.min() < 0 or codes.max() >= size):
        bad = int(codes[(codes < 0) | (codes >= size)][0])
        raise UnseenValueError(explain("The code of an item", f"from 0 to {size - 1}", bad))
    falls = np.diff(codes) <= 0
    starts = baskets.offsets[1:-1]
    falls[starts[(starts > 0) & (starts < codes.size)] - 1] = False
    if falls.any():
        place = int(np.argmax(falls))
        row = int(np.searchsorted(baskets.offsets, place, side="right") - 1)
        raise DataError(explain(f"Codes of basket {row + 1}", "increasing, each once",
                                str(codes[place:place + 2].tolist()), "Use Baskets.of."))


def _refuse_repeats(pair: int, items: Sequence[str], repeats: str) -> None:
    if repeats == "refuse":
        row, code = divmod(pair, max(len(items), 1))
        raise DataError(f"Basket {row + 1} holds '{items[code]}' twice. Use repeats='drop' to keep "
                        "each item once.")
