"""Known sample (liu2006 section 4): principal axes of similar data undo the rotation.

The map carries the principal axes of the data to those of the release, so only 2^n signs are open.
The paper takes centred covariances and a p-value; uncentred second moments also use the mean, which
a rotation keeps (Adult, 5% sample: relative error .006 in place of .123), and the energy statistic
needs no p-value. One released random projection does not stop the attack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain
from unspoken.methods.rotation.adversaries.energy_distance import (
    MAX_AXES,
    all_signs,
    moment_signs,
    sign_evidence,
)
from unspoken.methods.rotation.adversaries.known_pairs import isometry, pairs_of
from unspoken.methods.rotation.adversaries.rotation_adversary import (
    RotatedView,
    RowAdversary,
    RowGuesses,
    RowKnowledge,
)

SEARCHES = ("auto", "all", "moments")
_AUTO_AXES = 8
_AUTO_ROWS = 400
_TOO_CLOSE = 1.0
_NO_SIGN = 2.0
_MORE = 16


@dataclass(frozen=True)
class Axes:
    """Principal axes (columns) of one side, largest first, their second moments, the origin."""

    vectors: Floats
    values: Floats
    origin: Floats


def axes_of(records: Floats, centred: bool, moved: bool, count: int) -> Axes:
    """Return the principal axes of covariances or second moments; `moved` data has no origin."""
    mean = records.mean(axis=0)
    rest = records - mean if centred else records
    # A projection to many columns still has few dimensions: look for the axes among those.
    span = _span(rest, count) if records.shape[1] > 4 * count + _MORE else None
    inner = rest if span is None else rest @ span
    values, vectors = np.linalg.eigh(inner.T @ inner / max(records.shape[0], 1))
    vectors = vectors[:, ::-1][:, :count]
    origin = mean if moved else np.zeros(records.shape[1])
    return Axes(vectors if span is None else span @ vectors, values[::-1][:count], origin)


def _span(records: Floats, count: int) -> Floats:
    """Return a basis of the directions in which records vary most (subspace iteration)."""
    start = np.random.default_rng(0).standard_normal((records.shape[0], count + _MORE))
    basis = np.linalg.qr(records.T @ start)[0]
    for _ in range(4):
        basis = np.linalg.qr(records.T @ (records @ basis))[0]
    return np.asarray(basis)


@dataclass(frozen=True)
class Match:
    """The map from the release back to the sample's space, and what is doubtful about it."""

    back: Floats
    origin: Floats
    rotated_origin: Floats
    doubts: tuple[str, ...]

    def apply(self, rotated: Floats) -> Floats:
        """Map records back."""
        return np.asarray((rotated - self.rotated_origin) @ self.back + self.origin)


def matched(sample: Floats, rotated: Floats, centred: bool, moved: bool, search: str,
            stretched: bool = False) -> Match:
    """Match the principal axes of a sample and of a release, signs included.

    Centred without an unknown translation is Algorithm 4.2.1 of the paper: axes of covariances,
    signs and the way back about the origin, which the map leaves where it is. A map that is
    `stretched` (a projection) has its axes brought to the sample's lengths, and what it cannot
    show is filled in with the sample's mean.
    """
    count = min(sample.shape[1], rotated.shape[1])
    one = axes_of(sample, centred, moved, count)
    two = axes_of(rotated, centred, moved, count)
    a, b = (sample - one.origin) @ one.vectors, (rotated - two.origin) @ two.vectors
    if stretched:
        factor = np.sqrt(np.maximum(one.values, 0) / np.maximum(two.values, 1e-300))
        two, b = Axes(two.vectors * factor, two.values, two.origin), b * factor
    if _fast(search, count):
        start = _by_covariances(sample, rotated, one, two) if not (centred or moved) else []
        signs = moment_signs(a, b, *start)
    else:
        signs = _by_trying(a, b, search)
    back = (two.vectors * signs) @ one.vectors.T
    doubts = [*_close(one.values, sample.shape[0]), *_signless(a, b)]
    if sample.shape[0] <= sample.shape[1]:
        doubts.append("the sample holds no more records than columns")
    mean = sample.mean(axis=0) - one.origin
    unseen = mean - one.vectors @ (one.vectors.T @ mean)
    return Match(back, one.origin + unseen if stretched else one.origin, two.origin, tuple(doubts))


def _fast(search: str, axes: int) -> bool:
    return search == "moments" or (search == "auto" and axes > _AUTO_AXES)


def _by_covariances(sample: Floats, rotated: Floats, one: Axes, two: Axes) -> list[Floats]:
    """Return signs that agree best with the map that covariances give.

    About the origin nearly all of the mean lies on the first axis and the others have little to
    show a direction by; along the axes of the covariances the mean shows all of them.
    """
    first, second = (axes_of(data, True, False, one.values.size) for data in (sample, rotated))
    signs = moment_signs(sample @ first.vectors, rotated @ second.vectors, limit=400)
    forward = (first.vectors * signs) @ second.vectors.T
    agree = np.einsum("ij,ij->j", forward.T @ one.vectors, two.vectors)
    return [np.where(agree < 0, -1.0, 1.0)]


