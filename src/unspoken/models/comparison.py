"""The answer to "are these two models the same?": yes, or the first difference in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Comparison:
    """True if two models are identical bit for bit; otherwise `.difference` says where not."""

    difference: str | None = None

    @property
    def identical(self) -> bool:
        """Return True if nothing differs."""
        return self.difference is None

    def __bool__(self) -> bool:
        return self.difference is None

    def __str__(self) -> str:
        return "identical" if self.difference is None else f"different: {self.difference}"

    def inside(self, where: str) -> Comparison:
        """Return the comparison with its place in a larger model."""
        return self if self.difference is None else Comparison(f"{where}, {self.difference}")


SAME = Comparison()


def same_bits(
    first: npt.NDArray[Any], second: npt.NDArray[Any], zeros: bool = True
) -> npt.NDArray[np.bool_]:
    """Compare element by element; floats by their bits, so that 0.0 differs from -0.0.

    `zeros` False takes the two zeros as one: as thresholds they ask the same question, and
    which of them a learner picks from a column that holds both depends on its sort.
    """
    if first.dtype.kind == "f" and second.dtype.kind == "f" and zeros:
        wide = [np.ascontiguousarray(a, np.float64).view(np.int64) for a in (first, second)]
        return np.asarray(wide[0] == wide[1])
    return np.asarray(first == second)


def compare_scalars(name: str, first: object, second: object) -> Comparison:
    """Compare two plain values, types included: the class 1 is not the class "1" or 1.0."""
    if type(first) is type(second) and first == second:
        return SAME
    return Comparison(f"{name}: {_short(first)} and {_short(second)}")


def compare_sequences(name: str, first: Sequence[Any], second: Sequence[Any]) -> Comparison:
    """Compare two lists of names or labels."""
    if len(first) != len(second):
        return Comparison(f"{name}: {len(first)} and {len(second)} of them")
    for index, (a, b) in enumerate(zip(first, second, strict=True)):
        comparison = compare_scalars(f"{name} {index}", a, b)
        if not comparison:
            return comparison
    return SAME


def compare_arrays(
    unit: str,
    name: str,
    first: npt.NDArray[Any],
    second: npt.NDArray[Any],
    zeros: bool = True,
) -> Comparison:
    """Compare two arrays whose first axis counts `unit`s (nodes, trees, rows)."""
    if first.shape != second.shape:
        return Comparison(f"{name}: shape {first.shape} and {second.shape}")
    differs = np.argwhere(~same_bits(first, second, zeros))
    if differs.size == 0:
        return SAME
    where = tuple(int(i) for i in differs[0])
    column = f"[{', '.join(map(str, where[1:]))}]" if len(where) > 1 else ""
    a, b = first[where], second[where]
    return Comparison(f"{unit} {where[0]}: {name}{column} {_short(a)} and {_short(b)}")


def first_difference(*checks: Callable[[], Comparison]) -> Comparison:
    """Run comparisons in order and return the first that finds a difference."""
    for check in checks:
        comparison = check()
        if not comparison:
            return comparison
    return SAME


def _short(value: object) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    shown = repr(plain)
    return shown if len(shown) <= 60 else shown[:57] + "..."
