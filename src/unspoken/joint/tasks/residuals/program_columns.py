"""Residuals of a public model over the columns of several owners: on shares, or opened on request.

Each owner takes its own part of the prediction; the parts are added on shares, and so are products
of columns of different owners. Opened residuals and
coefficients together give X_j beta_j of whoever is alone on the other side, so that two owners, or
an owner with one column, are refused (vcz2006 section 5.2.2); so are models of which there were as
many as an owner has columns.
  discloses: the residual of every record, to the receivers. What they are joined with later is out
    of anybody's hands: `diagnostics` shows what plots need without them.
  safe against: as sums on shares in the mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, log2, sqrt
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.sharing import reveal, share, share_sum
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.regression.column_blocks import (
    SAME_ROWS,
    SPLIT,
    Own,
    OwnedColumns,
    agree_rows,
    agree_sizes,
    own_part,
)
from unspoken.joint.tasks.regression.disclosure_guards import (
    refuse_few_records,
    refuse_residuals,
)
from unspoken.joint.tasks.regression.fitting import COUNT
from unspoken.joint.tasks.regression.second_moments import SIZES
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.coefficients import TIMES
from unspoken.models.linear_model import LinearModel

EACH = "the residual of every record"
SCALE = 20
FRACTION = 30
GREATEST = 2.0**14
"""The greatest product, in units of the residuals' spread: beyond it 16 bits would be left."""


def same_terms(model: LinearModel, features: Sequence[str]) -> None:
    """Refuse a model of other terms."""
    if tuple(model.features) != tuple(features):
        raise InputError(explain("The model", "of the terms " + ", ".join(features),
                                 ", ".join(model.features)))


def check_model(columns: OwnedColumns, model: LinearModel) -> None:
    """Refuse models whose residuals owners cannot put together from their parts."""
    same_terms(model, columns.terms.features)
    if not np.isfinite(model.rss):
        raise InputError("Residuals over columns need a model with its sums of squares. This one "
                         "has only coefficients.")


def once(declared: Sequence[Disclosure]) -> tuple[Disclosure, ...]:
    """Return disclosures of several programs, each reason once."""
    return tuple({disclosure.because: disclosure for disclosure in declared}.values())


async def shared_residuals(party: Party, columns: OwnedColumns, model: LinearModel, own: Own | None,
                           rows: int) -> Shared:
    """Return the residuals in units of their spread; everybody adds its part of them."""
    part, unit = None, sqrt(model.variance)
    if own is not None and party.name in columns.owners:
        part = -own.table @ _weights(columns, model, party.name) / unit
        if columns.held == SPLIT:
            part += own.response / unit
        if party.name == (columns.keeper() or next(iter(columns.owners))):
            part -= model.intercept / unit
    most = (1 << 60) // len(party.roles.owners)
    residuals = await share_sum(party, part, (rows,), -most, most, SCALE)
    if columns.crossing():
        residuals = residuals + await _crossed(party, columns, model, own, rows)
    # No residual of the fitted data is greater than the root of the sum of squares.
    bound = 1 << ceil(log2(sqrt(rows))) + 1 + SCALE
    return residuals.within(-bound, bound)


async def _crossed(party: Party, columns: OwnedColumns, model: LinearModel, own: Own | None,
                   rows: int) -> Shared:
    """Return what products of columns of different owners take off, in units of the spread."""
    sizes, parts = await agree_sizes(party, columns, own), []
    at = dict(zip(model.features, model.coefficients, strict=True))
    for _, pair in columns.crossing():
        one, other = [await _column(party, columns, own, rows, (name, sizes)) for name in pair]
        product = await truncate(party, await multiply(party, one, other), FRACTION)
        scale = float(np.ldexp(1.0, sum(int(sizes[columns.terms.place(n)]) for n in pair)))
        weight = -at[TIMES.join(pair)] * scale / sqrt(model.variance)
        parts.append(await _weighted(party, product.within(-(1 << FRACTION), 1 << FRACTION),
                                     weight))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


async def _column(party: Party, columns: OwnedColumns, own: Own | None, rows: int,
                  named: tuple[str, Any]) -> Shared:
    """Return a column on shares, divided by the power of two above it."""
    (name, sizes), mine = named, None
    owner = columns.owner_of(name)
    if own is not None and party.name == owner:
        at = columns.owners[owner].index(name)
        mine = np.ldexp(own.table[:, at], -int(sizes[columns.terms.place(name)]))
    most = 1 << FRACTION
    return await share(party, mine, owner, (rows,), -most, most, FRACTION)


async def _weighted(party: Party, values: Shared, weight: float) -> Shared:
    """Return values of at most 1 times a public number, with 20 fractional bits."""
    if abs(weight) > GREATEST:
        raise RefusedError("Products of columns must not be far greater than residuals. They are: "
                           "subtract constants from their columns on every side.")
    bits = FRACTION - max(0, ceil(log2(max(abs(weight), 1.0))))
    product = await truncate(party, values * round(weight * (1 << bits)), FRACTION + bits - SCALE)
    most = (ceil(abs(weight)) + 1) << SCALE
    return replace(product, scale=SCALE).within(-most, most)


def _weights(columns: OwnedColumns, model: LinearModel, owner: str) -> Floats:
    """Return the coefficients of an owner's columns, and -1 for the response."""
    at = dict(zip(model.features, model.coefficients, strict=True)) | {columns.response: -1.0}
    return np.array([at[TIMES.join(names)] for _, names in columns.own(owner)])


class OpenResiduals:
    """The program: every record's residual, to the receivers; `models` counts all that were."""

    def __init__(self, columns: OwnedColumns, model: LinearModel, receivers: Sequence[str] = (),
                 models: int = 1) -> None:
        check_model(columns, model)
        refuse_residuals(columns.widths(), models)
        self.columns, self.model, self.receivers = columns, model, tuple(receivers)
        self.disclosures = self.declared(columns, self.receivers)

    @staticmethod
    def declared(columns: OwnedColumns, receivers: Sequence[str]) -> tuple[Disclosure, ...]:
        """Return what is disclosed."""
        sizes = [Disclosure(SIZES)] if columns.crossing() else []
        return (Disclosure(SAME_ROWS), Disclosure(COUNT), *sizes,
                Disclosure(EACH, tuple(receivers)))

    async def __call__(self, party: Party, data: Mapping[str, Any] | None) -> Floats | None:
        """Put residuals together, and open them."""
        own = None if data is None else own_part(self.columns, party.name, data)
        await ready(party)
        return await self.of(party, own, await agree_rows(party, tuple(self.columns.owners), own))

    async def of(self, party: Party, own: Own | None, rows: int) -> Floats | None:
        """Return the residuals of records that were prepared."""
        refuse_few_records(rows, len(self.model.features))
        shared = await shared_residuals(party, self.columns, self.model, own, rows)
        opened = await reveal(party, shared, because=EACH, to=self.receivers)
        return None if opened is None else np.asarray(opened * sqrt(self.model.variance))


def open_residuals_columns(parts: Mapping[str, Mapping[str, Any]], columns: OwnedColumns,
                            model: LinearModel, mode: str = "dealer", *,
                            receivers: Sequence[str] = (), models: int = 1,
                            **how: Any) -> tuple[list[Floats | None], list[Ledger]]:
    """Return the residual of every record to the receivers, and each party's ledger."""
    program = OpenResiduals(columns, model, receivers, models)
    outputs = run_local(program, [parts[name] for name in columns.owners], mode,
                        names=list(columns.owners), **how)
    return [residuals for residuals, _ in outputs], [ledger for _, ledger in outputs]
