"""Logistic regression over columns that are spread among owners, by Newton's steps.

Not in the book. Every owner centres and scales its own columns, and takes its own part of the
log-odds at the present coefficients; the parts are added on shares. Probabilities, gradient,
weighted products, their inverse and the step stay on shares, and the step is opened, so that the
next log-odds are sums of local parts again.

  discloses, to all: whether owners have as many records, and how many; if all have the response,
    whether it is the same; the powers of two above the greatest magnitude of each column and next
    to its spread; the coefficients after every step; one bit a step, whether the matrix was too
    ill-conditioned. To the receivers: the intercept, the log-likelihood and, without a ridge,
    standard errors.
  refuses: fewer values of an owner than four times all opened numbers, a response that is split,
    a ridge with products of columns of different owners, and what `vertical` refuses.
  error: of coefficients about 1e-4 of a standard error (probabilities are right to 2e-7, columns to
    2^-20 of their spread); of the log-likelihood 3e-7 a record.
  cost: about 220 rounds a step; 2.3 kB and 65 bytes a term for each record and step. For tens of
    thousands of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil, log2
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.multi_limb import FINE, Wide, public_wide
from unspoken.joint.mpc.ops.limb_products import wide_matmul
from unspoken.joint.mpc.ops.matrix_inverse import ILL, inverse
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.logistic.cross_products import (
    CELL,
    in_units,
    turning,
)
from unspoken.joint.tasks.logistic.params import CONDITION
from unspoken.joint.tasks.logistic.program_rows import (
    EXPECTED_STEPS,
    LIKELIHOOD,
    MOST_STEPS,
    STEP,
)
from unspoken.joint.tasks.logistic.separable_classes import (
    explained,
    refuse_next_step,
    refuse_separable,
)
from unspoken.joint.tasks.logistic.shared_columns import log_odds, shared_table, slopes
from unspoken.joint.tasks.logistic.sigmoid import SCALE, log_likelihoods, sigmoid
from unspoken.joint.tasks.regression.column_blocks import (
    ALL,
    SAME_RESPONSE,
    SAME_ROWS,
    SPLIT,
    Given,
    Own,
    OwnedColumns,
)
from unspoken.joint.tasks.regression.columns_start import OverColumns, given_to
from unspoken.joint.tasks.regression.disclosure_guards import (
    most_opened,
    refuse_few_records,
    smallest,
)
from unspoken.joint.tasks.regression.fitting import COEFFICIENTS, COUNT, ERRORS, SPREADS, opened
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.second_moments import SIZES
from unspoken.joint.tasks.regression.standardised_columns import Standard, standardised
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.logistic_model import LogisticModel

CLOSE = 3e-5
MOST_ROWS = 1 << 20


class LogisticOverColumns(OverColumns):
    """The program: every owner gives its columns; the response is 0 or 1."""

    def __init__(self, columns: OwnedColumns, rules: RegressionParams | None = None) -> None:
        super().__init__(columns, rules or RegressionParams(condition=CONDITION))
        if columns.held == SPLIT or self.rules.smaller or (columns.crossing() and self.rules.ridge):
            raise RefusedError("Logistic regression over columns takes no smaller models, no "
                               "response that is split, and no ridge with products of columns of "
                               "different owners. Leave them out.")
        to_all = (SAME_ROWS, COUNT, SIZES, SPREADS, ILL, STEP,
                *([SAME_RESPONSE] * (columns.held == ALL)))
        mine = (COEFFICIENTS, LIKELIHOOD, *([] if self.rules.ridge else [ERRORS]))
        self.disclosures = (*map(Disclosure, to_all), *(
            Disclosure(t, self.rules.receivers) for t in mine))

    async def __call__(self, party: Party, data: Given | None) -> LogisticModel | None:
        """Step until the steps are small, and return the model to the receivers."""
        own, rows = await self.prepared(party, data)
        self._refuse(rows)
        standard = await standardised(party, self.columns, own, response=False)
        extra = self._penalties(standard, rows)
        table, y, sizes = await shared_table(party, self.columns, standard, rows)
        beta, most, far = np.zeros(table.shape[1]), self._most_steps(rows), list[float]()
        while len(far) < MOST_STEPS:
            refuse_next_step(far, most, smallest(self.columns.widths()))
            likely = await sigmoid(party, await log_odds(party, self.columns, standard, beta,
                                                          table))
            with explained(far):
                inverse, step = await self._newton(party, table, y, likely, (beta, extra))
            beta = beta + step
            far.append(float(np.abs(step).max()))
            if far[-1] < CLOSE:
                odds = await log_odds(party, self.columns, standard, beta, table)
                chance = await self._likelihood(party, odds, y)
                standard = in_units(self.columns, standard, sizes)
                turn = await turning(party, self.columns, standard, sizes)
                return await self._model(party, (beta, inverse, turn), standard, (rows, chance))
        refuse_separable(MOST_STEPS)

    def checked(self, party: Party, data: Given | None) -> Own | None:
        """Check an owner's columns, and that its response is 0 or 1."""
        own = super().checked(party, data)
        if own is not None and not np.isin(own.response, (0.0, 1.0)).all():
            raise DataError(f"The response '{self.columns.response}' must be 0 or 1 in every row. "
                            "It is not.")
        return own

    def opens(self) -> int:
        """Return how many numbers are opened, with as many steps as are expected."""
        return super().opens() + EXPECTED_STEPS * (len(self.columns.terms.features) + 1)

    def _most_steps(self, rows: int) -> int:
        """Return how many steps may be opened."""
        left = most_opened(rows, self.columns.widths()) - super().opens()
        return left // (len(self.columns.terms.features) + 1)

    def _refuse(self, rows: int) -> None:
        refuse_few_records(rows, len(self.columns.terms.features), EXPECTED_STEPS)
        if rows > MOST_ROWS:
            raise RefusedError(f"Logistic regression over columns takes at most {MOST_ROWS:,} "
                               f"records. There are {rows:,}. Take a sample.")

    def _penalties(self, standard: Standard, rows: int) -> Floats:
        """Return what a ridge adds to the diagonal; nothing for the intercept."""
        added = self.rules.ridge / (standard.units[:-1] ** 2 * 2.0 ** ceil(log2(rows)))
        if added.max() * added.size > self.rules.condition / 4:
            raise RefusedError(f"The ridge must not hide the data. {self.rules.ridge:g} is far "
                               "more than a column's sum of squares. Give a smaller one, or "
                               "other units.")
        return np.append(0.0, added)

    async def _newton(self, party: Party, table: Shared, y: Shared, likely: Shared,
                      now: tuple[Floats, Floats]) -> tuple[Wide, Floats]:
        """Return the inverse of the weighted products, and the step, which is opened."""
        hessian, slope = await slopes(party, table, y, likely)
        (beta, extra), size = now, table.shape[1]
        if self.rules.ridge:
            hessian = hessian + public_wide(party, np.diag(extra))
            slope = slope - public_wide(party, (extra * beta)[:, None])
        bound, steep = size * 0.3 + float(extra.sum()), 1.25 + float(np.abs(extra * beta).max())
        inverted = (await inverse(party, hessian, bound, self.rules.condition)).within(
            2.5 * self.rules.condition / bound)
        reach = 2 * steep * 2.5 * self.rules.condition / bound * size
        step = (await wide_matmul(party, inverted, slope.within(steep), FINE)).within(reach)
        opened_step = await opened(party, step, reach, STEP, ())
        assert opened_step is not None
        return inverted, opened_step

    async def _likelihood(self, party: Party, odds: Shared, y: Shared) -> float:
        """Open the log-likelihood; that of a model is at least the one of all coefficients 0."""
        rows = odds.size
        yes = replace((await truncate(party, y.reshape(rows), CELL)).within(0, 1), scale=0)
        likelihood = (await log_likelihoods(party, odds, yes)).sum().reshape(1)
        most = rows << SCALE
        plain = await reveal(party, likelihood.within(-most, most), because=LIKELIHOOD,
                             to=self.rules.receivers)
        return float("nan") if plain is None else float(plain[0])

    async def _model(self, party: Party, fitted: tuple[Floats, Wide, Wide], standard: Standard,
                     known: tuple[int, float]) -> LogisticModel | None:
        """Open coefficients of columns that were not centred, and standard errors."""
        (beta, inverse, turn), (rows, chance) = fitted, known
        units = np.append(1.0, standard.units[:-1])
        plain = await self._plain(party, beta, turn, standard)
        errors: Floats | None = np.zeros(0)
        if not self.rules.ridge:
            errors = await self._errors(party, inverse, turn, standard)
        if plain is None or errors is None:
            return None
        plain = plain / units
        return LogisticModel(self.columns.response, self.columns.terms.features, float(plain[0]),
                             plain[1:], rows, errors / 2.0 ** (ceil(log2(rows)) / 2), chance,
                             self.rules.ridge)

    async def _plain(self, party: Party, beta: Floats, turn: Wide,
                     standard: Standard) -> Floats | None:
        """Return coefficients in units; those that means are part of are opened."""
        place = self.columns.terms.place
        at = [0, *sorted({place(name) + 1 for _, pair in self.columns.crossing()
                          for name in pair})]
        reach = (1 + float(standard.reach.max())) * float(np.abs(beta).sum()) + 1
        line = await wide_matmul(party, turn[at], public_wide(party, beta[:, None]), FINE)
        opened_part = await opened(party, line, 2 * reach, COEFFICIENTS, self.rules.receivers)
        if opened_part is None:
            return None
        plain = beta.copy()
        plain[at] = opened_part
        return plain

    async def _errors(self, party: Party, inverse: Wide, turn: Wide,
                      standard: Standard) -> Floats | None:
        """Open standard errors, but for a power of two, the intercept's first."""
        units, to = standard.units[:-1], self.rules.receivers
        greatest, place = 2.5 * self.rules.condition / (0.3 * (units.size + 1)), np.arange(
            units.size + 1)
        half = await wide_matmul(party, inverse, turn.T, FINE)
        square = await wide_matmul(party, turn, half, FINE)
        most = greatest * (1 + float((standard.reach[:-1] ** 2).sum()))
        first = await opened(party, square[:1, 0], most, ERRORS, to)
        if not self.columns.crossing():
            most = greatest
        diagonal = await opened(party, square[place[1:], place[1:]], most, ERRORS, to)
        if diagonal is None or first is None:
            return None
        return np.asarray(np.sqrt(np.concatenate([first, diagonal / units**2])))


