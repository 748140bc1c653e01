"""Naive Bayes over rows that are spread among owners (vcz2006 section 4.5.1).

Every owner counts its own records by class and category, and adds up its numbers and their
squares around the middle of the agreed range.

  reveal="sums", the book's way: the totals are opened, by a secure sum, and everybody divides.
    Needs no shares (mode "sums"). Refused for two owners of whom one learns the total.
  reveal="ratios": the totals stay shared, and shares of classes and categories, means and
    variances are found by division on shares and opened. This is the book's "only the result of
    the division". Fine ratios with a common denominator give the counts away, so that they are
    opened as finely as the size of each class allows (`opened_precision`); with `bits`, which a
    study can set, they have that many fractional bits whatever that tells.
  discloses: these, to the receivers; and with ratios one bit, whether there are more records than
    agreed. An owner that has some records of a class, but fewer than `least`, refuses before
    anything is sent where there are numbers: mean and variance of two values give both.
  improves on the book: P(value | class) = n_ac / n_c (the book prints n_ac / n_a); smoothing; one
    round of sums, where the book takes a second one for variances.
  safe against: sums, all owners but two; ratios, as products and comparisons in the mode.
  error: counts are exact, sums of numbers are off by at most m^2 2^-40 of half the range for m
    owners; ratios by 2^-bits, or by a step of two to four records of their class.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.division import divide
from unspoken.joint.mpc.ops.normalise import FRACTION
from unspoken.joint.mpc.ops.secure_sum import secure_sum
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.naive_bayes.class_moments import means_and_variances
from unspoken.joint.tasks.naive_bayes.class_tallies import class_counts, class_sums
from unspoken.joint.tasks.naive_bayes.opened_precision import (
    POWERS,
    bits_of,
    class_powers,
    cut,
    middles,
)
from unspoken.joint.tasks.naive_bayes.params import ALPHA_BITS, BayesLayout, BayesParams, Given
from unspoken.joint.tasks.naive_bayes.pooled import built, from_sums
from unspoken.joint.tasks.tree.params import TreeParams
from unspoken.joint.tasks.tree.program_rows import TOO_MANY, refuse_too_many
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.mixed_bayes import MixedBayes

SUMS = "counts of classes and categories, and sums of numbers and squares, over all owners"
RATIOS = "shares of classes and categories, means and variances, over all owners"


def disclosures(rules: BayesParams) -> tuple[Disclosure, ...]:
    """Return everything that naive Bayes over rows discloses."""
    if rules.reveal == "sums":
        return (Disclosure(SUMS, rules.receivers),)
    chosen = () if rules.bits else (Disclosure(POWERS),)
    return Disclosure(RATIOS, rules.receivers), Disclosure(TOO_MANY), *chosen


class BayesOverRows:
    """The program: every owner gives its coded rows."""

    def __init__(self, layout: BayesLayout, rules: BayesParams | None = None) -> None:
        self.layout, self.rules = layout, rules or BayesParams()
        self.disclosures = disclosures(self.rules)

    async def __call__(self, party: Party, data: Given | None) -> MixedBayes | None:
        """Return the model to the receivers."""
        coded = own_rows(party, self.layout, self.rules, data)
        if self.rules.reveal == "sums":
            return await _by_sums(party, self.layout, self.rules, coded)
        return await _by_ratios(party, self.layout, self.rules, coded)


def own_rows(party: Party, layout: BayesLayout, rules: BayesParams, data: Given | None) -> Given:
    """Check an owner's rows before anything is sent; who owns none has no rows."""
    if data is None or party.name not in party.roles.owners:
        return Given(np.zeros((len(layout.nominal), 0), np.int64),
                     np.zeros((len(layout.numeric), 0)), np.zeros(0, np.int64))
    shapes = data.codes.shape, data.numbers.shape
    wanted = (len(layout.nominal), data.labels.size), (len(layout.numeric), data.labels.size)
    if shapes != wanted:
        raise DataError(explain("Coded rows", f"of shapes {wanted}", shapes))
    if data.labels.size > rules.most:
        raise RefusedError(f"There must be at most {rules.most:,} records in all, as agreed. This "
                           "owner alone has more. Agree on a greater 'most'.")
    counts = np.bincount(data.labels, minlength=len(layout.classes))
    if layout.numeric and ((counts > 0) & (counts < rules.least)).any():
        raise RefusedError(f"'{party.name}' must have none or at least {rules.least} records of "
                           "every class. It has fewer of some: mean and variance could give them "
                           "away to somebody who knows the rest. Leave those records out.")
    return data


async def _by_sums(
    party: Party, layout: BayesLayout, rules: BayesParams, coded: Given
) -> MixedBayes | None:
    """Open the totals; one secure sum for counts, one for numbers."""
    counts = await secure_sum(party, class_counts(coded, layout), because=SUMS, to=rules.receivers)
    sums = np.zeros((0, len(layout.classes)))
    if layout.numeric:
        scale = _fraction(party, rules)
        sums = await secure_sum(party, class_sums(coded, layout), because=SUMS, to=rules.receivers,
                                scale=scale)
    if counts is None or sums is None:
        return None
    return from_sums(layout, rules, counts.astype(np.float64), sums)


