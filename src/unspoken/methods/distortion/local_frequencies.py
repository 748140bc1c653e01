"""Frequencies of many categories from reports that each protect themselves (local privacy).

Wang, Blocki, Li and Jha 2017. Everybody reports once, with a stated epsilon of their own, and
nobody needs to be trusted:

- `OptimisedUnary`: one bit per category; the true one is reported with probability 1/2, any other
  with 1 / (exp(epsilon) + 1).
- `LocalHashing`: categories are hashed, by a function drawn per report, to about exp(epsilon) + 1
  values, and the hashed value goes through generalised response. A report is small however many
  categories there are.
- generalised response itself is `RandomizedResponse(gamma=exp(epsilon))`.

Both have the same error, which does not grow with the number of categories: `deviation` states it
before anything is collected. `heavy_hitters` lists categories that are frequent beyond chance.
Whoever reports twice spends twice.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from unspoken.arrays import Bools, Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.numerics.random import fresh_seed, generator, shares, words

MOST_VALUES = 100_000


@dataclass(frozen=True)
class Frequencies:
    """Estimated counts of categories among those who reported, and how far they may be off.

    `deviation` is that of a category that nobody has, `deviations` that of each, taken at its
    estimate: the own answers of frequent categories are randomised, too.
    """

    values: tuple[Any, ...]
    counts: Floats
    deviation: float
    reports: int
    deviations: Floats


def deviation(epsilon: float, reports: int) -> float:
    """Return the standard deviation of an estimated count of a rare category."""
    grown = math.exp(_epsilon(epsilon))
    return 2 * math.sqrt(reports * grown) / (grown - 1)


@dataclass(frozen=True)
class OptimisedUnary:
    """One bit per category (optimised unary encoding)."""

    values: tuple[Any, ...]
    epsilon: float

    def __post_init__(self) -> None:
        _check(self.values, self.epsilon)

    @property
    def _false(self) -> float:
        return 1 / (math.exp(self.epsilon) + 1)

    def report(self, truth: Sequence[Any], seed: bytes | None = None) -> Bools:
        """Return everybody's report, one row of bits each."""
        codes = _codes(self.values, truth)
        size = codes.size * len(self.values)
        drawn = shares(words(seed or fresh_seed(), 0, size)).reshape(codes.size, -1)
        bits = drawn < self._false
        own = np.arange(codes.size)
        bits[own, codes] = drawn[own, codes] < 0.5
        return np.asarray(bits)

    def estimate(self, reports: Bools) -> Frequencies:
        """Return the counts that reports tell of, without bias."""
        reports = np.asarray(reports, np.bool_)
        if reports.ndim != 2 or reports.shape[1] != len(self.values):
            raise InputError(f"Reports must have one bit for each of {len(self.values)} "
                             f"categories. Got an array of shape {reports.shape}.")
        return _frequencies(self, reports.sum(axis=0), reports.shape[0], (0.5, self._false))


@dataclass(frozen=True)
class LocalHashing:
    """A hash function per report, and generalised response (optimised local hashing)."""

    values: tuple[Any, ...]
    epsilon: float

    def __post_init__(self) -> None:
        _check(self.values, self.epsilon)

    @property
    def range(self) -> int:
        """Return how many values the hash functions have."""
        return max(round(math.exp(self.epsilon)) + 1, 2)

    @property
    def _true(self) -> float:
        grown = math.exp(self.epsilon)
        return grown / (grown + self.range - 1)

    def report(self, truth: Sequence[Any], seed: bytes | None = None) -> Ints:
        """Return everybody's report: which hash function, and which value of it."""
        codes, rng = _codes(self.values, truth), generator(seed or fresh_seed(), "hashing")
        functions = rng.integers(0, 1 << 62, codes.size)
        own = _hashed(functions, self._digests()[codes], self.range)
        other = (own + rng.integers(1, self.range, codes.size)) % self.range
        sent = np.where(rng.random(codes.size) < self._true, own, other)
        return np.column_stack([functions, sent])

    def estimate(self, reports: Ints) -> Frequencies:
        """Return the counts that reports tell of, without bias."""
        reports = np.asarray(reports, np.int64)
        if reports.ndim != 2 or reports.shape[1] != 2:
            raise InputError("Reports must have two columns: the hash function and the value.")
        digests = self._digests()
        support = np.array([np.count_nonzero(_hashed(reports[:, 0], one, self.range)
                                             == reports[:, 1]) for one in digests], np.float64)
        return _frequencies(self, support, reports.shape[0], (self._true, 1 / self.range))

    def to_json(self) -> dict[str, Any]:
        """Return what a device needs to make a report by itself."""
        return {"values": list(self.values), "epsilon": self.epsilon, "range": self.range,
                "true": self._true, "digests": [f"{int(one):016x}" for one in self._digests()]}

    def _digests(self) -> npt.NDArray[np.uint64]:
        texts = [repr(_plain(one)).encode() for one in self.values]
        return np.array([int.from_bytes(hashlib.blake2b(one, digest_size=8).digest(), "little")
                         for one in texts], np.uint64)


def _plain(value: Any) -> Any:
    """Return a category as devices and collector both write it: equal ones must hash alike."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return value


def _frequencies(design: OptimisedUnary | LocalHashing, support: Any, reports: int,
                 chances: tuple[float, float]) -> Frequencies:
    """Return counts from how often each category is supported, by its own people and by others."""
    own, other = chances
    gap = own - other
    counts = (np.asarray(support, np.float64) - reports * other) / gap
    people = np.clip(counts, 0, reports)
    spread = people * own * (1 - own) + (reports - people) * other * (1 - other)
    return Frequencies(design.values, counts, deviation(design.epsilon, reports), reports,
                       np.sqrt(spread) / gap)


def heavy_hitters(found: Frequencies, confidence: float = 0.95) -> list[tuple[Any, float]]:
    """Return the categories whose counts no chance explains, the most frequent first.

    The threshold allows for all categories at once (Bonferroni).
    """
    if not 0 < confidence < 1:
        raise InputError(explain("'confidence'", "above 0 and below 1", confidence))
    limit = float(norm.ppf(1 - (1 - confidence) / len(found.values))) * found.deviation
    order = np.argsort(-found.counts, kind="stable")
    return [(found.values[k], float(found.counts[k])) for k in order.tolist()
            if found.counts[k] > limit]


def _hashed(functions: Any, digests: Any, size: int) -> Ints:
    """Mix a function's number with a category's digest, and take the high bits."""
    mixed = np.asarray(functions, np.uint64) ^ np.asarray(digests, np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((mixed >> np.uint64(11)) % np.uint64(size), np.int64)


def _codes(values: Sequence[Any], truth: Sequence[Any]) -> Ints:
    places = {value: k for k, value in enumerate(values)}
    unknown = next((one for one in truth if one not in places), None)
    if unknown is not None:
        raise InputError("A report must be about a declared category. Declare one for all others, "
                         "and map to it before reporting.")
    return np.array([places[one] for one in truth], np.int64)


def _check(values: Sequence[Any], epsilon: float) -> None:
    if not 2 <= len(values) <= MOST_VALUES or len(set(values)) != len(values):
        raise InputError(f"'values' must be 2 to {MOST_VALUES} different categories, declared "
                         "beforehand.")
    _epsilon(epsilon)


def _epsilon(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 20:
        raise InputError(explain("'epsilon' of a report", "above 0 and up to 20", value))
    return float(value)
