"""Where HistGradientBoosting would have stopped on the original data.

Early stopping scores held-out rows after every round. Their values may lie between two values that
were binned, and fall on another side of an edge in codes than in originals; the trees do not depend
on that, only the round at which training stops. So the scores are computed again on the original
values: where training would have stopped earlier the later rounds are dropped, and where it would
have gone on the custodian, who has the originals and the parameters, goes on: the learner is fitted
to the originals, its first rounds must be those that were decoded, and the others are taken over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DecodeError
from unspoken.methods.encoding.decode.training_rows import Rows
from unspoken.methods.encoding.learner_rules import MOST_ROUNDS


def stop_where_the_original_stops(
    decoded: Any, mined: Any, rows: Rows, left: Ints, weight: Floats | None
) -> None:
    """Drop the rounds that the original would not have had, or add those that it would have.

    `left`: the rows that were held out, in the order in which they are scored.
    """
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
        _go_on(decoded, mined, rows)
        return
    kept = len(scores) - 1 if rounds is None else rounds
    decoded._predictors = decoded._predictors[:kept]
    decoded.train_score_ = decoded.train_score_[: kept + 1]
    decoded.validation_score_ = np.asarray(scores[: kept + 1])


def _go_on(decoded: Any, mined: Any, rows: Rows) -> None:
    """Grow the rounds that only the original has."""
    seed, flags = mined.random_state, mined.is_categorical_
    drawn = not isinstance(seed, int | np.integer)
    if mined.max_iter > MOST_ROUNDS or mined.min_samples_leaf is None or _constrained(mined) or (
            drawn and mined.max_features != 1.0):
        raise DecodeError(
            "HistGradientBoosting: on the original values, where some held-out rows fall into "
            f"other bins, training goes on after round {len(decoded._predictors)}, and what is "
            "known of the model does not say how. Mine with a whole number as random_state, at "
            f"most {MOST_ROUNDS} rounds and no constraints, or with early_stopping=False.")
    again = clone_of(mined).set_params(
        categorical_features=None if flags is None else np.asarray(flags, np.bool_),
        random_state=_SameSeed(mined._random_seed) if drawn else int(seed))
    again.fit(rows.values, rows.labels("training goes on"), sample_weight=rows.weight)
    known = len(decoded._predictors)
    if len(again._predictors) < known or not all(
            _same_nodes(a.nodes, b.nodes) for mine, theirs in
            zip(decoded._predictors, again._predictors[:known], strict=True)
            for a, b in zip(mine, theirs, strict=True)):
        raise DecodeError("HistGradientBoosting: its first rounds are not those that its training "
                          "rows and parameters give. The model was not mined from exactly these "
                          "rows of this release with these parameters.")
    for name in ("_predictors", "train_score_", "validation_score_"):
        setattr(decoded, name, getattr(again, name))


def _constrained(mined: Any) -> bool:
    return bool(mined.monotonic_cst is not None or mined.interaction_cst is not None
                or getattr(mined, "_constrained", False))


class _SameSeed(np.random.RandomState):
    """A generator whose first draw is the seed that a fitted estimator drew."""

    def __init__(self, seed: int) -> None:
        super().__init__(0)
        self._seed = seed

    def randint(self, *_: Any, **__: Any) -> Any:
        """Return that seed; further draws choose features, of which there is no choice."""
        return np.uint64(self._seed)


def clone_of(mined: Any) -> Any:
    """Return an unfitted estimator with the parameters of a fitted one, early stopping on."""
    from sklearn.base import clone

    return clone(mined).set_params(early_stopping=True, warm_start=False, verbose=0)


def _same_nodes(first: Any, second: Any) -> bool:
    return first.size == second.size and all(
        np.array_equal(first[name], second[name],
                       equal_nan=first[name].dtype.kind == "f") for name in first.dtype.names)


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
