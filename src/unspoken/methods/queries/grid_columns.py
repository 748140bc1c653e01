"""Columns as whole numbers of grid steps inside their declared bounds.

Bounds and grid are declared by the custodian, never taken from the data: a bound that follows the
data discloses the largest value, a grid whether there is a fraction. Only audits without an epsilon
take whole numbers in steps of one by themselves. Values beyond the bounds count as the nearest
bound; a value that is missing contributes nothing, like a record outside the set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pyarrow as pa

from unspoken.arrays import Bools, Ints
from unspoken.errors import InputError
from unspoken.methods.queries.guard_settings import NOISE, Settings
from unspoken.methods.queries.guarded_records import Rows
from unspoken.release.distorted import of_column

FINE = 20
"""A column without a declared grid gets one of about its range over 2**20."""
MOST_STEPS = 1 << 36
_MOST_TOTAL = 1 << 62
"""A sum beyond would wrap round, and tell a row from its neighbour by its sign."""


@dataclass(frozen=True)
class GridColumn:
    """The values of a column in steps, clamped; 0 where there is none."""

    low: int
    high: int
    step: Fraction
    values: Ints = field(repr=False)
    present: Bools = field(repr=False)

    @property
    def reach(self) -> int:
        """Return how far one record can move a sum: in, out, or from any value to any other."""
        return max(self.high, 0) - min(self.low, 0)


@dataclass(frozen=True)
class Advice:
    """What is said to whoever asks about a column that is not declared so that it can be summed.

    `{name}` in it is the column.
    """

    speaker: str = "QueryGuard: "
    bounds: str = ("Use bounds={{'{name}': (low, high)}}, from public knowledge and never from the "
                   "data.")
    step: str = "Declare a coarser grid."


_TO_CUSTODIANS = Advice()


def grid_column(rows: Rows, settings: Settings, name: str,
                advice: Advice = _TO_CUSTODIANS) -> GridColumn:
    """Return a column in steps of its grid, clamped to its bounds."""
    if settings.audit == NOISE and of_column(settings.bounds, name) is None \
            and not rows.is_boolean(name):
        # Before its values are looked at: what type they have can follow from any row.
        raise InputError(_no_bounds(name, advice))
    kind, values, present = rows.raw(name)
    low, high = _bounds(settings, name, kind, advice)
    step = _step(settings, name, kind, low, high)
    least, most = math.floor(Fraction(low) / step), math.ceil(Fraction(high) / step)
    if most - least > MOST_STEPS:
        raise InputError(f"{advice.speaker}'{name}' has {most - least} steps between its "
                         f" bounds; at most {MOST_STEPS} are allowed. {advice.step}")
    if max(-least, most) * rows.count >= _MOST_TOTAL:
        raise InputError(f"{advice.speaker}'{name}' lies too many steps from zero for {rows.count} "
                         f"rows to be added up exactly. {advice.step}")
    known = np.where(present, np.clip(values.astype(np.float64), low, high), 0.0)
    steps = np.clip(np.rint(known / float(step)), least, most).astype(np.int64)
    return GridColumn(least, most, step, np.where(present, steps, 0), present)


def _bounds(settings: Settings, name: str, kind: pa.DataType,
            advice: Advice) -> tuple[float, float]:
    declared = of_column(settings.bounds, name)
    if declared is not None:
        return float(declared[0]), float(declared[1])
    if pa.types.is_boolean(kind):
        return 0.0, 1.0
    raise InputError(_no_bounds(name, advice))


def _no_bounds(name: str, advice: Advice) -> str:
    return (f"{advice.speaker}'{name}' cannot be summed before its bounds are declared. "
            + advice.bounds.format(name=name))


def _step(settings: Settings, name: str, kind: pa.DataType, low: float, high: float) -> Fraction:
    declared = of_column(settings.grid, name)
    if declared is not None:
        return Fraction(repr(float(declared)))
    # Where an epsilon is stated, one fraction among whole numbers must not change the grid.
    if pa.types.is_boolean(kind) or (pa.types.is_integer(kind) and settings.audit != NOISE):
        return Fraction(1)
    return Fraction(2) ** (math.floor(math.log2(high - low)) - FINE)
