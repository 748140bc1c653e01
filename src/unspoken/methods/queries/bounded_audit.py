"""Does an exact sum, with the earlier ones, pin down a whole number between known bounds?

Linear algebra treats values as arbitrary real numbers; an adversary who knows that they are whole
and bounded knows more. Here the guard runs that attack itself: over all whole-number assignments
inside the bounds that agree with every answer, what is the least and the greatest value of each
person? (Mixed integer programs, HiGHS.) Records that no set separates form a class and are
exchangeable, so one variable per class suffices: with n records in it and sums from a to b, a
person lies between max(low, a - (n - 1) high) and min(high, b - (n - 1) low).

Only sets that touch each other matter; a new set may touch `overlapping` earlier ones at most, so
that the programs stay small. What is not settled within `SECONDS` counts as disclosed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Bools, Floats, Ints

SECONDS = 5.0
PROBES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Box:
    """The declared bounds of a column in steps, and how wide a person's interval must stay."""

    low: int
    high: int
    narrow: float


class AuditedSums:
    """Exact answers about one column."""

    def __init__(self, records: int, box: Box) -> None:
        self._box = box
        self._sets: list[Bools] = []
        self._totals: list[int] = []
        self.burned: Bools = np.zeros(records, np.bool_)

    def add(self, members: Bools, total: int) -> None:
        """Keep an answered set."""
        self._sets.append(members)
        self._totals.append(total)

    def touching(self, members: Bools) -> int:
        """Return how many answered sets are connected with a new one, over any chain of sets."""
        return len(self._chain(members))

    def _chain(self, members: Bools) -> list[int]:
        reached, chain = members.copy(), []
        left = list(range(len(self._sets)))
        while hit := [k for k in left if np.any(self._sets[k] & reached)]:
            chain += hit
            left = [k for k in left if k not in hit]
            for k in hit:
                reached |= self._sets[k]
        return sorted(chain)

    def foreseen(self, members: Bools) -> bool:
        """Return True if a usual answer would disclose somebody; the true one is not looked at."""
        chain = self._chain(members)
        program = self._program(members, chain)
        ends = program.ends(program.rows[-1], [self._totals[k] for k in chain])
        if ends is None:
            return True
        guesses = {round(ends[0] + share * (ends[1] - ends[0])) for share in PROBES}
        return any(self.discloses(members, guess) for guess in sorted(guesses))

    def discloses(self, members: Bools, total: int) -> bool:
        """Return True if this answer would pin down somebody more closely than is allowed."""
        chain = self._chain(members)
        program = self._program(members, chain)
        totals = [*(self._totals[k] for k in chain), total]
        return any(self._too_close(program, at, totals) for at in range(program.sizes.size))

    def _too_close(self, program: _Program, at: int, totals: Sequence[int]) -> bool:
        ends = program.ends(np.eye(program.sizes.size)[at], totals)
        if ends is None:
            return True
        others, box = int(program.sizes[at]) - 1, self._box
        least = max(box.low, ends[0] - others * box.high)
        most = min(box.high, ends[1] - others * box.low)
        return most - least <= box.narrow

    def _program(self, members: Bools, chain: Sequence[int]) -> _Program:
        sets = np.array([*(self._sets[k] for k in chain), members])
        patterns, sizes = np.unique(sets[:, sets.any(axis=0)], axis=1, return_counts=True)
        return _Program(patterns.astype(np.float64), np.asarray(sizes, np.int64), self._box)


@dataclass(frozen=True)
class _Program:
    """Whole sums of classes of records, one row of `rows` for every answered set."""

    rows: Floats
    sizes: Ints
    box: Box

    def ends(self, goal: Floats, totals: Sequence[int]) -> tuple[int, int] | None:
        """Return the least and the greatest value of a combination; None if it is not settled."""
        ends = [self._solve(sign * goal, totals) for sign in (1.0, -1.0)]
        if ends[0] is None or ends[1] is None:
            return None
        return round(ends[0]), round(-ends[1])

    def _solve(self, goal: Floats, totals: Sequence[int]) -> float | None:
        from scipy.optimize import Bounds, LinearConstraint, milp

        sums = np.asarray(totals, np.float64)
        limits: Any = LinearConstraint(self.rows[: sums.size], sums, sums) if sums.size else ()
        result = milp(goal, integrality=np.ones(self.sizes.size), constraints=limits,
                      bounds=Bounds(self.sizes * self.box.low, self.sizes * self.box.high),
                      options={"time_limit": SECONDS, "mip_rel_gap": 0.0})
        return float(result.fun) if result.status == 0 else None
