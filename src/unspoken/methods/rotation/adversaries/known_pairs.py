"""Known input-output (liu2006 section 3): records known in full give the map away.

The known records fix the map on their span; outside it every map is equally likely. For a record
at distance d from the span the chance of a breach is exact for every number q of unknown dimensions
(`stats.orthogonal`; the paper's formula holds for q = 2 only). With n known records nothing is
left; with n - 1 and no reflections neither. A rigid motion costs one record more, standardised
columns cost two moments each, which are usually published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.rotation.adversaries.find_known_records import linked
from unspoken.methods.rotation.adversaries.rotation_adversary import (
    RotatedView,
    RowAdversary,
    RowGuesses,
    RowKnowledge,
)
from unspoken.numerics.orthogonal import breach_probability, completed, haar, shrunken_radius

_RANK = 1e-9


@dataclass(frozen=True)
class Isometry:
    """What known pairs say about the map: y B A' is known, between B0 and A0 nothing is."""

    inside: Floats
    outside: Floats
    inside_left: Floats
    outside_left: Floats
    base: Floats
    rotated_base: Floats

    @property
    def unknown(self) -> int:
        """Return the number q of unknown dimensions."""
        return int(self.inside_left.shape[1])

    def known_part(self, rotated: Floats) -> Floats:
        """Return what is sure of each record."""
        moved = rotated - self.rotated_base
        return np.asarray((moved @ self.outside) @ self.inside.T + self.base)

    def rest(self, rotated: Floats) -> Floats:
        """Return the coordinates of each record in the unknown dimensions of the release."""
        return np.asarray((rotated - self.rotated_base) @ self.outside_left)


def isometry(plain: Floats, rotated: Floats, translated: bool) -> Isometry:
    """Find the part of an orthogonal map that pairs determine (Procrustes where they are many)."""
    width = plain.shape[1]
    base, rotated_base = np.zeros(width), np.zeros(width)
    if translated:
        base, rotated_base = plain.mean(axis=0), rotated.mean(axis=0)
    x, y = plain - base, rotated - rotated_base
    # With more pairs than dimensions the cross product averages their errors (Procrustes); with
    # fewer, solving keeps digits that the product would square away.
    cross = x.T @ y if x.shape[0] > width else np.linalg.pinv(x, rcond=_RANK) @ y
    left, values, right = np.linalg.svd(cross)
    rank = int((values > _RANK * max(float(values[0]), 1e-300)).sum())
    inside, outside = left[:, :rank], right[:rank].T
    return Isometry(inside, outside, completed(inside) if rank else np.eye(width),
                    completed(outside) if rank else np.eye(width), base, rotated_base)


def linear_map(plain: Floats, rotated: Floats) -> tuple[Floats, int]:
    """Return the backward linear map of a projection, and its rank."""
    forward = np.linalg.lstsq(plain, rotated, rcond=_RANK)[0]
    return np.linalg.pinv(forward), int(np.linalg.matrix_rank(plain, tol=_RANK * np.abs(
        plain).max(initial=1e-300)))


def pairs_of(view: RotatedView, knowledge: RowKnowledge) -> tuple[Floats, Floats] | None:
    """Return known records in the rotated frame and their released counterparts, linked."""
    frame, known = knowledge.frame(view), knowledge.records
    if frame is None or known is None:
        return None
    plain = (known - frame[0]) / frame[1]
    where = linked(view, plain) if knowledge.where is None else knowledge.where
    return plain[where >= 0], view.records[where[where >= 0]]


