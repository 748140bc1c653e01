"""What others may learn from a release: trees, naive Bayes, a linear SVM, linear regression.

A learner gets rows to learn from and rows to predict, both in released values. Equal rows are
learned once with their number as weight where that changes nothing but the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import unspoken
from unspoken.arrays import Floats, Ints
from unspoken.models.tree_from_growth import learn
from unspoken.models.tree_growth_rule import predictors
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded
from unspoken_experiments.fu2010.data import Study


@dataclass(frozen=True)
class Pair:
    """Rows to learn from and rows to predict, Arrow tables of the same columns."""

    train: Any
    test: Any


@dataclass(frozen=True)
class Features:
    """Rows as learners take them: standardised numbers and codes of categories."""

    numbers: Floats
    codes: Ints
    sizes: tuple[int, ...]

    def some(self, rows: Ints) -> Features:
        """Return some of the rows."""
        return Features(self.numbers[rows], self.codes[rows], self.sizes)

    def matrix(self) -> Floats:
        """Return numbers, and a column of 0 and 1 for every category."""
        parts = [np.eye(size)[self.codes[:, at]] for at, size in enumerate(self.sizes)]
        return np.hstack([self.numbers, *parts])


def features(pair: Pair, names: Sequence[str]) -> tuple[Features, Features]:
    """Read the predictors of both; columns of one value tell nothing and are left out."""
    rows, first = pa.concat_tables([pair.train, pair.test]), pair.train.num_rows
    numbers, codes, sizes = [np.empty((rows.num_rows, 0))], [], []
    for name in names:
        if is_number(rows[name].type):
            values = np.asarray(to_numbers(rows[name]), np.float64)[:, None]
            spread = float(values[:first].std())
            if spread > 0:
                numbers.append((values - values[:first].mean()) / spread)
        else:
            found = coded(rows[name])
            codes.append(found.codes)
            sizes.append(found.missing + 1)
    both = np.hstack(numbers)
    stacked = np.column_stack(codes) if codes else np.empty((rows.num_rows, 0))
    stacked = stacked.astype(np.int64)
    return (Features(both[:first], stacked[:first], tuple(sizes)),
            Features(both[first:], stacked[first:], tuple(sizes)))


def response(study: Study, rows: Any) -> Any:
    """Return the target: the place of its class, or numbers."""
    column = rows[study.table.target]
    if study.criterion == "variance":
        return np.asarray(to_numbers(column), np.float64)
    known = coded(study.table.arrow()[study.table.target]).values()
    return np.searchsorted(np.array(known), column.to_numpy(zero_copy_only=False))


def naive_bayes(study: Study, pair: Pair, leaves: int) -> Ints:
    """Predict with Gaussian numbers and counted categories (Laplace's one added)."""
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    train, test = features(pair, predictors(study.table, [study.table.target]))
    labels = response(study, pair.train)
    score: Any = np.log(np.bincount(labels) / labels.size)
    if train.numbers.shape[1]:
        model = GaussianNB().fit(train.numbers, labels)
        score = score + model.predict_joint_log_proba(test.numbers) - np.log(model.class_prior_)
    if train.sizes:
        model = CategoricalNB(min_categories=list(train.sizes)).fit(train.codes, labels)
        score = score + model.predict_joint_log_proba(test.codes) - model.class_log_prior_
    return np.asarray(np.broadcast_to(score, (pair.test.num_rows, 2)).argmax(axis=1))


def support_vectors(study: Study, pair: Pair, leaves: int) -> Ints:
    """Predict with a linear support vector machine (squared hinge, C = 1)."""
    from sklearn.svm import LinearSVC

    train, test = features(pair, predictors(study.table, [study.table.target]))
    labels = response(study, pair.train)
    rows = np.column_stack([train.numbers, train.codes, labels])
    _, first, weight = np.unique(rows, axis=0, return_index=True, return_counts=True)
    model = LinearSVC(dual=False, tol=1e-3, max_iter=2000)
    model.fit(train.some(first).matrix(), labels[first], sample_weight=weight)
    return np.asarray(model.predict(test.matrix()))


def linear(study: Study, pair: Pair, leaves: int) -> Floats:
    """Predict by least squares; of equally good coefficients the smallest."""
    train, test = features(pair, predictors(study.table, [study.table.target]))
    values = response(study, pair.train)
    design = np.column_stack([np.ones(values.size), train.matrix()])
    found = np.linalg.lstsq(design, values, rcond=None)[0]
    return np.asarray(found[0] + test.matrix() @ found[1:])


def tree(study: Study, pair: Pair, leaves: int) -> Any:
    """Predict with a tree of a given number of leaves."""
    kinds: Any = {c.name: "numeric" if is_number(pair.train[c.name].type) else "categorical"
                  for c in study.table.schema.columns if c.name in pair.train.column_names}
    names = predictors(study.table, [study.table.target])
    table = unspoken.read(pair.train, target=study.table.target, sensitive=study.sensitive,
                       kinds=kinds, show=False)
    grown = learn(table, study.growth(leaves), names=names)
    found = grown.predict({n: pair.test[n].to_numpy(zero_copy_only=False) for n in names})
    if study.criterion == "variance":
        return found
    return np.searchsorted(np.array(grown.classes), found)


Learner = Callable[[Study, Pair, int], Any]


def scores(study: Study, pairs: Sequence[Pair], learner: Learner, leaves: int) -> Floats:
    """Return the accuracy, or R square, in every fold."""
    out = []
    for pair in pairs:
        truth, found = response(study, pair.test), learner(study, pair, leaves)
        if study.criterion == "variance":
            spread = np.square(truth - response(study, pair.train).mean()).sum()
            out.append(1 - np.square(truth - found).sum() / spread)
        else:
            out.append((found == truth).mean())
    return np.array(out)
