"""ln x! on shares, exactly: the sum of rounded logarithms of 1 to x, for a secret x up to N.

x = B b + r. The bits [x >= B k] give ln (B b)! and, because they fix b, the logarithms of
B b + 1 ... B b + B - 1 as public combinations of shares; the bits [r >= t] say which of them are
added. With B about the root of N that is two comparisons of root N values and one selection.

Logarithms of primes are rounded to `scale` bits once, those of other numbers are their sums, and
nothing is cut afterwards: the result is a whole number, the same as in one place, and equal
products of factorials have equal sums: ties are ties. The book takes Stirling's formula and drops
its small terms, which picks other networks and has no value at 0.
  error: x log2(x) 2^-(scale + 1) against the true ln x!.
  discloses: nothing. Tables must be the same everywhere, to the last bit: compare `digest`.
  cost: about 18 rounds; 80 to 100 bytes times root N for each value.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.selection import keep
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, public, stack

BLOCK = 1 << 21
"""How many values of tables times counts are in memory at once."""


@dataclass(frozen=True)
class Factorials:
    """Rounded logarithms of 1 to `most`, and their sums; ln 0! is 0."""

    scale: int
    logs: Ints
    sums: Ints

    @property
    def most(self) -> int:
        """Return the greatest x."""
        return int(self.sums.size - 1)

    @property
    def step(self) -> int:
        """Return B, about the root of the greatest x."""
        return max(2, math.isqrt(self.most) + 1)

    def digest(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return what parties compare: their logarithms must agree to the last bit."""
        return np.frombuffer(hashlib.sha256(self.logs.astype("<i8").tobytes()).digest(), np.uint8)


def factorials(most: int) -> Factorials:
    """Return tables up to `most`, with as many bits as sums of scores have room for."""
    room = max(2.0, 4.0 * most * math.log(most + 2))
    scale = min(40, 60 - math.ceil(math.log2(room)))
    whole = _sums_of_primes(most, scale)
    return Factorials(scale, whole, np.concatenate([[0], np.cumsum(whole)]))


def _sums_of_primes(most: int, scale: int) -> Ints:
    """Return the logarithms of 1 to `most` as sums of those of their primes."""
    logs = np.zeros(most + 1, np.int64)
    for number in range(2, most + 1):
        if logs[number] == 0:
            unit, power = round(math.log(number) * 2**scale), number
            while power <= most:
                logs[power::power] += unit
                power *= number
    return logs[1:]


async def log_factorials(party: Party, x: Shared, table: Factorials) -> Shared:
    """Return ln x! for a vector of counts, in units of 2^-scale; x must be within 0 to `most`."""
    piece = max(1, BLOCK // (2 * table.step))
    parts = [await _piece(party, x[i:i + piece], table) for i in range(0, x.size, piece)]
    logs = parts[0] if len(parts) == 1 else replace(
        parts[0], share=np.concatenate([part.share for part in parts]))
    return logs


async def _piece(party: Party, x: Shared, table: Factorials) -> Shared:
    size, last = table.step, table.most // table.step
    blocks = await _steps(party, x, [size * k for k in range(1, last + 1)])
    rest = (x - blocks.sum(0) * size).within(0, size - 1)
    whole = _combined(party, blocks, table.sums[[size * k for k in range(last + 1)]], x.size)
    # What each further number adds, if the block is the secret one.
    rows = [_combined(party, blocks, _column(table, t, last), x.size) for t in range(1, size)]
    below = await less_than(party, stack([rest - t for t in range(1, size)]), 0)
    added = (await keep(party, ~below, [stack(rows)]))[0].sum(0)
    return replace(whole + added, low=0, high=int(table.sums[-1]), scale=table.scale)


async def _steps(party: Party, x: Shared, limits: list[int]) -> Shared:
    """Return [x >= limit] as numbers, one row a limit."""
    if not limits:
        return public(party, np.zeros((1, x.size), np.int64))
    below = await less_than(party, stack([x - limit for limit in limits]), 0)
    return await to_numbers(party, ~below)


def _column(table: Factorials, t: int, last: int) -> Ints:
    """Return ln (B b + t) for every block; beyond the table nothing is added."""
    at = table.step * np.arange(last + 1) + t - 1
    return np.where(at < table.most, table.logs[np.minimum(at, table.most - 1)], 0)


def _combined(party: Party, blocks: Shared, entries: Ints, size: int) -> Shared:
    """Return the entry of the secret block: a public combination of its bits."""
    first = public(party, np.full(size, entries[0]))
    if entries.size == 1:
        return first
    weights = np.diff(entries).astype(np.uint64)
    share = np.add(first.share, weights @ blocks.share)
    return replace(first, share=share, low=min(0, int(entries.min())), high=int(entries.max()))
