"""The contract of adversaries against turned records: they guess whole records, not codes.

What is known is about records: some of them in full, a sample of similar ones, published means and
spreads. An adversary answers with a guess for every released record, says whether it succeeded as
far as it can tell, and gives the guess it would have made without the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import Adversary
from unspoken.disclosure.record_scores import relative_errors
from unspoken.errors import InputError, NotCoveredError, explain
from unspoken.methods.rotation.method import NAMES, RANDOM_PROJECTION
from unspoken.release.method import name_in
from unspoken.release.release import Release

EPSILON = 0.1
"""A guess within this share of a record's length is a breach (liu2006 section 3)."""


@dataclass(frozen=True)
class RotatedView:
    """All that an adversary may see: complete released records, and which rows they are."""

    mechanism: Mapping[str, Any]
    records: Floats
    rows: Ints

    @classmethod
    def of(cls, release: Release) -> RotatedView:
        """Look at a release of this family."""
        if name_in(release.mechanism) not in NAMES:
            raise NotCoveredError(explain("A release of turned records", "one of "
                                          + ", ".join(NAMES), name_in(release.mechanism)))
        data = np.ascontiguousarray(release.table.numbers(release.guarantee.facts["columns"]))
        full = np.flatnonzero(~np.isnan(data).any(axis=1))
        return cls(dict(release.mechanism), data[full], full)

    @property
    def translated(self) -> bool:
        """Return whether the records were also moved by an unknown vector."""
        return bool(self.mechanism.get("translation"))

    @property
    def standardised(self) -> bool:
        """Return whether columns were standardised before they were turned."""
        return bool(self.mechanism.get("standardised"))

    @property
    def orthogonal(self) -> bool:
        """Return whether the map is orthogonal, which a random projection is not."""
        return name_in(self.mechanism) != RANDOM_PROJECTION.name


@dataclass(frozen=True)
class RowKnowledge:
    """What one adversary knows; None means that it does not know it.

    `records` are known in full, one row each; `where` says which released records they are (rows
    of the view), None that they have yet to be found. `sample` holds similar records. `centre`
    and `scale` are published means and standard deviations of the columns.
    """

    width: int
    records: Floats | None = None
    where: Ints | None = None
    sample: Floats | None = None
    centre: Floats | None = None
    scale: Floats | None = None
    epsilon: float = EPSILON

    def blind(self) -> Floats:
        """Return the guess without the release: the sample's mean, or the next best."""
        if self.sample is not None and self.sample.size:
            return np.asarray(self.sample.mean(axis=0))
        if self.centre is not None:
            return self.centre
        if self.records is not None and self.records.size:
            return np.asarray(self.records.mean(axis=0))
        return np.zeros(self.width)

    def frame(self, view: RotatedView) -> tuple[Floats, Floats] | None:
        """Return what was subtracted and divided out, as far as known; None if it is not."""
        if not view.standardised:
            return np.zeros(self.width), np.ones(self.width)
        if self.centre is not None and self.scale is not None:
            return self.centre, np.where(self.scale > 0, self.scale, 1.0)
        if self.sample is not None and self.sample.shape[0] > 1:
            spread = self.sample.std(axis=0)
            return np.asarray(self.sample.mean(axis=0)), np.where(spread > 0, spread, 1.0)
        return None


@dataclass(frozen=True)
class RowGuesses:
    """A guess for every record of the view, beside what would be guessed without the release.

    `ok` is false where the adversary itself can tell that it failed, and `reason` says why; the
    guesses are then no better than the baseline. `exposure` holds the probability of a breach
    for each record where it is known. `named` is false where the columns were found up to order
    and sign only.
    """

    adversary: str
    records: Floats
    baseline: Floats
    ok: bool = True
    reason: str = ""
    exposure: Floats | None = None
    named: bool = True

    @property
    def most_exposed(self) -> int | None:
        """Return the record that is likeliest to be breached."""
        return None if self.exposure is None else int(np.argmax(self.exposure))

    def relative_errors(self, truth: Floats) -> Floats:
        """Return ||guess - x|| / ||x|| for every record; a record of zeros counts absolutely."""
        return relative_errors(self.records, truth)

    def summary(self) -> str:
        """Say in a line what came out."""
        state = "succeeded as far as it can tell" if self.ok else f"failed: {self.reason}"
        return f"{self.adversary} {state}; {self.records.shape[0]:,} records guessed."


class RowAdversary(Adversary):
    """Base of the adversaries against turned records."""

    measures: ClassVar[tuple[str, ...]] = ("domain", "records", "breach", "relative error")

    def attack(self, release: Release | RotatedView, knowledge: RowKnowledge,
               rng: np.random.Generator | None = None) -> RowGuesses:
        """Guess every record; a failure is said, and the guesses are then the baseline."""
        view = release if isinstance(release, RotatedView) else RotatedView.of(release)
        self._check(knowledge)
        source = np.random.default_rng(0) if rng is None else rng
        return self._attack(view, knowledge, source)

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        raise NotImplementedError

    def _check(self, knowledge: RowKnowledge) -> None:
        for name in sorted(self.needs):
            found = getattr(knowledge, name)
            if found is None or found.ndim != 2 or found.shape[1] != knowledge.width:
                raise InputError(explain(
                    f"Knowledge for '{self.name}'", f"'{name}' of shape (records, "
                    f"{knowledge.width})", "none" if found is None else str(found.shape)))

    def failed(self, view: RotatedView, knowledge: RowKnowledge, reason: str) -> RowGuesses:
        """Return the baseline for every record, and why."""
        blind = knowledge.blind()
        guess = np.broadcast_to(blind, (view.records.shape[0], blind.size))
        return RowGuesses(self.name, guess, blind, False, reason)
