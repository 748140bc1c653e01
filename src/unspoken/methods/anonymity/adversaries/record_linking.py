"""Linking with an identified outside table, and what the classes disclose (vcz2006 section 2.1).

An adversary holds names with quasi-identifiers, a voters' list or a profile, and looks for each
name in the release. With exact knowledge every class that agrees is a candidate; with errors the
nearest ones are. If all candidates share a sensitive value, it is known without naming anybody
(homogeneity); an adversary who can rule values out needs even less (background knowledge).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.methods.anonymity.adversaries.table_adversary import (
    ERRORS,
    NEVER,
    Matches,
    TableAdversary,
    TableKnowledge,
    TableView,
    believed,
)

if TYPE_CHECKING:
    from unspoken.methods.anonymity.table_knowledge import People

_SAME = 1e-9


def agreeing(distance: Floats) -> Floats:
    """Return 1 for the classes that agree with what is known of a target."""
    return (distance <= _SAME).astype(np.float64)


def nearest(distance: Floats) -> Floats:
    """Return 1 for the classes that are nearest to what is known of a target."""
    least = distance.min(axis=1, keepdims=True)
    return np.asarray(distance <= least + _SAME, np.float64)


def candidates(distance: Floats) -> Floats:
    """Return 1 for the classes that agree, or for the nearest where none does."""
    weight = agreeing(distance)
    linked = np.asarray(weight.any(axis=1))
    return np.where(linked[:, None], weight, nearest(distance))


class RecordLinking(TableAdversary):
    """Takes every class that agrees with all quasi-identifiers of a target."""

    name: ClassVar[str] = "record-linking"
    needs: ClassVar[frozenset[str]] = frozenset({"people"})
    gets: ClassVar[str] = "looks for people of an outside table by their quasi-identifiers"

    def _attack(self, view: TableView, knowledge: TableKnowledge) -> Matches:
        weight = agreeing(view.distances(knowledge.people))
        return Matches(weight, weight @ view.sizes == 1, believed(view, weight))


class NoisyLinking(TableAdversary):
    """Takes the classes that are nearest to what is known, errors and all."""

    name: ClassVar[str] = "noisy-linking"
    needs: ClassVar[frozenset[str]] = frozenset({"people"})
    gets: ClassVar[str] = "looks for the record nearest to what it knows of people, with errors"

    def levels(self, people: People, view: TableView) -> Iterator[tuple[str, str]]:
        """Yield the levels of knowledge at which it is tried."""
        yield ERRORS, ""

    def _attack(self, view: TableView, knowledge: TableKnowledge) -> Matches:
        weight = nearest(view.distances(knowledge.people))
        return Matches(weight, weight @ view.sizes == 1, believed(view, weight))


class Homogeneity(TableAdversary):
    """Reads sensitive values off classes; a class of one value discloses it for all its people."""

    name: ClassVar[str] = "homogeneity"
    needs: ClassVar[frozenset[str]] = frozenset({"people"})
    measures: ClassVar[tuple[str, ...]] = ("domain", "records", "sure")
    gets: ClassVar[str] = "finds the class of a person and takes its commonest sensitive value"

    def _attack(self, view: TableView, knowledge: TableKnowledge) -> Matches:
        distance = view.distances(knowledge.people)
        weight = candidates(distance)
        return Matches(weight, np.zeros(weight.shape[0], np.bool_), believed(view, weight))


class BackgroundKnowledge(TableAdversary):
    """Does the same, and rules out values that a person cannot have."""

    name: ClassVar[str] = "background"
    needs: ClassVar[frozenset[str]] = frozenset({"people", "never"})
    measures: ClassVar[tuple[str, ...]] = ("domain", "records", "sure")
    gets: ClassVar[str] = "finds the class of a person and rules out values the person cannot have"

    def levels(self, people: People, view: TableView) -> Iterator[tuple[str, str]]:
        """Yield the levels of knowledge at which it is tried."""
        yield from ((NEVER, name) for name in list(people.secrets)[:1])

    def _attack(self, view: TableView, knowledge: TableKnowledge) -> Matches:
        matches = Homogeneity()._attack(view, knowledge)
        shares = dict(matches.shares)
        for name in list(shares)[:1]:
            shares[name] = without(shares[name], knowledge.never)
        return Matches(matches.weight, matches.claimed, shares)


def without(shares: Floats, never: npt.NDArray[np.int64] | None) -> Floats:
    """Take away the chances of values that are ruled out, a row of codes for each target."""
    left = shares.copy()
    if never is not None:
        np.put_along_axis(left, never, 0.0, axis=1)
    total = left.sum(axis=1, keepdims=True)
    return np.where(total > 0, left / np.maximum(total, 1e-300), shares)
