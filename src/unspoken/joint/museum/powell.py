"""Regression by line searches (vcz2006 section 5.2.4, Sanil and others): the secure Powell form.

Every owner keeps its own part of the coefficients and of the search directions to itself; residual
and direction vectors are sums on shares, and only step lengths are opened (`line_search`).

  changed from the book: beta~ is updated after the last search of a sweep (as printed it never is);
    every owner makes its own columns orthogonal first, by itself; the direction that is replaced
    is not the first but, of the old ones, the one that moved most; sweeps go on until steps are
    small (p are not enough with rounding); directions start as a secret rotation of each owner's
    own columns.
  inference: the searches do not give the inverse of X'X, so standard errors and smaller models
    come from the moments on shares, as in `vertical`. `inference=False` leaves that out.
  discloses, to all: every step length; before the first one a bit, whether the columns of
    different owners depend on each other too much; what `vertical` discloses. To the receivers:
    coefficients and, with inference, sums of squares and standard errors.
  refuses, before any step is opened: fewer than three owners; products of columns of different
    owners and a response that is split, of which nobody has a part to move; columns that depend on
    each other, of one owner or of several; fewer values of an owner than four times the numbers
    that p + 4 sweeps open. Should a search take longer than that, it is ended at a quarter of an
    owner's values, with what it opened.
  error: coefficients within 1e-7 of |beta| plus its standard error where it ends.
  cost: about 95 + 11 p rounds a sweep, p + 1 sweeps as a rule: slower than `vertical`,
    which discloses less. It is here because the book has it.

**literal**, by name and with `accept` only: z and w are opened, as printed. In the first sweep w is
a column, or sums of one owner's columns; `museum.message_leaks.published_columns` reads them off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil, log2
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.multi_limb import join_wide
from unspoken.joint.mpc.ops.limb_sharing import share_sum_wide
from unspoken.joint.mpc.ops.matrix_inverse import ILL
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.sets.encrypted_circle import SetRules
from unspoken.joint.museum.line_search import (
    ENDS,
    LONGEST,
    STEP,
    WEAK,
    Search,
    walker_of,
)
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.record_order import InOneOrder
from unspoken.joint.tasks.regression.column_blocks import SPLIT, Given, OwnedColumns
from unspoken.joint.tasks.regression.columns_start import given_to
from unspoken.joint.tasks.regression.disclosure_guards import most_opened
from unspoken.joint.tasks.regression.fitting import (
    COEFFICIENTS,
    ROOM,
    SUMS,
    Fit,
    Scaled,
    fit,
    open_errors,
    open_smaller,
    opened,
    standard_errors,
)
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.joint.tasks.regression.program_columns import RegressionOverColumns
from unspoken.joint.tasks.regression.standardised_columns import Standard, standardised
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.linear_model import LinearModel

Fitted = tuple[Scaled, Fit]

METHODS = ("shares", "literal")
ACCEPT = "columns can be read off what every search opens"
CONDITION, EASY = 2.0**16, 2.0**12


def expected_searches(terms: int, condition: float = CONDITION) -> int:
    """Return how many searches there are at most, as measured on random columns in the clear.

    p sweeps of p + 1 and two of p, or four where the columns of owners may be close to depending
    on each other (the number grows with the logarithm of the condition).
    """
    return terms * (terms + (3 if condition <= EASY else 5))


class PowellRegression(RegressionOverColumns):
    """The program: every owner gives its columns, as for `RegressionOverColumns`."""

    def __init__(
        self,
        columns: OwnedColumns,
        rules: RegressionParams | None = None,
        method: str = "shares",
        accept: str = "",
    ) -> None:
        rules = rules or RegressionParams(condition=CONDITION)
        super().__init__(columns, rules)
        _refuse(columns, rules, method, accept)
        self.method, self.exact = method, rules.inference and not rules.ridge
        reasons = (STEP, WEAK) if method == "literal" else (STEP, ENDS)
        self.disclosures = (*(d for d in self.disclosures if self.exact or d.because != ILL),
                            *map(Disclosure, reasons))

    def opens(self) -> int:
        """Return how many numbers are opened, with as many searches as are expected.

        Who accepted the literal form shows columns anyway.
        """
        searches = expected_searches(len(self.columns.terms.features), self.rules.condition)
        return super().opens() + (0 if self.method == "literal" else searches)

    async def __call__(self, party: Party, data: Given | None) -> LinearModel | None:
        """Search until steps are small, then open the coefficients."""
        own, rows = await self.prepared(party, data)
        fitted: Fitted | None = None
        if self.exact:
            # First, because it refuses columns that depend on each other before any step is seen.
            moments = await self.shared(party, own, rows)
            fitted = moments, await fit(party, moments, self.rules)
        standard = await standardised(party, self.columns, own)
        search = await self._searched(party, standard, rows)
        model = await self._model(party, search, standard)
        return model if fitted is None else await self._with_errors(party, model, fitted)

    async def _searched(self, party: Party, standard: Standard, rows: int) -> Search:
        ridge, terms = self.rules.ridge, len(self.columns.terms.features)
        if (ridge / standard.units[:-1] ** 2 > rows).any():
            raise RefusedError(f"The ridge must not hide the data. {ridge:g} is more than a "
                               "column's sum of squares. Use a smaller ridge, or other units.")
        literal, condition = self.method == "literal", self.rules.condition
        most = rows * terms if literal else (most_opened(rows, self.columns.widths())
                                             - super().opens())
        search = Search(party, walker_of(standard, terms, ridge, condition, literal), rows, most,
                        ridge=bool(ridge), literal=literal, condition=condition)
        await search.run()
        return search

    async def _model(self, party: Party, search: Search,
                     standard: Standard) -> LinearModel | None:
        """Open coefficients and, with inference, sums of squares."""
        p, units, to = search.terms, standard.units, self.rules.receivers
        scaled = np.zeros((p, 1))
        scaled[standard.places[standard.places < p], 0] = search.walker.coefficients
        shared = await share_sum_wide(party, scaled, (p, 1), LONGEST, 48)
        beta = await opened(party, shared, LONGEST, COEFFICIENTS, to)
        start = await self._start(party, scaled[:, 0], standard)
        sums = await self._sums(party, search) if self.rules.inference else np.full(2, np.nan)
        if beta is None or start is None or sums is None:
            return None
        rss, tss = np.maximum(sums, 0.0) * units[-1] ** 2
        return LinearModel(self.columns.response, self.columns.terms.features,
                           float(start[0] * units[-1]), beta * units[-1] / units[:-1],
                           search.rows, np.zeros(0), float(rss), float(tss), self.rules.ridge)

    async def _start(self, party: Party, scaled: Floats, standard: Standard) -> Floats | None:
        """Open the intercept in units of the response: every owner adds its part."""
        weights = np.append(-scaled, 1.0)[standard.places]
        mine = np.array([weights @ standard.means])
        most = 2.0 ** ceil(log2(standard.reach.sum() * LONGEST))
        shared = await share_sum_wide(party, mine, (1,), most, 56)
        return await opened(party, shared.within(most), most, COEFFICIENTS, self.rules.receivers)

    async def _sums(self, party: Party, search: Search) -> Floats | None:
        """Open the sums of squares, residual and total, in units of the response."""
        sums = await opened(party, join_wide(await search.squares(), 1), 2.0, SUMS,
                            self.rules.receivers)
        return None if sums is None else np.ldexp(sums, search.halved)

    async def _with_errors(self, party: Party, model: LinearModel | None,
                           estimates: Fitted) -> LinearModel | None:
        """Open standard errors and smaller models, which the moments on shares give."""
        moments, fitted = estimates
        p = len(self.columns.terms.features)
        inside = await open_smaller(party, moments, self.rules, self.columns.terms.features)
        errors = await open_errors(party, moments, fitted, self.rules, ROOM * p)
        if model is None:
            return None
        return replace(model, smaller=inside,
                       errors=standard_errors(errors, moments, model.rss, p))


def _refuse(columns: OwnedColumns, rules: RegressionParams, method: str, accept: str) -> None:
    """Refuse what Powell's search cannot do, and its literal form if nobody accepts it."""
    if method not in METHODS:
        raise InputError(explain("'method'", "one of " + ", ".join(METHODS), method))
    if len(columns.owners) < 3 or columns.crossing() or columns.held == SPLIT:
        raise RefusedError("Powell's search needs three owners or more, no products of columns of "
                           "different owners and a response that is not split: between two, each "
                           "step is an equation on the other's columns. Use RegressionOverColumns.")
    if rules.condition > CONDITION:
        raise InputError(explain("'condition' of Powell's search", f"at most {CONDITION:g}",
                                 rules.condition))
    if method == "literal" and (accept != ACCEPT or rules.ridge):
        raise RefusedError("The literal form of Powell's search opens vectors from which columns "
                           f"can be read, and has no ridge. Use accept='{ACCEPT}', or use the "
                           "form on shares.")


def mine_regression_powell(parts: Mapping[str, Mapping[str, Any]], columns: OwnedColumns,
                           method: str = "shares", mode: str = "dealer", *,
                           rules: RegressionParams | None = None,
                           ids: Mapping[str, Iterable[Any]] | None = None,
                           aligned: SetRules | None = None, accept: str = "",
                           **how: Any) -> tuple[list[LinearModel | None], list[Ledger]]:
    """Fit by line searches over the columns of three owners or more; else as by the matrix."""
    rules_of_sets = (aligned or SetRules()) if ids is not None else None
    program = InOneOrder(PowellRegression(columns, rules, method, accept), tuple(columns.owners),
                         rules_of_sets)
    outputs = run_local(program, given_to(parts, columns, ids), mode, names=list(columns.owners),
                        **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
