"""Points from the distances between two groups: what a third party that compares can do.

vcz2006 section 7.3.7 lets a third party see every distance between objects of different owners,
because "the third party has no idea about the respective locations". It can find them
(multidimensional unfolding, Schoenemann 1970). Squared distances, less the means of rows and
columns, are the product of the two groups' coordinates; the row means fix the linear map that is
left over, as they are quadratic in it; what remains is one motion of space for all points. Records
that are known, columns + 1 of any owner, fix the motion too, and then every value is known.

`seen_distances` reads them from a recorded view (`joint.audit`), `unfold` finds the points,
`anchored` fixes the motion, `Placed.success` says how much was found beside the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError
from unspoken.numerics.orthogonal import trilaterate

if TYPE_CHECKING:
    from unspoken.joint.wire.transports.recording import Transcript

Blocks = Mapping[tuple[int, int], Floats]


@dataclass(frozen=True)
class Placed:
    """Every owner's points, up to a motion of space unless `fixed`."""

    points: tuple[Floats, ...]
    fixed: bool = False

    @property
    def together(self) -> Floats:
        """Return the points of all owners in one array."""
        return np.concatenate(self.points)

    def success(self, truth: Any, within: float = 0.01) -> float:
        """Return the share of values that are right to `within` standard deviations.

        Without anchors the best motion is taken, as an adversary with the data would.
        """
        real = np.asarray(truth, np.float64)
        placed = self.together if self.fixed else _moved(self.together, self.together, real)
        return float((np.abs(placed - real) <= within * real.std(axis=0)).mean())


def baseline(truth: Any, within: float = 0.01) -> float:
    """Return the share of values that the best single guess for each column gets right."""
    real = np.sort(np.asarray(truth, np.float64), axis=0)
    width = 2 * within * real.std(axis=0)
    best = [max(np.searchsorted(column, column + w, "right") - np.arange(column.size))
            for column, w in zip(real.T, width, strict=True)]
    return float(np.mean(best) / real.shape[0])


def seen_distances(view: Transcript, scale: int) -> dict[tuple[int, int], Floats]:
    """Return squared distances by pair of owners, from the view of the party that compared."""
    steps: dict[int, list[Any]] = {}
    for message in view.labelled("reveal"):
        steps.setdefault(message.step, []).append(np.asarray(message.array, np.uint64))
    opened = [np.sum(parts, axis=0, dtype=np.uint64).view(np.int64)
              for _, parts in sorted(steps.items())]
    if not opened:
        raise InputError("This view has no distances. Use that of the party that compared them.")
    sizes: list[int] = [int(size) for size in np.atleast_1d(opened[0])]
    stream, start = np.concatenate(opened[1:]), 0
    distances: dict[tuple[int, int], Floats] = {}
    for one in range(len(sizes)):
        for other in range(one + 1, len(sizes)):
            stop = start + sizes[one] * sizes[other]
            block = stream[start:stop].reshape(sizes[one], sizes[other])
            distances[one, other], start = np.ldexp(block.astype(np.float64), -2 * scale), stop
    return distances


def unfold(squares: npt.ArrayLike, columns: int) -> tuple[Floats, Floats]:
    """Return both groups' points from the squared distances between them, up to a motion."""
    d = np.asarray(squares, np.float64)
    needed = columns * (columns + 3) // 2 + 1
    if d.ndim != 2 or d.shape[0] < needed or d.shape[1] <= columns:
        raise InputError(f"Distances from at least {needed} points to {columns + 1} are needed. "
                         f"Got an array of shape {d.shape}.")
    product = -0.5 * (d - d.mean(axis=0) - d.mean(axis=1, keepdims=True) + d.mean())
    u, s, v = np.linalg.svd(product, full_matrices=False)
    left, right = u[:, :columns] * s[:columns], v[:columns].T
    shape, drift = _shape_of(left, d.mean(axis=1))
    turn = np.linalg.cholesky(shape)
    shift = np.linalg.solve(turn, drift)
    return np.asarray(left @ turn), np.asarray(right @ np.linalg.inv(turn).T - shift)


def _shape_of(left: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Solve u S u' + 2 u w + c = mean for the symmetric S and the vector w."""
    columns = left.shape[1]
    first, second = np.triu_indices(columns)
    # An entry off the diagonal stands twice in u S u'.
    twice = np.where(first == second, 1.0, 2.0)
    table = np.column_stack([left[:, first] * left[:, second] * twice, 2 * left,
                             np.ones(left.shape[0])])
    solution = np.linalg.lstsq(table, means, rcond=None)[0]
    shape = np.zeros((columns, columns))
    shape[first, second] = shape[second, first] = solution[:first.size]
    return shape, np.asarray(solution[first.size:-1], np.float64)


def place(blocks: Blocks, columns: int) -> Placed:
    """Return all owners' points: two by unfolding, the others by their distances to these."""
    start = max(blocks, key=lambda pair: blocks[pair].shape[0])
    points = dict(zip(start, unfold(blocks[start], columns), strict=True))
    owners = sorted({owner for pair in blocks for owner in pair})
    for owner in owners:
        if owner not in points:
            known = max(start, key=lambda one: points[one].shape[0])
            gaps = blocks[known, owner] if known < owner else blocks[owner, known].T
            points[owner] = trilaterate(points[known], np.sqrt(np.maximum(0.0, gaps.T)))
    return Placed(tuple(points[owner] for owner in owners))


def anchored(placed: Placed, places: Sequence[int], known: npt.ArrayLike) -> Placed:
    """Fix the motion by records that are known: their numbers among all points, their values."""
    real, points = np.asarray(known, np.float64), placed.together
    if real.shape != (len(places), points.shape[1]) or len(places) <= points.shape[1]:
        raise InputError(f"At least {points.shape[1] + 1} known records with all columns are "
                         f"needed. Got an array of shape {real.shape}.")
    moved = _moved(points, points[list(places)], real)
    ends = np.cumsum([part.shape[0] for part in placed.points])[:-1]
    return Placed(tuple(np.split(moved, ends)), True)


def _moved(points: Floats, some: Floats, real: Floats) -> Floats:
    """Return points under the motion that brings some of them nearest to where they are."""
    middle, centre = some.mean(axis=0), real.mean(axis=0)
    u, _, v = np.linalg.svd((some - middle).T @ (real - centre))
    return np.asarray((points - middle) @ (u @ v) + centre)
