"""Residual plots that can be shared (vcz2006 section 5.3; Karr and others 2005).

**Rows spread**: every owner makes up predictors, and residuals that behave like its own at them
(`stats.synthetic_residuals`); all rows are put together on shares, shuffled there by two holders
one after the other (a shared permutation matrix each), and opened.
  discloses: the synthetic rows, to all; not whose each is. Every number in them comes from groups
    of at least `least` records.
**Columns spread**: synthetic rows would lose how columns of different owners go together. Instead
the residuals are put together on shares (each owner adds its part of the prediction), and each
owner cuts the records into groups along each of its columns: mean of the column, mean and spread of
the residuals are opened for each group.
  discloses: these three numbers for each group, to all. All groups have the same public size.
  refuses: groups smaller than `least`, more numbers than a quarter of an owner's values.

The model is public here: it is what was opened before. Residuals themselves are opened by
`residuals` alone, on request.
  safe against: as products in the mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.sharing import reveal, share
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.randomness import fresh_words
from unspoken.joint.mpc.shared import Shared, concatenate, stack
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.common.public_sizes import ready
from unspoken.joint.tasks.regression.column_blocks import (
    SAME_ROWS,
    Own,
    OwnedColumns,
    agree_rows,
    own_part,
)
from unspoken.joint.tasks.regression.disclosure_guards import (
    opened_numbers,
    refuse_few_groups,
    refuse_solvable,
)
from unspoken.joint.tasks.regression.fitting import COUNT
from unspoken.joint.tasks.regression.params import RegressionTerms
from unspoken.joint.tasks.regression.program_rows import own_rows
from unspoken.joint.tasks.regression.second_moments import SIZES, common_exponents, exponents
from unspoken.joint.tasks.residuals.program_columns import (
    check_model,
    same_terms,
    shared_residuals,
)
from unspoken.joint.tasks.residuals.synthetic_residuals import synthetic
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.linear_model import LinearModel
from unspoken.models.residuals import Residuals
from unspoken.numerics.random import fresh_seed, generator
from unspoken.release.parameters import Whole, check

SYNTHETIC = "synthetic predictors and residuals, not whose they are"
GROUPS = "means of each column and of residuals, and their spread, over groups of records"
FRACTION = 30
MOST_ROWS = 1000
LEAST_GROUP = 5
_RULES = {"count": (Whole(1), "Use 100 rows of each owner."),
          "least": (Whole(LEAST_GROUP), "Use 20 records a group.")}


class ResidualsOverRows:
    """The program: `count` synthetic rows of every owner, from groups of `least` records."""

    declared = (Disclosure(SIZES), Disclosure(SYNTHETIC))

    def __init__(self, terms: RegressionTerms, model: LinearModel, count: int = 100,
                 least: int = 20) -> None:
        check("residuals", _RULES, {"count": count, "least": least})
        if count > MOST_ROWS:
            raise InputError(explain("'count'", f"at most {MOST_ROWS} rows an owner", count))
        self.terms, self.model, self.count, self.least = terms, model, count, least
        self.disclosures = self.declared

    async def __call__(self, party: Party, data: Floats | None) -> Residuals:
        """Make rows up, shuffle everybody's, and open them."""
        table = own_rows(party, self.terms, data)
        drawn = self._made(party, table)
        await ready(party)
        columns = drawn.shape[1]
        sizes = await common_exponents(party, exponents(drawn), columns)
        scaled = np.ldexp(drawn, -sizes.astype(np.int32))
        parts = [await share(party, scaled if party.name == owner else None, owner,
                             (self.count, columns), -(1 << FRACTION), 1 << FRACTION,
                             FRACTION) for owner in party.roles.owners]
        mixed = await shuffled(party, concatenate(parts))
        rows = np.ldexp(await reveal(party, mixed, because=SYNTHETIC), sizes.astype(np.int32))
        return Residuals(self.terms.columns, tuple(
            np.column_stack([rows[:, j], rows[:, -1], np.zeros(len(rows))])
            for j in range(columns - 1)))

    def _made(self, party: Party, table: Floats) -> Floats:
        """Return synthetic columns, without products, and synthetic residuals."""
        width = len(self.terms.columns)
        if party.name not in party.roles.owners:
            return np.zeros((self.count, width + 1))
        refuse_few_groups(table.shape[0], self.least, party.name)
        x, fitted = table[:, :width], self.model.predict(table[:, :-1])
        rows, residuals = synthetic(x, fitted, table[:, -1] - fitted, self.count, self.least,
                                    generator(fresh_seed()))
        return np.column_stack([rows, residuals])


async def shuffled(party: Party, rows: Shared) -> Shared:
    """Return shared rows in an order that nobody knows: every holder permutes them once."""
    count = rows.shape[0]
    for holder in party.holders:
        mine = None
        if party.name == holder:
            mine = np.eye(count, dtype=np.int64)[np.argsort(fresh_words(count))]
        order = await share(party, mine, holder, (count, count), 0, 1)
        rows = (await matmul(party, order, rows)).within(rows.low, rows.high)
    return rows


