"""Where HistGradientBoosting would have stopped on the original data.

Early stopping scores held-out rows after every round. Their values may lie between two values that
were binned, and fall on another side of an edge in codes than in originals; the trees do not depend
on that, only the round at which training stops. So the scores are computed again on the original
values: where training would have stopped earlier the later rounds are dropped, and where it would
have gone on the model is refused, because nobody knows the trees that would have followed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.training_rows import Rows


def stop_where_the_original_stops(
    decoded: Any, mined: Any, rows: Rows, part: Ints, weight: Floats | None
) -> None:
    """Drop the rounds that the original would not have had; refuse if it would have had more."""
    left = np.setdiff1d(np.arange(rows.count), part)
    before, after = (_raw(model, data[left]) for model, data in
                     ((mined, rows.codes), (decoded, rows.values)))
    if all(np.array_equal(a, b) for a, b in zip(before, after, strict=True)):
        return
    if mined.scoring != "loss":
        raise DecodeError("HistGradientBoosting: early stopping by another score than the loss "
                          "cannot be replayed. Mine with scoring='loss' or early_stopping=False.")
    scores = _scores(mined, after, rows, left, weight)
    rounds = next((n for n in range(1, len(scores)) if _stops(mined, scores[: n + 1])), None)
    if rounds is None and len(scores) - 1 < mined.max_iter:
        raise DecodeError(
            f"HistGradientBoosting: training stopped early after {len(scores) - 1} rounds, and on "
            "the original values, where some held-out rows fall into other bins, it would have "
            "gone on. Mine with early_stopping=False, or with another random_state.")
    kept = len(scores) - 1 if rounds is None else rounds
    decoded._predictors = decoded._predictors[:kept]
    decoded.train_score_ = decoded.train_score_[: kept + 1]
    decoded.validation_score_ = np.asarray(scores[: kept + 1])


def _raw(model: Any, data: Floats) -> list[Floats]:
    """Return the raw predictions before the first round and after each."""
    ordered = np.ascontiguousarray(data[:, _order(model)])
    bits, places = model._bin_mapper.make_known_categories_bitsets()
    sums = np.zeros((data.shape[0], model.n_trees_per_iteration_))
    sums += model._baseline_prediction
    listed = [sums.copy()]
    for stage in model._predictors:
        for output, predictor in enumerate(stage):
            sums[:, output] += predictor.predict(ordered, known_cat_bitsets=bits,
                                                 f_idx_map=places, n_threads=1)
        listed.append(sums.copy())
    return listed


def _order(model: Any) -> Ints:
    flags = model.is_categorical_
    if flags is None or getattr(model, "_preprocessor", None) is None:
        return np.arange(int(model.n_features_in_))
    return np.asarray(np.r_[np.flatnonzero(flags), np.flatnonzero(~np.asarray(flags))])


def _scores(
    model: Any, raw: list[Floats], rows: Rows, left: Ints, weights: Floats | None
) -> list[float]:
    y = rows.labels("early stopping scored held-out rows, which is replayed")[left]
    if hasattr(model, "classes_"):
        y = rows.numbers_of(tuple(model.classes_.tolist()))[left].astype(np.float64)
    weight = None if weights is None else weights[left]
    flat = raw[0].shape[1] == 1
    return [-float(model._loss(y_true=np.ascontiguousarray(y, np.float64),
                               raw_prediction=np.ascontiguousarray(each.ravel() if flat else each),
                               sample_weight=weight, n_threads=1)) for each in raw]


def _stops(model: Any, scores: list[float]) -> bool:
    """scikit-learn's rule: none of the last rounds is better than the one before them."""
    place = model.n_iter_no_change + 1
    if len(scores) < place:
        return False
    return not any(score > scores[-place] + model.tol for score in scores[-place + 1:])
