"""Columns that lie with several owners: who has what, and how they come into shares.

  discloses: that all owners have the same number of records (or not), how many, the power of two
    above the greatest magnitude of each column, and, where everybody has the response, whether all
    have the same one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.multi_limb import Wide, join_wide
from unspoken.joint.mpc.ops.choice import maximum
from unspoken.joint.mpc.ops.less_than import equal
from unspoken.joint.mpc.ops.limb_products import wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import share_sum_wide, share_wide
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import concatenate
from unspoken.joint.tasks.regression.fitting import COUNT
from unspoken.joint.tasks.regression.params import RegressionTerms, numbers
from unspoken.joint.tasks.regression.second_moments import (
    GRID,
    LARGEST,
    MOST_RECORDS,
    SIZES,
    Block,
    block_moments,
    exact_moments,
    exact_sums,
    exponents,
    on_grid,
)

ALL, SPLIT = "all", "split"
SAME_ROWS = "whether all owners have the same number of records"
SAME_RESPONSE = "whether all owners have the same response"


@dataclass(frozen=True)
class OwnedColumns:
    """Which owner has which columns, and who has the response: an owner, "all", or "split".

    Split means that every owner has a part of it, and the parts add up to it.

    Attributes
    ----------
    owners : mapping of str to tuple of str
        The columns of each owner, by its name.
    response : str
        The name of the response.
    held : str
        Who has the response: an owner's name, 'all', or 'split'.
    products : tuple of pairs of str, default ()
        Products of two columns that are terms as well.
    """

    owners: Mapping[str, tuple[str, ...]]
    response: str
    held: str
    products: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse an unknown holder of the response, and columns with two owners."""
        if self.held not in (ALL, SPLIT, *self.owners):
            raise InputError(explain("Who has the response",
                                     f"'{ALL}', '{SPLIT}', or of " + ", ".join(self.owners),
                                     self.held))
        if len(self.owners) < 2:
            raise InputError(explain("Columns", "of two owners or more", len(self.owners)))
        for owner, names in self.owners.items():
            if not names and owner != self.held:
                raise InputError(f"'{owner}' must have a column or the response. It has neither.")
        _ = self.terms

    @property
    def terms(self) -> RegressionTerms:
        """Return the terms of the model: columns in the order of owners, then products."""
        return RegressionTerms(
            self.response, tuple(n for names in self.owners.values() for n in names), self.products
        )

    def owner_of(self, name: str) -> str:
        """Return who has a column."""
        return next(owner for owner, names in self.owners.items() if name in names)

    def own(self, owner: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """Return what an owner brings: places, and the columns whose product stands there."""
        features, terms = len(self.terms.features), self.terms
        brought: list[tuple[int, tuple[str, ...]]] = [(terms.place(name), (name,))
                                                      for name in self.owners[owner]]
        brought += [(len(terms.columns) + i, pair) for i, pair in enumerate(self.products)
                    if {self.owner_of(name) for name in pair} == {owner}]
        if owner == self.keeper():
            brought.append((features, (self.response,)))
        return tuple(brought)

    def keeper(self) -> str | None:
        """Return whose response is used; nobody's if it is split."""
        return {ALL: next(iter(self.owners)), SPLIT: None}.get(self.held, self.held)

    def crossing(self) -> list[tuple[int, tuple[str, str]]]:
        """Return the products of columns of different owners, with their places."""
        first = len(self.terms.columns)
        return [(first + i, pair) for i, pair in enumerate(self.products)
                if self.owner_of(pair[0]) != self.owner_of(pair[1])]

    def widths(self) -> dict[str, int]:
        """Return how many columns each owner has in the model."""
        return {owner: len(names) for owner, names in self.owners.items()}

    def needed(self, owner: str) -> tuple[str, ...]:
        """Return the columns that an owner's file must have."""
        has = self.held in (ALL, SPLIT, owner)
        return (*self.owners[owner], *((self.response,) if has else ()))


@dataclass(frozen=True)
class Own:
    """An owner's part: what it brings, its response where all have one or a part of one."""

    table: Floats
    response: Floats


def own_part(columns: OwnedColumns, owner: str, data: Mapping[str, Any]) -> Own:
    """Return an owner's part of the columns; what is missing is refused by name."""
    names = columns.needed(owner)
    values = numbers(data, names)
    at = {name: values[:, i] for i, name in enumerate(names)}
    table = [np.prod([at[name] for name in parts], axis=0) for _, parts in columns.own(owner)]
    if not values.shape[0]:
        raise DataError(f"'{owner}' must have records. It has none.")
    return Own(np.column_stack(table) if table else np.zeros((values.shape[0], 0)),
               at.get(columns.response, np.zeros(0)))


@dataclass(frozen=True)
class Given:
    """An owner's columns by name."""

    columns: Mapping[str, Any]

    def take_rows(self, places: Ints) -> Given:
        """Return the columns with some of their records."""
        return Given({name: np.asarray(c)[places] for name, c in self.columns.items()})


def checked_part(columns: OwnedColumns, owner: str, data: Given | None) -> Own | None:
    """Return an owner's part, checked before anything is sent; None if it owns no columns."""
    if owner not in columns.owners:
        return None
    if data is None:
        raise DataError(explain(f"'{owner}'", "given its columns", None))
    return own_part(columns, owner, data.columns)


async def agree_rows(party: Party, owners: Sequence[str], own: Own | None,
                     because: str = COUNT) -> int:
    """Open whether all owners have as many records, refuse if not, and open how many."""
    counts = concatenate([
        await share(party, None if own is None or party.name != owner else
                    np.array([own.table.shape[0]]), owner, (1,), 0, MOST_RECORDS)
        for owner in owners])
    first = concatenate([counts[:1]] * len(owners))
    same = (await to_numbers(party, await equal(party, counts, first))).sum()
    if not bool(await reveal(party, await equal(party, same, len(owners)), because=SAME_ROWS)):
        raise RefusedError("All owners must have the same records in the same order. They have "
                           "different numbers of records. Align them by an id first. Every party "
                           "learned this.")
    return int((await reveal(party, counts[:1], because=because))[0])


async def agree_response(party: Party, owners: Sequence[str], own: Own | None) -> None:
    """Refuse if the owners' responses differ; that one bit is opened. Against mistakes only."""
    marks = concatenate([
        await share(party, None if own is None or party.name != owner else _mark(own.response),
                    owner, (1,), 0, 1 << 60) for owner in owners])
    first = concatenate([marks[:1]] * len(owners))
    same = (await to_numbers(party, await equal(party, marks, first))).sum()
    if not bool(await reveal(party, await equal(party, same, len(owners)), because=SAME_RESPONSE)):
        raise RefusedError("All owners must have the same response. They have different ones. Say "
                           "who has it, or align the records. Every party learned this.")


def _mark(values: Floats) -> Ints:
    """Return a number below 2^60 that another column, or another order, hardly has."""
    bits = np.ascontiguousarray(values + 0.0, np.float64).view(np.uint64)
    weights = np.arange(1, values.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (bits ^ (bits >> np.uint64(29))) * (weights | np.uint64(1))
    return np.array([int(mixed.sum(dtype=np.uint64) >> np.uint64(4))], np.int64)


async def agree_sizes(party: Party, columns: OwnedColumns, own: Own | None, because: str = SIZES,
                      others: Mapping[str, Ints | None] | None = None) -> Ints:
    """Open the exponents of all columns, and return them in the order of the model.

    `others`: owners that have all columns of further records; one knows its own exponents.
    """
    parts, places = [], []
    for owner in columns.owners:
        mine = None if own is None or party.name != owner else _sizes(columns, own)
        brought = [place for place, _ in columns.own(owner)]
        places += brought + ([-1] if columns.held == SPLIT else [])
        count = len(brought) + (columns.held == SPLIT)
        parts.append(await share(party, mine, owner, (count,), -LARGEST, LARGEST))
    at, greatest = np.array(places), concatenate(parts)
    for owner, sizes in (others or {}).items():
        more = await share(party, None if sizes is None else sizes[at], owner, at.shape, -LARGEST,
                           LARGEST)
        greatest = await maximum(party, greatest, more)
    opened = np.asarray(await reveal(party, greatest, because=because), np.int64)
    out = np.zeros(len(columns.terms.features) + 1, np.int64)
    out[at[at >= 0]] = opened[at >= 0]
    if columns.held == SPLIT:
        out[-1] = opened[at < 0].max() + ceil(log2(len(columns.owners)))
    for place, pair in columns.crossing():
        out[place] = sum(out[columns.terms.place(name)] for name in pair)
    return out


def _sizes(columns: OwnedColumns, own: Own) -> Ints:
    if columns.held != SPLIT:
        return exponents(own.table)
    return exponents(np.column_stack([own.table, own.response]))


async def column_moments(party: Party, columns: OwnedColumns, own: Own | None, sizes: Ints,
                         rows: int) -> tuple[Wide, list[Block]]:
    """Return the moments of all columns, and the columns themselves, on shares."""
    blocks, local = await shared_blocks(party, columns, own, sizes, rows)
    return await block_moments(party, blocks, local, sizes.size, rows), blocks


async def shared_blocks(party: Party, columns: OwnedColumns, own: Own | None, sizes: Ints,
                        rows: int) -> tuple[list[Block], Any]:
    """Return all columns on shares, and an owner's moments of its own ones."""
    blocks, local = [], None
    size = len(columns.terms.features) + 1
    for owner in columns.owners:
        places = tuple(place for place, _ in columns.own(owner))
        mine = None
        if own is not None and party.name == owner:
            points = on_grid(own.table, sizes[list(places)])
            mine = np.ldexp(points.astype(np.float64), -GRID)
            local = local_moments(points, places, size)
        if places:
            values = await share_wide(party, mine, owner, (rows, len(places)), 1.0, GRID)
            blocks.append(Block(places, values, owner))
    return blocks + await _nobodys(party, columns, own, sizes, blocks), local


def local_moments(points: Ints, places: Sequence[int], size: int) -> Any:
    """Return an owner's moments of its own columns, exactly, in units of 2^-94."""
    out = np.zeros((size + 1, size + 1), object)
    at = [place + 1 for place in places]
    out[np.ix_(at, at)] = exact_moments(points)
    out[0, at] = out[at, 0] = exact_sums(points) * (1 << GRID)
    return out


async def _nobodys(party: Party, columns: OwnedColumns, own: Own | None, sizes: Ints,
                   blocks: Sequence[Block]) -> list[Block]:
    """Return products of columns of different owners, and a response that is split."""
    joint, rows = [], blocks[0].values.shape[0]
    crossing = columns.crossing()
    if crossing:
        one, other = (join_wide([_column(blocks, columns.terms.place(pair[i]))
                                 for _, pair in crossing], 1) for i in (0, 1))
        values = (await wide_multiply(party, one, other, GRID)).within(1)
        joint.append(Block(tuple(place for place, _ in crossing), values, None))
    if columns.held == SPLIT:
        # Who has no part of these records adds nothing to their response.
        part = np.zeros((rows, 1)) if own is None else own.response[:, None]
        mine = np.ldexp(on_grid(part, sizes[-1:]).astype(np.float64), -GRID)
        values = await share_sum_wide(party, mine, (rows, 1), 1.0, GRID)
        joint.append(Block((sizes.size - 1,), values.within(1), None))
    return joint


def _column(blocks: Sequence[Block], place: int) -> Wide:
    block = next(block for block in blocks if place in block.places)
    at = block.places.index(place)
    return block.values[:, at:at + 1]