class ResidualsOverColumns:
    """The program: residuals over groups of records along every column."""

    declared = tuple(Disclosure(t) for t in (SAME_ROWS, COUNT, SIZES, GROUPS))

    def __init__(self, columns: OwnedColumns, model: LinearModel, groups: int = 10,
                 least: int = 20) -> None:
        check("residuals", {"groups": (Whole(1), "Use 10."), "least": _RULES["least"]},
              {"groups": groups, "least": least})
        check_model(columns, model)
        self.columns, self.model, self.groups, self.least = columns, model, groups, least
        self.disclosures = self.declared

    async def __call__(self, party: Party, data: Mapping[str, Any] | None) -> Residuals:
        """Put residuals together on shares, and open sums over groups."""
        own = None if data is None else own_part(self.columns, party.name, data)
        await ready(party)
        return await self.of(party, own, await agree_rows(party, tuple(self.columns.owners), own))

    async def of(self, party: Party, own: Own | None, rows: int) -> Residuals:
        """Return the groups of records that were prepared."""
        self._refuse(rows)
        unit = sqrt(self.model.variance)
        residuals = await shared_residuals(party, self.columns, self.model, own, rows)
        square = await truncate(party, await multiply(party, residuals, residuals), residuals.scale)
        both = stack([residuals, square]).T
        points: dict[str, Floats] = {}
        for owner in self.columns.owners:
            points |= await self._owner(party, owner, own, both, (rows, unit))
        names = self.columns.terms.columns
        return Residuals(names, tuple(points[name] for name in names))

    def _refuse(self, rows: int) -> None:
        if rows // self.groups < self.least:
            raise RefusedError(f"A group must have at least {self.least} records. {rows} records "
                               f"in {self.groups} groups have fewer. Ask for fewer groups.")
        widths = {o: w for o, w in self.columns.widths().items() if w}
        refuse_solvable(rows, widths, 3 * self.groups * len(self.columns.terms.columns)
                        + opened_numbers(len(self.model.features)))

    async def _owner(self, party: Party, owner: str, own: Own | None, both: Shared,
                     known: tuple[int, float]) -> dict[str, Floats]:
        """Open the sums over the groups of one owner's columns."""
        (rows, unit), names = known, self.columns.owners[owner]
        if not names:
            return {}
        mine, means = None, None
        if own is not None and party.name == owner:
            mine, means = self._groups(own.table[:, :len(names)])
        height = self.groups * len(names)
        inside = await share(party, mine, owner, (height, rows), 0, 1)
        sums = await reveal(party, await matmul(party, inside, both), because=GROUPS)
        sizes = await self._sizes(party, owner, means, len(names))
        scaled = None if means is None else np.ldexp(means, -np.repeat(sizes, self.groups))
        shared = await share(party, scaled, owner, (height,), -(1 << FRACTION), 1 << FRACTION,
                             FRACTION)
        opened = np.ldexp(await reveal(party, shared, because=GROUPS),
                          np.repeat(sizes, self.groups))
        counts = np.tile([len(g) for g in np.array_split(np.arange(rows), self.groups)],
                         len(names))
        level, second = sums[:, 0] / counts, sums[:, 1] / counts
        groups = np.column_stack([opened, level * unit,
                                  np.sqrt(np.maximum(0.0, second - level**2)) * unit])
        return {name: groups[i * self.groups:(i + 1) * self.groups]
                for i, name in enumerate(names)}

    def _groups(self, table: Floats) -> tuple[Any, Floats]:
        """Return which records are in which group along each column, and the groups' means."""
        inside = np.zeros((self.groups * table.shape[1], table.shape[0]), np.int64)
        for j, column in enumerate(table.T):
            parts = np.array_split(np.argsort(column, kind="stable"), self.groups)
            for i, part in enumerate(parts):
                inside[j * self.groups + i, part] = 1
        total = inside.sum(axis=1)
        means = [(inside[k] @ table[:, k // self.groups]) / total[k] for k in range(len(inside))]
        return inside, np.array(means)

    async def _sizes(self, party: Party, owner: str, means: Floats | None, columns: int) -> Any:
        mine = None if means is None else exponents(means.reshape(columns, -1).T)
        shared = await share(party, mine, owner, (columns,), -1000, 1000)
        return np.asarray(await reveal(party, shared, because=SIZES), np.int32)


def mine_residuals_rows(parts: Sequence[Mapping[str, Any]], terms: RegressionTerms,
                              model: LinearModel, count: int = 100, least: int = 20,
                              mode: str = "dealer",
                              **how: Any) -> tuple[list[Residuals], list[Ledger]]:
    """Return synthetic residuals of a model over all owners' rows, and each party's ledger."""
    same_terms(model, terms.features)
    program = ResidualsOverRows(terms, model, count, least)
    outputs = run_local(program, [terms.table(part) for part in parts], mode, **how)
    return [residuals for residuals, _ in outputs], [ledger for _, ledger in outputs]


def mine_residuals_columns(parts: Mapping[str, Mapping[str, Any]], columns: OwnedColumns,
                            model: LinearModel, groups: int = 10, least: int = 20,
                            mode: str = "dealer",
                            **how: Any) -> tuple[list[Residuals], list[Ledger]]:
    """Return grouped residuals of a model over all owners' columns, and each party's ledger."""
    program = ResidualsOverColumns(columns, model, groups, least)
    inputs = [parts[name] for name in columns.owners]
    outputs = run_local(program, inputs, mode, names=list(columns.owners), **how)
    return [residuals for residuals, _ in outputs], [ledger for _, ledger in outputs]