def mine_logistic_columns(parts: Mapping[str, Mapping[str, Any]], columns: OwnedColumns,
                           rules: RegressionParams | None = None, mode: str = "dealer", *,
                           ids: Mapping[str, Iterable[Any]] | None = None,
                           aligned: SetRules | None = None,
                           **how: Any) -> tuple[list[LogisticModel | None], list[Ledger]]:
    """Fit one logistic model over the columns of all owners; arguments as for least squares.

    Parameters
    ----------
    parts : mapping of str to mapping
        Each owner's columns by name, by the owner's name.
    columns : OwnedColumns
        Which owner has which columns, and who has the response.
    rules : RegressionParams, optional
        What everybody agreed on. Default: `RegressionParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    ids : mapping of str to iterable, optional
        Each owner's ids, if records are to be aligned.
    aligned : SetRules, optional
        Rules of the alignment, used if there are ids. Default: `SetRules()`.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of LogisticModel or None, list of Ledger)
        Each party's model (None for who is no receiver) and ledger, in the order of owners.

    Examples
    --------
    >>> models, ledgers = mine_logistic_columns({'a': a, 'b': b}, columns)  # doctest: +SKIP
    """
    rules_of_sets = (aligned or SetRules()) if ids is not None else None
    program = InOneOrder(LogisticOverColumns(columns, rules), tuple(columns.owners), rules_of_sets)
    outputs = run_local(program, given_to(parts, columns, ids), mode, names=list(columns.owners),
                        **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
