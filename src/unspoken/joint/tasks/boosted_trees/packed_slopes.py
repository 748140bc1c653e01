"""Gradient and curvature of every record on shares, both in one word (as SecureBoost+ packs them).

Of the logistic loss g = p - y and h = p (1 - p). A word holds g 2^shift + h, both in units of
2^-fine: sums of words are sums of both, as long as the curvatures of all records add up to less
than 2^shift. So one product serves both; sums are taken apart by rounding down, exactly.
  discloses: nothing. Safe against: as products and comparisons in the mode.
  error: p by 2e-5 (log-odds are cut at 6 and -6), then g and h by one unit of 2^-fine, either way
    by chance.
  cost: about 60 rounds and 1.2 kB a record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unspoken.joint.mpc.ops.choice import floor
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.truncation import truncate
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared
from unspoken.joint.tasks.logistic.sigmoid import SCALE, Fineness, sigmoid

# Beyond 6 the loss hardly changes, and |g| / h would have no bound: here 512 is one.
ROUGH = Fineness(greatest=6, degree=5, steps=2)
MOST_RATIO = 512
MOST_ALIGNED = (1 << 20) - 1


@dataclass(frozen=True)
class Bits:
    """How finely numbers are kept on shares, for a public number of records.

    `fine`: fractional bits of g and h. `ratio`: of G / (H + penalty). With 512 as the greatest
    ratio, rows 512 2^(fine + ratio) stays below 2^60, and the sum of all words below 2^59.
    """

    rows: int

    @property
    def fine(self) -> int:
        """Return the fractional bits of gradients and curvatures."""
        return min(18, 30 - self.rows.bit_length())

    @property
    def ratio(self) -> int:
        """Return the fractional bits of ratios."""
        return min(22, 51 - self.fine - self.rows.bit_length())

    @property
    def shift(self) -> int:
        """Return how many bits of a word the curvatures of all records take."""
        return self.fine + self.rows.bit_length() - 1

    @property
    def most_gradient(self) -> int:
        """Return the greatest magnitude of a sum of gradients, in units."""
        return self.rows << self.fine

    @property
    def most_word(self) -> int:
        """Return the greatest magnitude of a sum of words."""
        return (self.most_gradient << self.shift) + (1 << self.shift)


async def slopes(party: Party, odds: Shared | None, labels: Shared, bits: Bits) -> Shared:
    """Return the word of every record at its log-odds, which are 0 before the first tree."""
    if odds is None:
        half = (labels - labels).within(0, 0) + (1 << (bits.fine - 1))
        curvature = (labels - labels).within(0, 0) + (1 << (bits.fine - 2))
        return _packed(half, curvature, labels, bits)
    likely = await sigmoid(party, odds, ROUGH)
    other = (1 << SCALE) - likely
    product = (await multiply(party, likely, other)).within(0, 1 << (2 * SCALE - 2))
    curvature = await truncate(party, replace(product, scale=0), 2 * SCALE - bits.fine)
    whole = await truncate(party, replace(likely, scale=0), SCALE - bits.fine)
    return _packed(whole, curvature, labels, bits)


def _packed(likely: Shared, curvature: Shared, labels: Shared, bits: Bits) -> Shared:
    gradient = (likely - labels * (1 << bits.fine)).within(-(1 << bits.fine), 1 << bits.fine)
    return gradient * (1 << bits.shift) + curvature


async def taken_apart(party: Party, words: Shared, bits: Bits) -> Shared:
    """Return gradients and curvatures of sums of words, under a new last axis."""
    most = bits.most_gradient
    gradient = (await floor(party, words, bits.shift)).within(-most, most)
    raised = np.multiply(gradient.share, np.uint64(1 << bits.shift))
    curvature = replace(words, share=np.subtract(words.share, raised), low=0,
                        high=(1 << bits.shift) - 1)
    columns = [part.reshape(*part.shape, 1).share for part in (gradient, curvature)]
    return replace(gradient, share=np.concatenate(columns, axis=-1),
                   high=max(gradient.high, curvature.high))
