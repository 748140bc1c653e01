"""The secret units of a numeric target: an increasing straight line, and the way back.

Learners of numbers look at distances between targets, so nothing but a straight line keeps their
splits. The target is put on a grid of whole numbers first (its own, where it has one) and those are
multiplied and shifted by whole numbers, so that sums in the released units are exact. What this
hides is the unit and where zero lies, and nothing else: two known targets give everything away, and
the common step of whole numbers gives the unit away by itself.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import DataError

KINDS = ("affine", "scaled")
MANY = 20
"""A numeric target with more values than this, or with fractions, is a quantity, not a class."""
TWO = 2
"""Where classes get neutral names, only this many numbers are classes: a yes and a no."""
FLOAT32 = 2.0**23
"""Whole numbers up to this are exact in XGBoost's and LightGBM's float32 labels."""
DRAWN = 64.0
"""The ratio between the largest and the smallest multiplier that may be drawn."""


@dataclass(frozen=True, repr=False)
class TargetUnits:
    """Released number = factor * (place on the grid) + shift; its repr shows no secret."""

    origin: float
    step: float
    factor: float
    shift: float

    def __repr__(self) -> str:
        return "TargetUnits(secrets hidden)"

    @property
    def ratio(self) -> float:
        """Return how much of the original unit one released unit is."""
        return self.step / self.factor

    def encode(self, values: npt.ArrayLike) -> Floats:
        """Return released numbers; each is a whole number."""
        numbers = np.asarray(values, np.float64)
        return np.asarray(self.factor * np.rint((numbers - self.origin) / self.step) + self.shift)

    def decode(self, numbers: npt.ArrayLike) -> Floats:
        """Return what released numbers, such as leaf values, are in the original unit."""
        released = np.asarray(numbers, np.float64)
        return np.asarray(self.origin + self.step * ((released - self.shift) / self.factor))

    def to_json(self) -> list[float]:
        """Return plain data for the key."""
        return list(astuple(self))

    @classmethod
    def from_json(cls, data: Any) -> TargetUnits | None:
        """Read `to_json`'s list; raise ValueError unless it is a rising line."""
        if data is None:
            return None
        numbers = [float(number) for number in data]
        if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
            raise ValueError("units")
        units = cls(*numbers)
        if units.step <= 0 or units.factor < 1:
            raise ValueError("units")
        return units


def is_quantity(values: Floats, most: int = MANY) -> bool:
    """Return True if numbers are a quantity: fractions, or many different whole numbers."""
    return bool(values.size > most or np.any(values != np.rint(values)))


def draw_units(values: Floats, rows: int, kind: str, rng: np.random.Generator) -> TargetUnits:
    """Draw the units of a target from its distinct values, increasing; "scaled" keeps zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        origin = 0.0 if kind == "scaled" else float(values[0])
        reach = float(np.abs(values - origin).max())
    if not math.isfinite(reach):
        raise DataError("The numeric target must have finite values whose range is finite too. Got "
                        "others. Divide it by a power of two, or leave those rows out.")
    step, room = _grid(values), _room(reach, values, rows)
    if room is None:
        room = _sums(rows)
        step = reach / math.floor(room * rng.uniform(1 / 8, 1 / 4))
    size = round(reach / step)
    largest = max(1.0, room / 2 // size)
    factor = math.floor(math.exp(rng.uniform(math.log(max(1.0, largest / DRAWN)),
                                             math.log(largest))))
    free = int(room - factor * size)
    shift = 0 if kind == "scaled" else int(rng.integers(0, max(free, 1))) - int(room / 2)
    return TargetUnits(origin, step, float(max(factor, 1)), float(shift))


def _room(reach: float, values: Floats, rows: int) -> float | None:
    """Return how large released numbers may be for exact arithmetic; None: off any grid."""
    size = reach / _grid(values)
    squares = 2.0 ** (_bits(rows) // 2)
    rooms = (squares, FLOAT32, _sums(rows))
    return next((room for room in sorted(rooms) if 2 * size <= room), None)


def _bits(rows: int) -> int:
    return 52 - max(rows, 1).bit_length()


def _sums(rows: int) -> float:
    return float(2.0 ** _bits(rows))


def _grid(values: Floats) -> float:
    """Return the largest power of two of which all values are multiples."""
    present = values[values != 0]
    mantissa, exponent = np.frexp(present)
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    zeros = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return math.ldexp(1.0, int((exponent - 53 + zeros).min(initial=1023)))
