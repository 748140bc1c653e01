"""Line searches on shares: the sweeps of Powell's method (vcz2006 section 5.2.4).

Every owner has its own part of coefficients and directions (`own_directions`). For a direction d
the residual z = y - X beta and w = X d are put together on shares, each owner adding its part, and
only the step z'w / w'w is opened; everybody then moves its own part.

  one calculation a sweep: the directions of a sweep are known when it begins. The steps follow from
    w'z and w'w by forward substitution on shares, and are opened when all of them are there. Only
    z and the w of the one new direction are shared anew in every sweep.
  which direction goes: the book drops the first. Here it is, of those that no sweep has replaced,
    the one that moved most: all that theory asks is that it moved, and directions stay apart.
    When all are replaced they stay, unless sweeps then shrink too slowly; then it begins anew.
  discloses: the length of every step; before the first one a bit, whether the columns of different
    owners depend on each other too much to end in time; literally, z and w themselves.
  safe against: as sums and products in the mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, log2, sqrt

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.multi_limb import FINE, Wide, join_wide
from unspoken.joint.mpc.ops.limb_products import wide_matmul, wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import narrow, rescale, share_sum_wide
from unspoken.joint.mpc.ops.matrix_inverse import newton_schulz
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.museum.own_directions import Walker, orthogonal_turn
from unspoken.joint.tasks.regression.fitting import ROOM
from unspoken.joint.tasks.regression.standardised_columns import Standard
from unspoken.joint.tasks.regression.sweep import reciprocals
from unspoken.numerics.random import fresh_seed, generator

STEP = "the length of every step"
ENDS = "whether columns of different owners depend on each other too much for the search to end"
WEAK = "residuals z and directions X d of every search (weak: columns can be read off them)"
GRID = 40
CLOSE = 1e-9
SMALL = 1e-3
SLOW = 1 / 16
"""Sweeps along directions that stay must shrink the steps to this part."""
LONGEST = 2.0**14
WIDEST = 4.0
"""No direction is longer."""


def walker_of(standard: Standard, terms: int, ridge: float, condition: float,
              literal: bool = False) -> Walker:
    """Return an owner's part; its directions are a secret rotation of its own columns.

    Literally, the columns stay as they are.
    """
    mine = np.flatnonzero(standard.places < terms)
    places, none = standard.places[mine], np.zeros((0, standard.places.size))
    table = none if standard.table is None else standard.table
    heavy, x = ridge / standard.units[places] ** 2, table[:, mine]
    turn = np.eye(mine.size) if literal else orthogonal_turn(x, heavy, condition)
    directions = np.zeros((terms, mine.size))
    directions[places] = _rotation(mine.size)
    y = table[:, np.flatnonzero(standard.places == terms)].sum(axis=1)
    return Walker(x @ turn, y, np.zeros(mine.size), directions,
                  turn.T @ (heavy[:, None] * turn), turn)


def _rotation(order: int) -> Floats:
    """Return a random orthogonal matrix."""
    draws = generator(fresh_seed()).standard_normal((order, order))
    return np.asarray(np.linalg.qr(draws)[0]) if order else np.zeros((0, 0))


class Search:
    """The sweeps; step lengths are public, so that all decide alike. `most` of them are opened.

    Of the directions whose w are shared, `w`, `gram` (w'w) and `inverses` (1 / w'w of each) are
    kept on shares.
    """

    w: Wide
    gram: Wide
    inverses: Wide

    def __init__(self, party: Party, walker: Walker, rows: int, most: int, *,
                 ridge: bool = False, literal: bool = False, condition: float = 2.0**16) -> None:
        self.party, self.walker, self.rows = party, walker, rows
        self.terms, self.held = walker.directions.shape[0], 0
        self.left, self.ridge, self.literal = most, ridge, literal
        self.condition, self.reach = condition, np.ones(self.terms)

    async def run(self) -> None:
        """Sweep until a whole sweep moves nothing."""
        if not self.literal:
            await self._refuse_endless()
        old, turned, before = self.terms, False, inf
        for _ in range(6 * self.terms):
            steps = await self._sweep(turned)
            longest = float(np.abs(steps).max())
            if longest < CLOSE:
                return
            turned = self._turn(steps, old)
            old = old - 1 if turned else self.terms if longest > SLOW * before else old
            before = longest
        raise RefusedError("The search did not converge, because columns depend on each other. "
                           "Leave some out. Every party learned the steps.")

    async def _refuse_endless(self) -> None:
        """Open one bit before any step: whether w'w of the first directions can be inverted."""
        await self._pulls()
        most = ROOM * len(self.party.roles.owners) * self.rows / 2.0**self.shift
        _, small = await newton_schulz(self.party, self.gram, most, self.condition)
        if not bool(await reveal(self.party, small, because=ENDS)):
            raise RefusedError("The search would not end in time, because columns of different "
                               "owners depend on each other. Leave some out, or give a greater "
                               "'condition'. Every party learned this one bit, and no step.")

    def _turn(self, steps: Floats, old: int) -> bool:
        """Put the way of a sweep in the place of the old direction that moved most, if one did."""
        place = int(np.abs(steps[:old]).argmax()) if old else 0
        if not old or abs(steps[place]) <= SMALL * np.abs(steps).max():
            return False
        kept = np.delete(np.arange(self.terms), place).astype(np.int64)
        way = steps @ self.walker.directions / self._length(steps, kept)
        self.walker.directions = np.vstack([self.walker.directions[kept], way])
        if not self.literal:
            self.held, self.w, self.inverses = kept.size, self.w[:, kept], self.inverses[kept]
            self.gram = self.gram[np.ix_(kept, kept)]
        return True

    def _length(self, steps: Floats, kept: Ints) -> float:
        """Return what the next direction is divided by, such that none becomes too long."""
        length = float(np.sqrt((steps**2).sum()))
        reach = float(np.abs(steps) @ self.reach) / length
        self.reach = np.append(self.reach[kept], min(reach, WIDEST))
        return length * max(1.0, reach / WIDEST)

    async def _sweep(self, turned: bool) -> Floats:
        """Search along a new direction alone, if there is one, then along all; return the steps."""
        order = [*([self.terms - 1] if turned else []), *range(self.terms)]
        if self.literal:
            steps = np.array([await self._literally(place) for place in order])
        else:
            steps = await self._opened(await self._steps(await self._pulls(), order))
            self.walker.move(steps, self.walker.directions[order])
        return steps[-self.terms:]

    def _spend(self) -> None:
        """Count a step before it is opened."""
        if self.left == 0:
            raise RefusedError("The search must end before the opened steps could be solved for an "
                               "owner's columns. It did not. Give more records, or fewer columns. "
                               "Every party learned the steps so far.")
        self.left -= 1

    async def vectors(self, directions: Floats) -> Wide:
        """Return z and the w of directions on shares, side by side.

        |z| <= |y| and |w| <= 4 sqrt(p) |x|, deviations at most 1.
        """
        walker, mine = self.walker, None
        if self.party.name in self.party.roles.owners:
            mine = np.column_stack([walker.y - walker.x @ walker.beta, walker.x @ directions.T])
        root = 2.0 ** ceil(log2(sqrt(self.rows)))
        shape = (self.rows, 1 + len(directions))
        products = await share_sum_wide(self.party, mine, shape, root * LONGEST, GRID)
        return products.within(2.0 ** ceil(log2(WIDEST * sqrt(self.terms))) * root)

    @property
    def shift(self) -> int:
        """Return the power of two that products of z and w are divided by: then at most 1."""
        return ceil(log2(WIDEST**2 * self.rows))

    async def _pulls(self) -> Wide:
        """Return w'z of every direction; what new directions need is added to what is kept."""
        party, fresh = self.party, self.walker.directions[self.held:]
        both = await self.vectors(fresh)
        if len(fresh):
            self.w = join_wide([self.w, both[:, 1:]], 1) if self.held else both[:, 1:]
        products = await wide_matmul(party, self.w.T, both)
        products = (await rescale(party, products.shifted(self.shift), FINE)).within(1)
        if self.ridge:
            penalty = await self._penalty(fresh)
            products = (await rescale(party, products + penalty, FINE)).within(1)
        if len(fresh):
            await self._keep(products[:, 1:])
        return products[:, :1]

    async def _keep(self, cross: Wide) -> None:
        """Add the products of all directions with the new ones, and the inverses of these."""
        held, at = self.held, np.arange(self.held, self.terms)
        inverses = await reciprocals(self.party, cross[at, at - held].within(ROOM))
        if held:
            above = join_wide([self.gram, cross[:held]], 1)
            below = join_wide([cross[:held].T, cross[held:]], 1)
            cross, inverses = join_wide([above, below]), join_wide([self.inverses, inverses])
        self.gram, self.inverses, self.held = cross, inverses, self.terms

    async def _penalty(self, fresh: Floats) -> Wide:
        """Return what a ridge takes off w'z and adds to w'w; every owner has its part."""
        walker = self.walker
        heavy = walker.directions @ walker.penalties
        mine = np.ldexp(np.column_stack([-heavy @ walker.beta, heavy @ fresh.T]), -self.shift)
        own = mine if self.party.name in self.party.roles.owners else None
        penalty = await share_sum_wide(self.party, own, mine.shape, 2.0, 60)
        return await rescale(self.party, penalty, FINE)

    async def _steps(self, pulls: Wide, order: Sequence[int]) -> Wide:
        """Return the steps along directions in order: each less what was moved before it."""
        party, p = self.party, self.terms
        inverses = self.inverses[np.repeat(np.arange(p), p + 1)].reshape(p, p + 1)
        ratios = await wide_multiply(party, join_wide([pulls, self.gram], 1), inverses, FINE)
        ratios, steps = ratios.within(LONGEST), list[Wide]()
        for at, place in enumerate(order):
            step = ratios[place, 0].reshape(1, 1)
            if at:
                row = ratios[place, 1 + np.array(order[:at])].reshape(1, at)
                moved = await wide_matmul(party, row, join_wide(steps), FINE)
                step = (await rescale(party, step - moved, FINE)).within(LONGEST)
            steps.append(step)
        return join_wide(steps)

    async def _opened(self, steps: Wide) -> Floats:
        """Open every step on its own, and count it."""
        short = await narrow(self.party, steps, 60 - int(log2(LONGEST)), LONGEST)
        lengths = []
        for at in range(short.shape[0]):
            self._spend()
            lengths.append(await reveal(self.party, short[at], because=STEP))
        return np.concatenate(lengths)

    async def _literally(self, place: int) -> float:
        """Open both vectors, as printed, and move."""
        self._spend()
        direction = self.walker.directions[place:place + 1]
        both = await self.vectors(direction)
        z, w = [(await reveal(self.party, await narrow(self.party, vector, GRID, 2.0**20),
                              because=WEAK)).ravel() for vector in (both[:, :1], both[:, 1:])]
        step = float(z @ w / (w @ w))
        self.walker.move(np.array([step]), direction)
        return step

    @property
    def halved(self) -> int:
        """Return the power of two that sums of squares are divided by."""
        return ceil(log2(self.rows)) + 1

    async def squares(self) -> tuple[Wide, Wide]:
        """Return the sums of squares, residual and total, on shares and divided by 2^halved."""
        party, walker = self.party, self.walker
        z = await self.vectors(np.zeros((0, walker.beta.size)))
        rss = await wide_matmul(party, z.T, z)
        total = np.array([[np.ldexp(walker.y @ walker.y, -self.halved)]])
        tss = await share_sum_wide(party, total, (1, 1), 2.0, 60)
        return (await rescale(party, rss.shifted(self.halved), FINE),
                await rescale(party, tss, FINE))
