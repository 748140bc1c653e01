"""The worth of questions for boosted trees, in the clear and on shares; see `boosting`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Bools, Floats, Ints
from unspoken.joint.mpc.ops.division import divide
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.tasks.tree.first_greatest import first_greatest
from unspoken.joint.tasks.tree.level_growth import TreeParams
from unspoken.joint.tasks.tree.params import TreeLayout
from unspoken.joint.tasks.tree.question_scores import branches, joined, needed_branches, only

FINE = 12
RATIO = 20
# |g| / h is at most 1 + exp(6) for every record, and so is |G| / (H + lambda).
MOST_RATIO = 512
# The ratio is off by 2 units at most, and so is the worth, for each unit of |G| <= |T|.
SETBACK = 5 << FINE


def plain_ratio(sums: npt.NDArray[np.integer], penalty: float) -> Floats:
    """Return G / (H + lambda); sums are (..., kinds) in units of 2^-12."""
    return np.asarray(sums[..., 0] / (sums[..., 1] + _units(penalty)))


def _units(penalty: float) -> int:
    return max(1, round(penalty * (1 << FINE)))


def plain_best_worth(layout: TreeLayout, histograms: Ints, rules: TreeParams, penalty: float,
                     allowed: Bools) -> tuple[Ints, Ints]:
    """Return the best candidate of each node (0: none) and the sums of branches."""
    sums = branches(layout, histograms)
    worth = plain_ratio(sums, penalty) * np.ldexp(sums[..., 0].astype(np.float64), -FINE)
    scores, size = joined(layout.first_branch, worth), sums[:, -1, 2]
    scores = scores - size[:, None] * (np.ldexp(float(SETBACK), -FINE - RATIO)
                                       * np.arange(scores.shape[1]))
    scores[:, 1:][~allowed] = -np.inf
    return np.where(size < rules.min_records, 0, scores.argmax(axis=1)), sums.astype(np.int64)


async def best_worth(party: Party, layout: TreeLayout, histograms: Shared, rules: TreeParams,
                     penalty: float, allowed: Bools) -> tuple[Shared, Shared]:
    """Return the same on shares."""
    sums = histograms.with_share(branches(layout, histograms.share).astype(np.uint64))
    needed = needed_branches(layout.first_branch, sums.shape[:2], allowed)
    ratio = await ratios(party, sums[needed], rules, penalty)
    bound = (rules.most * MOST_RATIO) << (FINE + RATIO)
    gradient = sums[needed][:, 0]
    branch_worth = await multiply(party, ratio, gradient, within=(-bound, bound))
    worth = np.zeros_like(branch_worth.share, shape=sums.shape[:2])
    worth[needed] = branch_worth.share
    size = sums[:, -1, 2].within(0, rules.most)
    scores = replace(branch_worth, share=joined(layout.first_branch, worth).astype(np.uint64))
    step = size.share[:, None] * (np.arange(scores.shape[1], dtype=np.uint64)
                                  * np.uint64(SETBACK))
    # A square is not below zero but by its error.
    low = -(rules.most << (FINE + 2)) - rules.most * SETBACK * scores.shape[1]
    scores = replace(scores, share=scores.share - step, low=low, high=bound)
    scores = only(party, scores, allowed)
    return await first_greatest(party, scores, size, rules.min_records), sums


async def ratios(party: Party, sums: Shared, rules: TreeParams, penalty: float) -> Shared:
    """Return G / (H + lambda) of sums (branches, kinds), with 20 fractional bits."""
    bound, extra = rules.most << FINE, _units(penalty)
    gradient = sums[:, 0].within(-bound, bound)
    # p (1 - p) is at most a quarter, and rounding adds less than a unit a record.
    curvature = sums[:, 1].within(0, bound // 4 + rules.most) + extra
    return await divide(party, gradient, curvature, RATIO, most=MOST_RATIO)