def _by_trying(a: Floats, b: Floats, search: str) -> Floats:
    if search == "auto":
        return all_signs(a[:_AUTO_ROWS], b[:_AUTO_ROWS])[0]
    return all_signs(a, b)[0]


def _close(values: Floats, size: int) -> list[str]:
    """Name axes whose second moments a sample of that size cannot tell apart."""
    gaps, noise = values[:-1] - values[1:], values[:-1] * np.sqrt(2.0 / max(size, 1))
    return [f"axes {i + 1} and {i + 2} have nearly equal second moments"
            for i in np.flatnonzero(gaps < _TOO_CLOSE * noise)]


def _signless(a: Floats, b: Floats) -> list[str]:
    """Name axes on which neither mean nor skewness shows a direction."""
    weak = np.flatnonzero(np.abs(sign_evidence(a, b)) < _NO_SIGN)
    return [f"nothing shows the direction of axis {i + 1}" for i in weak]


class KnownSample(RowAdversary):
    """Matches principal axes of a sample and of the release (liu2006 section 4).

    Parameters
    ----------
    centred : bool or None, default None
        True takes covariances about the mean, as in the paper, False second moments about the
        origin. None decides by the release: about the origin unless an unknown translation
        moved it.
    search : {"auto", "all", "moments"}, default "auto"
        "all" tries all 2^n signs, "moments" is fast, "auto" tries all signs of few axes on some
        of the records.
    rescale : bool, default True
        Bring the axes of a random projection to the sample's lengths, which the paper's attack
        does not do.

    Examples
    --------
    >>> guesses = KnownSample().attack(release, RowKnowledge(4, sample=s))  # doctest: +SKIP
    >>> guesses.summary()  # doctest: +SKIP
    """

    name: ClassVar[str] = "known-sample"
    needs: ClassVar[frozenset[str]] = frozenset({"sample"})
    gets: ClassVar[str] = "lines the principal axes of a sample up with those of the release"

    def __init__(self, centred: bool | None = None, search: str = "auto",
                 rescale: bool = True) -> None:
        if search not in SEARCHES:
            raise InputError(explain("'search'", "one of " + ", ".join(SEARCHES), search))
        self.centred = centred
        self.search = search
        self.rescale = rescale

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        frame, sample = knowledge.frame(view), knowledge.sample
        if frame is None or sample is None or sample.shape[0] < 2:
            return self.failed(view, knowledge, "a sample of at least 2 records is needed")
        if self.search == "all" and sample.shape[1] > MAX_AXES:
            raise InputError(f"search='all' works for at most {MAX_AXES} columns. Got "
                             f"{sample.shape[1]}. Use search='moments'.")
        centred = view.translated if self.centred is None else self.centred
        match = matched((sample - frame[0]) / frame[1], view.records, centred or view.translated,
                        view.translated, self.search, not view.orthogonal and self.rescale)
        return RowGuesses(self.name, match.apply(view.records) * frame[1] + frame[0],
                          knowledge.blind(), not match.doubts, "; ".join(match.doubts))


class KnownPairsAndSample(RowAdversary):
    """Inverts what known records determine, and matches axes of a sample in the rest.

    n - 1 known records leave one sign open, which a small sample decides nearly always.
    """

    name: ClassVar[str] = "pairs-and-sample"
    needs: ClassVar[frozenset[str]] = frozenset({"records", "sample"})
    gets: ClassVar[str] = "knows some records in full and a sample of similar ones"

    def _attack(self, view: RotatedView, knowledge: RowKnowledge,
                rng: np.random.Generator) -> RowGuesses:
        frame, sample = knowledge.frame(view), knowledge.sample
        pairs = pairs_of(view, knowledge)
        if frame is None or pairs is None or sample is None:
            return self.failed(view, knowledge, "means and spreads of the columns are not known")
        if not view.orthogonal:
            return self.failed(view, knowledge, "a projection is attacked by either alone")
        if pairs[0].shape[0] < 1 + view.translated:
            return self.failed(view, knowledge, "too few known records were found in the release")
        known = isometry(*pairs, view.translated)
        guess = known.known_part(view.records)
        doubts: tuple[str, ...] = ()
        if known.unknown:
            plain = ((sample - frame[0]) / frame[1] - known.base) @ known.inside_left
            match = matched(plain, known.rest(view.records), False, False, "auto")
            guess += match.apply(known.rest(view.records)) @ known.inside_left.T
            doubts = match.doubts
        return RowGuesses(self.name, guess * frame[1] + frame[0], knowledge.blind(),
                          not doubts, "; ".join(doubts))
