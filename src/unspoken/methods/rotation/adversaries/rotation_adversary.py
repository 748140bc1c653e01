"""The contract of adversaries against rotated records: they guess whole records, not codes.

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
from unspoken.errors import InputError, NotCoveredError
from unspoken.methods.rotation.method import NAMES, RANDOM_PROJECTION
from unspoken.release.method import name_in
from unspoken.release.release import Release

EPSILON = 0.1
"""A guess within this share of a record's length is a breach (liu2006 section 3)."""


@dataclass(frozen=True)
class RotatedView:
    """All that an adversary may see: complete released records, and which rows they are.

    Attributes
    ----------
    mechanism : mapping
        The public description of the release, from its manifest.
    records : array of shape (records, released columns)
        The released records without missing values.
    rows : array of int
        The released row of each of them.

    Examples
    --------
    >>> view = RotatedView.of(release)  # doctest: +SKIP
    """

    mechanism: Mapping[str, Any]
    records: Floats
    rows: Ints

    @classmethod
    def of(cls, release: Release) -> RotatedView:
        """Look at a release of this family."""
        if name_in(release.mechanism) not in NAMES:
            raise NotCoveredError(
                f"These adversaries attack releases of {', '.join(NAMES)}. "
                f"This release is of '{name_in(release.mechanism)}'.")
        data = np.ascontiguousarray(release.table.numbers(release.guarantee.facts["columns"]))
        full = np.flatnonzero(~np.isnan(data).any(axis=1))
        return cls(dict(release.mechanism), data[full], full)

    @property
    def translated(self) -> bool:
        """Return True if the records were also moved by an unknown vector."""
        return bool(self.mechanism.get("translation"))

    @property
    def standardised(self) -> bool:
        """Return True if columns were standardised before they were rotated."""
        return bool(self.mechanism.get("standardised"))

    @property
    def orthogonal(self) -> bool:
        """Return True if the map is orthogonal, which a random projection is not."""
        return name_in(self.mechanism) != RANDOM_PROJECTION.name


@dataclass(frozen=True)
class RowKnowledge:
    """What one adversary knows; None stands for what it does not know.

    Attributes
    ----------
    width : int
        The number of original columns.
    records : array of shape (known records, width) or None
        Original records known in full.
    where : array of int or None
        The rows of the view in which the known records stand; None if the adversary has yet to
        find them.
    sample : array of shape (records, width) or None
        Similar records.
    centre, scale : array of shape (width,) or None
        Published means and standard deviations of the columns.
    epsilon : float, default 0.1
        A guess within this share of a record's length is a breach.

    Examples
    --------
    >>> RowKnowledge(2, records=np.array([[38.0, 1200.0]])).blind()
    array([  38., 1200.])
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

    Attributes
    ----------
    adversary : str
        The name of the adversary.
    records : array of shape (records, columns)
        The guesses.
    baseline : array of shape (columns,)
        The guess without the release, the same for every record.
    ok : bool, default True
        False if the adversary itself can tell that it failed; the guesses are then no better
        than the baseline.
    reason : str
        Why it failed, or what is doubtful.
    exposure : array of shape (records,) or None
        The probability of a breach of each record, where it is known.
    named : bool, default True
        False if the columns were found up to order and sign only.
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
        """Return the outcome in one line."""
        state = "succeeded as far as it can tell" if self.ok else f"failed: {self.reason}"
        return f"{self.adversary} {state}; {self.records.shape[0]:,} records guessed."


class RowAdversary(Adversary):
    """Base of the adversaries against rotated records."""

    measures: ClassVar[tuple[str, ...]] = ("domain", "records", "breach", "relative error")

    def attack(self, release: Release | RotatedView, knowledge: RowKnowledge,
               rng: np.random.Generator | None = None) -> RowGuesses:
        """Guess every record; after a failure `ok` is False and the guesses are the baseline.

        Parameters
        ----------
        release : Release or RotatedView
            What is attacked.
        knowledge : RowKnowledge
            What the adversary knows.
        rng : numpy.random.Generator, optional
            For attacks that draw at random.

        Returns
        -------
        RowGuesses
        """
        view = release if isinstance(release, RotatedView) else RotatedView.of(release)
        self._check(knowledge)
        source = np.random.default_rng(0) if rng is None else rng
        return self._attack(view, knowledge, source)

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        raise NotImplementedError

    def _check(self, knowledge: RowKnowledge) -> None:
        for name in sorted(self.needs):
            known = getattr(knowledge, name)
            if known is None or known.ndim != 2 or known.shape[1] != knowledge.width:
                shape = "None" if known is None else f"shape {known.shape}"
                raise InputError(f"'{self.name}' needs '{name}' in its knowledge, an array of "
                                 f"shape (records, {knowledge.width}). Got {shape}.")

    def failed(self, view: RotatedView, knowledge: RowKnowledge, reason: str) -> RowGuesses:
        """Return the baseline for every record, and why."""
        blind = knowledge.blind()
        guess = np.broadcast_to(blind, (view.records.shape[0], blind.size))
        return RowGuesses(self.name, guess, blind, False, reason)
