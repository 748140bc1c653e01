"""Whole numbers under constraints +-x +-y <= c: is there a solution, and which one?

Every unknown x has two nodes, x and -x; a constraint is a pair of edges, and shortest paths are
all that follows from it (Mine 2006, the octagon domain). Numbers are float64: callers check the
point in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


class Octagon:
    """Constraints on some whole unknowns, closed after every addition."""

    def __init__(self, unknowns: int) -> None:
        self.paths = np.full((2 * unknowns, 2 * unknowns), np.inf)
        np.fill_diagonal(self.paths, 0.0)
        self.unknowns = unknowns
        self.possible = True

    def copy(self) -> Octagon:
        """Return the same constraints, so that a point can be looked for more than once."""
        other = Octagon(self.unknowns)
        other.paths, other.possible = self.paths.copy(), self.possible
        return other

    def bound(self, terms: Sequence[tuple[int, int]], limit: int) -> None:
        """Require sum(sign * x) <= limit for one or two (sign, unknown)."""
        (s, p), (t, q) = terms if len(terms) == 2 else (terms[0], terms[0])
        limit = limit if len(terms) == 2 else 2 * limit
        first, second = _node(s, p), _node(-t, q)
        if first == second:
            self.possible &= limit >= 0
            return
        self._edge(second, first, float(limit))
        self._edge(first ^ 1, second ^ 1, float(limit))

    def fix(self, unknown: int, value: int) -> None:
        """Require x = value."""
        self.bound([(1, unknown)], value)
        self.bound([(-1, unknown)], -value)

    def _edge(self, start: int, end: int, length: float) -> None:
        """Require node[end] - node[start] <= length."""
        paths = self.paths
        if length < paths[start, end]:
            np.minimum(paths, paths[:, start, None] + length + paths[None, end, :], out=paths)
            self.possible &= bool((paths.diagonal() >= 0).all())

    def point(self, wanted: Sequence[int], step: int = 1) -> list[int] | None:
        """Return a solution near the wanted values, multiples of `step` where there is one."""
        point: list[int] = []
        for unknown, value in enumerate(wanted):
            if not self.possible:
                return None
            low = -self.paths[2 * unknown, 2 * unknown + 1] / 2
            high = self.paths[2 * unknown + 1, 2 * unknown] / 2
            chosen = _between(low, high, value, step)
            if chosen is None:
                return None
            self.fix(unknown, chosen)
            point.append(chosen)
        return point if self.possible else None


def _node(sign: int, unknown: int) -> int:
    return 2 * unknown + (sign < 0)


def _between(low: float, high: float, wanted: int, step: int) -> int | None:
    """Return the multiple of step in [low, high] that is nearest to `wanted`, else any whole."""
    for width in (step, 1):
        least = -math.inf if low == -math.inf else math.ceil(low / width) * width
        most = math.inf if high == math.inf else math.floor(high / width) * width
        if least <= most:
            return int(min(max(wanted, least), most))
    return None
