"""Utility beside risk: what a release can still be used for, and what it must not be used for.

    marginals    largest total variation distance of a column's frequencies (numbers in ten bands,
                 no value being one more)
    moments      means and deviations of numbers, in deviations of the original
    pairs        largest change of a correlation between any two features
    propensity   how well originals and released records can be told apart: pMSE over what chance
                 gives if everything was told apart (Woo et al. 2009); 0 cannot, 1 always
    score        of a learner (boosted trees, unless another is chosen) trained on the release and
                 tested on held-back original records: AUC for classes, R2 for numbers, beside that
                 of the original. Values are drawn out of released ranges and sets, several times
                 where there are few records
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.methods.anonymity.measures.measure import measure
from unspoken.methods.anonymity.utility.chosen_learner import (
    BOOSTED,
    check_learner,
    learner_name,
)
from unspoken.methods.anonymity.utility.learner_scores import scores_of
from unspoken.methods.anonymity.utility.release_features import Features
from unspoken.release.release import Release
from unspoken.table.table import Table

USABLE_SHIFT, USABLE_SPREAD = 0.1, 0.25
BANDS = 10


@dataclass(frozen=True)
class ReleaseUtility:
    """What one release kept, its risk, and warnings against misuse.

    Attributes
    ----------
    marginals, pairs, propensity : how far frequencies and correlations moved at most, and how well
        released records are told from originals; 0 is best.
    score, score_of_original : of the learner, tested on held-back originals; None if untested.
    k, strong_l, average_risk, class_sizes : of the classes that are released.
    left_out : the share of the records that are not released.
    moments : per number how far its mean moved, in deviations, and the ratio of deviations.
    warnings : what must not be used, in sentences.
    learner : what was scored.
    """

    marginals: float
    pairs: float
    propensity: float
    score: float | None
    score_of_original: float | None
    k: int
    strong_l: float | None
    average_risk: float
    left_out: float
    class_sizes: tuple[tuple[int, int], ...]
    moments: dict[str, tuple[float, float]]
    warnings: tuple[str, ...]
    learner: str = BOOSTED

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def summary(self) -> str:
        """Return the figures and the warnings, in lines."""
        name, ending = ("Boosted trees", "") if self.learner == BOOSTED else (
            f"The learner '{self.learner}'", "es")
        score = f"{name} {'was' if ending else 'were'} not tested. " if self.score is None else (
            f"{name} reach{ending} {self.score:.3f} on held-back originals "
            f"({self.score_of_original:.3f} from the original). ")
        return "\n".join([
            f"{score}Frequencies moved by at most {self.marginals:.3f}, correlations by "
            f"{self.pairs:.3f}; propensity {self.propensity:.3f}. K = {self.k}, average "
            f"re-identification risk {self.average_risk:.3g}, {self.left_out:.2%} left out.",
            *self.warnings])


def release_utility(original: Table, release: Release, held_back: Table | None = None,
                    learner: Any = BOOSTED) -> ReleaseUtility:
    """Measure what a release kept, and what it must not be used for.

    Parameters
    ----------
    original, release : the table, and what was released of it.
    held_back : original records that the release was not made of, for the score of a learner;
        None gives none.
    learner : "boosted-trees", "forest", "tree", "linear", or an estimator of scikit-learn.

    Returns
    -------
    ReleaseUtility
    """
    check_learner(learner)
    names = [name for name in original.schema.features
             if name in release.schema.names and original.schema[name].kind != "basket"]
    features = Features.of(original, names)
    before, after = features.original(original), features.released(release)
    secret = [n for n in release.schema.with_role("sensitive") if n in names]
    quasi = release.guarantee.facts.get("quasi") or [n for n in names if n not in secret]
    risk = measure(release, quasi, secret)
    scores = (None, None) if held_back is None else scores_of(
        original, release, held_back, features, before, learner)
    moments, moves = _moments(features, before, after), _moves(features, before, after)
    return ReleaseUtility(
        max(moves.values(), default=0.0), _pairs(before, after), _propensity(before, after),
        scores[0], scores[1], risk.k, risk.strong_l, risk.risk.prosecutor_average,
        1 - release.table.rows / original.rows, risk.histogram, moments,
        (*_warnings(moments), *_untold(features, before, after, moves)), learner_name(learner))


def _places(features: Features) -> dict[str, slice]:
    out, start = {}, 0
    for name, known in features.categories.items():
        width = 1 if known is None else len(known) + 1
        out[name] = slice(start, start + width)
        start += width
    return out


def _moments(features: Features, before: Floats, after: Floats) -> dict[str, tuple[float, float]]:
    """Return per number how far its mean moved, in deviations, and the ratio of deviations."""
    out = {}
    for name, place in _places(features).items():
        if features.categories[name] is None:
            one, two = _in_units(before[:, place], after[:, place])
            out[name] = _moved(one[:, 0], two[~np.isnan(two)])
    return {name: (min(shift, 1e9), ratio) for name, (shift, ratio) in out.items()}


def _moved(before: Floats, known: Floats) -> tuple[float, float]:
    """Return the shift of a mean and the ratio of deviations; a constant that stays one keeps 1."""
    if not known.size:
        return float("inf"), 0.0
    wide, spread = float(np.nanstd(before)), float(known.std())
    ratio = 1.0 if wide == spread == 0 else spread / (wide or 1.0)
    return float(known.mean() - np.nanmean(before)) / (wide or 1.0), ratio


def _in_units(*parts: Floats) -> tuple[Floats, ...]:
    """Return columns divided by their largest amount, so that no square is too large or small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        largest = np.nanmax([np.nanmax(np.abs(part), axis=0, initial=0.0) for part in parts],
                            axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    return tuple(part / unit for part in parts)


def _warnings(moments: dict[str, tuple[float, float]]) -> tuple[str, ...]:
    lines = []
    for name, (shift, spread) in moments.items():
        if spread == 0:
            lines.append(f"'{name}' is suppressed: it tells nothing about single records.")
        elif abs(shift) > USABLE_SHIFT:
            lines.append(f"Means of '{name}' are not usable: they moved by {shift:+.2f} "
                         "deviations.")
        elif abs(spread - 1) > USABLE_SPREAD:
            lines.append(f"Deviations of '{name}' are not usable: they are {spread:.2f} of the "
                         "original's.")
    return tuple(lines)


def _untold(features: Features, before: Floats, after: Floats, moves: dict[str, float]
            ) -> Iterator[str]:
    """Yield which categories are released alike for everybody, or far more or less often."""
    for name, place in _places(features).items():
        if features.categories[name] is None:
            continue
        if _alike(after[:, place]) and not _alike(before[:, place]):
            yield f"'{name}' is suppressed: it tells nothing about single records."
        elif moves[name] > USABLE_SHIFT:
            yield (f"Frequencies of '{name}' are not usable: {moves[name]:.0%} of the records have "
                   "moved to other values, or to none.")


def _alike(data: Floats) -> bool:
    return bool(np.array_equal(data, np.broadcast_to(data[:1], data.shape), equal_nan=True))


def _moves(features: Features, before: Floats, after: Floats) -> dict[str, float]:
    """Return for every column the total variation distance of how often its values occur."""
    out = {}
    for name, place in _places(features).items():
        if features.categories[name] is None:
            ends = np.unique(np.nanquantile(before[:, place.start], np.linspace(0, 1, BANDS + 1)))
            one, two = (_banded(data[:, place.start], ends) for data in (before, after))
        else:
            one, two = (np.nan_to_num(data[:, place]).mean(axis=0) for data in (before, after))
        # What a column no longer tells has moved as well: from its values to no value.
        out[name] = 0.5 * float(np.abs(one - two).sum() + abs((one - two).sum()))
    return out


def _banded(values: Floats, ends: Floats) -> Floats:
    known = values[~np.isnan(values)]
    places = np.clip(np.searchsorted(ends, known, side="right") - 1, 0, max(ends.size - 2, 0))
    return np.asarray(np.bincount(places, minlength=max(ends.size - 1, 1)) / max(values.size, 1))


def _pairs(before: Floats, after: Floats) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        one, two = (np.nan_to_num(np.corrcoef(_filled(*_in_units(data)), rowvar=False))
                    for data in (before, after))
    return float(np.abs(np.atleast_2d(one) - np.atleast_2d(two)).max())


def _filled(data: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        means = np.nan_to_num(np.nanmean(data, axis=0))
    return np.where(np.isnan(data), means, data)


def _propensity(before: Floats, after: Floats) -> float:
    """Return how well a classifier tells originals from released records."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    data = np.vstack([_filled(part) for part in _in_units(before, after)])
    label = np.r_[np.zeros(before.shape[0]), np.ones(after.shape[0])]
    chance = LogisticRegression(max_iter=200).fit(
        scaled := StandardScaler().fit_transform(data), label).predict_proba(scaled)[:, 1]
    share = float(label.mean())
    return float(((chance - share) ** 2).mean() / (share * (1 - share)))
