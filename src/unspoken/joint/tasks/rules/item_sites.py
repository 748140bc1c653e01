"""Who has which items where the same baskets are split by columns, and what each counts alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Ints, Words
from unspoken.errors import InputError, explain
from unspoken.numerics.packed_bits import bit_counts
from unspoken.table.baskets import Baskets

CHUNK = 1 << 22
"""So many words are put together at a time."""


@dataclass(frozen=True)
class Sites:
    """The public list of who has which items; codes run through the owners in their order."""

    items: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, owned: Mapping[str, Sequence[str]]) -> Sites:
        """Check that every item belongs to one owner."""
        items = {owner: tuple(map(str, names)) for owner, names in owned.items()}
        every = [name for names in items.values() for name in names]
        twice = next((name for i, name in enumerate(every) if name in set(every[:i])), None) \
            if len(set(every)) < len(every) else None
        if twice is not None or not all(items.values()):
            raise InputError(explain("The items of the owners", "such that everybody has some, and "
                                     "nobody those of another", twice or "an owner without any"))
        return cls(items)

    @property
    def names(self) -> tuple[str, ...]:
        """Return all items."""
        return tuple(name for names in self.items.values() for name in names)

    def place(self, owner: str) -> tuple[int, int]:
        """Return the codes that an owner's items have: the first, and the one after the last."""
        owners = list(self.items)
        sizes = [len(names) for names in self.items.values()]
        start = sum(sizes[:owners.index(owner)])
        return start, start + len(self.items[owner])

    def owner_of(self, codes: Ints) -> Ints:
        """Return the place of the owner of each item."""
        ends = np.cumsum([len(names) for names in self.items.values()])
        return np.searchsorted(ends, codes, side="right")


@dataclass(frozen=True)
class Parts:
    """How candidates are made of parts that one owner each can look up.

    sets: for each owner, its parts as tuples of codes; chosen: for each candidate, which of all
    parts (owner after owner) it is made of.
    """

    sets: tuple[tuple[tuple[int, ...], ...], ...]
    chosen: list[list[int]]

    @classmethod
    def of(cls, candidates: Ints, owners: Ints, count: int) -> Parts:
        """Part candidates by the owners of their items."""
        by_owner: list[dict[tuple[int, ...], int]] = [{} for _ in range(count)]
        parted: list[list[tuple[int, int]]] = []
        for codes, whose in zip(candidates.tolist(), owners.tolist(), strict=True):
            mine = []
            for owner in dict.fromkeys(whose):
                part = tuple(c for c, o in zip(codes, whose, strict=True) if o == owner)
                mine.append((owner, by_owner[owner].setdefault(part, len(by_owner[owner]))))
            parted.append(mine)
        first = np.r_[0, np.cumsum([len(parts) for parts in by_owner])]
        return cls(tuple(tuple(parts) for parts in by_owner),
                   [[int(first[owner]) + place for owner, place in mine] for mine in parted])


def columns_of(bitmaps: Words, sets: Sequence[Sequence[int]], start: int) -> Words:
    """Return the bits of an owner's own sets: the AND of the columns of their items."""
    out = np.empty((len(sets), bitmaps.shape[1]), np.uint64)
    for size in {len(one) for one in sets}:
        at = [i for i, one in enumerate(sets) if len(one) == size]
        codes = np.array([sets[i] for i in at], np.int64) - start
        step = max(1, CHUNK // max(size * bitmaps.shape[1], 1))
        for a in range(0, len(at), step):
            out[at[a:a + step]] = np.bitwise_and.reduce(bitmaps[codes[a:a + step]], axis=1)
    return out


def own_counts(bitmaps: Words, candidates: Ints, start: int) -> Ints:
    """Return in how many baskets an owner's own sets are."""
    step = max(1, CHUNK // max(bitmaps.shape[1], 1))
    return np.concatenate([np.zeros(0, np.int64), *(
        bit_counts(columns_of(bitmaps, candidates[a:a + step].tolist(), start))
        for a in range(0, len(candidates), step))])


def together(parts: Sequence[Baskets], sites: Sites) -> Baskets:
    """Return the whole baskets of all owners' parts, in one place."""
    rows = np.concatenate([part.rows for part in parts])
    codes = np.concatenate([part.codes.astype(np.int64) + sites.place(owner)[0]
                            for owner, part in zip(sites.items, parts, strict=True)])
    return Baskets.from_rows(rows, codes, len(parts[0]), sites.names)
