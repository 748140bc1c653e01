"""Regression by line searches (vcz2006 section 5.2.4, Sanil and others): the secure Powell form.

Every owner keeps its own part of the coefficients and of the search directions to itself. For a
direction d the residual z = y - X beta and w = X d are put together on shares, each owner adding
its part, and only the step z'w / w'w is opened; everybody then moves its own part.

  changed from the book: beta~ is updated after the last search of a sweep (as printed it never is);
    columns are centred and scaled; sweeps go on until steps are small (p are not enough with
    rounding); directions stay as they are where the first gave no step, because replacing it
    would lose it for good; they start as a secret rotation of each owner's own columns.
  discloses, to all: every step length, how many records there are, sizes of columns; to the
    receivers: coefficients and sums of squares.
  refuses: fewer than three owners; columns that depend on each other.
  error: coefficients within 1e-7 of |beta| plus its standard error where it ends.
  cost: about 80 rounds a search, p + 1 searches a sweep, p to 3 p sweeps: slower than `vertical`,
    which discloses less and has standard errors. It is here because the book has it.

**literal**, by name only: z and w are opened, as printed. In the first sweep w is a column, or
sums of one owner's columns; `attack.traces.published_columns` reads them off. Weak: for tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import Any

import numpy as np

from tacit.core.linear_model import LinearModel
from tacit.errors import InputError, explain
from tacit.joint.errors import RefusedError
from tacit.joint.ledger import Ledger
from tacit.joint.party import Party
from tacit.joint.protocols.regression.columns import (
    SAME_ROWS,
    SPLIT,
    Columns,
    Own,
    agree_rows,
    agree_sizes,
    own_part,
)
from tacit.joint.protocols.regression.fitting import COEFFICIENTS, COUNT, ROOM, SUMS, opened
from tacit.joint.protocols.regression.guards import refuse_few_records, refuse_solvable
from tacit.joint.protocols.regression.moments import SIZES, common_exponents, exponents
from tacit.joint.protocols.regression.sweeping import LEAST_PIVOT, reciprocals
from tacit.joint.protocols.regression.terms import Floats
from tacit.joint.protocols.sizes import ready
from tacit.joint.run import run_local
from tacit.joint.study import Disclosure
from tacit.joint.wide import FINE, Wide
from tacit.stats.random import fresh_seed, generator

STEP = "the length of every step"
WEAK = "residuals z and directions X d of every search (weak: columns can be read off them)"
METHODS = ("shares", "literal")
GRID = 40
CLOSE = 1e-9
SMALL = 1e-3
LONGEST = 2.0**14


@dataclass
class Walker:
    """One owner's own part: scaled columns, coefficients, and its part of every direction."""

    x: Floats
    y: Floats
    beta: Floats
    directions: Floats

    def move(self, step: float, direction: Floats) -> None:
        """Go a step along a direction."""
        self.beta = self.beta + step * direction


class PowellRegression:
    """The program: every owner gives its columns, as for `VerticalRegression`."""

    def __init__(self, columns: Columns, method: str = "shares",
                 receivers: tuple[str, ...] = ()) -> None:
        if method not in METHODS:
            raise InputError(explain("'method'", "one of " + ", ".join(METHODS), method))
        if len(columns.owners) < 3 or columns.products or columns.held == SPLIT:
            raise RefusedError("Powell's search needs three owners or more, no products and a "
                               "response that is not split: between two, each step is an equation "
                               "on the other's columns. Use VerticalRegression.")
        self.columns, self.method, self.receivers = columns, method, receivers
        told = [SAME_ROWS, COUNT, SIZES, STEP, *([WEAK] if method == "literal" else [])]
        self.disclosures = (*map(Disclosure, told),
                            *(Disclosure(t, receivers) for t in (COEFFICIENTS, SUMS)))

    async def __call__(self, party: Party, data: Mapping[str, Any] | None) -> LinearModel | None:
        """Search until steps are small, then open the coefficients."""
        own = own_part(self.columns, party.name, data) if data is not None else None
        await ready(party)
        rows = await agree_rows(party, tuple(self.columns.owners), own)
        terms = self.columns.terms
        refuse_few_records(rows, len(terms.features))
        refuse_solvable(rows, self.columns.widths(), 2 * len(terms.features) ** 2)
        means, centred = _centred(own)
        sizes = await agree_sizes(party, self.columns, centred)
        walker = self._walker(party, centred, sizes)
        search = _Search(party, walker, rows, len(terms.features), self.method)
        await search.run()
        return await self._model(party, search, sizes, means)

    def _walker(self, party: Party, own: Own | None, sizes: Any) -> Walker:
        """Return an owner's part; its directions are a secret rotation of its own columns."""
        p = len(self.columns.terms.features)
        if own is None:
            return Walker(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros((p, 0)))
        places = [place for place, _ in self.columns.own(party.name)]
        table = np.ldexp(own.table, -sizes[places].astype(np.int32))
        mine = [i for i, place in enumerate(places) if place < p]
        y = table[:, places.index(p)] if p in places else np.zeros(len(table))
        directions = np.zeros((p, len(mine)))
        directions[[places[i] for i in mine]] = _rotation(len(mine))
        return Walker(table[:, mine], y, np.zeros(len(mine)), directions)

    async def _model(self, party: Party, search: _Search, sizes: Any,
                     means: Floats) -> LinearModel | None:
        p, rows = len(self.columns.terms.features), search.rows
        scaled = np.zeros((p, 1))
        walker, unit = search.walker, np.ldexp(1.0, sizes.astype(np.int32))
        names = [place for place, _ in self.columns.own(party.name)] if (
            party.name in self.columns.owners) else []
        scaled[[place for place in names if place < p], 0] = walker.beta
        beta = await opened(party, await party.share_sum_wide(scaled, (p, 1), LONGEST, 48),
                            LONGEST * len(self.columns.owners), COEFFICIENTS, self.receivers)
        start = await self._start(party, scaled, names, unit, means)
        z, _ = await search.vectors(np.zeros(walker.x.shape[1]))
        rss = await party.wide_matmul(z.T, z, FINE)
        tss = await party.share_sum_wide(np.array([[walker.y @ walker.y / rows]]), (1, 1), 2.0, 60)
        sums = [await opened(party, value, most, SUMS, self.receivers)
                for value, most in ((rss, 2.0 * rows), (tss, 4.0))]
        if beta is None or start is None or sums[0] is None or sums[1] is None:
            return None
        square = unit[-1] ** 2
        return LinearModel(self.columns.response, self.columns.terms.features, start,
                           beta * unit[-1] / unit[:-1], rows, np.zeros(0),
                           max(0.0, float(sums[0][0])) * square, float(sums[1][0]) * rows * square)

    async def _start(self, party: Party, scaled: Floats, names: list[int], unit: Floats,
                     means: Floats) -> float | None:
        """Open the intercept: every owner adds its part."""
        p = len(scaled)
        mine = sum(float(means[i]) * (1.0 if place == p else -float(
            scaled[place, 0] * unit[-1] / unit[place])) for i, place in enumerate(names))
        part = np.array([[mine]])
        size = await common_exponents(party, exponents(part), 1)
        shared = await party.share_sum_wide(np.ldexp(part, -size.astype(np.int32)), (1, 1), 1.0, 56)
        found = await opened(party, shared, float(len(self.columns.owners)), COEFFICIENTS,
                             self.receivers)
        return None if found is None else float(np.ldexp(found[0], size[0]))


