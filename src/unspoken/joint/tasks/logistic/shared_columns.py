"""Columns of several owners on shares: the table, log-odds at some coefficients, and slopes."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2, sqrt

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.mpc.multi_limb import FINE, Wide
from unspoken.joint.mpc.ops.limb_sharing import lift, rescale
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.sharing import share, share_sum
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public
from unspoken.joint.tasks.logistic.cross_products import CELL, odds_of, products
from unspoken.joint.tasks.logistic.sigmoid import SCALE
from unspoken.joint.tasks.regression.column_blocks import OwnedColumns
from unspoken.joint.tasks.regression.standardised_columns import Standard

MOST_ODDS = 1 << 12


async def shared_table(party: Party, columns: OwnedColumns, standard: Standard,
                       rows: int) -> tuple[Shared, Shared, Ints]:
    """Return ones and all columns in the order of the model, the response, and units.

    Units are those of products of columns of different owners, as exponents.
    """
    most, p = 1 << ceil(log2(sqrt(rows))) + CELL, len(columns.terms.features)
    parts, order = [], []
    for owner in columns.owners:
        places = [place for place, _ in columns.own(owner)]
        mine = standard.table if party.name == owner else None
        parts.append(await share(party, mine, owner, (rows, len(places)), -most, most, CELL))
        order += places
    table, sizes = concatenate([part for part in parts if part.shape[1]], 1), np.zeros(0, int)
    if crossing := columns.crossing():
        one, other = ([order.index(columns.terms.place(pair[i])) for _, pair in crossing]
                      for i in (0, 1))
        joint, sizes = await products(party, table[:, one], table[:, other])
        table, order = concatenate([table, joint], 1), order + [place for place, _ in crossing]
    table = table[:, np.argsort(order)]
    ones = public(party, np.full((rows, 1), 1 << CELL), CELL)
    return concatenate([ones, table[:, :p]], 1), table[:, p:].within(0, 1 << CELL), sizes


async def log_odds(party: Party, columns: OwnedColumns, standard: Standard, beta: Floats,
                   table: Shared) -> Shared:
    """Return log-odds: every owner adds its own part, and products on shares theirs."""
    mine, rows = None, table.shape[0]
    if standard.table is not None:
        mine = standard.table @ np.append(beta[1:], 0.0)[standard.places]
        if party.name == next(iter(columns.owners)):
            mine = mine + beta[0]
    most, at = MOST_ODDS << SCALE, [place + 1 for place, _ in columns.crossing()]
    odds = await share_sum(party, mine, (rows,), -most, most, SCALE)
    if at and beta[at].any():
        odds = (odds + await odds_of(party, table[:, at], beta[at])).within(-most, most)
    return odds


async def slopes(party: Party, table: Shared, y: Shared, likely: Shared) -> tuple[Wide, Wide]:
    """Return the weighted products and the gradient, divided by a power of two."""
    rows, size = table.shape
    rest = y.reshape(rows) * (1 << SCALE - CELL)
    rest = replace(rest, scale=SCALE) - likely
    weight = likely - await truncate(party, await multiply(party, likely, likely), SCALE)
    weight = (await truncate(party, weight, SCALE - CELL)).within(0, (1 << CELL - 2) + 2)
    heavy = await multiply(party, table, concatenate([weight.reshape(-1, 1)] * size, 1))
    heavy = await truncate(party, heavy, CELL)
    most = rows << 2 * CELL
    products = await matmul(party, table.T, heavy, within=(-most, most))
    most = rows << CELL + SCALE
    gradient = await matmul(party, table.T, rest.reshape(-1, 1), within=(-most, most))
    log = ceil(log2(rows))
    hessian = await rescale(party, (await lift(party, products)).shifted(log), FINE)
    slope = await rescale(party, (await lift(party, gradient)).shifted(log), FINE)
    return hessian.within(0.3), slope.within(1.25)
