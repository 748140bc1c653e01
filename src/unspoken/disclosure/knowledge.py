"""What an adversary is assumed to know (bu2007 section 3.3 and what it leaves out).

Knowledge is granted, column by column, by the code that runs the attack; it is never taken from a
key by the adversary. What is redrawn from trial to trial has one row per trial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.value_distributions import Family
from unspoken.errors import InputError, explain

PRESETS = {"ignorant": 0, "knowledgeable": 2, "expert": 4, "insider": 8}
"""Knowledge points of the presets (bu2007 sections 6.1 and 6.4)."""
RADII = (0.01, 0.02, 0.05)
"""How near a guess must be to count as recovered, as a share of the range (bu2007 section 6.1)."""


@dataclass(frozen=True)
class Points:
    """Pairs of a released code and a guess of its value (bu2007 Definition 4).

    Attributes
    ----------
    codes : array of float, (trials, points)
        The codes, sorted per trial; two points on one code raise InputError.
    values : array of float, (trials, points)
        The guessed values.
    """

    codes: Floats
    values: Floats

    def __post_init__(self) -> None:
        """Sort every trial by code; two points on one code are refused."""
        if self.codes.ndim != 2 or self.codes.shape != self.values.shape:
            raise InputError(explain("Knowledge points", "two arrays of one shape (trials, points)",
                                     f"shapes {self.codes.shape} and {self.values.shape}"))
        order = np.argsort(self.codes, axis=1, kind="stable")
        object.__setattr__(self, "codes", np.take_along_axis(self.codes, order, axis=1))
        object.__setattr__(self, "values", np.take_along_axis(self.values, order, axis=1))
        if np.any(np.diff(self.codes, axis=1) <= 0):
            raise InputError("Two knowledge points of one trial are on the same code. Give at most "
                             "one point per code.")

    @property
    def trials(self) -> int:
        """Return the number of trials."""
        return int(self.codes.shape[0])


@dataclass(frozen=True)
class Histogram:
    """Every distinct value and how often it occurs.

    Attributes
    ----------
    values : array of float
        The distinct values, increasing.
    counts : array of int
        How often each occurs.
    """

    values: Floats
    counts: Ints


@dataclass(frozen=True)
class Knowledge:
    """What one adversary knows about one column (bu2007 section 3.3); None: it does not know it.

    Attributes
    ----------
    label : str
        The level of knowledge as an audit names it, such as "expert".
    radius : float
        How near a guess must be to count as recovered, in units of the column.
    plausible : tuple of two floats
        The range in which an adversary without knowledge would guess.
    points : Points or None
        Known pairs of code and value.
    bounds : tuple of two floats or None
        The true minimum and maximum.
    median : float or None
        The true median.
    modes : array of float or None
        The most frequent values, most frequent first.
    family : Family or None
        The form and the parameters of the distribution.
    sample : array of float, (trials, values), or None
        Sorted values of similar data.
    histogram : Histogram or None
        How often each value occurs.
    records : Points or None
        Known records, linked to their codes.
    draws : int, default 1
        How often an adversary that guesses at random may try.
    """

    label: str
    radius: float
    plausible: tuple[float, float]
    points: Points | None = None
    bounds: tuple[float, float] | None = None
    median: float | None = None
    modes: Floats | None = None
    family: Family | None = None
    sample: Floats | None = None
    histogram: Histogram | None = None
    records: Points | None = None
    draws: int = 1
    _once: dict[tuple[str, str], Floats] = field(default_factory=dict, init=False, repr=False,
                                                 compare=False)

    def once(self, adversary: str, column: str, guess: Callable[[], Floats]) -> Floats:
        """Return guesses that several adversaries use, made once; nobody may change them."""
        if (adversary, column) not in self._once:
            guesses = guess()
            guesses.setflags(write=False)
            self._once[adversary, column] = guesses
        return self._once[adversary, column]

    @property
    def granted(self) -> frozenset[str]:
        """Return the names of what is known."""
        return frozenset(name for name in FIELDS if getattr(self, name) is not None)

    @property
    def trials(self) -> int:
        """Return the number of trials that this knowledge was drawn for."""
        drawn = [part.trials for part in (self.points, self.records) if part is not None]
        if self.sample is not None:
            drawn.append(int(self.sample.shape[0]))
        return max(drawn, default=self.draws)

    def only(self, rows: slice) -> Knowledge:
        """Return the knowledge of some of the trials."""
        return replace(
            self, draws=len(range(*rows.indices(self.trials))),
            points=_only(self.points, rows), records=_only(self.records, rows),
            sample=None if self.sample is None else self.sample[rows],
        )

    def blind(self, rng: np.random.Generator) -> Floats:
        """Return what one would guess with this knowledge and without the release.

        One constant per trial: the middle of the fullest window of two radii where a sample or a
        histogram is known, else a mode, the median, the middle of the family or of the bounds,
        the middle of the known values, or a number at random in the plausible range.
        """
        if self.histogram is not None:
            window = fullest_window(self.histogram.values, self.histogram.counts, self.radius)
            return np.array([window])
        drawn = self.sample if self.sample is not None else _values_of(self.records)
        if drawn is not None:
            ones = np.ones(drawn.shape[1], np.int64)
            return np.array([fullest_window(np.sort(row), ones, self.radius) for row in drawn])
        if self.points is not None:
            return np.asarray(np.median(self.points.values, axis=1))
        constant = self._constant()
        if constant is not None:
            return np.array([constant])
        return rng.uniform(*self.plausible, size=self.trials)

    def _constant(self) -> float | None:
        if self.modes is not None and self.modes.size:
            return float(self.modes[0])
        if self.median is not None:
            return self.median
        if self.family is not None:
            return float(self.family.quantile(np.array([0.5]))[0])
        return None if self.bounds is None else sum(self.bounds) / 2


_ALWAYS = ("label", "radius", "plausible", "draws", "_once")
FIELDS = tuple(f.name for f in fields(Knowledge) if f.name not in _ALWAYS)
"""The names of what can be known, which adversaries declare in `needs`."""


def _only(points: Points | None, rows: slice) -> Points | None:
    return None if points is None else Points(points.codes[rows], points.values[rows])


def _values_of(points: Points | None) -> Floats | None:
    return None if points is None else points.values


def fullest_window(values: Floats, counts: Ints, radius: float) -> float:
    """Return the middle of the window of width two radii that holds most records."""
    ends = np.searchsorted(values, values + 2 * radius, side="right")
    total = np.r_[0, np.cumsum(counts)]
    best = int(np.argmax(total[ends] - total[:-1]))
    return float((values[best] + values[ends[best] - 1]) / 2)
