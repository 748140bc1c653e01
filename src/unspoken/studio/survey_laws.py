"""What a question of a survey hides and how its answers are added up: the laws of `distortion`.

The respondent's browser draws by the same law (`assets/survey.js`), so the server only ever gets
what was randomised. A report that the law could not have produced is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unspoken.errors import InputError, explain
from unspoken.methods.distortion.column_noise import ColumnNoise
from unspoken.methods.distortion.column_response import ColumnResponse
from unspoken.methods.distortion.local_frequencies import LocalHashing
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.methods.distortion.response_matrices import by_inverse, least_variance
from unspoken.numerics.exact_interval import exact_interval

RESPONSE, HASHING, NUMBER = WAYS = ("response", "hashing", "number")
MOST_FEW, MOST_MANY, LONGEST = 12, 1000, 300
ENOUGH = 100
"""From this many reports on their own spread is believed."""
FARTHEST = 127 * math.log(2)
"""No draw of Laplace noise from 127 bits lies more scales from zero."""
TWO_SIDED = 1.959963984540054
"""Standard errors on each side of a 95% interval."""
FEW_SIDED = math.log(20) / math.sqrt(2)
"""The same of one draw of Laplace noise; sums of several have thinner tails."""


@dataclass(frozen=True)
class SurveyQuestion:
    """One question: its words, how it is answered, and the epsilon of one answer.

    `values` are the answers to choose from, `ends` the range of a number.
    """

    text: str
    way: str
    epsilon: float
    values: tuple[str, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if not self.text or len(self.text) > LONGEST:
            raise InputError(f"A question must have 1 to {LONGEST} letters.")
        if self.way not in WAYS:
            raise InputError(f"A question is answered by {', '.join(WAYS)}.")
        if not 0.05 <= self.epsilon <= 10:
            raise InputError(explain("The epsilon of a question", "from 0.05 to 10", self.epsilon))
        if self.way == NUMBER:
            _check_ends(self.ends)
        else:
            _check_values(self.values, MOST_FEW if self.way == RESPONSE else MOST_MANY)

    @cached_property
    def law(self) -> ColumnResponse | LocalHashing | ColumnNoise:
        """Return the public law of an answer."""
        if self.way == RESPONSE:
            matrix = least_variance(len(self.values), math.exp(self.epsilon))
            return ColumnResponse(self.values, matrix, declared=True)
        if self.way == HASHING:
            return LocalHashing(self.values, self.epsilon)
        low, high = self.ends
        return ColumnNoise(Noise("laplace", (high - low) / self.epsilon), low, high, declared=True)

    @property
    def stated(self) -> float:
        """Return the epsilon that the law enforces."""
        law = self.law
        return law.epsilon if isinstance(law, LocalHashing) else math.log(law.gamma)

    def public(self) -> dict[str, Any]:
        """Return what the respondent's browser needs."""
        law = self.law
        about = law.to_json(0.95) if isinstance(law, ColumnNoise) else law.to_json()
        return {"text": self.text, "way": self.way, "hides": self.hides, **about}

    @property
    def hides(self) -> str:
        """Return what an answer hides, in words."""
        odds = (f"Whatever is sent, it changes the odds of anything about you at most "
                f"{math.exp(self.stated):.3g}-fold.")
        law = self.law
        if isinstance(law, ColumnResponse):
            return (f"Your true answer is sent with probability "
                    f"{law.matrix[0, 0]:.0%}; otherwise another one, drawn at random. {odds}")
        if isinstance(law, LocalHashing):
            return (f"A number out of {law.range} is sent that many answers share, and with "
                    f"probability {1 - law.to_json()['true']:.0%} a wrong one. {odds}")
        return (f"Random noise of about ±{law.noise.width(0.95) / 2:.3g} is added before it is "
                f"sent. {odds}")

    def accepts(self, report: Any) -> bool:
        """Return True if a report is one that the law could have produced."""
        law = self.law
        if isinstance(law, ColumnResponse):
            return _whole(report) and 0 <= report < len(self.values)
        if isinstance(law, LocalHashing):
            return isinstance(report, list) and len(report) == 2 and all(map(_digits, report)) \
                and int(report[0]) < 1 << 62 and int(report[1]) < law.range
        most = law.noise.scale * FARTHEST + law.grid
        return isinstance(report, int | float) and not isinstance(report, bool) \
            and law.low - most <= report <= law.high + most \
            and float(report / law.grid).is_integer()

    def estimate(self, reports: Sequence[Any]) -> list[tuple[str, float, float, float]]:
        """Return for every answer its share with a 95% interval; of a number the mean.

        Few reports of numbers say little about their own spread: then the widest that the law
        allows counts.
        """
        law = self.law
        if isinstance(law, ColumnResponse):
            counts = np.bincount(np.array(reports, np.int64), minlength=len(self.values))
            return _response_shares(self.values, law, counts)
        if isinstance(law, LocalHashing):
            return _hashed_shares(law, reports)
        numbers = np.array(reports, np.float64)
        widest = math.hypot(law.noise.deviation, (law.high - law.low) / 2)
        few = numbers.size < ENOUGH
        spread = widest if few else float(numbers.std(ddof=1))
        return _rows(("mean",), [float(numbers.mean())], [spread / math.sqrt(numbers.size)],
                     FEW_SIDED if few else _student(numbers.size - 1))

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"text": self.text, "way": self.way, "epsilon": self.epsilon,
                "values": list(self.values), "ends": list(self.ends)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SurveyQuestion:
        """Read it back."""
        return cls(data["text"], data["way"], data["epsilon"], tuple(data["values"]),
                   (data["ends"][0], data["ends"][1]))


