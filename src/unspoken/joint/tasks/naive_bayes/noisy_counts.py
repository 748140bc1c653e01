"""Naive Bayes over rows with noise in parts: noisy counts and sums are all that is opened.

Every owner counts its records by class and category, and adds up its numbers and their squares by
class, clamped to the agreed ranges and rounded row by row to 2^-12 of half a range. One row that
comes, goes or changes moves the counts of classes, and those of every column of categories, by the
root of 2. It moves sum and sum of squares of a column together by at most 2: (z - z')^2 +
(z^2 - z'^2)^2 <= 4 within one class, and |(z, z^2)|^2 + |(z', z'^2)|^2 <= 4 between two. All
numbers get the same noise in these units.

How few records an owner has of a class is not checked here: a refusal would tell it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.party import Party
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.noise_in_parts import PartedNoise, open_noisy, with_part
from unspoken.joint.tasks.naive_bayes.class_tallies import class_counts, class_sums
from unspoken.joint.tasks.naive_bayes.params import (
    BayesLayout,
    BayesParams,
    BayesSettings,
    Given,
    layout_of,
    rules_of,
)
from unspoken.joint.tasks.naive_bayes.pooled import from_sums
from unspoken.models.mixed_bayes import MixedBayes

NOISY = ("counts of classes and categories, and sums of numbers and squares, over all owners, with "
         "noise")
STEPS = 12
BITS = 2 * STEPS
"""Squares of whole numbers of 2^-12 are whole numbers of 2^-24."""


@dataclass(frozen=True)
class NoisyBayes:
    """What is counted and added up, and the noise that it gets."""

    layout: BayesLayout
    noise: PartedNoise
    owners: int

    @property
    def _squares(self) -> tuple[int, int]:
        """Return the square of how far one row moves all counts, and all scaled sums."""
        return 2 * (1 + len(self.layout.nominal)), 4 * len(self.layout.numeric)

    def scales(self) -> tuple[float, float]:
        """Return the scale of each owner's part: of counts, and of sums in units of 2^-24."""
        counts, sums = self._squares
        kinds = len(self.layout.classes)
        cells, moments = (1 + sum(self.layout.sizes)) * kinds, 2 * len(self.layout.numeric) * kinds
        own = self.noise.scale(_up(counts), self.owners, cells, counts / (counts + sums))
        if not sums:
            return own, 0.0
        return own, self.noise.scale(_up(sums) * 2.0**BITS, self.owners, moments,
                                     sums / (counts + sums))

    def deviations(self) -> dict[str, float]:
        """Return the standard deviation of the noise, of all parts together."""
        counts, sums = (scale * math.sqrt(self.owners) for scale in self.scales())
        stated = {"a count": counts}
        if self.layout.numeric:
            stated["a sum of numbers or squares, in halves of the range"] = sums / 2.0**BITS
        return stated

    def units(self, coded: Given) -> tuple[Ints, Ints]:
        """Return an owner's counts, and its sums in units of 2^-24, without noise."""
        steps = np.rint(np.clip(coded.numbers, -1.0, 1.0) * 2.0**STEPS) / 2.0**STEPS
        rounded = replace(coded, numbers=steps)
        sums = class_sums(rounded, self.layout) * 2.0**BITS
        return class_counts(rounded, self.layout), np.rint(sums).astype(np.int64)

    def noisy(self, coded: Given) -> tuple[Ints, Ints]:
        """Return an owner's counts and sums with its part of the noise."""
        counts, sums = self.units(coded)
        own, other = self.scales()
        return with_part(counts, own), with_part(sums, other) if sums.size else sums

    def model(self, rules: BayesParams, counts: Floats, sums: Floats) -> MixedBayes:
        """Return the model of opened numbers; what noise made impossible is brought back."""
        held = np.maximum(counts, 0.0)
        held[0] = np.maximum(held[0], 1.0)
        columns = len(self.layout.numeric)
        means = np.clip(sums[:columns] / held[0], -1.0, 1.0)
        # A variance below what the noise itself is worth says nothing.
        least = np.minimum(self._sum_deviation() / held[0], 1.0)
        variances = np.clip(sums[columns:] / held[0] - means**2, least, 1.0)
        return from_sums(self.layout, rules, held, np.vstack([
            means * held[0], (variances + means**2) * held[0]]))

    def _sum_deviation(self) -> float:
        return self.scales()[1] * math.sqrt(self.owners) / 2.0**BITS


def _up(square: int) -> float:
    return math.nextafter(math.sqrt(square), math.inf)


def noisy_of(study: Study) -> NoisyBayes:
    """Return what a study with an epsilon counts."""
    return NoisyBayes(layout_of(study.parameters), BayesSettings.of(study.parameters).parted,
                      len(study.having("owner")))


def noisy_disclosures(study: Study) -> tuple[Disclosure, ...]:
    """Return all that is opened."""
    return (Disclosure(NOISY, study.having("receiver")),)


class NoisyRowsStudy:
    """The program of a study over rows with noise in parts."""

    def __init__(self, study: Study) -> None:
        self.plan, self.rules = noisy_of(study), rules_of(study.parameters)
        self.receivers, self.disclosures = study.having("receiver"), study.disclosures

    async def __call__(self, party: Party, data: Given | None) -> MixedBayes | None:
        """Open noisy counts and sums, and return the model to the receivers."""
        counts, sums = self._own(party, data)
        counts = await open_noisy(party, counts, 0, because=NOISY, to=self.receivers)
        if self.plan.layout.numeric:
            sums = await open_noisy(party, sums, BITS, because=NOISY, to=self.receivers)
        if counts is None or sums is None:
            return None
        return self.plan.model(self.rules, np.asarray(counts, np.float64),
                               np.asarray(sums, np.float64))

    def _own(self, party: Party, data: Given | None) -> tuple[Ints, Ints]:
        if data is not None and party.name in party.roles.owners:
            return self.plan.noisy(data)
        layout = self.plan.layout
        kinds = len(layout.classes)
        return (np.zeros((1 + sum(layout.sizes), kinds), np.int64),
                np.zeros((2 * len(layout.numeric), kinds), np.int64))
