"""The adversary who reconstructs the distribution and sharpens every report with it.

vcz2006 section 4.2: the very ability to reconstruct distributions gives less privacy than the
noise alone promises. Needs nothing but the release: its manifest states the law of the distortion.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.methods.distortion.known_laws import Answers, Law, law_of
from unspoken.methods.distortion.reconstruct.iterate import reconstruct

BINS = 100


class Posterior(Adversary):
    """Guesses the place where most of the posterior lies within the radius."""

    name: ClassVar[str] = "posterior"
    attacks: ClassVar[frozenset[str] | None] = frozenset(
        {"noise", "multiplicative-noise", "discretize"})
    gets: ClassVar[str] = "reconstructs the distribution and takes the likeliest value"

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the likeliest place of every report, the same in every trial."""
        seen = view[column]
        law = law_of(view.mechanism, column)
        assert not isinstance(law, Answers)
        return likeliest(law, seen.codes, seen.counts.astype(np.float64), knowledge.radius)[None]


def likeliest(law: Law, codes: Floats, counts: Floats, radius: float) -> Floats:
    """Return for every report the middle of the window of two radii with most of its posterior."""
    edges = law.edges(BINS)
    assert edges is not None
    reported = law.reported(float(codes.min()), float(codes.max()), edges)
    where = np.clip(np.searchsorted(reported, codes, side="right") - 1, 0, reported.size - 2)
    binned = np.bincount(where, weights=counts, minlength=reported.size - 1).astype(np.float64)
    kernel = law.kernel(edges, reported, "integrated")
    shares = reconstruct(binned, kernel, "smoothed").probabilities
    return best_windows(kernel * shares, edges, radius)[where]


def best_windows(joint: Floats, edges: Floats, radius: float) -> Floats:
    """Return for every row the middle of the fullest window of two radii."""
    middles = (edges[1:] + edges[:-1]) / 2
    steps = np.concatenate([np.zeros((joint.shape[0], 1)), np.cumsum(joint, axis=1)], axis=1)

    def below(at: Floats) -> Floats:
        place = np.interp(at, edges, np.arange(edges.size))
        whole = np.minimum(place.astype(np.int64), edges.size - 2)
        return np.asarray(steps[:, whole] + (place - whole) * joint[:, whole])

    mass = below(middles + radius) - below(middles - radius)
    return np.asarray(middles[np.argmax(mass, axis=1)])
