"""How exposed records are before anybody attacks: the breach probability of liu2006 section 3.1.

A rotation keeps every record's distance from the span of the records that are known, so the
probability that a record is guessed within a share of its length follows from the release alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError
from unspoken.methods.rotation.adversaries.rotation_adversary import EPSILON, RotatedView
from unspoken.numerics.orthogonal import breach_probability, paper_breach
from unspoken.release.release import Release

__all__ = ["Exposure", "breach_probability", "exposure", "paper_breach"]



@dataclass(frozen=True)
class Exposure:
    """The probability of a breach of every record, for three attackers (liu2006 section 3.1).

    Attributes
    ----------
    unknown : int
        The number q of dimensions outside the span of the known records.
    uniform : array of shape (records,)
        Against an attacker who draws the unknown part of the map uniformly.
    shrunken : array of shape (records,)
        Against one who moves the guess to the likeliest radius; never smaller than `uniform`.
    by_paper : array of shape (records,)
        The paper's formula, which is exact for q = 2 only.
    """

    unknown: int
    uniform: Floats
    shrunken: Floats
    by_paper: Floats

    @property
    def expected(self) -> float:
        """Return the expected share of records that the better attacker breaches."""
        return float(self.shrunken.mean())

    @property
    def most_exposed(self) -> int:
        """Return the record that is likeliest to be breached."""
        return int(np.argmax(self.shrunken))


def exposure(release: Release, known: npt.ArrayLike, epsilon: float = EPSILON) -> Exposure:
    """Return how exposed every complete record is to an adversary who knows some in full.

    Parameters
    ----------
    release : Release
        A rotation of the columns as they are: not translated, standardised or projected.
    known : array-like of int
        The known records, as positions among the complete released records.
    epsilon : float, default 0.1
        A guess within this share of a record's length is a breach.

    Returns
    -------
    Exposure

    Examples
    --------
    >>> exposure(release, [0, 1]).expected  # doctest: +SKIP
    """
    view = RotatedView.of(release)
    if view.translated or view.standardised or not view.orthogonal:
        raise InputError("The breach probability is known only for rotations without "
                         "translation, standardising or projection. "
                         f"Got {dict(view.mechanism)}.")
    unknown, ratio = reach_of(view.records, view.records[np.asarray(known, np.int64)], epsilon)
    return Exposure(unknown, breach_probability(ratio, unknown),
                    breach_probability(ratio, unknown, "shrunken"), paper_breach(ratio))


def reach_of(records: Floats, known: Floats, epsilon: float = EPSILON,
             translated: bool = False) -> tuple[int, Floats]:
    """Return the number of unknown dimensions, and epsilon ||x|| / 2 d for every record x.

    d is its distance from the span of the known records, or from the plane through them where an
    unknown vector was added (liu2006 section 3.1).
    """
    base = known.mean(axis=0) if translated else np.zeros(records.shape[1])
    _, sizes, axes = np.linalg.svd(known - base, full_matrices=False)
    inside = axes[sizes > 1e-9 * max(float(np.linalg.norm(known)), 1e-300)]
    away = records - base
    distance = np.linalg.norm(away - away @ inside.T @ inside, axis=1)
    ratio = epsilon * np.linalg.norm(records, axis=1) / np.maximum(2 * distance, 1e-300)
    return int(records.shape[1] - inside.shape[0]), np.minimum(ratio, 1e6)
