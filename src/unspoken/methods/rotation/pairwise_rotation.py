"""PairwiseRotation: columns rotated two by two until each differs enough (vcz2006 section 7.1.1).

RBT of Oliveira and Zaiane. The thresholds say how far a released column is from its original in
variance; they say nothing about how well it can be mapped back, and every attack on a rotation
works here too, with fewer unknowns: each column is a mixture of two, or of three at a column that
is rotated twice. Rotation hides more at the same price; this is here because miners ask for it.
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.rotation.allowed_angles import Trig, admissible, drawn, joint_reach
from unspoken.methods.rotation.method import PAIRWISE_ROTATION, positive
from unspoken.methods.rotation.rotation_method import RotationMethod
from unspoken.methods.rotation.secret_motion import Motion
from unspoken.methods.rotation.streamed_moments import Moments
from unspoken.numerics.orthogonal import polished
from unspoken.numerics.random import generator
from unspoken.release.method import Method

Pair = tuple[int, int]
Both = tuple[float, float]


class PairwiseRotation(RotationMethod):
    """Rotate pairs of columns by angles that keep two variance thresholds each.

    Parameters
    ----------
    pairs : pairs of columns by name or position, rotated in this order; every column must be in
        one. None pairs them at random; an odd one out is paired with one that was rotated already.
    thresholds : the least Var(D_i - D'_i) and Var(D_j - D'_j) of each pair, (7.3), variances
        divided by the number of records, after standardising if that is asked for; one number
        for all. D is the original column also where it is rotated a second time, and a column
        keeps its largest threshold to the end.
    standardise, missing, categorical, shuffle_rows, random_state : see Rotation.

    Attributes
    ----------
    angles_ : one angle per pair; reached_ : Var(D - D') of each column; motion_, key_.
    """

    method: ClassVar[Method] = PAIRWISE_ROTATION

    def __init__(
        self,
        thresholds: Any = 0.3,
        *,
        pairs: Any = None,
        standardise: bool = True,
        missing: str = "refuse",
        categorical: str = "refuse",
        shuffle_rows: bool = True,
        random_state: Any = None,
    ) -> None:
        self.thresholds = thresholds
        self.pairs = pairs
        self.standardise = standardise
        self.missing = missing
        self.categorical = categorical
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    def _draw(self, stats: Moments, names: tuple[str, ...], seed: bytes) -> Motion:
        if stats.count < 2:
            raise DataError("PairwiseRotation: variances need at least 2 complete records. "
                            f"Got n_samples = {stats.count}.")
        centre, scale = self._frame_of(stats)
        covariance = stats.covariance / np.outer(scale, scale)
        pairs = chosen_pairs(self.pairs, names, generator(seed, "pairs"))
        matrix, self.angles_ = rotated_by_pairs(
            covariance, pairs, self._limits(len(pairs)), generator(seed, "angles"), names)
        self.reached_ = moved_variance(covariance, matrix)
        return Motion(self.method.name, names, matrix, np.zeros(len(names)), centre, scale,
                      stats.decimals)

    def _limits(self, count: int) -> list[Both]:
        if positive(self.thresholds):
            return [(float(self.thresholds), float(self.thresholds))] * count
        if len(self.thresholds) != count:
            raise InputError(explain("PairwiseRotation: 'thresholds'", f"one number or {count} "
                                     "pairs of numbers, one for each pair of columns",
                                     f"{len(self.thresholds)}"))
        return [(float(one), float(two)) for one, two in self.thresholds]

    def _public(self) -> dict[str, Any]:
        # Every pair is a proper rotation, and so is their product.
        return {"proper": True, "translation": False}


def chosen_pairs(pairs: Any, names: tuple[str, ...], rng: np.random.Generator) -> list[Pair]:
    """Return pairs of positions that hold every column."""
    if pairs is None:
        order = rng.permutation(len(names)).tolist()
        places = list(zip(order[::2], order[1::2], strict=False))
        return [*places, (order[-1], order[0])] if len(order) % 2 else places
    places = [(_position(one, names), _position(two, names)) for one, two in pairs]
    left_out = sorted(set(range(len(names))) - {i for pair in places for i in pair})
    if left_out or any(one == two for one, two in places):
        problem = (f"Column '{names[left_out[0]]}' is in none of them." if left_out
                   else "A column is paired with itself.")
        raise InputError("PairwiseRotation: 'pairs' must consist of two different columns each "
                         f"and hold every column. {problem}")
    return places


def _position(column: Any, names: tuple[str, ...]) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    whole = isinstance(column, numbers.Integral) and not isinstance(column, bool)
    if whole and 0 <= int(column) < len(names):
        return int(column)
    raise InputError(explain("PairwiseRotation: a column of 'pairs'",
                             f"one of {list(names)[:20]} or its position", column))


def moved_variance(covariance: Floats, matrix: Floats) -> Floats:
    """Return Var(D - D') of every column under D' = M D."""
    change = matrix - np.eye(matrix.shape[0])
    return np.asarray(np.einsum("ij,jk,ik->i", change, covariance, change))


def rotated_by_pairs(covariance: Floats, pairs: list[Pair], limits: list[Both],
                     rng: np.random.Generator, names: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return the product of plane rotations whose angles keep all thresholds, and the angles.

    A column that is rotated again must still be as far from its original as any pair asked.
    """
    matrix = np.eye(covariance.shape[0])
    least: dict[int, float] = {}
    angles = []
    for (i, j), (rho_i, rho_j) in zip(pairs, limits, strict=True):
        least[i], least[j] = max(rho_i, least.get(i, 0.0)), max(rho_j, least.get(j, 0.0))
        curves = _curves(covariance, matrix, i, j)
        angle = _angle(curves, (least[i], least[j]), rng, (names[i], names[j]))
        angles.append(angle)
        first, second = matrix[i].copy(), matrix[j].copy()
        matrix[i] = np.cos(angle) * first - np.sin(angle) * second
        matrix[j] = np.sin(angle) * first + np.cos(angle) * second
    return polished(matrix), np.array(angles)


def _curves(covariance: Floats, matrix: Floats, i: int, j: int) -> tuple[Trig, Trig]:
    """Return Var(D_i - D'_i) and Var(D_j - D'_j) as functions of the angle, (7.2) and (7.3)."""
    now = matrix @ covariance @ matrix.T
    cross = covariance @ matrix.T
    mean, half = (now[i, i] + now[j, j]) / 2, (now[i, i] - now[j, j]) / 2
    first = Trig(covariance[i, i] + mean, -2 * cross[i, i], 2 * cross[i, j], half, -now[i, j])
    second = Trig(covariance[j, j] + mean, -2 * cross[j, j], -2 * cross[j, i], -half, now[i, j])
    return first, second


def _angle(curves: tuple[Trig, Trig], limits: Both, rng: np.random.Generator,
           names: tuple[str, str]) -> float:
    arcs = admissible(curves, limits)
    if arcs.size:
        return drawn(arcs, rng)
    reach, angle = joint_reach(*curves, limits)
    if reach >= 1.0:
        return angle
    most = [curve.largest()[0] for curve in curves]
    together = (reach * limits[0], reach * limits[1])
    raise InputError(
        f"PairwiseRotation: 'thresholds' of the columns '{names[0]}' and '{names[1]}' must be "
        f"within reach. Got {limits[0]:g} and {limits[1]:g}. Alone they reach at most "
        f"{most[0]:.6g} and {most[1]:.6g}, together in this proportion {together[0]:.6g} and "
        f"{together[1]:.6g}. Lower them, or pair other columns.")
