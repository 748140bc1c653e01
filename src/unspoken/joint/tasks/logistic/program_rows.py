"""Logistic regression over rows that are spread among owners.

Not in the book; built as its section 5.3 for least squares. At each of Newton's steps every owner
adds up gradient and weighted products of its own records at the present coefficients; totals,
centring, inverse and step stay on shares, and the step is opened, because owners need it to go on.

  discloses, to all: how many records there are, sizes and spreads of columns as for least squares,
    the coefficients after every step (four to ten of them), and one bit a step, whether the matrix
    was too ill-conditioned. To the receivers: standard errors, and the log-likelihood.
    Coefficients of a step are a function of everybody's data as the last ones are: each counts as
    many opened numbers, and an owner who has no records for one more ends the run.
  refuses: what horizontal regression refuses; classes that can be told apart without error (the
    matrix becomes singular; a ridge helps); a response that is not 0 and 1.
  error: that of Newton's last step, about 1e-8 of a standard error.
  cost: about 6 rounds a step for each doubling of `condition` and 120 more, whatever the number of
    records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.multi_limb import FINE, Wide, join_wide, public_wide
from unspoken.joint.mpc.ops.limb_products import wide_matmul, wide_multiply
from unspoken.joint.mpc.ops.limb_sharing import rescale, share_sum_wide
from unspoken.joint.mpc.ops.matrix_inverse import ILL, inverse
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.logistic.separable_classes import (
    explained,
    refuse_next_step,
    refuse_separable,
)
from unspoken.joint.tasks.regression.disclosure_guards import (
    TIMES,
    refuse_few_rows,
)
from unspoken.joint.tasks.regression.fitting import (
    COUNT,
    ERRORS,
    ROOM,
    SPREADS,
    Scaled,
    opened,
    times_public,
)
from unspoken.joint.tasks.regression.params import RegressionParams, RegressionTerms
from unspoken.joint.tasks.regression.program_rows import own_rows, row_sums
from unspoken.joint.tasks.regression.second_moments import MOST_RECORDS, SIZES, row_moments, whole
from unspoken.joint.tasks.regression.sweep import LEAST_PIVOT, reciprocals
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.logistic_model import LogisticModel
from unspoken.numerics.logistic_fit import log_likelihood, probabilities

STEP = "the coefficients after each step"
LIKELIHOOD = "the log-likelihood of the model"
MOST_STEPS = 25
EXPECTED_STEPS = 5
CLOSE = 1e-9
# Rounding on shares changes a step by less than this.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Newton:
    """One step on shares: the inverse, the step of the columns and of the intercept."""

    inverse: Wide
    step: Wide
    start: Wide
    means: Wide
    turned: Wide


class LogisticOverRows:
    """The program: every owner gives the table of its rows, the response (0 or 1) last."""

    def __init__(self, terms: RegressionTerms, rules: RegressionParams | None = None) -> None:
        self.terms, self.rules = terms, rules or RegressionParams()
        to_receivers = [LIKELIHOOD, *([] if self.rules.ridge else [ERRORS])]
        self.disclosures = (*(Disclosure(t) for t in (SIZES, COUNT, SPREADS, ILL, STEP)),
                            *(Disclosure(t, self.rules.receivers) for t in to_receivers))

    async def __call__(self, party: Party, data: Floats | None) -> LogisticModel | None:
        """Step until the steps are small, and return the model to the receivers."""
        table = own_yes(party, self.terms, data)
        await ready(party)
        moments = await row_sums(party, self.terms, table)
        sizes = (np.log2(moments.units).astype(np.int64) + moments.spreads)[:-1]
        beta, far = np.zeros(len(self.terms.features) + 1), list[float]()
        while len(far) < MOST_STEPS:
            if party.name in party.roles.owners:
                refuse_next_step(far, len(table) // (TIMES * beta.size), party.name)
            known = recalled(party, "a step")
            if known is not None:
                beta, far = beta + known[0], [*far, float(np.abs(known[1]).max())]
                continue
            own = _own(party, table, beta, sizes, self.rules.ridge)
            with explained(far):
                newton = await self._newton(party, own, moments)
            step, scaled = await self._open_step(party, newton, moments)
            beta = beta + step
            far.append(float(np.abs(scaled).max()))
            if far[-1] < CLOSE:
                return await self._model(party, table, beta, newton, moments)
            await remember(party, "a step", step, scaled, within=ROUNDING)
        refuse_separable(MOST_STEPS)

    async def _newton(self, party: Party, own: Any, moments: Scaled) -> Newton:
        """Return one step; everything is divided by 2^(log - 2), which bounds weights."""
        p, log = len(self.terms.features), moments.log - 2
        total = (await share_sum_wide(party, own, (p + 2, p + 1), float(MOST_RECORDS) * 2.0**FINE,
                                      0)).shifted(FINE + log)
        total = (await rescale(party, total, FINE)).within(8)
        turned = await reciprocals(party, total[0, 0].reshape(1))
        return await self._solved(party, total, turned, moments)

    async def _solved(self, party: Party, total: Wide, turned: Wide, moments: Scaled) -> Newton:
        p = total.shape[1] - 1
        means = (await wide_matmul(party, total[0, 1:].reshape(-1, 1), turned.reshape(1, 1),
                                   FINE)).within(1 + 2.0**-20)
        # Sums and gradient, each without what its mean explains, in one product.
        right = join_wide([total[0, 1:].reshape(1, -1), total[p + 1:, 0].reshape(1, 1)], 1)
        explained = (await wide_matmul(party, means, right, FINE)).within(16)
        factors = np.left_shift(np.uint64(1), moments.spreads[:-1].astype(np.uint64))
        centred = await _scale(party, total[1:p + 1, 1:] - explained[:, :p], factors)
        rest = await rescale(party, total[p + 1, 1:].reshape(-1, 1) - explained[:, p:], FINE)
        gradient = await rescale(party, times_public(rest, factors[:, None]), FINE)
        extra = self.rules.ridge / (moments.units[:-1] ** 2 * 2.0 ** (moments.log - 2))
        if self.rules.ridge:
            centred = centred + public_wide(party, np.diag(extra))
        most = ROOM * p + float(extra.sum())
        inverted = (await inverse(party, centred, most, self.rules.condition)).within(
            2.5 * self.rules.condition / most)
        step = (await wide_matmul(party, inverted, gradient.within(64), FINE)).within(
            _reach(self.rules, p))
        middle = await rescale(party, times_public(means, factors[:, None]), FINE)
        start = await wide_multiply(party, total[p + 1, 0].reshape(1), turned, FINE)
        less = await wide_matmul(party, middle.T, step, FINE)
        return Newton(inverted, step, start - less.reshape(1), middle, turned)

    async def _open_step(self, party: Party, newton: Newton,
                         moments: Scaled) -> tuple[Floats, Floats]:
        """Open a step; return it in the data's units, and in those of the scaled columns."""
        p = len(self.terms.features)
        most = _reach(self.rules, p)
        step = await opened(party, newton.step, most, STEP, ())
        reach = 4 / LEAST_PIVOT + most * float(np.ldexp(1.0, moments.spreads[:-1]).sum())
        start = await opened(party, newton.start, reach, STEP, ())
        assert step is not None
        assert start is not None
        # The bound leaves too few bits for the intercept: what is missing comes after it.
        small = reach * 2.0**-57
        rest = (newton.start - public_wide(party, start)).within(small)
        more = await opened(party, rest, small, STEP, ())
        assert more is not None
        return np.concatenate([start + more, step / moments.units[:-1]]), step

    async def _model(self, party: Party, table: Floats, beta: Floats, newton: Newton,
                     moments: Scaled) -> LogisticModel | None:
        """Open standard errors and the likelihood, and return the model."""
        odds = table[:, :-1] @ beta[1:] + beta[0]
        mine = np.array([log_likelihood(odds, table[:, -1])])
        shared = await share_sum_wide(party, mine, (1,), 2.0**40, 40)
        # That of the fitted model is at least the one of all coefficients 0: -0.7 a record.
        likelihood = await opened(party, shared, 2.0**moments.log, LIKELIHOOD, self.rules.receivers)
        errors = np.zeros(0) if self.rules.ridge else await self._errors(party, newton, moments)
        if likelihood is None or errors is None:
            return None
        return LogisticModel(self.terms.response, self.terms.features, float(beta[0]), beta[1:],
                             moments.records, errors, float(likelihood[0]), self.rules.ridge)

    async def _errors(self, party: Party, newton: Newton, moments: Scaled) -> Floats | None:
        p, to = len(self.terms.features), self.rules.receivers
        place = np.arange(p)
        greatest = 2.5 * self.rules.condition / (ROOM * p)
        diagonal = await opened(party, newton.inverse[place, place], greatest, ERRORS, to)
        spread = await wide_matmul(party, newton.means.T, await wide_matmul(
            party, newton.inverse, newton.means, FINE), FINE)
        first = newton.turned + spread.reshape(1)
        reach = 2 / LEAST_PIVOT + 4 * greatest * float(
            np.ldexp(1.0, 2 * moments.spreads[:-1]).sum())
        start = await opened(party, first, reach, ERRORS, to)
        if diagonal is None or start is None:
            return None
        variances = np.concatenate([start, diagonal / moments.units[:-1] ** 2])
        return np.asarray(np.sqrt(variances / 2.0 ** (moments.log - 2)))