def _response_shares(values: Sequence[str], law: ColumnResponse, counts: Any
                     ) -> list[tuple[str, float, float, float]]:
    """Return shares; each follows from how often some of the answers were sent."""
    shares, inverse = by_inverse(counts.astype(np.float64), law.matrix), np.linalg.inv(law.matrix.T)
    top, least = inverse.max(axis=1, keepdims=True), inverse.min(axis=1, keepdims=True)
    sides = np.isclose(inverse, top, rtol=1e-6, atol=0.0)
    if not np.all(sides | np.isclose(inverse, least, rtol=1e-6, atol=1e-12)):
        return _rows(values, shares.shares, _widened(law, counts, inverse))
    low, high = exact_interval(sides @ counts, counts.sum())
    gain = (top - least)[:, 0]
    return _listed(values, shares.shares, least[:, 0] + gain * low, least[:, 0] + gain * high)


def _widened(law: ColumnResponse, counts: Any, inverse: Any) -> Any:
    """Return standard errors; answers that were never sent count as sent, too."""
    people = counts.sum()
    if people < ENOUGH:
        return np.ptp(inverse, axis=1) / (2 * math.sqrt(people))
    smoothed = by_inverse(counts + 1.0, law.matrix).deviations
    return smoothed * math.sqrt((people + counts.size) / people)


def _hashed_shares(law: LocalHashing, reports: Sequence[Any]
                   ) -> list[tuple[str, float, float, float]]:
    """Return shares; each follows from how many reports support the answer."""
    pairs = np.array([[int(a), int(b)] for a, b in reports], np.int64)
    shares = law.estimate(pairs).counts / len(reports)
    chance = 1 / law.range
    gain = law.to_json()["true"] - chance
    supporting = np.rint((shares * gain + chance) * len(reports))
    low, high = exact_interval(supporting, len(reports))
    return _listed(law.values, shares, (low - chance) / gain, (high - chance) / gain)


def _listed(values: Sequence[str], shares: Any, low: Any, high: Any
            ) -> list[tuple[str, float, float, float]]:
    return [(name, float(a), float(b), float(c))
            for name, a, b, c in zip(values, shares, low, high, strict=True)]


def possible_interval(value: float, low: float, high: float,
                      ends: tuple[float, float] = (0.0, 1.0)) -> tuple[float, float]:
    """Return an interval without what no share, or no mean, can be.

    Noise may put all of it outside. Cut at the end it would be empty, or as narrow as if nothing
    were uncertain: it reaches at least as far as it would around the nearest value there can be.
    """
    least, most = ends
    middle, half = min(max(value, least), most), (high - low) / 2
    return max(min(low, middle - half), least), min(max(high, middle + half), most)


def _student(freedom: int) -> float:
    """Return how far a 95% interval reaches where the spread is estimated, too (Student's t)."""
    return TWO_SIDED + (TWO_SIDED**3 + TWO_SIDED) / (4 * freedom)


def _rows(values: Sequence[str], shares: Any, deviations: Any, sides: float = TWO_SIDED
          ) -> list[tuple[str, float, float, float]]:
    middle, width = np.asarray(shares), sides * np.asarray(deviations)
    return _listed(values, middle, middle - width, middle + width)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _digits(text: Any) -> bool:
    return isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 19 \
        and (text == "0" or text[0] != "0")


def _check_values(values: Sequence[str], most: int) -> None:
    if not 2 <= len(values) <= most or len(set(values)) != len(values) or not all(values):
        raise InputError(f"A question to choose from needs 2 to {most} different answers, one in "
                         "each line.")
    if max(map(len, values)) > LONGEST:
        raise InputError(f"An answer must have at most {LONGEST} letters.")


def _check_ends(ends: tuple[float, float]) -> None:
    if not all(map(math.isfinite, ends)) or not ends[0] < ends[1] or max(map(abs, ends)) > 1e12:
        raise InputError("A number needs a range, such as 0..100, the lower end first.")
