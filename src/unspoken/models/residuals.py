"""The pattern Residuals: what a residual plot needs, without anybody's records (vcz2006 5.3).

Either synthetic rows with synthetic residuals, or means and spreads of real residuals over groups
of records along each predictor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.models.comparison import (
    Comparison,
    compare_arrays,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import DEFAULT_LIMITS, Fields, Limits, refuse
from unspoken.models.model import Model
from unspoken.models.tree import check_format
from unspoken.models.tree_text import number

FORMAT = "unspoken-residuals"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Residuals(Model):
    """Points of residual plots: one array (points, 3) for each predictor.

    Columns: the predictor, the residual, and how far residuals spread around it (0 where a point
    stands for a synthetic record).
    """

    format = FORMAT

    features: tuple[str, ...]
    points: tuple[Floats, ...]

    def __post_init__(self) -> None:
        """Refuse what are no points."""
        if len(self.points) != len(self.features):
            refuse("points", f"{len(self.features)} arrays", len(self.points))
        for points in self.points:
            if points.ndim != 2 or points.shape[1] != 3:
                refuse("points", "arrays of three columns", str(points.shape))

    def of(self, name: str) -> Floats:
        """Return the points of one predictor."""
        if name not in self.features:
            raise InputError(explain("A predictor", "of " + ", ".join(self.features), name))
        return self.points[self.features.index(name)]

    def binned(self, name: str, bins: int = 8) -> Floats:
        """Return means of predictor and residual, and its spread, over bins of equal count."""
        points = self.of(name)
        parts = np.array_split(points[np.argsort(points[:, 0], kind="stable")],
                               min(bins, len(points)))
        return np.array([[part[:, 0].mean(), part[:, 1].mean(),
                          np.sqrt(part[:, 1].var() + (part[:, 2] ** 2).mean())]
                         for part in parts])

    def _compare(self, other: Residuals) -> Comparison:
        return first_difference(
            lambda: compare_sequences("predictor", self.features, other.features),
            *(lambda a=a, b=b: compare_arrays("point", "value", a, b)
              for a, b in zip(self.points, other.points, strict=False)))

    def _lines(self, full: bool) -> list[str]:
        """Return for each predictor how residuals bend and how their spread changes along it."""
        lines = [f"residuals along {len(self.features)} predictors"]
        for name, points in zip(self.features, self.points, strict=True):
            lines.append(f"{name}: {self._bend(name)}" if len(points) else f"{name}: no points")
            lines += [f"  {name} {number(x, full)}: residual {number(r, full)}, spread "
                      f"{number(s, full)}" for x, r, s in points.tolist()] if full else []
        return lines

    def _bend(self, name: str) -> str:
        bins = self.binned(name, 6)
        return (f"mean residual from {bins[:, 1].min():.3g} to {bins[:, 1].max():.3g}, spread "
                f"from {bins[:, 2].min():.3g} to {bins[:, 2].max():.3g}")

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_json` reads back bit for bit."""
        return {"format": FORMAT, "version": VERSION, "features": list(self.features),
                "points": [points.ravel().tolist() for points in self.points]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS) -> Residuals:
        """Read `to_json`'s object; anything malformed is a ModelError naming the field."""
        fields = Fields(data, limits=limits)
        check_format(fields, FORMAT)
        features = fields.texts("features", limits.max_features)
        points = fields.items("points", len(features))
        arrays = [Fields({"points": one}, f"points[{i}]", limits).floats("points", None)
                  for i, one in enumerate(points)]
        if any(array.size % 3 for array in arrays):
            refuse("points", "numbers in threes", "others")
        return cls(features, tuple(array.reshape(-1, 3) for array in arrays))
