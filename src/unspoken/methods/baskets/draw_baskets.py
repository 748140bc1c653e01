"""Drawing randomised baskets, many at a time, from ChaCha20 streams.

Baskets are rows of a table of baskets x items, of which only the ones are held. What is inserted
is drawn as gaps between ones over the whole table (or byte by byte where rho is large), so that
the work grows with what is inserted, not with what could have been.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import DataError, explain
from unspoken.methods.baskets.select_a_size import Operator
from unspoken.methods.baskets.size_laws import Mixture
from unspoken.numerics.random import derive, generator
from unspoken.table.baskets import Baskets

Codes = npt.NDArray[np.int32]

CELLS = 1 << 22
"""Cells (baskets x items) drawn at a time."""
BYTEWISE = 0.12
"""Above this rho a byte for every cell is cheaper than a gap for every one (measured)."""
FEW = 64
"""Up to this many items, items from outside are drawn by ranking all items."""
MOST = 1 << 31
"""Most items in all randomised baskets together."""


@dataclass(frozen=True)
class Drawing:
    """A randomisation with the seed of one call."""

    operator: Operator
    seed: bytes

    def __call__(self, baskets: Baskets) -> Baskets:
        """Return one randomised basket for every basket, in their order."""
        self._check(baskets)
        rows = max(CELLS // max(len(baskets.items), 1), 1)
        sizes, codes = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for number, at in enumerate(range(0, len(baskets), rows)):
            part = baskets.take(slice(at, at + rows))
            many, drawn = self._part(part, derive(self.seed, "part", number))
            sizes.append(many)
            codes.append(drawn)
        return Baskets(np.r_[0, np.cumsum(np.concatenate(sizes))], np.concatenate(codes),
                       baskets.items)

    def _check(self, baskets: Baskets) -> None:
        self.operator.check_size(int(baskets.sizes.max(initial=0)))
        expected = (self.operator.rho or 0.0) * len(baskets) * len(baskets.items)
        if expected > MOST:
            raise DataError(explain("The expected number of inserted items", f"at most {MOST}",
                                    f"{expected:.3g}", "Protect fewer baskets at a time."))

    def _part(self, baskets: Baskets, seed: bytes) -> tuple[Ints, Codes]:
        width, rho = len(baskets.items), self.operator.rho
        own = baskets.rows * width + baskets.codes
        kept = keep(self.operator, baskets, generator(seed, "kept"))
        rng = generator(seed, "inserted")
        if rho is not None and rho > BYTEWISE:
            return _from_table(coins(len(baskets) * width, rho, rng), own, kept, width)
        if rho is None:
            dropped = baskets.sizes - np.bincount(baskets.rows[kept], minlength=len(baskets))
            new = strangers(own, dropped, width, rng)
        else:
            new = without(heads(len(baskets) * width, rho, rng), own)
        return _split(merged(new, own[kept]), len(baskets), width)


def _split(cells: Ints, rows: int, width: int) -> tuple[Ints, Codes]:
    """Return how many cells each row has, and their columns."""
    ends = np.searchsorted(cells, np.arange(1, rows + 1) * width)
    sizes = np.diff(np.r_[0, ends])
    return sizes, (cells - np.repeat(np.arange(rows) * width, sizes)).astype(np.int32)


def _from_table(table: Bools, own: Ints, kept: Bools, width: int) -> tuple[Ints, Codes]:
    table[own] = kept
    return _split(np.flatnonzero(table), table.size // width, width)


def keep(operator: Operator, baskets: Baskets, rng: np.random.Generator) -> Bools:
    """Draw which entries are kept: as many as the law says, each as likely as any other."""
    law = operator.law
    if isinstance(law, Mixture):
        chosen = pick(np.asarray(law.weights), len(baskets), rng)
        share = np.asarray(law.keeps)[chosen]
        return np.asarray(rng.random(baskets.codes.size) < np.repeat(share, baskets.sizes))
    wanted = np.zeros(len(baskets), np.int64)
    for size in np.unique(baskets.sizes).tolist():
        here = np.flatnonzero(baskets.sizes == size)
        wanted[here] = pick(law.distribution(size), here.size, rng)
    return random_order(baskets, rng) < np.repeat(wanted, baskets.sizes)


def pick(probabilities: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Draw `count` positions by their probabilities."""
    steps = np.cumsum(probabilities)[:-1]
    return np.searchsorted(steps, rng.random(count), side="right")