class KnownPairs(RowAdversary):
    """Inverts the map where known records determine it and guesses the rest (liu2006 section 3).

    Parameters
    ----------
    guess : {"shrunken", "uniform"}, default "shrunken"
        "uniform" draws a map, as the paper's attacker does; "shrunken" moves the guess to the
        radius at which a breach is likeliest, which is never worse.

    Examples
    --------
    >>> known = RowKnowledge(4, records=plain[:3], where=rows[:3])  # doctest: +SKIP
    >>> KnownPairs().attack(release, known).most_exposed  # doctest: +SKIP
    """

    name: ClassVar[str] = "known-pairs"
    needs: ClassVar[frozenset[str]] = frozenset({"records"})
    gets: ClassVar[str] = "knows some records in full and maps the others back with them"

    def __init__(self, guess: str = "shrunken") -> None:
        self.how = guess

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        pairs, frame = pairs_of(view, knowledge), knowledge.frame(view)
        if pairs is None or frame is None:
            return self.failed(view, knowledge, "columns were standardised, and neither their "
                               "means and spreads nor a sample are known")
        if pairs[0].shape[0] < 1 + view.translated:
            return self.failed(view, knowledge, "too few known records were found in the release")
        if not view.orthogonal:
            return self._projected(view, knowledge, pairs, frame)
        return self._by_motion(view, knowledge, pairs, frame, rng)

    def _by_motion(self, view: RotatedView, knowledge: RowKnowledge, pairs: tuple[Floats, Floats],
                   frame: tuple[Floats, Floats], rng: np.random.Generator) -> RowGuesses:
        motion = isometry(*pairs, view.translated)
        guess = motion.known_part(view.records)
        rest = motion.rest(view.records)
        distance = np.linalg.norm(rest, axis=1)
        length = np.sqrt((guess**2).sum(axis=1) + distance**2)
        q, sure = motion.unknown, self._sure(view, motion)
        if q:
            turn = haar(q, rng) if sure is None else sure
            reach = knowledge.epsilon * length
            guess += (rest * self._shrink(distance, reach, sure)) @ turn @ motion.inside_left.T
        exposure = self._exposure(distance, length, 0 if sure is not None else q, knowledge)
        share = float(exposure.mean())
        return RowGuesses(self.name, guess * frame[1] + frame[0], knowledge.blind(),
                          q == 0 or sure is not None or share > 0.5,
                          f"{q} dimensions are unknown; {share:.1%} of the records are expected "
                          f"within {knowledge.epsilon:g} of their length", exposure)

    def _shrink(self, distance: Floats, reach: Floats, sure: Floats | None) -> Floats:
        if sure is not None or self.how == "uniform":
            return np.ones((distance.size, 1))
        some = np.where(distance > 0, distance, 1.0)
        return np.asarray((shrunken_radius(distance, reach) / some)[:, None])

    def _sure(self, view: RotatedView, motion: Isometry) -> Floats | None:
        """Return the last sign where reflections are ruled out: determinants settle it."""
        if motion.unknown != 1 or not view.mechanism.get("proper"):
            return None
        plain = np.column_stack([motion.inside, motion.inside_left])
        rotated = np.column_stack([motion.outside, motion.outside_left])
        return np.array([[np.sign(np.linalg.det(plain) * np.linalg.det(rotated))]])

    def _exposure(self, distance: Floats, length: Floats, q: int,
                  knowledge: RowKnowledge) -> Floats:
        ratio = knowledge.epsilon * length / np.maximum(2 * distance, 1e-300)
        return breach_probability(np.minimum(ratio, 1e6), q, self.how)

    def _projected(self, view: RotatedView, knowledge: RowKnowledge,
                   pairs: tuple[Floats, Floats], frame: tuple[Floats, Floats]) -> RowGuesses:
        back, rank = linear_map(*pairs)
        guess = (view.records @ back) * frame[1] + frame[0]
        full = rank == knowledge.width and view.records.shape[1] >= knowledge.width
        if not full:
            return RowGuesses(self.name, guess, knowledge.blind(), False,
                              f"{rank} independent known records and {view.records.shape[1]} "
                              f"released columns leave some of {knowledge.width} columns open")
        return RowGuesses(self.name, guess, knowledge.blind())
