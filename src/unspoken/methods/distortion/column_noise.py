"""The public law of a noisy column: family, scale, range and grid, and what it promises."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError
from unspoken.methods.distortion.declared_ranges import (
    CLAMP,
    epsilon_facts,
    epsilon_words,
    report_conditions,
    within,
)
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.numerics.random import derive, words
from unspoken.release.distorted import Distorted

GRID_BITS = 20


@dataclass(frozen=True)
class ColumnNoise:
    """The public law of one column; a declared range holds for every value that is reported."""

    noise: Noise
    low: float
    high: float
    declared: bool = False
    outside: str = CLAMP

    @property
    def grid(self) -> float:
        """Return the step to which reports are rounded, about a millionth of the scale.

        Without it the last bits of a sum of floating-point numbers give the value away.
        """
        return 2.0 ** (math.floor(math.log2(self.noise.scale)) - GRID_BITS)

    @property
    def gamma(self) -> float:
        """Return the amplification over the declared range, infinite where it was not declared."""
        if not self.declared:
            return math.inf
        ends = np.rint(np.array([self.low, self.high]) / self.grid) * self.grid
        return self.noise.amplification(float(ends[1] - ends[0]))

    def add(self, values: Floats, seed: bytes, start: int = 0, name: str = "") -> Floats:
        """Add the noise that belongs to rows `start` and following of a seed."""
        if self.declared:
            values = within(name, values, (self.low, self.high), self.outside)
        drawn = self.noise.drawn(words(seed, start, values.size),
                                 lambda: words(derive(seed, "tail"), start, values.size))
        return (np.rint(values / self.grid) + np.rint(drawn / self.grid)) * self.grid

    def to_json(self, confidence: float) -> dict[str, Any]:
        """Return what the miner must know, and nothing else."""
        return {**self.noise.to_json(), "low": self.low, "high": self.high, "grid": self.grid,
                "declared": self.declared, "width": self.noise.width(confidence)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ColumnNoise:
        """Read a column of a manifest."""
        return cls(Noise(data["family"], data["scale"]), float(data["low"]), float(data["high"]),
                   data.get("declared") is True)


def promise(laws: Mapping[str, ColumnNoise], confidence: float, reports: int = 1) -> Distorted:
    """Return the guarantee of one release, with the odds that each law bounds."""
    columns = {name: _column_facts(law, confidence) for name, law in laws.items()}
    facts = {"confidence": confidence, **epsilon_facts(columns, reports)}
    return Distorted(
        "Every value was changed by noise drawn for it alone. Somebody who knows the report and "
        "nothing else can place the value no closer than the stated width, with the stated "
        f"confidence. {epsilon_words(facts)}",
        ("for the width, the adversary does not know the distribution of the column, nor "
         "correlated columns",
         *report_conditions(facts),
         "a gamma of null means that no odds are bounded, by the law of the noise or because the "
         "range was not declared"), facts)


def _column_facts(law: ColumnNoise, confidence: float) -> dict[str, Any]:
    bounded = math.isfinite(law.gamma)
    return {"width": law.noise.width(confidence), "declared": law.declared,
            "gamma": law.gamma if bounded else None,
            "epsilon": math.log(law.gamma) if bounded else None}


def rounded_out(name: str, low: float, high: float) -> tuple[float, float]:
    """Return a range that holds the data's and whose ends are nobody's value but by accident."""
    if not low < high:
        raise DataError(f"Column '{name}' has one value, as of 1 sample, or none. Noise on a "
                        "range of zero width hides nothing: declare 'ranges'.")
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    return math.floor(low / step) * step, math.ceil(high / step) * step


def ends_of(values: Floats) -> tuple[float, float]:
    """Return the least and the greatest value, NaN left out."""
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