def random_order(baskets: Baskets, rng: np.random.Generator) -> Ints:
    """Return for every entry its place in a random order of its basket."""
    longest = int(baskets.sizes.max(initial=0))
    low = max(longest - 1, 1).bit_length()
    free = 63 - low - max(len(baskets), 1).bit_length()
    place = np.arange(baskets.codes.size) - np.repeat(baskets.offsets[:-1], baskets.sizes)
    random = rng.integers(0, 1 << free, baskets.codes.size, dtype=np.int64)
    # Basket, random number and place in one integer: one sort shuffles every basket.
    keys = np.sort((((baskets.rows << free) | random) << low) | place)
    shuffled = (keys & ((1 << low) - 1)) + np.repeat(baskets.offsets[:-1], baskets.sizes)
    order = np.empty(place.size, np.int64)
    order[shuffled] = place
    return order


def heads(cells: int, rho: float, rng: np.random.Generator) -> Ints:
    """Return the cells at which a coin of probability rho shows heads, in order."""
    starts, at = [np.zeros(0, np.int64)], -1
    while at < cells:
        left = cells - 1 - at
        expected = rho * left
        gaps = rng.standard_exponential(int(expected + 4 * expected**0.5) + 16)
        # The next head is 1 + floor(E / -ln(1 - rho)) cells on, E exponential: geometric.
        steps = np.minimum(gaps / -np.log1p(-rho), cells + 1.0).astype(np.int64) + 1
        places = at + np.cumsum(steps)
        starts.append(places[places < cells])
        at = int(places[-1])
    return np.concatenate(starts)


def coins(cells: int, rho: float, rng: np.random.Generator) -> Bools:
    """Toss a coin for every cell: one random byte; the few ties are settled with 53 bits more."""
    whole, rest = int(rho * 256), rho * 256 - int(rho * 256)
    drawn = np.frombuffer(rng.bytes(cells), np.uint8)
    head = drawn < whole
    ties = np.flatnonzero(drawn == whole)
    head[ties] = rng.random(ties.size) < rest
    return np.asarray(head)


def without(cells: Ints, own: Ints) -> Ints:
    """Return the cells that are not among `own`; both are in order."""
    if cells.size == 0 or own.size == 0:
        return cells
    place = np.minimum(np.searchsorted(cells, own), cells.size - 1)
    kept = np.ones(cells.size, np.bool_)
    kept[place[cells[place] == own]] = False
    return cells[kept]


def merged(first: Ints, second: Ints) -> Ints:
    """Return two lists of distinct numbers in order as one."""
    out = np.empty(first.size + second.size, np.int64)
    place = np.searchsorted(first, second) + np.arange(second.size)
    rest = np.ones(out.size, np.bool_)
    rest[place] = False
    out[place] = second
    out[rest] = first
    return out


def strangers(own: Ints, wanted: Ints, width: int, rng: np.random.Generator) -> Ints:
    """Draw `wanted` distinct items for each basket, none of them its own.

    Items that were drawn twice or are the basket's own are drawn again, which leaves every set of
    that size equally likely. Out of a few items that would take long: they are ranked.
    """
    if width <= FEW:
        keys = rng.random(wanted.size * width)
        keys[own] = 2.0
        ranks = keys.reshape(-1, width).argsort(axis=1).argsort(axis=1)
        return np.flatnonzero(ranks < wanted[:, None])
    unlike, missing = np.zeros(0, np.int64), wanted.copy()
    while missing.any():
        rows = np.repeat(np.arange(wanted.size), missing)
        drawn = np.unique(rows * width + rng.integers(0, width, rows.size))
        drawn = without(without(drawn, own), unlike)
        unlike = merged(unlike, drawn)
        missing = missing - np.bincount(drawn // width, minlength=wanted.size)
    return unlike
