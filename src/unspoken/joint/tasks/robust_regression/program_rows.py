"""Huber's regression over rows that are spread among owners (vcz2006 section 5.1.2: outliers).

The book names robust regression and leaves it. Here the residuals of each owner's own records are
held down where they are large (Huber 1981, section 7.8: modified residuals), what they then count
is added up over owners, and the next step is found from it on shares, with the inverse of least
squares, which is computed once. Steps and the scale are opened, because owners need them to go on.

  discloses, to all: what least squares over rows does of sizes, spreads and the number of records;
    coefficients after every step, the scale, and how many residuals are held down then (five to
    fifteen steps, the first is least squares). To the receivers: the diagonal of the inverse, for
    standard errors. Never: which records are held down, nor a residual.
    Every step opens a few numbers that are functions of everybody's data: an owner who has no
    records for one more ends the run.
  refuses: what regression over rows refuses; residuals that vanish; steps that do not settle.
  safe against: as products and comparisons in the mode.
  error: that of the last step, below 1e-6 of the reach of a residual.
  cost: that of regression over rows, and about 40 rounds a step, whatever the number of records.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.multi_limb import FINE, Wide
from unspoken.joint.mpc.ops.limb_products import wide_matmul
from unspoken.joint.mpc.ops.limb_sharing import rescale, share_sum_wide
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.mpc.party import Party
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.regression.disclosure_guards import (
    TIMES,
    refuse_few_rows,
    refuse_more_steps,
)
from unspoken.joint.tasks.regression.fitting import (
    COUNT,
    ERRORS,
    ROOM,
    SPREADS,
    Fit,
    Scaled,
    fit,
    open_errors,
    opened,
    times_public,
)
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.program_rows import own_rows, row_sums
from unspoken.joint.tasks.regression.second_moments import SIZES
from unspoken.joint.tasks.robust_regression.params import counted, error_factor, stepped_scale
from unspoken.joint.tasks.robust_regression.pooled import told

STEP = "the coefficients after each step"
SCALE = "the scale of residuals after each step, and how many are held down"
MOST_STEPS, EXPECTED_STEPS = 40, 8
CLOSE = 1e-6
MOST_RELAXED = 1.9
"""Longer steps than twice may never settle (Huber and Dutter 1974)."""


class RobustOverRows:
    """The program: every owner gives the table of its rows, the response last."""

    def __init__(self, terms: RegressionTerms, rules: RegressionParams | None = None,
                 tuning: float = 1.345) -> None:
        self.terms, self.rules, self.tuning = terms, rules or RegressionParams(), tuning
        self.disclosures: Sequence[Disclosure] = (
            *(Disclosure(text) for text in (SIZES, COUNT, SPREADS, ILL, STEP, SCALE)),
            Disclosure(ERRORS, self.rules.receivers))

    async def __call__(self, party: Party, data: Floats | None) -> dict[str, Any] | None:
        """Step until steps are small, and return the model to the receivers."""
        table = own_rows(party, self.terms, data)
        if party.name in party.roles.owners:
            refuse_few_rows(len(table), len(self.terms.features) + 2, party.name, EXPECTED_STEPS)
        await ready(party)
        moments = await row_sums(party, self.terms, table)
        fitted = await fit(party, moments, self.rules)
        beta, scale = await self._start(party, moments, fitted)
        beta, scale, square, inside = await self._settled(party, table, moments, fitted, beta,
                                                          scale)
        return await self._model(party, moments, fitted, beta, (scale, square, inside))

    async def _start(self, party: Party, moments: Scaled, fitted: Fit) -> tuple[Floats, float]:
        """Open least squares: its coefficients, and the scale of its residuals."""
        unit = float(moments.units[-1])
        beta = await self._open(party, moments, fitted.beta, fitted.start, self._reach(moments))
        # The intercept comes in other units than columns do.
        beta = beta * np.concatenate([[unit * 2.0**moments.log / moments.records],
                                      unit / moments.units[:-1]])
        rss = await opened(party, fitted.rss, 2.0, SCALE, ())
        assert rss is not None
        left = moments.records - beta.size
        scale = sqrt(max(0.0, float(rss[0])) * moments.weight / left) * unit
        self._vary(scale, unit)
        return beta, scale

    def _vary(self, scale: float, unit: float) -> None:
        if not scale > 1e-9 * unit:
            raise RefusedError("Residuals must vary. Those of least squares vanish here, or most "
                               "of them do: nothing is left to be held down. Use task "
                               "'regression'. Every party learned this.")

    async def _settled(self, party: Party, table: Floats, moments: Scaled, fitted: Fit,
                       beta: Floats, scale: float) -> tuple[Floats, float, float, float]:
        """Step until coefficients and scale stay; return them, mean square and share inside."""
        left = (moments.records - beta.size) / moments.records
        for step in range(1, MOST_STEPS + 1):
            if party.name in party.roles.owners:
                refuse_more_steps(step, len(table) // (TIMES * (beta.size + 2)), party.name)
            far, way, square, inside = await self._step(party, table, moments, fitted, beta, scale)
            next_scale = stepped_scale(scale, square, inside, self.tuning, left)
            if far < CLOSE and abs(next_scale / scale - 1) < CLOSE:
                return beta, scale, square, inside
            beta, scale = beta + way * min(1 / max(inside, 0.1), MOST_RELAXED), next_scale
            self._vary(scale, float(moments.units[-1]))
        raise RefusedError(f"The steps did not become small in {MOST_STEPS}, which were opened. "
                           "Agree on a greater 'tuning', or use task 'regression'.")

    async def _step(self, party: Party, table: Floats, moments: Scaled, fitted: Fit, beta: Floats,
                    scale: float) -> tuple[float, Floats, float, float]:
        """Open one step, in scaled units and in the data's, and what decides the scale."""
        reach, n = self.tuning * scale, moments.records
        sizes = (np.log2(moments.units).astype(np.int64) + moments.spreads)[:-1]
        own = own_sums(table, beta, reach, sizes, n) if party.name in party.roles.owners else None
        total = await rescale(party, (await share_sum_wide(party, own, (beta.size + 2,), 1.5)),
                              FINE)
        total = total.within(1.0)
        far, way = await self._solved(party, total, moments, fitted)
        shares = await opened(party, total[beta.size:], 1.0, SCALE, ())
        assert shares is not None
        step = way * reach * np.concatenate([[1.0], n / 2.0**moments.log / moments.units[:-1]])
        return far, step, float(shares[0]), float(shares[1])

    async def _solved(self, party: Party, total: Wide, moments: Scaled,
                      fitted: Fit) -> tuple[float, Floats]:
        """Return the step of least squares towards what residuals count, opened."""
        p = len(self.terms.features)
        factors = np.left_shift(np.uint64(1), moments.spreads[:-1].astype(np.uint64))
        means = moments.sums[:p].reshape(-1, 1)
        mean = total[0].reshape(1, 1)
        raw = await rescale(party, times_public(total[1:p + 1], factors), FINE)
        centred = raw.reshape(-1, 1) - (await wide_matmul(party, means, mean, FINE))
        step = (await wide_matmul(party, fitted.inverse, (await rescale(
            party, centred, FINE)).within(ROOM), FINE)).within(self._most(p))
        start = mean - await wide_matmul(party, means.T, step, FINE)
        way = await self._open(party, moments, step, start, self._reach(moments))
        return float(np.abs(way[1:]).max()), way

    def _most(self, terms: int) -> float:
        """Return a bound on coefficients in scaled units, as for least squares."""
        return sqrt(2.5 * self.rules.condition / (ROOM * terms) * ROOM)

    def _reach(self, moments: Scaled) -> float:
        most = max(1.0, self._most(len(self.terms.features)))
        return 1.0 + float(np.ldexp(1.0, moments.spreads).sum()) * most

    async def _open(self, party: Party, moments: Scaled, step: Wide, start: Wide,
                    reach: float) -> Floats:
        """Open coefficients and the intercept, which comes first, in scaled units."""
        beta = await opened(party, step, self._most(len(self.terms.features)), STEP, ())
        first = await opened(party, start, reach, STEP, ())
        assert beta is not None
        assert first is not None
        return np.concatenate([first, beta])

    async def _model(self, party: Party, moments: Scaled, fitted: Fit, beta: Floats,
                     found: tuple[float, float, float]) -> dict[str, Any] | None:
        """Open what standard errors need, and return the model to the receivers."""
        (scale, square, inside), n = found, moments.records
        diagonal = await open_errors(party, moments, fitted, self.rules,
                                     ROOM * len(self.terms.features))
        if diagonal is None:
            return None
        factor = error_factor(square, inside, self.tuning, n, len(self.terms.features))
        parts = np.concatenate([[(1 + diagonal[0]) / n],
                                diagonal[1:] / (moments.weight * moments.units[:-1] ** 2)])
        return told(self.terms, beta, scale, n, round(inside * n),
                    scale * np.sqrt(factor * np.maximum(0.0, parts)))


def own_sums(table: Floats, beta: Floats, reach: float, sizes: Ints, records: int) -> Floats:
    """Return an owner's part of what residuals count: alone, times columns, squared, and inside.

    Each is divided by the number of all records, those times scaled columns by the power of two
    above it, so that totals lie between -1 and 1.
    """
    x, rest = table[:, :-1], table[:, -1] - table[:, :-1] @ beta[1:] - beta[0]
    count = counted(rest, reach)
    crossed = np.ldexp(count @ x, -sizes.astype(np.int32)) / 2.0 ** max(
        1, int(np.ceil(np.log2(records))))
    return np.concatenate([[count.sum() / records], crossed,
                           [count @ count / records, (np.abs(rest) <= reach).sum() / records]])
