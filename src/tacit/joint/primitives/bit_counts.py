"""How many rows have several shared bits set: ANDs of packed columns, then counting.

Support counts of vcz2006 section 6.2.2 on shared bitmaps, for any number of owners.
  discloses: nothing; the dealer learns sizes.
  safe against: whom `both` and `to_numbers` are.
  cost for each count over n rows of t columns: log2 t rounds and 1; (t - 1) n / 4 bytes each way
    and (t - 1) n / 8 from the dealer for the ANDs, n / 8 and 8 n to count. Two holders without a
    dealer: 10.5 (t - 1) n and 12.25 n.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tacit.joint.frames import Purpose
from tacit.joint.party import Party
from tacit.joint.primitives.bits import SharedBits, to_numbers
from tacit.joint.primitives.set_bits import all_of
from tacit.joint.ring import Shared, concatenate
from tacit.joint.streams import Words

BLOCK = 1 << 22
"""So many bits are counted at a time."""


async def share_columns_of_bits(party: Party, words: Words | None, counts: Mapping[str, int],
                                width: int) -> Words:
    """Return this party's shares of all owners' packed columns, one row each, owner by owner."""
    party.begin("share columns")
    parts = await asyncio.gather(*(
        _words_from(party, words if owner == party.name else None, owner, count * width)
        for owner, count in counts.items()))
    return np.concatenate(parts).reshape(-1, width)


async def _words_from(party: Party, words: Words | None, owner: str, count: int) -> Words:
    """Return this party's share of an owner's words: as `share`, with exclusive or."""
    keeper = owner if owner in party.holders else party.holders[-1]
    if party.name == owner and words is not None:
        rest = words.ravel()
        for holder in party.holders:
            if holder not in (keeper, owner):
                rest = rest ^ party.stream_with(holder, f"columns {owner}").words(count)
        if keeper == owner:
            return rest
        await party.send(keeper, "columns", rest, Purpose.SHARE)
    elif party.name == keeper:
        return await party.receive(owner, "columns", "<u8", (count,), Purpose.SHARE)
    elif party.is_holder:
        return party.stream_with(owner, f"columns {owner}").words(count)
    return np.zeros(count, np.uint64)


async def bit_counts(party: Party, columns: Words, chosen: npt.NDArray[np.int64],
                     rows: int) -> Shared:
    """Return in how many rows all columns of each row of `chosen` are set."""
    step = max(1, BLOCK // max(64 * columns.shape[1], 1))
    parts = [await _block(party, columns, chosen[a:a + step], rows)
             for a in range(0, max(len(chosen), 1), step)]
    return concatenate(parts)


async def _block(party: Party, columns: Words, chosen: npt.NDArray[np.int64],
                 rows: int) -> Shared:
    count, width = len(chosen), columns.shape[1]
    taken = [SharedBits(party, columns[chosen[:, i]].ravel(), (64 * count * width,))
             for i in range(chosen.shape[1])]
    numbers = await to_numbers(party, await all_of(party, taken))
    sums = numbers.reshape(count, 64 * width).sum(axis=1)
    return replace(sums, low=0, high=rows)
