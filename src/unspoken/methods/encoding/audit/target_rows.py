"""What a numeric target in secret units gives away, to whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.knowledge_levels import Setting
from unspoken.disclosure.measures import estimate
from unspoken.methods.encoding.adversaries.ignorant import chance
from unspoken.methods.encoding.adversaries.target_line import CommonStep, TwoTargets
from unspoken.methods.encoding.target_units import KINDS
from unspoken.numerics.rank_attack_bounds import range_width
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table

SAMPLE = 0.01
CLOSE = 1e-9
"""A value is read exactly if it is off by less than this share of the range: rounding."""


@dataclass(frozen=True)
class TargetTruth:
    """The distinct targets, the number released for each, and how many people have it."""

    name: str
    values: Floats
    released: Floats
    counts: Floats

    def shares(self, guess: Floats, radius: float) -> dict[str, float]:
        """Return the shares of values and people read within the radius, and exactly."""
        width = range_width(self.values)
        out = {}
        for near, value, people in ((radius * width, "domain", "records"),
                                    (CLOSE * width, "exact", "exact records")):
            hit = np.abs(guess - self.values) <= near
            out[value] = float(hit.mean())
            out[people] = float(hit @ self.counts / self.counts.sum())
        return out


def encoded_target_rows(table: Table, release: Release, chosen: Sequence[Adversary],
                        setting: Setting) -> Iterator[Row]:
    """Yield what every chosen adversary of the target reads; nothing if it was not encoded."""
    if release.mechanism.get("target") not in KINDS or table.schema.target is None:
        return
    truth = _truth(table, release)
    for adversary in chosen:
        if isinstance(adversary, TwoTargets):
            yield from _rows(adversary.name, "two targets", truth, setting, _two(adversary, truth,
                                                                                 setting))
            ends = truth.released[[0, -1]].tolist(), truth.values[[0, -1]].tolist()
            yield from _rows(adversary.name, "bounds", truth, setting,
                             [adversary.read(truth.released, *map(tuple, ends))])
            yield from _rows(adversary.name, "sample 1%", truth, setting,
                             _sampled(adversary, truth, setting))
        elif isinstance(adversary, CommonStep):
            yield from _rows(adversary.name, "smallest target", truth, setting,
                             [adversary.read(truth.released, float(truth.values[0]))])


def _truth(table: Table, release: Release) -> TargetTruth:
    """Put values and released numbers side by side: the line rises, so order pairs them."""
    values = np.sort(np.asarray(to_numbers(table.arrow([table.target])[table.target]), np.float64))
    name = release.table.target
    shown = np.sort(np.asarray(to_numbers(release.table.arrow([name])[name]), np.float64))
    pairs, counts = np.unique(np.column_stack([values, shown]), axis=0, return_counts=True)
    return TargetTruth(table.target, pairs[:, 0], pairs[:, 1], counts.astype(np.float64))


def _two(adversary: TwoTargets, truth: TargetTruth, setting: Setting) -> list[Floats]:
    """Read the target with the targets of two people who differ, drawn anew in every trial."""
    rng, guesses = setting.rng("grant", truth.name, "two targets"), []
    people = truth.counts / truth.counts.sum()
    for _ in range(setting.trials):
        one, two = rng.choice(truth.values.size, 2, replace=False, p=people).tolist()
        if truth.released[one] != truth.released[two]:
            guesses.append(adversary.read(truth.released, (truth.released[one],
                                                           truth.released[two]),
                                          (truth.values[one], truth.values[two])))
    return guesses


def _sampled(adversary: TwoTargets, truth: TargetTruth, setting: Setting) -> list[Floats]:
    """Read the target with the mean and the spread of a sample of similar people."""
    rng, guesses = setting.rng("grant", truth.name, "target sample"), []
    people = truth.counts / truth.counts.sum()
    mean = float(people @ truth.released)
    spread = float(np.sqrt(people @ (truth.released - mean) ** 2))
    size = max(2, round(SAMPLE * truth.counts.sum()))
    for _ in range(setting.trials):
        drawn = truth.values[rng.choice(truth.values.size, size, p=people)]
        guesses.append(adversary.read(truth.released, (mean, mean + spread),
                                      (float(drawn.mean()), float(drawn.mean() + drawn.std()))))
    return guesses


def _rows(name: str, level: str, truth: TargetTruth, setting: Setting,
          guesses: list[Floats]) -> Iterator[Row]:
    if not guesses:
        return
    scored = [truth.shares(guess, setting.radius) for guess in guesses]
    low, high = float(truth.values[0]), float(truth.values[-1])
    for measure in scored[0]:
        near = CLOSE if measure.startswith("exact") else setting.radius
        blind = chance(truth.values, low, high, near * range_width(truth.values))
        weight = truth.counts if measure.endswith("records") else np.ones(truth.values.size)
        share = estimate(np.array([each[measure] for each in scored]))
        yield Row(name, level, truth.name, measure, share.value, share.low, share.high,
                  float(np.average(blind, weights=weight)), share.trials)
