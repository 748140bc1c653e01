"""Reports of one column: distorted, true and withheld values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.distortion.known_laws import marker_of
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import to_numbers

CHOICES = ("withhold", "truth", "distort")


@dataclass(frozen=True)
class Reports:
    """Reports of one column: distorted ones, true ones, and how many were withheld."""

    distorted: Floats
    truthful: Floats
    withheld: int = 0

    @property
    def size(self) -> int:
        """Return the number of reports, those that were withheld left out."""
        return int(self.distorted.size + self.truthful.size)


def as_values(source: Any) -> Floats:
    """Return an array of reports; text, infinities and nothing at all are refused."""
    try:
        values = np.asarray(source, np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise DataError(explain("The reports", "numbers", "a column of text or of objects",
                                "Reconstruct categories from a release.")) from None
    # A sum is finite unless something is not, and needs no array of its own.
    if not np.isfinite(values.sum()) and np.isinf(values).any():
        raise DataError(explain("The reports", "finite or missing", "an infinite value"))
    return values


def as_choices(choices: Any, shape: tuple[int, ...]) -> Any:
    """Return what everybody chose; strange words and other shapes are refused."""
    chosen = np.asarray(choices, dtype=object)
    strange = sorted({str(c) for c in chosen.reshape(-1).tolist()} - set(CHOICES))
    if chosen.shape != shape or strange:
        wanted = " x ".join(str(size) for size in shape)
        raise InputError(explain("'choices'", f"{wanted} of {', '.join(CHOICES)}",
                                 strange[0] if strange else f"the shape {chosen.shape}"))
    return chosen


def split_reports(values: Floats, choices: Any) -> Reports:
    """Sort reports by what was chosen; without choices everybody distorted."""
    if choices is None and not np.isnan(values.sum()):
        return Reports(values, np.zeros(0))
    known = ~np.isnan(values)
    if choices is None:
        return Reports(values[known], np.zeros(0), int((~known).sum()))
    chosen = as_choices(choices, values.shape)
    known &= chosen != "withhold"
    return Reports(values[known & (chosen == "distort")], values[known & (chosen == "truth")],
                   int((~known).sum()))


def choices_of(release: Release, column: str) -> Any:
    """Return everybody's choice for a column of a release, None where all distorted."""
    marker = marker_of(release, column)
    return None if marker is None else release.table.arrow([marker])[marker].to_pylist()


def reports_of(release: Release, column: str) -> Reports:
    """Return the reports of a numeric column of a release, each as what it is."""
    values = as_values(to_numbers(release.table.arrow([column])[column]))
    return split_reports(values, choices_of(release, column))


def spread(support: Any, bins: int) -> Floats:
    """Return equal intervals over a given support."""
    try:
        low, high = (float(end) for end in support)
    except (TypeError, ValueError):
        low, high = 0.0, 0.0
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(explain("'support'", "a pair (low, high) of finite numbers", support))
    return np.linspace(low, high, bins + 1)


def likely_support(reports: Reports, noise: Noise) -> tuple[float, float]:
    """Return five deviations of what is left of the reports' variance, inside their range."""
    values = np.concatenate([reports.distorted, reports.truthful])
    low, high = float(values.min()), float(values.max())
    left = max(float(values.var()) - noise.deviation**2, 0.0025 * float(values.var()))
    half, middle = 5 * left**0.5, float(values.mean())
    if half <= 0:
        raise DataError("All reports have the same value: there is no distribution to "
                        "reconstruct.")
    return max(low, middle - half), min(high, middle + half)
