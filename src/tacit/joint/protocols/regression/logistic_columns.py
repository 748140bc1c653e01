"""Logistic regression over columns that are spread among owners, by Newton's steps.

Not in the book. Every owner centres and scales its own columns, and takes its own part of the
log-odds at the present coefficients; the parts are added on shares. Probabilities, gradient,
weighted products, their inverse and the step stay on shares, and the step is opened, so that the
next log-odds are sums of local parts again.

  discloses, to all: whether owners have as many records, and how many; the power of two next to the
    spread of each column; the coefficients after every step; one bit a step, whether the matrix was
    too ill-conditioned. To the receivers: the intercept and standard errors.
  refuses: fewer values of an owner than four times all opened numbers, and what `vertical` refuses.
  error: of coefficients about 1e-4 of a standard error (probabilities are right to 2e-7, columns to
    2^-20 of their spread).
  cost: about 300 rounds a step; 2 kB and 70 bytes a term for each record and step. For tens of
    thousands of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil, log2, sqrt
from typing import Any

import numpy as np

from tacit.core.logistic_model import LogisticModel
from tacit.errors import DataError
from tacit.joint.errors import RefusedError
from tacit.joint.ledger import Ledger
from tacit.joint.party import Party
from tacit.joint.primitives.circle import SetRules
from tacit.joint.primitives.inverse import ILL
from tacit.joint.primitives.products import matmul
from tacit.joint.protocols.regression.columns import (
    SAME_ROWS,
    SPLIT,
    Columns,
    Given,
    Own,
    agree_rows,
    agree_sizes,
    aligned_part,
    aligning_told,
    own_part,
)
from tacit.joint.protocols.regression.fitting import (
    COEFFICIENTS,
    COUNT,
    ERRORS,
    SPREADS,
    opened,
)
from tacit.joint.protocols.regression.guards import (
    opened_numbers,
    refuse_few_records,
    refuse_solvable,
)
from tacit.joint.protocols.regression.logistic import EXPECTED_STEPS, MOST_STEPS, STEP
from tacit.joint.protocols.regression.moments import LARGEST, Ints
from tacit.joint.protocols.regression.sigmoid import SCALE, sigmoid
from tacit.joint.protocols.regression.terms import Floats, Rules
from tacit.joint.protocols.sizes import ready
from tacit.joint.ring import Shared, concatenate
from tacit.joint.run import run_local
from tacit.joint.study import Disclosure
from tacit.joint.wide import FINE, Wide

CELL = 20
CLOSE = 3e-5
MOST_ROWS = 1 << 20
MOST_ODDS = 1 << 12
MOST_MEAN = 2.0**24


class VerticalLogistic:
    """The program: every owner gives its columns; the response is 0 or 1."""

    def __init__(self, columns: Columns, rules: Rules | None = None,
                 aligned: SetRules | None = None) -> None:
        self.columns, self.rules = columns, rules or Rules(condition=2.0**16)
        self.aligned = aligned
        if columns.products or columns.held == SPLIT or self.rules.ridge:
            raise RefusedError("Logistic regression over columns takes no products, no ridge and "
                               "no response that is split. Leave them out.")
        told = (SAME_ROWS, COUNT, SPREADS, ILL, STEP)
        self.disclosures = (*map(Disclosure, told), *(
            Disclosure(t, self.rules.receivers) for t in (COEFFICIENTS, ERRORS)),
            *aligning_told(columns, aligned))

    async def __call__(self, party: Party, data: Given | None) -> LogisticModel | None:
        """Step until the steps are small, and return the model to the receivers."""
        checked = self._own(party, data)
        await ready(party)
        own = await aligned_part(party, checked, data, self.aligned)
        rows = await agree_rows(party, tuple(self.columns.owners), own)
        self._refuse(rows)
        means, scaled, spreads = await self._scaled(party, own)
        table, y = await self._shared(party, scaled, rows)
        beta = np.zeros(table.shape[1])
        for _ in range(MOST_STEPS):
            likely = await sigmoid(party, await self._odds(party, scaled, beta, rows))
            inverse, step = await self._newton(party, table, y, likely)
            beta = beta + step
            if np.abs(step).max() < CLOSE:
                return await self._model(party, beta, inverse, means, spreads, rows)
        raise RefusedError(f"The steps must become small within {MOST_STEPS}. They did not: the "
                           "classes can be told apart almost without error.")

    def _own(self, party: Party, data: Given | None) -> Own | None:
        if data is None or party.name not in self.columns.owners:
            return None
        own = own_part(self.columns, party.name, data.columns)
        if own.response.size and not np.isin(own.response, (0.0, 1.0)).all():
            raise DataError(f"The response '{self.columns.response}' must be 0 or 1 in every row. "
                            "It is not.")
        return own

    def _refuse(self, rows: int) -> None:
        terms = len(self.columns.terms.features)
        refuse_few_records(rows, terms, EXPECTED_STEPS)
        refuse_solvable(rows, self.columns.widths(),
                        opened_numbers(terms) + EXPECTED_STEPS * (terms + 1))
        if rows > MOST_ROWS:
            raise RefusedError(f"Logistic regression over columns takes at most {MOST_ROWS:,} "
                               f"records. There are {rows:,}. Take a sample.")

    async def _scaled(self, party: Party,
                      own: Own | None) -> tuple[Floats, Floats | None, Ints]:
        """Return means and scaled columns of this owner, and everybody's exponents of spreads."""
        p, means, table = len(self.columns.terms.features), np.zeros(0), None
        if own is not None:
            places = np.array([place for place, _ in self.columns.own(party.name)])
            means = np.where(places < p, own.table.mean(axis=0), 0.0)
            table = own.table - means
            spread = np.sqrt((table**2).mean(axis=0))[None, :]
            own = Own(np.where(places < p, spread, 1.0), own.response[:1])
        sizes = await agree_sizes(party, self.columns, own, SPREADS)
        if (sizes[:-1] == -LARGEST).any():
            name = self.columns.terms.features[int(np.argmin(sizes[:-1]))]
            raise RefusedError(f"Column '{name}' must vary. It is constant. Leave it out. Every "
                               "party learned this.")
        if table is not None:
            units = np.where(places < p, np.ldexp(1.0, sizes[places].astype(np.int32)), 1.0)
            means, table = means / units, table / units
        return means, table, sizes[:-1]

    async def _shared(self, party: Party, table: Floats | None,
                      rows: int) -> tuple[Shared, Shared]:
        """Return ones and all columns in the order of the model, and the response, on shares."""
        most, p = 1 << ceil(log2(sqrt(rows))) + CELL, len(self.columns.terms.features)
        parts, order = [], []
        for owner in self.columns.owners:
            places = [place for place, _ in self.columns.own(owner)]
            mine = table if party.name == owner else None
            parts.append(await party.share(mine, owner, (rows, len(places)), -most, most, CELL))
            order += places
        found = concatenate([part for part in parts if part.shape[1]], 1)[:, np.argsort(order)]
        ones = party.public(np.full((rows, 1), 1 << CELL), CELL)
        return concatenate([ones, found[:, :p]], 1), found[:, p:].within(0, 1 << CELL)

    async def _odds(self, party: Party, table: Floats | None, beta: Floats, rows: int) -> Shared:
        """Return log-odds: every owner adds its own part."""
        mine = None
        if table is not None:
            places = [place for place, _ in self.columns.own(party.name)]
            weights = np.array([beta[place + 1] if place + 1 < beta.size else 0.0
                                for place in places])
            mine = table @ weights
            if party.name == next(iter(self.columns.owners)):
                mine = mine + beta[0]
        most = MOST_ODDS << SCALE
        return await party.share_sum(mine, (rows,), -most, most, SCALE)

    async def _newton(self, party: Party, table: Shared, y: Shared,
                      likely: Shared) -> tuple[Wide, Floats]:
        """Return the inverse of the weighted products, and the step, which is opened."""
        rows, size = table.shape
        rest = y.reshape(rows) * (1 << SCALE - CELL)
        rest = replace(rest, scale=SCALE) - likely
        weight = likely - await party.truncate(await party.multiply(likely, likely), SCALE)
        weight = (await party.truncate(weight, SCALE - CELL)).within(0, (1 << CELL - 2) + 2)
        heavy = await party.multiply(table, concatenate([weight.reshape(-1, 1)] * size, 1))
        heavy = await party.truncate(heavy, CELL)
        most = rows << 2 * CELL
        products = await matmul(party, table.T, heavy, within=(-most, most))
        most = rows << CELL + SCALE
        gradient = await matmul(party, table.T, rest.reshape(-1, 1), within=(-most, most))
        log = ceil(log2(rows))
        hessian = await party.rescale((await party.lift(products)).shifted(log), FINE)
        slope = await party.rescale((await party.lift(gradient)).shifted(log), FINE)
        bound = size * 0.3
        inverse = (await party.inverse(hessian.within(0.3), bound, self.rules.condition)).within(
            2.5 * self.rules.condition / bound)
        reach = 2.5 * self.rules.condition / bound * size
        step = (await party.wide_matmul(inverse, slope.within(1.25), FINE)).within(2 * reach)
        found = await opened(party, step, 2 * reach, STEP, ())
        assert found is not None
        return inverse, found

    async def _model(self, party: Party, beta: Floats, inverse: Wide, means: Floats,
                     spreads: Ints, rows: int) -> LogisticModel | None:
        """Open the intercept of columns that were not centred, and standard errors."""
        p, to = len(spreads), self.rules.receivers
        mine = np.zeros((p + 1, 1))
        if means.size:
            at = np.array([place for place, _ in self.columns.own(party.name)])
            mine[at[at < p] + 1, 0] = -means[at < p]
        shared = await party.share_sum_wide(mine, (p + 1, 1), MOST_MEAN, 48)
        shift = await party.rescale(shared, FINE) + party.public_wide(np.eye(p + 1)[:, :1])
        shift = (await party.rescale(shift, FINE)).within(2 * MOST_MEAN)
        line = party.public_wide(beta[None, :])
        reach = 2 * MOST_MEAN * float(np.abs(beta).sum() + 1)
        start = await opened(party, await party.wide_matmul(line, shift, FINE), reach,
                             COEFFICIENTS, to)
        greatest = 2.5 * self.rules.condition / (0.3 * (p + 1))
        place = np.arange(1, p + 1)
        diagonal = await opened(party, inverse[place, place], greatest, ERRORS, to)
        square = await party.wide_matmul(shift.T, await party.wide_matmul(inverse, shift, FINE),
                                         FINE)
        first = await opened(party, square, 2.0**40, ERRORS, to)
        if start is None or diagonal is None or first is None:
            return None
        units = np.ldexp(1.0, spreads.astype(np.int32))
        errors = np.sqrt(np.concatenate([first, diagonal / units**2]) / 2.0 ** ceil(log2(rows)))
        return LogisticModel(self.columns.response, self.columns.terms.features, float(start[0]),
                             beta[1:] / units, rows, errors)


def mine_logistic_vertical(parts: Mapping[str, Mapping[str, Any]], columns: Columns,
                           rules: Rules | None = None, mode: str = "dealer", *,
                           ids: Mapping[str, Iterable[Any]] | None = None,
                           aligned: SetRules | None = None,
                           **how: Any) -> tuple[list[LogisticModel | None], list[Ledger]]:
    """Fit one logistic model over the columns of all owners; arguments as for least squares."""
    rules_of_sets = (aligned or SetRules()) if ids is not None else None
    program = VerticalLogistic(columns, rules, rules_of_sets)
    given = [Given(parts[name], None if ids is None else list(ids[name]))
             for name in columns.owners]
    outputs = run_local(program, given, mode, names=list(columns.owners), **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
