"""What a party can compute from the messages it received: equations, and what solves them.

Input is a recorded view (`joint.audit`) or arrays of the same form. Protocols I and II of the
book (vcz2006 section 5.2.1) hand over about N/2 linear equations on every column of N values.
That leaves a column of reals undetermined, but:

- a column of yes and no is found by a linear program with 0 <= x <= 1 whenever that has one
  solution. For equations in general position its probability is exactly Wendel's (1962):
  of q equations on N values, P[Binomial(N - 1, 1/2) < q]; one half for protocol I, and more for
  protocol II, whose q is (N + m) / 2. Being k-secure changes nothing in this. The attacker knows
  when it worked: rounding gives integers that satisfy all equations.
- two runs over one column with different matrices determine it, whatever it holds.
- bounds narrow the range of single values (section 5.2.3 says so itself): much for amounts of
  which most are small, hardly for values in the middle of their range.

What is left is measured as the book's conditional entropy (section 2.2): of values that are
spread over a grid, each independent equation takes away the entropy of one value; of a column of
yes and no, equations in general position leave nothing, found or not. It stands beside the
baseline: how often the best guess without any message is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain

if TYPE_CHECKING:
    from unspoken.joint.wire.transports.recording import Received, Transcript

EXACT = 1e-7


@dataclass(frozen=True)
class Equations:
    """What is known of one owner's columns x: coefficients x = values, one column each."""

    victim: str
    coefficients: Floats
    values: Floats

    @property
    def unknowns(self) -> int:
        """Return how many values a column has."""
        return int(self.coefficients.shape[1])

    @property
    def rank(self) -> int:
        """Return how many independent equations there are on each column."""
        return int(np.linalg.matrix_rank(self.coefficients))


def equations_of(view: Transcript) -> list[Equations]:
    """Return the equations that a view of protocols I and II holds, one set for each message."""
    readers = {"protocol1.left": _left, "protocol1.right": _right,
               "protocol2.projected": _projected, "protocol2.product": _product}
    return [readers[one.label](view, one) for one in view.received
            if one.label in readers and one.source not in view.parties]


def _left(view: Transcript, one: Received) -> Equations:
    half = one.array.shape[1]
    matrix = _known(view, "protocol1.matrix", one)[:, :half]
    return Equations(one.source, matrix.T, _floats(one).T)


def _right(view: Transcript, one: Received) -> Equations:
    matrix = _known(view, "protocol1.matrix", one)
    return Equations(one.source, matrix[:, -one.array.shape[0]:].T, _floats(one))


def _projected(view: Transcript, one: Received) -> Equations:
    """W = (I - U U')B says everything about B in the complement of U."""
    u = _known(view, "protocol2.directions", one)
    basis = np.linalg.qr(u, mode="complete")[0][:, u.shape[1]:]
    return Equations(one.source, basis.T, basis.T @ _floats(one))


def _product(view: Transcript, one: Received) -> Equations:
    """The victim's columns are orthogonal to U, and their products with mine are known."""
    u = next(_floats(other) for other in view.labelled("protocol2.directions")
             if other.step == one.step)
    mine = _known(view, "protocol2.mine", one)
    zeros = np.zeros((u.shape[1], one.array.shape[0]))
    return Equations(one.source, np.vstack([u.T, mine.T]), np.vstack([zeros, _floats(one).T]))


def _known(view: Transcript, label: str, one: Received) -> Floats:
    value = view.own.get((label, one.step))
    if value is None:
        raise InputError(f"The view is incomplete: it lacks the party's own '{label}'.")
    return np.asarray(value, np.float64)


def _floats(one: Received) -> Floats:
    return np.asarray(one.array, np.float64)


def stacked(parts: Sequence[Equations]) -> Equations:
    """Return equations of several messages or runs on the same columns as one set."""
    if len({(part.victim, part.unknowns, part.values.shape[1]) for part in parts}) != 1:
        raise InputError("Only equations on the same columns of one owner can be put together. "
                         f"Owners: {', '.join(part.victim for part in parts)}.")
    return Equations(parts[0].victim, np.vstack([part.coefficients for part in parts]),
                     np.vstack([part.values for part in parts]))


