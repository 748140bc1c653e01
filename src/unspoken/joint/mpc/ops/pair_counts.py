"""In how many rows two 0/1 columns of different owners are both 1, for all such pairs at once.

The secure scalar product of vcz2006 section 6.2.2, for every pair of columns by one matrix product
on shares modulo 2^20 (`small_ring`): the holders open the columns less a random matrix, once, and
have shares of the products of that matrix with itself. Counts are then lifted to the ring of 64
bits: the sum of the small shares wraps around as often as comparisons say.
  discloses: nothing; the dealer learns how many columns each owner has and how many rows.
  safe against: all holders but one; never against the dealer together with a holder.
  cost: 3 rounds for each 8,192 rows; 4 bytes a cell from each holder to each other, and from each
    owner that holds no shares; 8 bytes per pair and block from the dealer. For 100,000 rows and 570
    columns of three owners 230 MB each way.
Two holders without a dealer, and SPU, count with shared bits instead: see `bit_counts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np

from unspoken.arrays import Words
from unspoken.joint.mpc.correlated.kinds import Need
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.pair_count_ring import (
    BITS,
    MASK,
    ROWS,
    Cells,
    cell_words,
    cells_of,
    cross_size,
    crosses,
)
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.mpc.words.opening import open_sum
from unspoken.joint.wire.frames import Purpose


def plain_pair_counts(columns: list[Any]) -> Any:
    """Return the reference: owners' columns (rows, width) in one place."""
    return [np.asarray(one).T.astype(np.int64) @ np.asarray(other).astype(np.int64)
            for i, one in enumerate(columns) for other in columns[i + 1:]]


async def pair_counts(party: Party, bitmaps: Words | None, widths: Mapping[str, int],
                      rows: int) -> Shared:
    """Return the counts of all pairs of columns of different owners, in the order of `crosses`.

    `bitmaps`: the own columns as packed bits, one row each; None without columns. `widths`:
    how many columns each owner has, in the order of the owners.
    """
    chunk = ((1 << BITS) - 1) // ROWS * ROWS
    chunks = [await _lifted(party, await _chunk(party, bitmaps, widths, (a, min(rows, a + chunk))))
              for a in range(0, rows, chunk)]
    out = chunks[0]
    for part in chunks[1:]:
        out = out + part
    return out.within(0, rows)


async def _chunk(party: Party, bitmaps: Words | None, widths: Mapping[str, int],
                 span: tuple[int, int]) -> Words:
    """Return small shares of the counts of some rows, block by block."""
    total = np.zeros(cross_size(list(widths.values())), np.uint64)
    for start in range(*span, ROWS):
        stop = min(start + ROWS, span[1])
        own = None if bitmaps is None else _dense(bitmaps, start, stop)
        total += await _block(party, own, widths, stop - start)
    return np.asarray(total & np.uint64(MASK))


def _dense(bitmaps: Words, start: int, stop: int) -> Cells:
    """Return rows of the own columns as cells; blocks begin at whole words."""
    words = np.ascontiguousarray(bitmaps[:, start // 64:-(-stop // 64)]).astype("<u8", copy=False)
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=stop - start, bitorder="little")
    return np.ascontiguousarray(bits.T).astype(np.uint32)


async def _block(party: Party, own: Cells | None, widths: Mapping[str, int], rows: int) -> Words:
    party.begin("pair counts")
    shared = await _shared_cells(party, own, widths, rows)
    groups = list(widths.values())
    drawn = await party.draw([Need("crosses", (rows, *groups))])
    if drawn is None:
        return np.zeros(cross_size(groups), np.uint64)
    mask = cells_of(drawn[0][0], *shared.shape)
    opened = (await open_sum(party, "pairs.open", (shared - mask).ravel().astype(np.uint64),
                             BITS)).astype(np.uint32).reshape(shared.shape)
    # d w + r d + c: the opened matrix d times the mask, and itself at one holder.
    other = mask + opened if party.adds_public else mask
    return drawn[0][1] + crosses(opened, other & MASK, groups) + crosses(mask, opened, groups)


async def _shared_cells(party: Party, own: Cells | None, widths: Mapping[str, int],
                        rows: int) -> Cells:
    """Return this party's share of all owners' cells, side by side; all share at once."""
    parts = await asyncio.gather(*(
        _cells_from(party, own if owner == party.name else None, owner, rows * width)
        for owner, width in widths.items()))
    sides = [part.reshape(rows, width) for part, width in zip(parts, widths.values(),
                                                             strict=True)]
    return np.concatenate(sides, axis=1)


async def _cells_from(party: Party, own: Cells | None, owner: str, count: int) -> Cells:
    """Return this party's share of an owner's cells: as `share`, modulo 2^20."""
    keeper = owner if owner in party.holders else party.holders[-1]
    if party.name == owner and own is not None:
        rest = own.ravel()
        for holder in party.holders:
            if holder not in (keeper, owner):
                rest = rest - _expanded(party, holder, owner, count)
        if keeper == owner:
            return rest & MASK
        await party.send(keeper, "pairs.cells", rest & MASK, Purpose.SHARE)
    elif party.name == keeper:
        return await party.receive(owner, "pairs.cells", "<u4", (count,), Purpose.SHARE)
    elif party.is_holder:
        return _expanded(party, owner, owner, count)
    return np.zeros(count, np.uint32)


def _expanded(party: Party, peer: str, owner: str, count: int) -> Cells:
    words = party.stream_with(peer, f"cells {owner}").words(cell_words(count))
    return cells_of(words, 1, count).ravel()


async def _lifted(party: Party, small: Words) -> Shared:
    """Return small shares as shares of 64 bits: take off 2^20 as often as their sum passes it."""
    holders = max(len(party.holders), 1)
    raw = Shared(party, small, 0, holders * ((1 << BITS) - 1))
    if holders == 1:
        return raw
    tests = concatenate([raw - (t << BITS) for t in range(1, holders)])
    below = await to_numbers(party, await less_than(party, tests, 0))
    wraps = (1 - below).reshape(holders - 1, small.size).sum(axis=0)
    return (raw - wraps * (1 << BITS)).within(0, (1 << BITS) - 1)
