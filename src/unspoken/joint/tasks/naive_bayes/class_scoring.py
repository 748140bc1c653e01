"""The class of records on shares: nobody learns scores, the record, or the model.

Model and records are both shared, so it does not matter who had them: one side the model and the
other the records (`private`), or everybody a part of both (`vertical`).
  discloses: nothing; the class comes out where the caller opens it. The first among equals.
  error: scores are off by at most 1e-7 for each category and 4e-6 (1 + |t|) for each number that
    lies t deviations from the mean; classes whose scores are nearer may come out the other way.
  cost: about 4 rounds and 9 more for each halving of the classes; 144 bytes for each record, number
    and class, 16 for each record and category, then argmax.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unspoken.joint.mpc.ops.choice import argmax, maximum
from unspoken.joint.mpc.ops.division import reciprocal
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.logarithm import log, sqrt
from unspoken.joint.mpc.ops.normalise import FRACTION
from unspoken.joint.mpc.ops.products import matmul, multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import share
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate, public
from unspoken.joint.tasks.naive_bayes.params import ALPHA_BITS, BayesParams
from unspoken.joint.tasks.naive_bayes.score_tables import LEAST_VARIANCE, MOST_LOG, Table, worst

ONE = 1 << FRACTION
ROOT = 21
MOST_ROOT = (1 << (ROOT + 8)) + (1 << 4)
SQUARE = 20


@dataclass(frozen=True)
class SharedTable:
    """A model on shares; `nominal`: how many columns of categories there are."""

    start: Shared
    logs: Shared
    means: Shared
    roots: Shared
    nominal: int

    @property
    def bound(self) -> int:
        """Return a bound on scores but for classes without records, in units of 2^-30."""
        return int(worst(self.nominal, self.means.shape[0])) * ONE


def start_bound(nominal: int, numeric: int) -> int:
    """Return the bound on `start`, the penalty of a class without records among it."""
    return 4 * int(worst(nominal, numeric)) * ONE


async def share_table(party: Party, table: Table | None, owner: str,
                      sizes: tuple[int, ...], numeric: int, classes: int) -> SharedTable:
    """Return one owner's model as shares."""
    async def give(values: object, shape: tuple[int, ...], bound: int, scale: int) -> Shared:
        return await share(party, values, owner, shape, -bound, bound, scale)

    plain = table or Table(*(np.zeros(0),) * 4)
    start = await give(plain.start, (classes,), start_bound(len(sizes), numeric), FRACTION)
    logs = await give(plain.logs, (sum(sizes), classes), MOST_LOG * ONE, FRACTION)
    means = await give(plain.means, (numeric, classes), ONE, FRACTION)
    roots = await give(plain.roots, (numeric, classes), MOST_ROOT, ROOT)
    return SharedTable(start, logs, means, roots.within(0, MOST_ROOT), len(sizes))


async def learn_table(party: Party, counts: Shared, sizes: tuple[int, ...],
                      moments: tuple[Shared, Shared] | None, extra: Shared | None,
                      rules: BayesParams) -> SharedTable:
    """Return the model of shared counts, means and variances; `tables.learned` on shares."""
    classes = counts[0]
    numeric = 0 if moments is None else moments[0].shape[0]
    prior, logs, empty = await _logs(party, counts, sizes, rules)
    start = prior - replace(empty * (2 * int(worst(len(sizes), numeric)) * ONE), scale=FRACTION)
    if moments is None or extra is None:
        none = public(party, np.zeros((0, classes.size), np.int64), FRACTION)
        return SharedTable(start, logs, none, replace(none, scale=ROOT), len(sizes))
    least = public(party, np.full(moments[1].shape, LEAST_VARIANCE), FRACTION)
    spread = await maximum(party, moments[1] + extra.reshape(-1, 1), least)
    spread = spread.within(least.low, ONE + (ONE >> 4))
    deviations = (await log(party, spread)).sum(0)
    halved = await truncate(party, deviations, 1)
    roots = await sqrt(party, await reciprocal(party, spread), ROOT)
    return SharedTable(start - replace(halved, scale=FRACTION), logs, moments[0],
                       roots.within(0, MOST_ROOT), len(sizes))


async def _logs(party: Party, counts: Shared, sizes: tuple[int, ...],
                rules: BayesParams) -> tuple[Shared, Shared, Shared]:
    """Return ln of class counts, ln of shares of categories, and where a class is empty."""
    classes, unit = counts[0], 1 << ALPHA_BITS
    empty = await to_numbers(party, await less_than(party, classes, 1))
    below = [(classes * unit + rules.units * size).reshape(1, -1) for size in sizes]
    first = ((classes + empty).within(1, classes.high) * unit).reshape(1, -1)
    every = concatenate([first, *below, counts[1:] * unit + rules.units])
    all_logs = await log(party, replace(every, scale=ALPHA_BITS))
    widths = [column for column, size in enumerate(sizes) for _ in range(size)]
    logs = all_logs[1 + len(sizes):] - all_logs[1:1 + len(sizes)][np.array(widths, np.int64)]
    return all_logs[0], logs.within(-MOST_LOG * ONE, MOST_LOG * ONE), empty


async def classes_of(party: Party, table: SharedTable, hot: Shared, z: Shared) -> Shared:
    """Return the number of the best class of every record; z is (rows, numbers), 30 bits."""
    rows = hot.shape[0]
    zero = public(party, np.zeros((rows, table.start.size), np.int64), FRACTION)
    scores = zero + table.start
    if table.logs.shape[0]:
        bound = table.nominal * MOST_LOG * ONE
        scores = scores + await matmul(party, hot, table.logs, within=(-bound, bound))
    if table.means.shape[0]:
        scores = scores - await _squares(party, table, z)
    return (await argmax(party, scores))[0]


async def _squares(party: Party, table: SharedTable, z: Shared) -> Shared:
    """Return half the sum of squared deviations, with 30 fractional bits."""
    numbers, classes = table.means.shape
    rows = z.shape[0]
    wide = z.reshape(rows, numbers, 1)[:, :, np.zeros(classes, np.int64)]
    gaps = wide - table.means
    t = await truncate(party, await multiply(party, gaps, table.roots), FRACTION)
    square = await truncate(party, await multiply(party, t, t), 2 * ROOT - SQUARE)
    most = square.high
    total = replace(square, low=-1, high=most).sum(1)
    # Half of it: one bit fewer on the way from 20 to 30 fractional bits.
    return replace(replace(total, scale=0) * (1 << (FRACTION - SQUARE - 1)), scale=FRACTION)
