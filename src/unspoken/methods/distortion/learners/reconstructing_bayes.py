"""Naive Bayes from distorted records: one reconstructed distribution per column and class.

Naive Bayes needs nothing but the distribution of every column in every class, which is what
as2000 section 3 reconstructs: no record has to be put into an interval. Combinations of columns
are not learned; where they decide the class (functions 2 and 3 of as2000), trees do better.

What the miner learns: class labels, and distributions by class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats
from unspoken.methods.distortion.known_laws import Answers
from unspoken.methods.distortion.learners.distorted_column import (
    MAX_STEPS,
    Setting,
    exact_column,
)
from unspoken.methods.distortion.learners.learner_inputs import (
    Column,
    LearnerInputs,
    examples,
    records_of,
)
from unspoken.methods.distortion.reconstruct.iterate import RULES
from unspoken.models.naive_bayes import Likelihood, NaiveBayes
from unspoken.models.sklearn_fields import feature_names
from unspoken.release.parameters import OneOf, OrNone, Real, Rule, Whole, check
from unspoken.release.release import Release

_RULES: Mapping[str, tuple[Rule, str]] = {
    "bins": (OrNone(Whole(1)), "Leave it out for about a hundred records per interval."),
    "smoothing": (Real(-1e-12, 1e12), "Use 1."),
    "stop": (OneOf(RULES), "Use 'held-out'."),
}


class ReconstructingNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes over columns that were distorted by known laws.

    Parameters
    ----------
    noise : how columns were distorted, as for ReconstructingTreeClassifier; columns that were not
        distorted are cut at their quantiles.
    bins : number of intervals of a noisy column.
    support : (low, high) of the true values: one for all, or a sequence or mapping.
    smoothing : records added to every interval of every class (Laplace's rule), so that what was
        never seen is not impossible.
    stop : the stopping rule of the reconstruction.
    random_state : deals out the folds of the held-out rule.

    Attributes
    ----------
    model_ : a `unspoken.models.naive_bayes.NaiveBayes`; classes_, n_features_in_ as usual.

    Examples
    --------
    >>> learner = ReconstructingNaiveBayes(Noise("gaussian", 5.0))  # doctest: +SKIP
    >>> learner.fit(reports, labels).predict(records)  # doctest: +SKIP
    """

    reconstructs: ClassVar[bool] = True

    def __init__(self, noise: Any = None, *, bins: int | None = None, support: Any = None,
                 smoothing: float = 1.0, stop: str = "held-out",
                 random_state: int | None = 0) -> None:
        self.noise = noise
        self.bins = bins
        self.support = support
        self.smoothing = smoothing
        self.stop = stop
        self.random_state = random_state

    def fit(self, X: Any, y: Any, choices: Any = None) -> ReconstructingNaiveBayes:
        """Learn from reports X and true classes y.

        `choices`: an array like X of "distort", "truth" and "withhold", where people chose; what
        was withheld may be NaN.
        """
        check("ReconstructingNaiveBayes", _RULES, self.get_params())
        data, self.classes_, codes = examples(self, X, y, choices)
        self.model_ = self._learn(data, codes, choices)
        return self

    def _learn(self, data: Floats, codes: Any, choices: Any) -> NaiveBayes:
        names = feature_names(self)
        seed = self.random_state if isinstance(self.random_state, int) else 0
        setting = Setting(self.stop, MAX_STEPS, seed)
        inputs = LearnerInputs("ReconstructingNaiveBayes", names, self.noise,
                               self.support, self.bins)
        columns = [exact_column(data[:, i], setting) if column is None else column
                   for i, column in enumerate(inputs.columns(data, choices, setting))]
        groups = [np.flatnonzero(codes == label) for label in range(self.classes_.size)]
        likelihoods = tuple(Likelihood(name, column.edges, self._shares(column, groups),
                                       _values(inputs.law(i)))
                            for i, (name, column) in enumerate(zip(names, columns, strict=True)))
        sizes = np.array([rows.size for rows in groups], np.float64)
        return NaiveBayes(tuple(self.classes_.tolist()), sizes / sizes.sum(), likelihoods,
                          codes.size)

    def _shares(self, column: Column, groups: list[Any]) -> Floats:
        """Return the shares of the intervals in every class, started from those of everybody."""
        whole = column.distribution(np.concatenate(groups))
        out = []
        for rows in groups:
            counts = rows.size * column.distribution(rows, whole) + self.smoothing
            out.append(counts / counts.sum())
        return np.array(out)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class for each (undistorted) record."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=np.float64, reset=False)
        return self.model_.predict_proba(data)

    def predict(self, X: Any) -> Any:
        """Return the class of each (undistorted) record."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _values(law: Any) -> tuple[Any, ...]:
    return law.values if isinstance(law, Answers) else ()


def noisy_naive_bayes(release: Release, **options: Any) -> NaiveBayes:
    """Mine naive Bayes from the release of a method that distorts; the manifest says how.

    Parameters
    ----------
    release : Release
        A release of a method that distorts columns, with class labels.
    **options
        Further parameters of ReconstructingNaiveBayes, such as `bins` or `smoothing`.

    Returns
    -------
    NaiveBayes

    Examples
    --------
    >>> from unspoken import mine
    >>> mine.noisy_naive_bayes(release).predict_proba(records)  # doctest: +SKIP
    """
    records = records_of(release)
    learner = ReconstructingNaiveBayes(list(records.laws.values()), **options)
    fitted: NaiveBayes = learner.fit(records.data, records.labels, records.said).model_
    columns = tuple(replace(column, name=name)
                    for column, name in zip(fitted.columns, records.names, strict=True))
    return replace(fitted, columns=columns)