def _fraction(party: Party, rules: BayesParams) -> int:
    """Return as many fractional bits as the sums of all records have room for."""
    return min(40, 60 - (rules.most * len(party.roles.owners)).bit_length())


async def _by_ratios(party: Party, layout: BayesLayout, rules: BayesParams,
                     coded: Given) -> MixedBayes | None:
    """Divide on shares and open the quotients, all in one array."""
    await refuse_too_many(party, TreeParams(most=rules.most), coded.rows)
    counts = await _shared_counts(party, layout, rules, coded)
    prior, shares = await _shares(party, layout, rules, counts)
    parts = [prior.reshape(1, -1), shares]
    if layout.numeric:
        sums = await _shared_sums(party, layout, rules, coded)
        parts += await means_and_variances(party, counts[0], sums)
    opened = await _opened(party, layout, rules, concatenate(parts), counts[0])
    if opened is None:
        return None
    ratios, bits = opened
    cells, columns = sum(layout.sizes), len(layout.numeric)
    prior, variances = np.maximum(0.0, ratios[0]), ratios[1 + cells + columns:]
    seen = bits[1 + cells + columns:][:, prior > 0]
    _warn_of_coarse(layout, variances[:, prior > 0], seen, 4.0 if rules.bits else 1.0)
    return built(layout, rules, prior, ratios[1:1 + cells],
                 ratios[1 + cells:1 + cells + columns], variances)


async def _opened(party: Party, layout: BayesLayout, rules: BayesParams, every: Shared,
                  classes: Shared) -> tuple[Floats, Ints] | None:
    """Open all quotients, and return them with their bits; None to those who do not learn them."""
    if rules.bits:
        short = await truncate(party, every, FRACTION - rules.bits)
        plain = await reveal(party, short, because=RATIOS, to=rules.receivers)
        return None if plain is None else (plain, np.full(plain.shape, rules.bits))
    powers = await class_powers(party, classes, rules.most)
    bits = bits_of(powers, sum(layout.sizes), len(layout.numeric))
    steps = await reveal(party, await cut(party, every, bits), because=RATIOS, to=rules.receivers)
    return None if steps is None else (middles(np.asarray(steps, np.float64), bits), bits)


def _warn_of_coarse(layout: BayesLayout, variances: Floats, bits: Ints, least: float) -> None:
    """Say where a range is so wide that opened variances have hardly a bit, or the least."""
    coarse = (variances < 2.0 ** (least - bits)).any(axis=1)
    if coarse.any():
        name = layout.numeric[int(coarse.argmax())].name
        warnings.warn(f"Variances of '{name}' are small beside its agreed range, and {bits.min()} "
                      "bits hardly show them. Agree on a narrower range, or on more bits (28 at "
                      "most).", UserWarning, stacklevel=2)


async def _shared_counts(
    party: Party, layout: BayesLayout, rules: BayesParams, coded: Given
) -> Shared:
    local = class_counts(coded, layout)
    return (await share_sum(party, local, local.shape, 0, rules.most)).within(0, rules.most)


async def _shared_sums(
    party: Party, layout: BayesLayout, rules: BayesParams, coded: Given
) -> Shared:
    local, scale = class_sums(coded, layout), _fraction(party, rules)
    bound = rules.most << scale
    return (await share_sum(party, local, local.shape, -bound, bound, scale)).within(-bound, bound)


async def _shares(party: Party, layout: BayesLayout, rules: BayesParams,
                  counts: Shared) -> tuple[Shared, Shared]:
    """Return the shares of classes, and of categories in each class."""
    classes, unit = counts[0], 1 << ALPHA_BITS
    total = classes.sum().within(0, rules.most)
    sizes = [size for size in layout.sizes for _ in range(size)]
    above = [classes.reshape(1, -1) * unit, counts[1:] * unit + rules.units]
    below = [(total.reshape(1, 1) * unit)[:, np.zeros(len(layout.classes), np.int64)]]
    below += [(classes * unit + rules.units * size).reshape(1, -1) for size in sizes]
    quotients = await divide(party, concatenate(above), concatenate(below), FRACTION, most=1)
    return quotients[0], quotients[1:]


def mine_bayes_rows(parts: Sequence[Mapping[str, Any]], layout: BayesLayout,
                          rules: BayesParams | None = None, mode: str = "dealer", *,
                          names: Sequence[str] | None = None,
                          **how: Any) -> tuple[list[MixedBayes | None], list[Ledger]]:
    """Learn naive Bayes from the rows of all owners; return each party's model and ledger.

    Parameters
    ----------
    parts : sequence of mapping
        Each owner's columns by name, the class among them.
    layout : BayesLayout
        Columns and classes in the order that everybody uses.
    rules : BayesParams, optional
        What everybody agreed on. Default: `BayesParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (list of MixedBayes or None, list of Ledger)
        Each party's model (None for who is no receiver) and ledger, in the order of owners.

    Examples
    --------
    >>> models, ledgers = mine_bayes_rows([a, b, c], layout)  # doctest: +SKIP
    """
    coded = [layout.rows(part) for part in parts]
    outputs = run_local(BayesOverRows(layout, rules), coded, mode, names=names, **how)
    return [model for model, _ in outputs], [ledger for _, ledger in outputs]
