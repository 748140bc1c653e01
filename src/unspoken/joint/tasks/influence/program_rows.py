"""Leverage and Cook's distance of records over rows of several owners (vcz2006 section 5.1.2).

The book says that outliers and influential records must be looked at, and not how without showing
data. The model is fitted as by task `regression` and opened, because residuals need it. The inverse
of X'X stays on shares. Each owner shares its own records, the quadratic form that is leverage is
computed on shares, and what comes out is opened to the owner of the record alone. Cook's distance
is above a limit where leverage is above another one, which the owner knows from its own residual:
so one comparison is enough, and neither leverage nor the limit is shown.

  discloses, to all: what regression over rows does, how many records each owner has, coefficients
    and the residual sum of squares. To each owner, of its own records: with "flags" two bits each.
    Every bit bounds the joint second moments by an inequality; an owner with very many records near
    the limits can narrow them down. With "values" leverage itself: (p + 1)(p + 2) / 2 records are
    enough to solve for all means and second moments of the joint data, so that it is refused for
    two owners, where each would subtract its own and have the other's.
  refuses: what regression over rows refuses.
  safe against: as products and comparisons in the mode. An owner that shares made-up records asks
    for the leverage of any point: as much as its real records, at points of its choice.
  error: leverage is off by less than 1e-6 / N.
  cost: that of regression over rows; p (p + 1) products of long numbers and two comparisons a
    record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.multi_limb import Wide
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.limb_products import wide_matmul, wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import narrow, rescale, share_wide
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, public, stack
from unspoken.joint.tasks.common.public_sizes import SIZES as ROWS
from unspoken.joint.tasks.common.public_sizes import open_sizes
from unspoken.joint.tasks.influence.params import FLAGS, Fitted, told_flags, told_values
from unspoken.joint.tasks.regression.fitting import (
    COEFFICIENTS,
    COUNT,
    SPREADS,
    SUMS,
    Fit,
    Scaled,
    fit,
    open_model,
    opened,
)
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.program_rows import own_rows, row_sums
from unspoken.joint.tasks.regression.second_moments import SIZES

SCALE = 48
POINT = 24
"""Fractional bits of leverage in units of 1 / N, when it is compared or opened."""


def own_influence(owner: str) -> str:
    """Return the words for what an owner learns of its records."""
    return f"the influence of the records of {owner}"


class InfluenceOverRows:
    """The program: every owner gives the table of its rows, the response last."""

    def __init__(self, terms: RegressionTerms, owners: Sequence[str], condition: float = 2.0**20,
                 show: str = FLAGS, limits: tuple[float, float] = (2.0, 4.0),
                 receivers: Sequence[str] = ()) -> None:
        self.terms, self.owners, self.show, self.limits = terms, tuple(owners), show, limits
        # Everybody learns the model, without which nobody has residuals.
        self.rules = RegressionParams(condition=condition, inference=False)
        self.learners = tuple(name for name in owners if not receivers or name in receivers)
        self.disclosures: Sequence[Disclosure] = (
            *(Disclosure(text) for text in (SIZES, COUNT, SPREADS, ILL, ROWS, COEFFICIENTS, SUMS)),
            *(Disclosure(own_influence(name), (name,)) for name in self.learners))

    async def __call__(self, party: Party, data: Floats | None) -> dict[str, Any] | None:
        """Return to each owner what it learns of its own records."""
        table = own_rows(party, self.terms, data)
        sizes = await open_sizes(party, len(table), self.owners)
        moments = await row_sums(party, self.terms, table)
        fitting = await fit(party, moments, self.rules)
        model = await self._open(party, moments, fitting)
        inverse = await rescale(party, fitting.inverse, SCALE)
        own = None
        for owner, rows in zip(self.owners, sizes.tolist(), strict=True):
            if owner not in self.learners:
                continue
            mine = table if party.name == owner else None
            form = await self._form(party, mine, owner, rows, moments, inverse)
            found = await self._shown(party, form, mine, owner, model)
            own = found if party.name == owner else own
        return own

    async def _open(self, party: Party, moments: Scaled, fitting: Fit) -> Fitted:
        """Open the model to all: coefficients and the residual sum of squares, no errors."""
        model = await open_model(party, moments, fitting, self.rules, self.terms.response,
                                 self.terms.features)
        rss = await opened(party, fitting.rss, 2.0, SUMS, ())
        assert model is not None
        assert rss is not None
        square = max(0.0, float(rss[0])) * float(moments.units[-1]) ** 2 * moments.weight
        return Fitted(model.parameters, moments.records,
                      square / (moments.records - len(self.terms.features) - 1))

    async def _form(self, party: Party, table: Floats | None, owner: str, rows: int,
                    moments: Scaled, inverse: Wide) -> Shared:
        """Return N h - 1 of an owner's records, h being leverage."""
        p, factor = len(self.terms.features), moments.records / 2.0**moments.log
        most = float(np.ldexp(1.0, int(moments.spreads[:-1].max(initial=0))))
        scaled = None if table is None else table[:, :-1] / moments.units[:-1] * factor
        points = await share_wide(party, scaled, owner, (rows, p), most, SCALE)
        sums = (await rescale(party, moments.sums[:p], SCALE)).reshape(1, p)
        away = (points - sums[np.zeros(rows, np.int64)]).within(2 * most)
        turned = await wide_matmul(party, away, inverse, SCALE)
        form = (await wide_multiply(party, turned, away, SCALE)).sum(1)
        return await narrow(party, form, POINT, float(moments.records))

    async def _shown(self, party: Party, form: Shared, table: Floats | None, owner: str,
                     model: Fitted) -> dict[str, Any] | None:
        """Open to an owner its own leverage, or whether it is above two limits."""
        rest = None if table is None else model.residuals(table)
        if self.show == FLAGS:
            bits = await self._above(party, form, rest, owner, model)
            flags = await reveal(party, bits, because=own_influence(owner), to=(owner,))
            return None if rest is None else told_flags(*flags)
        values = await reveal(party, form, because=own_influence(owner), to=(owner,))
        if rest is None:
            return None
        leverage = (1 + np.asarray(values)) / model.records
        return told_values(leverage, model.cook(rest, leverage))

    async def _above(self, party: Party, form: Shared, rest: Floats | None, owner: str,
                     model: Fitted) -> Shared:
        """Return (2, rows): whether leverage is much, and whether the model moves far."""
        n, much = model.records, self.limits[0] * model.beta.size - 1
        limit = None if rest is None else n * model.leverage_for(rest, self.limits[1] / n) - 1
        bound = (n + 1) << POINT
        own = await share(party, limit, owner, form.shape, -bound, bound, POINT)
        flat = public(party, np.full(form.shape, round(much * 2**POINT)), POINT)
        gaps = stack([flat - form, own - form])
        return await to_numbers(party, await less_than(party, gaps, 0))
