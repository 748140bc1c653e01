"""From shared moments to a model: centre, scale, invert, open (vcz2006 section 5.2.1 and 5.3).

The moments N S - s s' are centred exactly on shares, whatever the columns' means are. Each column
is scaled once more by a public power of two, so that its spread lies between 1/2 and 1: what is
inverted is close to the correlation matrix, and its condition does not depend on units.

  discloses, to all: how many records there are, the power of two next to the spread of each
    column, and one bit, whether the columns depend on each other too much. To the receivers:
    coefficients and, with inference, standard errors and the sums of squares (whence R-square, C_p
    and every test). Never X'X, the inverse, or residuals.
  error: that of rounding data to 2^-47 of the greatest magnitude, and 2^-96 beyond it; opened
    numbers have 50 bits and more, or the `bits` that were agreed on: steps of 2^-bits of the power
    of two next to a column's spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log2, sqrt

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.multi_limb import FINE, Wide, public_wide
from unspoken.joint.mpc.ops.choice import in_steps
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.limb_products import wide_matmul
from unspoken.joint.mpc.ops.limb_sharing import narrow, rescale
from unspoken.joint.mpc.ops.matrix_inverse import inverse
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import public, stack
from unspoken.joint.tasks.regression.params import RegressionParams
from unspoken.models.linear_model import LinearModel, Smaller

COUNT = "how many records there are in all"
SPREADS = "the power of two next to the spread of each column"
COEFFICIENTS = "the coefficients of the model"
ERRORS = "the standard errors of the coefficients"
SUMS = "the sums of squares of the model: total and residual"
SMALLER = "the residual sum of squares of a smaller model"
STEPS = 24
ROOM = 9 / 8
"""Spreads are found to a rounding error: what should be at most 1 is at most this."""


@dataclass(frozen=True)
class Scaled:
    """Centred moments, close to correlations, and what brings results back to the data's units.

    A centred sum of products is `matrix` times units of both columns times `weight`; a mean is
    `sums` times its unit times 2^log / records.
    """

    matrix: Wide
    sums: Wide
    records: int
    log: int
    units: Floats
    spreads: Ints

    @property
    def weight(self) -> float:
        """Return what one unit of the matrix is in sums of squares."""
        return 4.0**self.log / self.records

    def take(self, places: Sequence[int]) -> Scaled:
        """Return the moments of some columns."""
        at = list(places)
        return replace(self, matrix=self.matrix[np.ix_(at, at)], sums=self.sums[at],
                       units=self.units[at], spreads=self.spreads[at])


async def open_count(party: Party, moments: Wide) -> int:
    """Open the number of records."""
    # Everything below the point is zero for certain, so that nothing is rounded off.
    count = replace(await narrow(party, moments[0, 0].reshape(1), 0), rounded=False)
    return int((await reveal(party, count, because=COUNT))[0])


async def scaled(party: Party, moments: Wide, sizes: Ints, records: int,
                 names: Sequence[str]) -> Scaled:
    """Return the centred moments of columns of which everybody knows the exponents `sizes`."""
    log = max(1, ceil(log2(records)))
    centred = await _centred(party, moments, records, log)
    spreads = await _spreads(party, centred)
    for name, spread in zip(names, spreads, strict=True):
        if spread == STEPS:
            raise RefusedError(f"Column '{name}' must vary. It is constant, or varies by less than "
                               f"2^-{STEPS} of its greatest magnitude. Leave it out, or subtract a "
                               "constant from it on every side. Every party learned this.")
    factors = np.left_shift(np.uint64(1), spreads.astype(np.uint64))
    square = times_public(centred, factors[:, None])
    square = await rescale(party, square, FINE)
    square = await rescale(party, times_public(square, factors[None, :]), FINE)
    sums = await rescale(party, times_public(moments[0, 1:].shifted(log), factors), FINE)
    units = np.ldexp(1.0, (sizes - spreads).astype(np.int32))
    return Scaled(square.within(ROOM), sums, records, log, units, spreads)


async def _centred(party: Party, moments: Wide, records: int, log: int) -> Wide:
    """Return (N S - s s') / 4^log: between -1 and 1, and exact before it is cut to 96 bits."""
    s = moments[0, 1:].reshape(-1, 1)
    outer = await wide_matmul(party, s, s.T)
    square = await rescale(party, moments[1:, 1:] * records, outer.scale)
    return (await rescale(party, (square - outer).shifted(2 * log), FINE)).within(1)


async def _spreads(party: Party, centred: Wide) -> Ints:
    """Return k for each column, 4^-k <= its variance < 4^(1-k) in units of the matrix, less one."""
    place = np.arange(centred.shape[0])
    diagonal = await narrow(party, centred[place, place], 2 * STEPS + 2, 1)
    limits = public(party, 1 << (2 * STEPS + 2 - 2 * np.arange(1, STEPS + 1, dtype=np.int64)),
                    diagonal.scale)
    gaps = stack([diagonal - limits[i] for i in range(STEPS)])
    below = (await to_numbers(party, await less_than(party, gaps, 0))).sum(0)
    return np.asarray(await reveal(party, below, because=SPREADS), np.int64)


def times_public(values: Wide, factors: npt.NDArray[np.uint64]) -> Wide:
    """Return carried values times public whole numbers, element by element."""
    most = int(factors.max())
    return replace(values, limbs=tuple(
        replace(limb, share=np.multiply(limb.share, factors), low=min(limb.low * most, limb.low),
                high=max(limb.high * most, limb.high)) for limb in values.limbs))


@dataclass(frozen=True)
class Fit:
    """A fitted model on shares, in the units of the scaled moments."""

    inverse: Wide
    beta: Wide
    rss: Wide
    tss: Wide
    start: Wide
    spread: Wide


def penalties(moments: Scaled, ridge: float) -> Floats:
    """Return what ridge adds to the diagonal, in the units of the scaled moments."""
    return np.asarray(ridge / (moments.weight * moments.units[:-1] ** 2))


async def fit(party: Party, moments: Scaled, rules: RegressionParams) -> Fit:
    """Return least squares or ridge of the last column on the others, all on shares."""
    p = moments.matrix.shape[0] - 1
    extra = penalties(moments, rules.ridge)
    if extra.max(initial=0.0) * p > rules.condition:
        raise RefusedError(f"The ridge must not hide the data. {rules.ridge:g} is more than "
                           f"{rules.condition / p:.3g} times a column's sum of squares. Give a "
                           "smaller one, or other units.")
    normal = moments.matrix[:p, :p]
    if rules.ridge:
        normal = normal + public_wide(party, np.diag(extra))
    most = ROOM * p + float(extra.sum())
    inverted = await inverse(party, normal, most, rules.condition)
    inverted = inverted.within(2.5 * rules.condition / most)
    xy = moments.matrix[:p, p:]
    beta = (await wide_matmul(party, inverted, xy, FINE)).within(_most_beta(rules, most))
    return await _sums(party, moments, inverted, beta, extra if rules.ridge else None)


def _most_beta(rules: RegressionParams, most: float) -> float:
    """Return a bound on coefficients: beta' A beta <= y'y, and A has no eigenvalue below this."""
    return sqrt(2.5 * rules.condition / most * ROOM)


async def _sums(party: Party, moments: Scaled, inverse: Wide, beta: Wide,
                extra: Floats | None) -> Fit:
    """Return the sums of squares, the intercept and its variance."""
    p = beta.shape[0]
    xy, tss = moments.matrix[:p, p:], moments.matrix[p, p].reshape(1, 1)
    heavy = xy
    if extra is not None:
        ridge = await wide_matmul(party, public_wide(party, np.diag(extra)), beta, FINE)
        heavy = await rescale(party, xy + ridge, FINE)
    means = moments.sums[:p].reshape(-1, 1)
    # One product for both, because both begin with beta.
    both = await wide_matmul(party, beta.T, await rescale(party, _beside(heavy, means), FINE), FINE)
    spread = await wide_matmul(party, means.T, await wide_matmul(party, inverse, means, FINE), FINE)
    return Fit(inverse, beta, tss - both[:, :1], tss,
               moments.sums[p].reshape(1, 1) - both[:, 1:], spread)


def _beside(one: Wide, other: Wide) -> Wide:
    from unspoken.joint.mpc.multi_limb import join_wide

    return join_wide([one, other], 1)


async def opened(party: Party, value: Wide, most: float, because: str, to: Sequence[str],
                 bits: int | None = None) -> Floats | None:
    """Open wide values with this many fractional bits, or as many as 64 have room for."""
    scale = min(FINE, 60 - ceil(log2(most)))
    short = await narrow(party, await rescale(party, value, FINE), scale, most)
    if bits is not None:
        short = await in_steps(party, short, bits)
    plain: Floats | None = await reveal(party, short.reshape(short.size), because=because, to=to)
    return plain


async def open_model(
    party: Party,
    moments: Scaled,
    fitted: Fit,
    rules: RegressionParams,
    response: str,
    features: Sequence[str],
) -> LinearModel | None:
    """Open what was agreed; None to those who do not learn it."""
    p, units, to, bits = len(features), moments.units, rules.receivers, rules.bits
    most = ROOM * p + float(penalties(moments, rules.ridge).sum())
    bound = _most_beta(rules, most)
    reach = 1.0 + float(np.ldexp(1.0, moments.spreads).sum()) * max(1.0, bound)
    beta = await opened(party, fitted.beta, bound, COEFFICIENTS, to, bits)
    inside = await open_smaller(party, moments, rules, features)
    start = await opened(party, fitted.start, reach, COEFFICIENTS, to, bits)
    errors = rss = tss = None
    if rules.inference:
        sums = await opened(party, _beside(fitted.rss, fitted.tss), 2.0, SUMS, to, bits)
        rss, tss = (None, None) if sums is None else sums * units[-1] ** 2 * moments.weight
    if rules.inference and not rules.ridge:
        errors = await open_errors(party, moments, fitted, rules, most)
    if beta is None or start is None:
        return None
    coefficients = beta * units[-1] / units[:-1]
    intercept = float(start[0]) * units[-1] * 2.0**moments.log / moments.records
    return LinearModel(response, tuple(features), intercept, coefficients, moments.records,
                       standard_errors(errors, moments, rss, p), *_plain(rss, tss), rules.ridge,
                       inside)


async def open_smaller(party: Party, moments: Scaled, rules: RegressionParams,
                        features: Sequence[str]) -> tuple[Smaller, ...]:
    """Open the residual sums of squares of the models inside this one that were agreed on."""
    models = []
    for names in rules.smaller:
        places = [list(features).index(name) for name in names]
        part = moments.take([*places, len(features)])
        rss = await opened(party, (await fit(party, part, rules)).rss, 2.0, SMALLER,
                           rules.receivers, rules.bits)
        if rss is not None:
            models.append(Smaller(names, float(rss[0] * moments.units[-1] ** 2 * moments.weight)))
    return tuple(models)


async def open_mean(party: Party, moments: Scaled, rules: RegressionParams,
                    response: str) -> LinearModel | None:
    """Open the model without terms: the mean of the response and its sum of squares."""
    unit, to, n = float(moments.units[-1]), rules.receivers, moments.records
    reach = 1.0 + float(np.ldexp(1.0, moments.spreads[-1]))
    start = await opened(party, moments.sums[-1:], reach, COEFFICIENTS, to, rules.bits)
    square = await opened(party, moments.matrix[-1:, -1], 2.0, SUMS, to, rules.bits) if (
        rules.inference) else None
    if start is None:
        return None
    mean = float(start[0]) * unit * 2.0**moments.log / n
    tss = float("nan") if square is None else float(square[0]) * unit**2 * moments.weight
    errors = np.zeros(0) if square is None else np.array([sqrt(tss / (n - 1) / n)])
    return LinearModel(response, (), mean, np.zeros(0), n, errors, tss, tss)


def _plain(rss: float | None, tss: float | None) -> tuple[float, float]:
    none = float("nan")
    return (none, none) if rss is None or tss is None else (max(0.0, float(rss)), float(tss))


async def open_errors(party: Party, moments: Scaled, fitted: Fit, rules: RegressionParams,
                       most: float) -> Floats | None:
    """Open the diagonal of the inverse, and that of the intercept before it."""
    place, to = np.arange(fitted.beta.shape[0]), rules.receivers
    greatest = 2.5 * rules.condition / most
    diagonal = await opened(party, fitted.inverse[place, place], greatest, ERRORS, to, rules.bits)
    means = 4.0 * float(np.ldexp(1.0, 2 * moments.spreads).sum()) * greatest
    first = await opened(party, fitted.spread, means, ERRORS, to, rules.bits)
    return None if diagonal is None or first is None else np.concatenate([first, diagonal])


def standard_errors(opened_: Floats | None, moments: Scaled, rss: float | None, p: int) -> Floats:
    """Return standard errors in the data's units, the intercept's first."""
    if opened_ is None or rss is None:
        return np.zeros(0)
    variance = max(0.0, float(rss)) / (moments.records - p - 1)
    inverse = opened_[1:] / (moments.weight * moments.units[:-1] ** 2)
    first = (1 + opened_[0]) / moments.records
    return np.asarray(np.sqrt(variance * np.maximum(0.0, np.concatenate([[first], inverse]))))
