"""What a learner reaches on held-back originals: trained on a release, and on the original.

AUC for classes, R2 for numbers. Values are drawn out of released ranges and sets, several times
where there are few records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unspoken.arrays import Bools, Floats
from unspoken.methods.anonymity.utility.chosen_learner import learner_of
from unspoken.methods.anonymity.utility.release_features import Features
from unspoken.release.release import Release
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import Coded, coded
from unspoken.table.table import Table

MOST_CLASSES = 50
DRAWS, MOST_DRAWN = 5, 200_000


def scores_of(original: Table, release: Release, held_back: Table, features: Features,
            before: Floats, learner: Any) -> tuple[float | None, float | None]:
    """Return what a learner reaches on held-back records from the release, and from the original.

    None where the release has no target, or nobody held back has one.
    """
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
    return _score(after, now, test, truth, learner), _score(before, was, test, truth, learner)


def _tested(held_back: Table, target: str) -> bool:
    """Return whether some record was held back whose target is known."""
    column = coded(held_back.arrow([target])[target])
    return bool((column.codes != column.missing).any())


def _score(data: Floats, target: Any, test: Floats, truth: Any, learner: Any) -> float:
    """Return AUC, or R2 for a target of many numbers; a record without a target says nothing."""
    own, wanted = coded(target), coded(truth)
    numbers = is_number(truth.type) and is_number(target.type) and own.missing > MOST_CLASSES
    known, asked = own.codes != own.missing, wanted.codes != wanted.missing
    some = ~np.isnan(data[known]).all(axis=0)
    if not some.any() or not asked.any():
        return 0.0 if numbers else 0.5
    data, test = data[known][:, some], test[asked][:, some]
    if numbers:
        return _fit_of_numbers(data, _values(own, known), test, _values(wanted, asked), learner)
    return _area(data, _texts(own, known), test, _texts(wanted, asked), learner)


def _values(column: Coded, rows: Bools) -> Floats:
    return np.asarray(np.asarray(to_numbers(column.labels), np.float64)[column.codes[rows]])


def _texts(column: Coded, rows: Bools) -> npt.NDArray[Any]:
    return np.array([str(value) for value in column.values()])[column.codes[rows]]


def _fit_of_numbers(data: Floats, own: Floats, test: Floats, wanted: Floats,
                    learner: Any) -> float:
    from sklearn.metrics import r2_score
    from threadpoolctl import threadpool_limits

    if wanted.size < 2:
        return 0.0
    # Small trees are grown fastest by one thread, whatever else the machine does.
    with threadpool_limits(1):
        model = learner_of(learner, True).fit(data, own)
    return float(r2_score(wanted, model.predict(test)))


def _area(data: Floats, own: npt.NDArray[Any], test: Floats, wanted: npt.NDArray[Any],
          learner: Any) -> float:
    """Return the mean area of all classes, each against the rest, as far as they can be tested."""
    from sklearn.metrics import roc_auc_score
    from threadpoolctl import threadpool_limits

    if len(set(own.tolist())) < 2:
        return 0.5
    with threadpool_limits(1):
        model = learner_of(learner, False).fit(data, own)
        chances = model.predict_proba(test)
    # Of two classes one says it all; a class that nobody of the test has, or all, says nothing.
    places = [1] if len(model.classes_) == 2 else range(len(model.classes_))
    hits = [(wanted == model.classes_[at], chances[:, at]) for at in places]
    areas = [float(roc_auc_score(hit, chance)) for hit, chance in hits if 0 < hit.sum() < hit.size]
    return float(np.mean(areas)) if areas else 0.5
