"""Line searches on shares: the sweeps of Powell's method (vcz2006 section 5.2.4).

Every owner has its own part of coefficients and directions. For a direction d the residual
z = y - X beta and w = X d are put together on shares, each owner adding its part, and only the step
z'w / w'w is opened; everybody then moves its own part.
  discloses: the length of every step; literally, z and w themselves.
  safe against: as sums and products in the mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2, sqrt

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.multi_limb import FINE, Wide, join_wide
from unspoken.joint.mpc.ops.limb_products import wide_matmul, wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import narrow, rescale, share_sum_wide
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.tasks.regression.fitting import ROOM, opened
from unspoken.joint.tasks.regression.standardised_columns import Standard
from unspoken.joint.tasks.regression.sweep import LEAST_PIVOT, reciprocals
from unspoken.numerics.random import fresh_seed, generator

STEP = "the length of every step"
WEAK = "residuals z and directions X d of every search (weak: columns can be read off them)"
GRID = 40
CLOSE = 1e-9
SMALL = 1e-3
LONGEST = 2.0**14
WIDEST = 4.0
"""No direction is longer."""


@dataclass
class Walker:
    """One owner's own part: scaled columns, coefficients, and its part of every direction."""

    x: Floats
    y: Floats
    beta: Floats
    directions: Floats
    penalties: Floats

    def move(self, step: float, direction: Floats) -> None:
        """Go a step along a direction."""
        self.beta = self.beta + step * direction


def walker_of(standard: Standard, terms: int, ridge: float) -> Walker:
    """Return an owner's part; its directions are a secret rotation of its own columns."""
    mine = np.flatnonzero(standard.places < terms)
    directions = np.zeros((terms, mine.size))
    directions[standard.places[mine]] = _rotation(mine.size)
    penalties = ridge / standard.units[standard.places[mine]] ** 2
    if standard.table is None:
        return Walker(np.zeros((0, 0)), np.zeros(0), np.zeros(0), directions, penalties)
    response = np.flatnonzero(standard.places == terms)
    y = standard.table[:, response].sum(axis=1)
    return Walker(standard.table[:, mine], y, np.zeros(mine.size), directions, penalties)


def _rotation(order: int) -> Floats:
    """Return a random orthogonal matrix."""
    draws = generator(fresh_seed()).standard_normal((order, order))
    return np.asarray(np.linalg.qr(draws)[0]) if order else np.zeros((0, 0))


class Search:
    """The sweeps; step lengths are public, so that all decide alike. `most` of them are opened."""

    def __init__(self, party: Party, walker: Walker, rows: int, most: int, *,
                 ridge: bool = False, literal: bool = False) -> None:
        self.party, self.walker, self.rows = party, walker, rows
        self.terms = walker.directions.shape[0]
        self.left, self.ridge, self.literal = most, ridge, literal
        self.reach = np.ones(self.terms)

    async def run(self) -> None:
        """Sweep until a whole sweep moves nothing."""
        for _ in range(6 * self.terms):
            before = self.walker.beta
            steps = np.array([await self.along(r) for r in range(self.terms)])
            if np.abs(steps).max() < CLOSE:
                return
            if abs(steps[0]) < SMALL * np.abs(steps).max():
                continue
            length = self._turn(steps)
            last = (self.walker.beta - before) / length
            self.walker.directions = np.vstack([self.walker.directions[1:], last])
            await self.along(self.terms - 1)
        raise RefusedError("The search did not converge, because columns depend on each other. "
                           "Leave some out. Every party learned the steps.")

    def _turn(self, steps: Floats) -> float:
        """Return what the next direction is divided by, such that none becomes too long."""
        length = float(np.sqrt((steps**2).sum()))
        reach = float(np.abs(steps) @ self.reach) / length
        self.reach = np.append(self.reach[1:], min(reach, WIDEST))
        return length * max(1.0, reach / WIDEST)

    async def along(self, place: int) -> float:
        """Find the step along a direction, open it, and move."""
        if self.left == 0:
            raise RefusedError("The search must end before the opened steps could be solved for an "
                               "owner's columns. It did not. Give more records, or fewer columns. "
                               "Every party learned the steps so far.")
        self.left -= 1
        direction = self.walker.directions[place]
        step = await self._step(direction)
        self.walker.move(step, direction)
        return step

    async def vectors(self, direction: Floats) -> tuple[Wide, Wide]:
        """Return z and w on shares; |z| <= |y| and |w| <= 4 sqrt(p) |x|, deviations below 1."""
        walker, mine = self.walker, None
        if self.party.name in self.party.roles.owners:
            mine = np.column_stack([walker.y - walker.x @ walker.beta, walker.x @ direction])
        root = 2.0 ** ceil(log2(sqrt(self.rows)))
        products = await share_sum_wide(self.party, mine, (self.rows, 2), root * LONGEST, GRID)
        products = products.within(2.0 ** ceil(log2(WIDEST * sqrt(self.terms))) * root)
        return products[:, :1], products[:, 1:]

    async def _step(self, direction: Floats) -> float:
        z, w = await self.vectors(direction)
        if self.literal:
            return await self._literal(z, w)
        party, shift = self.party, ceil(log2(WIDEST**2 * self.rows * (self.terms + 1)))
        both = await wide_matmul(party, w.T, join_wide([z, w], 1))
        both = (await rescale(party, both.shifted(shift), FINE)).within(1)
        if self.ridge:
            both = await rescale(party, both + await self._penalty(direction, shift), FINE)
        inverses = await reciprocals(party, both[:, 1].within(ROOM))
        step = await wide_multiply(party, both[:, 0].within(4), inverses, FINE)
        step_length = await opened(party, step.within(4 / LEAST_PIVOT), LONGEST, STEP, ())
        assert step_length is not None
        return float(step_length[0])

    async def _penalty(self, direction: Floats, shift: int) -> Wide:
        """Return what a ridge takes off z'w and adds to w'w; every owner has its part."""
        heavy = self.walker.penalties * direction
        mine = np.ldexp(np.array([[-heavy @ self.walker.beta, heavy @ direction]]), -shift)
        own = mine if self.party.name in self.party.roles.owners else None
        penalty = await share_sum_wide(self.party, own, (1, 2), 2.0, 60)
        return await rescale(self.party, penalty, FINE)

    async def _literal(self, z: Wide, w: Wide) -> float:
        """Open both vectors, as printed."""
        plain = [await reveal(self.party, await narrow(self.party, v, GRID, 2.0**20), because=WEAK)
                 for v in (z, w)]
        return float(plain[0].ravel() @ plain[1].ravel() / (plain[1] ** 2).sum())

    @property
    def shift(self) -> int:
        """Return the power of two that sums of squares are divided by."""
        return ceil(log2(self.rows)) + 1

    async def squares(self) -> tuple[Wide, Wide]:
        """Return the sums of squares, residual and total, on shares and divided by 2^shift."""
        party, walker = self.party, self.walker
        z, _ = await self.vectors(np.zeros(walker.beta.size))
        rss = await wide_matmul(party, z.T, z)
        total = np.array([[np.ldexp(walker.y @ walker.y, -self.shift)]])
        tss = await share_sum_wide(party, total, (1, 1), 2.0, 60)
        return (await rescale(party, rss.shifted(self.shift), FINE),
                await rescale(party, tss, FINE))
