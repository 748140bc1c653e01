"""Disclosure: how often a sensitive value is guessed, level by level, with intervals.

Every level is compared with the same adversary without the classifier, person by person: the
difference of two errors on the same people is known better than each of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain

SURE = 0.9
"""A value is found out beyond doubt if its probability is at least this and it is right."""
RESAMPLES = 2000
_Z = 1.959963984540054


@dataclass(frozen=True)
class Level:
    """One adversary: whether training data is known to it, and what it gets of the classifier.

    `access`: "nothing", "queries" (may ask, without the unknown values) or "answer" (sees what
    the classifier said about the person). `error` with its 95% interval; `gain`: by how much it
    lies below the error of the same adversary without the classifier, paired, with 95% interval.
    """

    training: str
    access: str
    error: float
    low: float
    high: float
    baseline: float
    gain: float
    gain_low: float
    gain_high: float
    certain: float
    wrong: npt.NDArray[np.bool_]

    @property
    def reveals(self) -> bool:
        """Return True if the classifier helps beyond chance."""
        return self.access != "nothing" and self.gain_low > 0


@dataclass(frozen=True)
class Disclosure:
    """What a classifier discloses about one sensitive attribute.

    Attributes
    ----------
    sensitive : str
        The attribute that is guessed.
    public : tuple of str
        The columns that the adversary knows of everybody.
    unknown : tuple of str
        The inputs of the classifier that it does not know.
    predicts_it : bool
        True if the classes of the classifier are values of the sensitive attribute.
    records : int
        How many people were guessed at.
    known : int
        How many records the adversary learned from.
    levels : tuple of Level
        The error of every adversary, with and without the classifier.
    """

    sensitive: str
    public: tuple[str, ...]
    unknown: tuple[str, ...]
    predicts_it: bool
    records: int
    known: int
    levels: tuple[Level, ...]

    def level(self, training: str, access: str) -> Level:
        """Return one level."""
        for one in self.levels:
            if (one.training, one.access) == (training, access):
                return one
        names = [f"{one.training}/{one.access}" for one in self.levels]
        raise InputError(explain("The level", f"one of {names}", f"{training}/{access}"))

    @property
    def reveals(self) -> bool:
        """Return True if the classifier helps any of the adversaries."""
        return any(one.reveals for one in self.levels)

    def summary(self) -> str:
        """Return the levels as a table, and the verdict in words."""
        lines = [f"guessing '{self.sensitive}' of {self.records:,} people; public: "
                 f"{', '.join(self.public) or 'nothing'}; unknown: "
                 f"{', '.join(self.unknown) or 'nothing'}",
                 "training data  classifier  error  95% interval   without it  certain"]
        lines += [_line(one) for one in self.levels]
        helped = [one for one in self.levels if one.reveals]
        if not helped:
            return "\n".join([*lines, "The classifier discloses no more than chance."])
        worst = max(helped, key=lambda one: one.gain)
        return "\n".join([*lines, _verdict(worst, self.known)])

    def to_json(self) -> dict[str, Any]:
        """Return plain data, without results of single people."""
        levels = [{k: v for k, v in asdict(one).items() if k != "wrong"} for one in self.levels]
        return {"sensitive": self.sensitive, "public": list(self.public),
                "unknown": list(self.unknown), "predicts_it": self.predicts_it,
                "records": self.records, "known": self.known, "levels": levels}


def _line(one: Level) -> str:
    return (f"{one.training:<13}  {one.access:<10}  {one.error:.3f}  "
            f"{one.low:.3f} - {one.high:.3f}  {one.baseline:.3f}       {one.certain:.3f}")


def _verdict(worst: Level, known: int) -> str:
    who = f"knows {known:,} records of others" if worst.training == "known" \
        else "knows no training data"
    does = "sees the classifier's answer about a person" if worst.access == "answer" \
        else "may ask the classifier"
    return (f"An adversary who {who} and {does} is wrong in {worst.error:.1%} of the cases, "
            f"{worst.gain:.1%} ({worst.gain_low:.1%} to {worst.gain_high:.1%}) less often than "
            "without it.")


def level_of(training: str, access: str, posterior: Floats, codes: Ints,
             rng: np.random.Generator, base: Level | None = None) -> Level:
    """Score a posterior against the truth and against the level without the classifier."""
    best = posterior.argmax(axis=1)
    wrong = best != codes
    sure = (posterior[np.arange(codes.size), best] >= SURE) & ~wrong
    low, high = wilson(int(wrong.sum()), wrong.size)
    before = wrong if base is None else base.wrong
    gain, gain_low, gain_high = paired(before, wrong, rng)
    return Level(training, access, float(wrong.mean()), low, high, float(before.mean()), gain,
                 gain_low, gain_high, float(sure.mean()), wrong)


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson's score)."""
    share, extra = hits / total, _Z**2 / total
    middle = (share + extra / 2) / (1 + extra)
    half = _Z * np.sqrt(share * (1 - share) / total + extra / (4 * total)) / (1 + extra)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)


def paired(before: Any, after: Any, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return by how much the error falls, with the 95% interval over resampled people."""
    fixed, broken = int((before & ~after).sum()), int((~before & after).sum())
    size = before.size
    shares = np.array([fixed, broken, size - fixed - broken]) / size
    drawn = rng.multinomial(size, shares, RESAMPLES)
    low, high = np.percentile((drawn[:, 0] - drawn[:, 1]) / size, [2.5, 97.5])
    return (fixed - broken) / size, float(low), float(high)
