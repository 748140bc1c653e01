"""The best question of every node over columns: second-order gain, found on shares.

With G and H the sums of gradients and curvatures of a branch, its worth is G^2 / (H + penalty)
(XGBoost, Chen and Guestrin 2016, section 2.2); the best question is the one whose two branches are
worth most together. "No question" is the first candidate: the worth of the node itself.
  error: a ratio is off by at most 2 units of 2^-ratio, and so the worth of a branch by 2 |G| of
    them. Candidate j is set back by 5 j |T| units: among equals the first wins for certain, and
    only questions that differ by less than 5 J |T| 2^-ratio may fall differently than in one place.
  discloses: nothing. Safe against: as products and comparisons in the mode.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unspoken.joint.mpc.ops.division import divide
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.tasks.boosted_trees.packed_slopes import MOST_RATIO, Bits
from unspoken.joint.tasks.tree.first_greatest import hot_greatest

STEP = 5


def units(penalty: float, bits: Bits) -> int:
    """Return what is added to curvatures, in their units."""
    return max(1, round(penalty * (1 << bits.fine)))


async def ratios(party: Party, sums: Shared, penalty: float, bits: Bits) -> Shared:
    """Return G / (H + penalty) of sums (..., 2)."""
    most = bits.most_gradient
    gradient = sums[..., 0].within(-most, most)
    curvature = sums[..., 1].within(0, (1 << bits.shift) - 1) + units(penalty, bits)
    return await divide(party, gradient, curvature, bits.ratio, most=MOST_RATIO)


async def best_questions(party: Party, sums: Shared, size: Shared, penalty: float,
                         least: int, bits: Bits) -> Shared:
    """Return (nodes, questions): 1 at the best one, 0 everywhere where none is worth asking.

    `sums`, (nodes, questions + 1, 2), are those of first answers, and in the end of the node.
    """
    count, total = sums.shape[1] - 1, sums[:, -1:]
    first = sums[:, :-1]
    second = (total - first).within(min(sums.low, -sums.high), sums.high)
    branches = concatenate([total, first, second], 1)
    worth = await _worth(party, branches, penalty, bits)
    together = worth[:, 1:count + 1] + worth[:, count + 1:]
    # The branches of a question share the records of the node, and so their bound.
    scores = concatenate([worth[:, :1], together.within(worth.low, worth.high)], 1)
    return await hot_greatest(party, _set_back(scores, size, bits), size, least)


async def _worth(party: Party, branches: Shared, penalty: float, bits: Bits) -> Shared:
    """Return G^2 / (H + penalty) of branches (nodes, branches, 2), which is not below 0."""
    most = (bits.rows * MOST_RATIO) << (bits.fine + bits.ratio)
    ratio = await ratios(party, branches, penalty, bits)
    gradient = branches[..., 0].within(-bits.most_gradient, bits.most_gradient)
    worth = await multiply(party, ratio, gradient, within=(-most, most))
    # A square is below zero by its error alone.
    return replace(worth, low=-4 * bits.most_gradient)


def _set_back(scores: Shared, size: Shared, bits: Bits) -> Shared:
    """Return scores less what puts the first of equals before the others."""
    step = STEP << bits.fine
    places = np.arange(scores.shape[1], dtype=np.uint64) * np.uint64(step)
    share = np.subtract(scores.share, np.multiply(size.reshape(-1, 1).share, places))
    return replace(scores, share=share,
                   low=scores.low - bits.rows * step * scores.shape[1])
