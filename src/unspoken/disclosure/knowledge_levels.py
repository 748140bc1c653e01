"""Granting knowledge: what an adversary of some level knows about a column, trial by trial.

Knowledge points lie on distinct values drawn uniformly, with an error uniform within the radius;
a bad point is off by more than five radii (bu2007 section 6.1). Samples are drawn from the table
itself without replacement, each column on its own. All of it is drawn from the truth, which the
custodian has; adversaries get only the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import ColumnView
from unspoken.disclosure.draw_without_replacement import distinct_choices, record_samples
from unspoken.disclosure.ground_truth import Truth
from unspoken.disclosure.knowledge import PRESETS, Histogram, Knowledge, Points
from unspoken.disclosure.value_distributions import Gaussian, Uniform
from unspoken.errors import InputError, explain
from unspoken.numerics.random import replayed

MAX_SAMPLE = 50_000
"""Records of a drawn sample; more would not change the quantiles."""
MAX_RECORDS = 200
MODES = 3
MOST_GUESSES = 2_000_000
"""Guesses that one adversary makes of one column; columns of more values get fewer trials."""
LEAST_TRIALS = 20


@dataclass(frozen=True)
class Setting:
    """What every grant of one audit shares."""

    radius: float = 0.02
    trials: int = 100
    seed: bytes = b"\0" * 32
    sample: Mapping[str, Floats] | None = None
    progress: Callable[[int, int], None] | None = None
    every_trial: bool = False
    """Make all trials, however many values a column has: a precision was asked for."""

    def bounded(self, values: int) -> Setting:
        """Return the setting for a column with this many values: the more, the fewer trials."""
        most = max(LEAST_TRIALS, MOST_GUESSES // max(values, 1))
        return self if self.every_trial or self.trials <= most else replace(self, trials=most)

    def rng(self, *purpose: str) -> np.random.Generator:
        """Return the generator of one purpose; the order of purposes does not matter."""
        return replayed(self.seed, *purpose)


Grant = Callable[[Truth, ColumnView, Setting, np.random.Generator], Any]
Level = tuple[str, Grant]


def points(truth: Truth, codes: Floats, count: int, setting: Setting,
           rng: np.random.Generator, bad: int = 0) -> Points:
    """Draw knowledge points, `bad` of them far off (bu2007 Definition 4 and section 6.1)."""
    _, first = np.unique(truth.where, return_index=True)
    chosen = first[distinct_choices(truth.share[first], count, setting.trials, rng)]
    radius = setting.radius * truth.width
    values = truth.truth[chosen]
    error = rng.uniform(-radius, radius, size=values.shape)
    guessed = values + error
    if bad:
        guessed[:, :bad] = _far_off(values[:, :bad], truth.values, 5 * radius, rng)
    return Points(codes[truth.where[chosen]], guessed)


def _far_off(values: Floats, known: Floats, gap: float, rng: np.random.Generator) -> Floats:
    """Draw a number in the range, but more than `gap` away."""
    below = np.maximum(values - gap - known[0], 0.0)
    above = np.maximum(known[-1] - values - gap, 0.0)
    place = rng.random(values.shape) * (below + above)
    return np.asarray(np.where(place < below, known[0] + place, values + gap + place - below))


def _points(count: int, bad: int = 0) -> Grant:
    return lambda truth, seen, setting, rng: points(truth, seen.codes, count, setting, rng, bad)


def _sample(share: float) -> Grant:
    def draw(truth: Truth, seen: ColumnView, setting: Setting, rng: np.random.Generator) -> Floats:
        size = sample_size(int(truth.counts.sum()), share)
        return truth.values[record_samples(truth.by_value, size, setting.trials, rng)]

    return draw


def sample_size(records: int, share: float) -> int:
    """Return the size of a drawn sample."""
    return max(1, min(MAX_SAMPLE, round(records * share)))


def _given(truth: Truth, seen: ColumnView, setting: Setting, rng: np.random.Generator) -> Floats:
    assert setting.sample is not None
    return np.sort(setting.sample[truth.name])[None, :]


def _records(truth: Truth, seen: ColumnView, setting: Setting,
             rng: np.random.Generator) -> Points:
    """Draw records by record, exact; several with one code count once, so all have equal many."""
    _, first = np.unique(truth.where, return_index=True)
    drawn = distinct_choices(truth.record_share[first], _record_count(truth), setting.trials, rng)
    chosen = first[drawn]
    return Points(seen.codes[truth.where[chosen]], truth.truth[chosen])


def _record_count(truth: Truth) -> int:
    """Return how many different values 200 known records (or 5% of all) show on average."""
    records = int(truth.counts.sum())
    known = max(2, min(MAX_RECORDS, records // 20))
    expected = float((1.0 - (1.0 - truth.by_value / records) ** known).sum())
    return max(2, round(expected))


def _gaussian(truth: Truth, *_: Any) -> Gaussian:
    mean = float(truth.values @ truth.by_value / truth.by_value.sum())
    square = float((truth.values - mean) ** 2 @ truth.by_value / truth.by_value.sum())
    return Gaussian(mean, square**0.5)


def _modes(truth: Truth, *_: Any) -> Floats:
    return truth.values[np.argsort(-truth.by_value, kind="stable")[:MODES]]


def _median(truth: Truth, *_: Any) -> float:
    total = np.cumsum(truth.by_value)
    return float(truth.values[np.searchsorted(total, total[-1] / 2)])


LEVELS: Mapping[str, tuple[Level, ...]] = {
    "points": (
        *((name, _points(count)) for name, count in PRESETS.items() if count),
        ("expert, one bad point", _points(PRESETS["expert"], bad=1)),
    ),
    "bounds": (("bounds", lambda t, *_: (float(t.values[0]), float(t.values[-1]))),),
    "median": (("median", _median),),
    "modes": (("modes", _modes),),
    "family": (
        ("family gaussian", _gaussian),
        ("family uniform", lambda t, *_: Uniform(float(t.values[0]), float(t.values[-1]))),
    ),
    "sample": (("sample 1%", _sample(0.01)), ("sample 0.1%", _sample(0.001))),
    "histogram": (("histogram", lambda t, *_: Histogram(t.values, t.by_value)),),
    "records": ((f"records {MAX_RECORDS}", _records),),
}
_SHORT = {"bounds+median+modes": "published"}
IGNORANT = "ignorant"


def levels(needs: frozenset[str], setting: Setting) -> Iterator[tuple[str, dict[str, Grant]]]:
    """Yield the levels of knowledge at which an adversary with these needs is tried."""
    order = [name for name in LEVELS if name in needs]
    if needs - set(order):
        raise InputError(explain("What an adversary needs", f"some of {', '.join(LEVELS)}",
                                 ", ".join(sorted(needs - set(order)))))
    if not order:
        yield IGNORANT, {}
        return
    choices = [(("sample given", _given),) if name == "sample" and setting.sample is not None
               else LEVELS[name] for name in order]
    for chosen in product(*choices):
        label = "+".join(name for name, _ in chosen)
        yield _SHORT.get(label, label), {n: g for n, (_, g) in zip(order, chosen, strict=True)}


def grant(label: str, parts: Mapping[str, Grant], truth: Truth, seen: ColumnView,
          setting: Setting) -> Knowledge:
    """Draw the knowledge of one level about one column; every part has a stream of its own."""
    blank = Knowledge(label, setting.radius * truth.width,
                      (float(truth.values[0]), float(truth.values[-1])), draws=setting.trials)
    drawn = {name: part(truth, seen, setting, setting.rng("grant", truth.name, label, name))
             for name, part in parts.items()}
    return replace(blank, **drawn)