def _centred(own: Own | None) -> tuple[Floats, Own | None]:
    if own is None:
        return np.zeros(0), None
    means = own.table.mean(axis=0)
    return means, Own(own.table - means, own.response)


def _rotation(order: int) -> Floats:
    """Return a random orthogonal matrix."""
    draws = generator(fresh_seed()).standard_normal((order, order))
    return np.asarray(np.linalg.qr(draws)[0]) if order else np.zeros((0, 0))


class _Search:
    """The sweeps; step lengths are public, so that all decide alike."""

    def __init__(self, party: Party, walker: Walker, rows: int, terms: int, method: str) -> None:
        self.party, self.walker, self.rows, self.terms = party, walker, rows, terms
        self.method = method
        # |z| <= |y| and |w| <= sqrt(p) |x|, all columns below 1.
        self.most = 2.0 ** ceil(log2(4 * sqrt(terms)))

    async def run(self) -> None:
        """Sweep until a whole sweep moves nothing."""
        for _ in range(6 * self.terms):
            before = self.walker.beta
            steps = [await self.along(r) for r in range(self.terms)]
            if max(map(abs, steps)) < CLOSE:
                return
            if abs(steps[0]) < SMALL * max(map(abs, steps)):
                continue
            length = sqrt(sum(step**2 for step in steps))
            last = (self.walker.beta - before) / length
            self.walker.directions = np.vstack([self.walker.directions[1:], last])
            await self.along(self.terms - 1)
        raise RefusedError("The steps must become small. They did not: columns depend on each "
                           "other. Leave some out. Every party learned the steps.")

    async def along(self, place: int) -> float:
        """Find the step along a direction, open it, and move."""
        direction = self.walker.directions[place]
        step = await self._step(direction)
        self.walker.move(step, direction)
        return step

    async def vectors(self, direction: Floats) -> tuple[Wide, Wide]:
        """Return z and w on shares."""
        walker = self.walker
        mine = None
        if self.party.name in self.party.roles.owners:
            mine = np.column_stack([walker.y - walker.x @ walker.beta, walker.x @ direction])
        found = await self.party.share_sum_wide(mine, (self.rows, 2), self._own_most(), GRID)
        found = found.within(self.most * sqrt(self.rows))
        return found[:, :1], found[:, 1:]

    def _own_most(self) -> float:
        """Return a bound on one owner's part, which others' parts may cancel."""
        return 2.0**20

    async def _step(self, direction: Floats) -> float:
        party = self.party
        z, w = await self.vectors(direction)
        if self.method == "literal":
            opened_ = [await party.reveal(await party.narrow(v, GRID, 2.0**20), because=WEAK)
                       for v in (z, w)]
            return float(opened_[0].ravel() @ opened_[1].ravel() / (opened_[1] ** 2).sum())
        shift = ceil(log2(self.rows * self.terms))
        both = await party.wide_matmul(w.T, await _two(party, z, w))
        both = (await party.rescale(both.shifted(shift), FINE)).within(4)
        turned = await reciprocals(party, both[:, 1].within(ROOM))
        step = await party.wide_multiply(both[:, 0], turned, FINE)
        found = await opened(party, step.within(4 / LEAST_PIVOT), LONGEST, STEP, ())
        assert found is not None
        return float(found[0])


async def _two(party: Party, z: Wide, w: Wide) -> Wide:
    from tacit.joint.wide import join_wide

    return join_wide([z, w], 1)


def mine_regression_powell(parts: Mapping[str, Mapping[str, Any]], columns: Columns,
                           method: str = "shares", mode: str = "dealer",
                           **how: Any) -> tuple[list[LinearModel | None], list[Ledger]]:
    """Fit by line searches over the columns of three owners or more."""
    program = PowellRegression(columns, method)
    outputs = run_local(program, [parts[name] for name in columns.owners], mode,
                        names=list(columns.owners), **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
