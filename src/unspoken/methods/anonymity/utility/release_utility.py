"""Utility beside risk: what a release can still be used for, and what it must not be used for.

    marginals    largest total variation distance of a column's frequencies (numbers in ten bands)
    moments      means and deviations of numbers, in deviations of the original
    pairs        largest change of a correlation between any two features
    propensity   how well originals and released records can be told apart: pMSE over what chance
                 gives if everything was told apart (Woo et al. 2009); 0 cannot, 1 always
    score        of boosted trees trained on the release and tested on held-back original records:
                 AUC for classes, R2 for numbers, beside that of the original. Values are drawn
                 out of released ranges and sets, several times where there are few records
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unspoken.arrays import Bools, Floats
from unspoken.methods.anonymity.measures.measure import measure
from unspoken.methods.anonymity.utility.release_features import Features
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

USABLE_SHIFT, USABLE_SPREAD, MOST_CLASSES = 0.1, 0.25, 50
BANDS = 10
DRAWS, MOST_DRAWN = 5, 200_000


@dataclass(frozen=True)
class ReleaseUtility:
    """What one release kept, its risk, and warnings against misuse."""

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

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    def summary(self) -> str:
        """Return the figures and the warnings, in lines."""
        score = "Boosted trees were not tested. " if self.score is None else (
            f"Boosted trees reach {self.score:.3f} on held-back originals "
            f"({self.score_of_original:.3f} from the original). ")
        return "\n".join([
            f"{score}Frequencies moved by at most {self.marginals:.3f}, correlations by "
            f"{self.pairs:.3f}; propensity {self.propensity:.3f}. K = {self.k}, average "
            f"re-identification risk {self.average_risk:.3g}, {self.left_out:.2%} left out.",
            *self.warnings])


def release_utility(original: Table, release: Release, held_back: Table | None = None
                    ) -> ReleaseUtility:
    """Measure what a release kept; `held_back` are original records that it was not made of."""
    names = [name for name in original.schema.features
             if name in release.schema.names and original.schema[name].kind != "basket"]
    features = Features.of(original, names)
    before, after = features.original(original), features.released(release)
    secret = [n for n in release.schema.with_role("sensitive") if n in names]
    quasi = release.guarantee.facts.get("quasi") or [n for n in names if n not in secret]
    risk = measure(release, quasi, secret)
    scores = (None, None) if held_back is None else _scores(
        original, release, held_back, features, before)
    moments = _moments(features, before, after)
    return ReleaseUtility(
        _marginals(features, before, after), _pairs(before, after), _propensity(before, after),
        scores[0], scores[1], risk.k, risk.strong_l, risk.risk.prosecutor_average,
        1 - release.table.rows / original.rows, risk.histogram, moments,
        (*_warnings(moments), *_untold(features, before, after)))


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


def _untold(features: Features, before: Floats, after: Floats) -> Iterator[str]:
    """Yield that a category is released alike for everybody, although it was not."""
    for name, place in _places(features).items():
        if features.categories[name] is not None and _alike(after[:, place]) and not _alike(
                before[:, place]):
            yield f"'{name}' is suppressed: it tells nothing about single records."


def _alike(data: Floats) -> bool:
    return bool(np.array_equal(data, np.broadcast_to(data[:1], data.shape), equal_nan=True))


def _marginals(features: Features, before: Floats, after: Floats) -> float:
    largest = 0.0
    for name, place in _places(features).items():
        if features.categories[name] is None:
            ends = np.unique(np.nanquantile(before[:, place.start], np.linspace(0, 1, BANDS + 1)))
            one, two = (_banded(data[:, place.start], ends) for data in (before, after))
        else:
            one, two = (np.nan_to_num(data[:, place]).mean(axis=0) for data in (before, after))
        largest = max(largest, 0.5 * float(np.abs(one - two).sum()))
    return largest


def _banded(values: Floats, ends: Floats) -> Floats:
    known = values[~np.isnan(values)]
    places = np.clip(np.searchsorted(ends, known, side="right") - 1, 0, max(ends.size - 2, 0))
    return np.asarray(np.bincount(places, minlength=max(ends.size - 1, 1)) / max(known.size, 1))


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


def _scores(original: Table, release: Release, held_back: Table, features: Features,
            before: Floats) -> tuple[float | None, float | None]:
    target = original.schema.target
    if target is None or target not in release.schema.names or not _tested(held_back, target):
        return None, None
    test = features.original(held_back)
    truth, was, now = (table.arrow([target])[target]
                       for table in (held_back, original, release.table))
    times = max(1, min(DRAWS, MOST_DRAWN // max(release.table.rows, 1)))
    rng = np.random.default_rng(0)
    after = np.vstack([features.drawn(release, rng) for _ in range(times)])
    now = pa.chunked_array([chunk for _ in range(times) for chunk in now.chunks])
    return _score(after, now, test, truth), _score(before, was, test, truth)


def _tested(held_back: Table, target: str) -> bool:
    """Return whether some record was held back whose target is known."""
    column = coded(held_back.arrow([target])[target])
    return bool((column.codes != column.missing).any())


def _score(data: Floats, target: Any, test: Floats, truth: Any) -> float:
    """Return AUC, or R2 for a target of many numbers; a record without a target says nothing."""
    own, wanted = coded(target), coded(truth)
    numbers = is_number(truth.type) and is_number(target.type) and own.missing > MOST_CLASSES
    known, asked = own.codes != own.missing, wanted.codes != wanted.missing
    some = ~np.isnan(data[known]).all(axis=0)
    if not some.any() or not asked.any():
        return 0.0 if numbers else 0.5
    data, test = data[known][:, some], test[asked][:, some]
    if numbers:
        return _fit_of_numbers(data, _values(own, known), test, _values(wanted, asked))
    return _area(data, _texts(own, known), test, _texts(wanted, asked))


def _values(column: Coded, rows: Bools) -> Floats:
    return np.asarray(np.asarray(to_numbers(column.labels), np.float64)[column.codes[rows]])


def _texts(column: Coded, rows: Bools) -> npt.NDArray[Any]:
    return np.array([str(value) for value in column.values()])[column.codes[rows]]


def _fit_of_numbers(data: Floats, own: Floats, test: Floats, wanted: Floats) -> float:
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.metrics import r2_score
    from threadpoolctl import threadpool_limits

    if wanted.size < 2:
        return 0.0
    # Small trees are grown fastest by one thread, whatever else the machine does.
    with threadpool_limits(1):
        model = HistGradientBoostingRegressor(random_state=0).fit(data, own)
    return float(r2_score(wanted, model.predict(test)))


def _area(data: Floats, own: npt.NDArray[Any], test: Floats, wanted: npt.NDArray[Any]) -> float:
    """Return the mean area of all classes, each against the rest, as far as they can be tested."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from threadpoolctl import threadpool_limits

    if len(set(own.tolist())) < 2:
        return 0.5
    with threadpool_limits(1):
        model = HistGradientBoostingClassifier(random_state=0).fit(data, own)
        chances = model.predict_proba(test)
    # Of two classes one says it all; a class that nobody of the test has, or all, says nothing.
    places = [1] if len(model.classes_) == 2 else range(len(model.classes_))
    hits = [(wanted == model.classes_[at], chances[:, at]) for at in places]
    areas = [float(roc_auc_score(hit, chance)) for hit, chance in hits if 0 < hit.sum() < hit.size]
    return float(np.mean(areas)) if areas else 0.5