def _reach(rules: RegressionParams, terms: int) -> float:
    """Return a bound on a step: a gradient of at most 64 times the greatest inverse."""
    return 64 * 2.5 * rules.condition / float(np.sqrt(terms))


async def _scale(party: Party, matrix: Wide, factors: Any) -> Wide:
    """Return a matrix with rows and columns times public factors."""
    by_rows = await rescale(party, times_public(await rescale(party, matrix, FINE),
                                             factors[:, None]), FINE)
    return (await rescale(party, times_public(by_rows, factors[None, :]), FINE)).within(ROOM)


def _own(party: Party, table: Floats, beta: Floats, sizes: Ints, ridge: float) -> Any:
    """Return an owner's weighted moments, and below them its gradient, in units of 2^-96."""
    x, y = table[:, :-1], table[:, -1]
    p = probabilities(x @ beta[1:] + beta[0])
    gradient = np.concatenate([[(y - p).sum()], np.ldexp(x.T @ (y - p), -sizes.astype(np.int32))])
    if party.name == party.roles.owners[0]:
        gradient[1:] -= np.ldexp(ridge * beta[1:], -sizes.astype(np.int32))
    if party.name not in party.roles.owners:
        return None
    return np.vstack([row_moments(x, sizes, p * (1 - p)), whole(gradient, FINE)[None, :]])


