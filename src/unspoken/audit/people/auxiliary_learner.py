"""The adversary who trains a learner: on the released records, and on outsiders to compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.comparable import Labels, Numbers, People, Values
from unspoken.audit.people.facts import Attacked, right

TRAINED = 4000
MOST_LABELS = 8
"""Categories that are told apart; rarer ones count as one, which is always guessed wrong."""
_TREES = 20


def learned(attacked: Attacked, name: str, secret: Values,
            rows: dict[str, Ints]) -> tuple[dict[str, tuple[int, int]], float]:
    """Return hits of people and control by a learner on the release, and the share without it."""
    from threadpoolctl import threadpool_limits

    # Small fits: several threads would mostly wait for each other.
    with threadpool_limits(1):
        return _learned(attacked, name, secret, rows)


def _learned(attacked: Attacked, name: str, secret: Values,
             rows: dict[str, Ints]) -> tuple[dict[str, tuple[int, int]], float]:
    reading, rng = attacked.reading, attacked.rng("learner", name)
    known = [n for n in reading.names if n != name]
    guess = _fitted(reading.release, secret, known, rng, reading.original.columns[name])
    reach = attacked.radius * reading.scales[name].width
    counts = {key: (_hits(guess(group, rows[key]), group, rows[key], name, reach),
                    rows[key].size) for key, group in attacked.groups.items()}
    if reading.control is None:
        return counts, 0.0
    alone = _fitted(reading.control, reading.control.columns[name], known, rng,
                    reading.original.columns[name])
    people = rows["people"]
    found = _hits(alone(reading.original, people), reading.original, people, name, reach)
    return counts, found / max(people.size, 1)


def _hits(guess: Values, group: People, rows: Ints, name: str, reach: float) -> int:
    return int(right(guess, group.columns[name].take(rows), reach).sum())


def _fitted(people: People, secret: Values, known: Sequence[str], rng: np.random.Generator,
            like: Values) -> Any:
    """Return a function that guesses the secret of people from the known columns."""
    there = np.flatnonzero(secret.codes >= 0 if isinstance(secret, Labels)
                           else np.isfinite(secret.middle))
    some = rng.choice(there, min(TRAINED, there.size), replace=False) if there.size else there
    if isinstance(secret, Labels):
        return _classifier(people, secret.codes[some], some, known, like)
    return _regressor(people, secret.middle[some], some, known)


def _classifier(people: People, codes: Ints, some: Ints, known: Sequence[str],
                like: Values) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    names = like.names if isinstance(like, Labels) else ()
    common = np.argsort(-np.bincount(codes, minlength=1), kind="stable")[:MOST_LABELS]
    target = np.where(np.isin(codes, common), codes, -3)
    if np.unique(target).size < 2:
        only = int(target[0]) if target.size else -3
        return lambda group, rows: Labels(np.full(rows.size, only, np.int64), names)
    model = HistGradientBoostingClassifier(max_iter=_TREES, max_bins=64, early_stopping=False,
                                           random_state=0)
    model.fit(features(people, some, known), target)
    return lambda group, rows: Labels(
        np.asarray(model.predict(features(group, rows, known)), np.int64), names)


def _regressor(people: People, values: Floats, some: Ints, known: Sequence[str]) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    if values.size < 2:
        return lambda group, rows: _numbers(np.full(rows.size, np.nan))
    model = HistGradientBoostingRegressor(max_iter=2 * _TREES, max_bins=64, early_stopping=False,
                                          random_state=0)
    model.fit(features(people, some, known), values)
    return lambda group, rows: _numbers(np.asarray(model.predict(features(group, rows, known))))


def _numbers(values: Floats) -> Numbers:
    return Numbers(values, values)


def features(people: People, rows: Ints, known: Sequence[str]) -> Floats:
    """Return the known columns of people as numbers; labels by their code, missing as NaN."""
    parts = []
    for name in known:
        column = people.columns[name].take(rows)
        if isinstance(column, Numbers):
            parts.append(np.where(np.isfinite(column.middle), column.middle, np.nan))
        else:
            parts.append(np.where(column.codes < 0, np.nan, column.codes.astype(np.float64)))
    return np.column_stack([held(part) for part in parts])


def held(values: Floats) -> Floats:
    """Return values that a learner can bin: a column without any counts as constant."""
    return values if np.isfinite(values).any() else np.zeros(values.size)
