"""What the blocks of a numeric column are released as: as near to their means as thresholds allow.

Every node that cuts between v1 and v2 asks that the values of their two blocks have the sum
v1 + v2. Blocks that are linked by sums move together: r = start + sign * x with one free x for each
linked set. Under the constraints that values increase and stay inside the column's range,

    sum over blocks of (records) * (r - mean of the block)^2

is made least (Hildreth's method on the dual, then the nearest whole multiples of a step).
Everything is checked in exact arithmetic and in float32, and what fails the check is not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.methods.anonymity.tree_preserving.octagon_solver import Octagon

Pair = tuple[int, int]
_SWEEPS = 200
_COARSER = (0, 3, 6, 9, 12, 16, 20, 24, 28)
MOST_BLOCKS = 400
"""A column of more blocks keeps the values it has: they are close together anyway."""


@dataclass(frozen=True)
class _Chain:
    """Blocks in order, in units: where they start, which move together, and their limits."""

    start: list[int]
    sign: list[int]
    part: list[int]
    fixed: frozenset[int]
    low: int
    high: int

    @property
    def parts(self) -> int:
        return max(self.part) + 1

    def constraints(self) -> list[tuple[list[Pair], int]]:
        """Return terms (sign, unknown) and the limit of their sum."""
        out: list[tuple[list[Pair], int]] = [
            ([(-self.sign[0], self.part[0])], self.start[0] - self.low),
            ([(self.sign[-1], self.part[-1])], self.high - self.start[-1])]
        for k in range(len(self.start) - 1):
            terms = [(self.sign[k], self.part[k]), (-self.sign[k + 1], self.part[k + 1])]
            out.append((terms, self.start[k + 1] - self.start[k] - 1))
        return out


def nearest_to_means(values: Floats, weights: Ints, owner: Ints, pairs: Sequence[Pair],
                     start: Floats) -> Floats:
    """Return the value of every block, from values `start` that keep every sum already.

    `owner` is the block of every value, `weights` how many records have it.
    """
    if start.size < 1 or start.size > MOST_BLOCKS:
        return start
    held = np.bincount(owner, weights, start.size)
    means = np.bincount(owner, weights * values, start.size) / np.maximum(held, 1)
    links = sorted({(int(owner[a]), int(owner[b])) for a, b in pairs})
    exact = [Fraction(float(v)) for v in (*start, values[0], values[-1])]
    unit = Fraction(1, 2 * max(f.denominator for f in exact))
    numbers = [int(f / unit) for f in exact]
    sign, part, fixed = _linked(links, start.size)
    chain = _Chain(numbers[:-2], sign, part, fixed, *numbers[-2:])
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.array([float(Fraction(float(m)) / unit - r)
                         for m, r in zip(means, chain.start, strict=True)])
        wanted = _least_squares(chain, away, np.maximum(held, 1e-9))
    if not np.isfinite(wanted).all():
        return start
    whole = 2 if all(f.denominator == 1 for f in exact) else 1
    free = _Unbound(means, frozenset(range(start.size)) - {b for pair in links for b in pair},
                    whole == 2)
    return _rounded(chain, wanted, whole, unit, start, links, free)


def _linked(links: Sequence[Pair], size: int) -> tuple[list[int], list[int], frozenset[int]]:
    """Return sign and set of every block; a set with an odd cycle of sums cannot move."""
    near: dict[int, list[int]] = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    sign, part, fixed = [0] * size, [-1] * size, set()
    for root in range(size):
        if part[root] >= 0:
            continue
        number = max(part) + 1
        sign[root], part[root], waiting = 1, number, [root]
        while waiting:
            a = waiting.pop()
            for b in near.get(a, ()):
                if part[b] < 0:
                    sign[b], part[b] = -sign[a], number
                    waiting.append(b)
                elif sign[b] == sign[a]:
                    fixed.add(number)
    return sign, part, frozenset(fixed)


def _least_squares(chain: _Chain, away: Floats, held: Floats) -> Floats:
    """Return the x of every set that makes the weighted squares least under the constraints."""
    part, sign = np.array(chain.part), np.array(chain.sign, np.float64)
    heavy = np.bincount(part, held, chain.parts)
    x = np.bincount(part, held * sign * away, chain.parts) / heavy
    x[list(chain.fixed)] = 0.0
    heavy[list(chain.fixed)] = np.inf
    rows = [(_summed(terms), float(limit)) for terms, limit in chain.constraints()]
    pressure = np.zeros(len(rows))
    for _ in range(_SWEEPS):
        moved = 0.0
        for at, (terms, limit) in enumerate(rows):
            slope = sum(s * s / heavy[p] for p, s in terms.items())
            if slope == 0:
                continue
            over = (sum(s * x[p] for p, s in terms.items()) - limit) / slope
            push = max(over, -pressure[at])
            pressure[at] += push
            for p, s in terms.items():
                x[p] -= push * s / heavy[p]
            moved = max(moved, abs(push) * slope)
        if moved < 0.25:
            break
    return np.asarray(x)


def _summed(terms: Sequence[Pair]) -> Mapping[int, float]:
    """Add the terms of one unknown up."""
    out: dict[int, float] = {}
    for sign, unknown in terms:
        out[unknown] = out.get(unknown, 0.0) + sign
    return out


@dataclass(frozen=True)
class _Unbound:
    """Blocks that no threshold binds: each takes the number of float32 nearest to its mean.

    Steps from where such a block starts keep the low bits of the start, and float32 rarely holds
    the sum: decimals would stay at the least value of their block.
    """

    means: Floats
    blocks: frozenset[int]
    whole: bool

    def placed(self, shown: Floats) -> Floats:
        """Return the values with unbound blocks at their means, between their neighbours."""
        out, ceiling = shown.copy(), np.inf
        above = np.full(shown.size, np.inf)
        for at in reversed(range(shown.size)):
            above[at] = ceiling
            ceiling = ceiling if at in self.blocks else shown[at]
        for at in sorted(self.blocks):
            floor = out[at - 1] if at else -np.inf
            value = float(np.float32(np.rint(self.means[at]) if self.whole else self.means[at]))
            out[at] = min(max(value, self._beside(floor, 1)), self._beside(above[at], -1))
        return out

    def _beside(self, value: float, side: int) -> float:
        """Return the next number above or below."""
        if self.whole:
            return value + side
        return float(np.nextafter(np.float32(value), np.float32(side * np.inf)))


def _rounded(chain: _Chain, wanted: Floats, whole: int, unit: Fraction,
             start: Floats, links: Sequence[Pair], free: _Unbound) -> Floats:
    """Return the nearest values that float32 holds; coarser steps are tried until one fits."""
    system = Octagon(chain.parts)
    for x in chain.fixed:
        system.fix(x, 0)
    for terms, limit in chain.constraints():
        system.bound(terms, limit)
    for coarser in _COARSER:
        step = whole << coarser
        goal = [round(float(x) / step) * step for x in wanted]
        point = system.copy().point(goal, step)
        if point is None:
            continue
        shown = np.array([float((r + s * point[p]) * unit) for r, s, p in
                          zip(chain.start, chain.sign, chain.part, strict=True)])
        shown = free.placed(shown)
        if _holds(shown, start, links):
            return shown
    shown = free.placed(start)
    return shown if _holds(shown, start, links) else start


def _holds(shown: Floats, start: Floats, links: Sequence[Pair]) -> bool:
    """Return True if float32 loses nothing, the order stays, and every threshold does."""
    with np.errstate(over="ignore"):
        narrow = shown.astype(np.float32).astype(np.float64)
    if not np.array_equal(narrow, shown) or np.any(np.diff(shown) <= 0):
        return False
    return all(shown[a] / 2 + shown[b] / 2 == start[a] / 2 + start[b] / 2 for a, b in links)