def recover(view: Transcript, values: Sequence[float] | None = None,
            bits: float = 53.0) -> list[Recovered]:
    """Return what a view of a party or a coalition says of each other owner's columns.

    Everything about one owner is put together, as it is if runs were repeated over the same
    columns. No messages of weak protocols: nothing is returned.
    """
    groups: dict[tuple[str, tuple[int, int]], list[Equations]] = {}
    for part in equations_of(view):
        shape = part.unknowns, int(part.values.shape[1])
        groups.setdefault((part.victim, shape), []).append(part)
    return [solve(stacked(parts), values, bits) for parts in groups.values()]


@dataclass(frozen=True)
class Recovered:
    """What came out: `columns` with nan where nothing is certain, and what is left unknown."""

    victim: str
    columns: Floats
    certain: npt.NDArray[np.bool_]
    bits_before: float
    bits_left: float
    baseline: float

    def success(self, truth: Any) -> float:
        """Return the share of columns that were found exactly."""
        right = np.isclose(self.columns, np.asarray(truth, np.float64), atol=1e-6)
        return float(right.all(axis=0).mean())

    def __str__(self) -> str:
        return (f"{int(self.certain.sum())} of {self.certain.size} columns of '{self.victim}' are "
                f"known exactly; {self.bits_left:.1f} of {self.bits_before:.1f} bits per column "
                f"are left; guessing without the messages is right {self.baseline:.1%} of the time")


def solve(equations: Equations, values: Sequence[float] | None = None,
          bits: float = 53.0, share: float = 0.5) -> Recovered:
    """Recover columns: of two known `values` by a linear program, others if rank allows.

    What the adversary knew before: `share` of the rows have the first of two values; `bits` is
    the entropy of one value otherwise.
    """
    if values is not None and len(values) != 2:
        raise InputError(explain("'values'", "the two values of the columns", list(values)))
    low, high = (0.0, 1.0) if values is None else (float(min(values)), float(max(values)))
    recovered = [_unique(equations, column) if values is None else
                 _vertex(equations, column, low, high) for column in equations.values.T]
    certain = np.array([column is not None for column in recovered])
    n, rank = equations.unknowns, equations.rank
    columns = np.array([np.full(n, np.nan) if c is None else c for c in recovered]).T
    before, left, baseline = n * bits, (n - rank) * bits, 2.0**-bits
    if values is not None:
        before, left, baseline = n * _binary_entropy(share), 0.0, max(share, 1 - share)
    return Recovered(equations.victim, columns, certain, before, left, baseline)


def _binary_entropy(share: float) -> float:
    parts = np.array([share, 1 - share])
    parts = parts[parts > 0]
    return float(-(parts * np.log2(parts)).sum())


def _unique(equations: Equations, right: Floats) -> Floats | None:
    """Return the solution if there is only one."""
    if equations.rank < equations.unknowns:
        return None
    return np.asarray(np.linalg.lstsq(equations.coefficients, right, rcond=None)[0])


def _vertex(equations: Equations, right: Floats, low: float, high: float) -> Floats | None:
    """Return a column of two values that satisfies all equations, if the program finds it."""
    point = feasible(equations.coefficients, right, low, high)
    if point is None:
        return None
    rounded = np.where(point > (low + high) / 2, high, low)
    gap = np.abs(equations.coefficients @ rounded - right).max()
    return rounded if gap <= EXACT * max(1.0, abs(low), abs(high)) * equations.unknowns else None


def feasible(coefficients: Floats, right: Floats, low: float, high: float,
             direction: Floats | None = None) -> Floats | None:
    """Return a point of the box that satisfies the equations, extreme in a direction."""
    from scipy.optimize import linprog

    towards = np.zeros(coefficients.shape[1]) if direction is None else direction
    done = linprog(towards, A_eq=coefficients, b_eq=right, bounds=(low, high), method="highs")
    return np.asarray(done.x) if done.success else None


def ranges(equations: Equations, column: int, low: float, high: float,
           places: Sequence[int]) -> Floats:
    """Return what each value of a column can be at all: rows of (least, greatest)."""
    right, out = equations.values[:, column], np.empty((len(places), 2))
    for row, place in enumerate(places):
        for side, sign in enumerate((1.0, -1.0)):
            direction = np.zeros(equations.unknowns)
            direction[place] = sign
            end = feasible(equations.coefficients, right, low, high, direction)
            out[row, side] = np.nan if end is None else end[place]
    return out


def wendel(unknowns: int, equations: int) -> float:
    """Return the probability that a column of yes and no is the only solution in its box."""
    from scipy.stats import binom

    return float(binom.cdf(equations - 1, unknowns - 1, 0.5))
