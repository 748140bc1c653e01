"""How much a distorted report hides (as2000 section 2, vcz2006 sections 2.2 and 4.2).

Three answers to one question. The width of a confidence interval looks at the noise alone. Two to
the differential entropy does too, and makes families comparable: for uniform noise it is the
width. Conditional on the release and on the reconstructed distribution both shrink, and so does
everybody's own interval: "100% privacy" leaves .48 to .60 of the range on average. Averages hide
those who are exposed, so posterior widths come with their lower percentiles: under noise of 15
years a driver who reports the age of 1 is 16.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.distortion.noise_laws import Noise, check_confidence

PERCENTILES = (0.0, 1.0, 5.0, 25.0, 50.0)


def interval_width(noise: Noise, confidence: float = 0.95) -> float:
    """Return as2000's privacy: uniform .95 x 2a, Gaussian 3.92 sigma at 95%."""
    return noise.width(confidence)


def class_width(edges: Floats, confidence: float = 0.95) -> Floats:
    """Return as2000's privacy of value classes: confidence times the width of each."""
    return np.asarray(check_confidence(confidence) * np.diff(edges))


def entropy_privacy(noise: Noise) -> float:
    """Return 2 to the differential entropy of the noise (vcz2006 section 2.2)."""
    return float(2.0**noise.entropy)


def entropy(edges: Floats, probabilities: Floats) -> float:
    """Return the differential entropy, in bits, of a distribution that is flat in intervals."""
    _check(edges, probabilities)
    return -float(np.sum(_xlog2(probabilities, probabilities / np.diff(edges))))


def conditional_entropy(edges: Floats, probabilities: Floats, kernel: Floats) -> float:
    """Return the entropy of a value once its report and the distribution are known."""
    joint, reports = _joint(edges, probabilities, kernel)
    posterior = joint / np.maximum(reports, 1e-300)[:, None] / np.diff(edges)
    return -float(np.sum(_xlog2(joint, posterior)))


def privacy(edges: Floats, probabilities: Floats) -> float:
    """Return 2 to the entropy of the values: what is not known before anything is released."""
    return float(2.0 ** entropy(edges, probabilities))


def conditional_privacy(edges: Floats, probabilities: Floats, kernel: Floats) -> float:
    """Return 2 to the conditional entropy: what is left after the release."""
    return float(2.0 ** conditional_entropy(edges, probabilities, kernel))


def mutual_information(edges: Floats, probabilities: Floats, kernel: Floats) -> float:
    """Return the bits that a report discloses about its value."""
    joint, reports = _joint(edges, probabilities, kernel)
    total = max(float(joint.sum()), 1e-300)
    ratio = joint * total / np.maximum(np.outer(reports, joint.sum(axis=0)), 1e-300)
    return max(float(np.sum(_xlog2(joint, ratio))) / total, 0.0)


def privacy_loss(edges: Floats, probabilities: Floats, kernel: Floats) -> float:
    """Return the share of privacy that a report takes away: 1 - 2^-I."""
    return float(1.0 - 2.0 ** -mutual_information(edges, probabilities, kernel))


@dataclass(frozen=True)
class Widths:
    """Posterior widths: of every reported interval, and over records."""

    each: Floats
    reports: Floats
    mean: float
    percentiles: dict[float, float]


def posterior_widths(edges: Floats, probabilities: Floats, kernel: Floats,
                     reports: Floats | None = None, confidence: float = 0.95) -> Widths:
    """Return the width of the smallest set that holds the value with a confidence, by report.

    `reports`: how many records reported each interval; by default what the distribution expects.
    """
    joint, expected = _joint(edges, probabilities, kernel)
    check_confidence(confidence)
    each = np.array([_smallest(row, np.diff(edges), confidence) for row in joint])
    weights = expected if reports is None else np.asarray(reports, np.float64)
    seen = (weights > 0) & (expected > 0)
    order = np.argsort(each[seen], kind="stable")
    sizes, share = each[seen][order], np.cumsum(weights[seen][order]) / weights[seen].sum()
    places = np.minimum(np.searchsorted(share, np.array(PERCENTILES) / 100), sizes.size - 1)
    widths = dict(zip(PERCENTILES, sizes[places].tolist(), strict=True))
    mean = float(np.average(each[seen], weights=weights[seen]))
    return Widths(each, weights, mean, widths)


def _smallest(row: Floats, widths: Floats, confidence: float) -> float:
    """Return the width of the densest intervals that hold the confidence, the last one in part."""
    total = row.sum()
    if total <= 0:
        return 0.0
    order = np.argsort(-row / widths, kind="stable")
    mass, wide = row[order] / total, widths[order]
    below = np.cumsum(mass) - mass
    part = np.clip((confidence - below) / np.where(mass > 0, mass, 1.0), 0.0, 1.0)
    return float(np.sum(np.where(mass > 0, part, 0.0) * wide))


def _joint(edges: Floats, probabilities: Floats, kernel: Floats) -> tuple[Floats, Floats]:
    _check(edges, probabilities)
    if kernel.ndim != 2 or kernel.shape[1] != probabilities.size:
        raise InputError(explain("'kernel'", f"a table with {probabilities.size} columns",
                                 str(kernel.shape)))
    joint = kernel * probabilities
    return joint, np.asarray(joint.sum(axis=1))


def _check(edges: Floats, probabilities: Floats) -> None:
    if edges.shape != (probabilities.size + 1,) or np.any(np.diff(edges) <= 0):
        raise InputError(explain("'edges'", "increasing, one more than probabilities",
                                 str(edges.shape)))
    if probabilities.min() < 0 or not np.isclose(probabilities.sum(), 1.0, atol=1e-6):
        raise InputError(explain("'probabilities'", "never negative and summing to one",
                                 float(probabilities.sum())))


def _xlog2(weight: Floats, value: Floats) -> Floats:
    return np.asarray(weight * np.log2(np.where((weight > 0) & (value > 0), value, 1.0)))