def own_yes(party: Party, terms: RegressionTerms, data: Floats | None) -> Floats:
    """Check an owner's rows, and that its response is 0 or 1."""
    table = own_rows(party, terms, data)
    if not np.isin(table[:, -1], (0.0, 1.0)).all():
        raise DataError(f"The response '{terms.response}' must be 0 or 1 in every row. It is not.")
    if party.name in party.roles.owners:
        # Every step opens as many numbers as the model has.
        refuse_few_rows(table.shape[0], len(terms.features), party.name, EXPECTED_STEPS)
    return table


def mine_logistic_rows(parts: Sequence[Mapping[str, Any]], terms: RegressionTerms,
                             rules: RegressionParams | None = None, mode: str = "dealer", *,
                             names: Sequence[str] | None = None,
                             **how: Any) -> tuple[list[LogisticModel | None], list[Ledger]]:
    """Fit one logistic model over the rows of all owners; return each party's model and ledger.

    Parameters
    ----------
    parts : sequence of mapping
        Each owner's columns by name, the response among them.
    terms : RegressionTerms
        The response, the columns and their products.
    rules : RegressionParams, optional
        What everybody agreed on. Default: `RegressionParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of LogisticModel or None, list of Ledger)
        Each party's model (None for who is no receiver) and ledger, in the order of owners.

    Examples
    --------
    >>> models, ledgers = mine_logistic_rows([a, b, c], terms)  # doctest: +SKIP
    """
    tables = [terms.table(part) for part in parts]
    outputs = run_local(LogisticOverRows(terms, rules), tables, mode, names=names, **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
