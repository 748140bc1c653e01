"""Curve fitting through knowledge points (bu2007 Definition 5).

The spline is the natural one, which recovers more than MATLAB's not-a-knot spline on the paper's
data (attribute 10, expert: 14.3 against 12.7; published 15.3). Curves look at codes, not at
their order, so that permuted pieces blur them; heavy-tailed output widths protect against few
points, and against nothing else.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.disclosure.adversary import Adversary, View
from unspoken.disclosure.knowledge import Knowledge, Points
from unspoken.errors import InputError
from unspoken.methods.encoding.adversaries.curve_shapes import (
    Curves,
    natural_splines,
    polylines,
    regression_lines,
)


class CurveFitting(Adversary):
    """Base of the three curves: fit the points of every trial, read the curve off at the codes."""

    needs: ClassVar[frozenset[str]] = frozenset({"points"})

    def curves(self, points: Points) -> Curves:
        """Return the curve of each trial."""
        raise NotImplementedError

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the height of the curve at every code."""
        return knowledge.once(self.name, column, lambda: self.curves(
            points_of(knowledge)).at(view[column].codes))

    def guess_at(self, view: View, column: str, knowledge: Knowledge, places: Floats,
                 rng: np.random.Generator) -> Floats:
        """Return the height of the curve at any place."""
        return self.curves(points_of(knowledge)).at(places)


def points_of(knowledge: Knowledge) -> Points:
    """Return the knowledge points; knowledge without any is refused."""
    if knowledge.points is None:
        raise InputError("Curve fitting needs known points. The knowledge "
                         f"'{knowledge.label}' has none.")
    return knowledge.points


class RegressionLine(CurveFitting):
    """Fits one straight line that minimises the squared residuals."""

    name: ClassVar[str] = "line"
    gets: ClassVar[str] = "fits a straight line through the known points"

    def curves(self, points: Points) -> Curves:
        """Return the curve of each trial."""
        return regression_lines(points.codes, points.values)


class Polyline(CurveFitting):
    """Joins the points by straight lines; the worst case among the paper's curves."""

    name: ClassVar[str] = "polyline"
    gets: ClassVar[str] = "joins the known points by straight lines"

    def curves(self, points: Points) -> Curves:
        """Return the curve of each trial."""
        return polylines(points.codes, points.values)


class Spline(CurveFitting):
    """Lays a natural cubic spline through the points."""

    name: ClassVar[str] = "spline"
    gets: ClassVar[str] = "lays a smooth curve through the known points"

    def curves(self, points: Points) -> Curves:
        """Return the curve of each trial."""
        return natural_splines(points.codes, points.values)
