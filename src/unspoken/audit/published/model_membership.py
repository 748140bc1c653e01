"""Was a person among those a model was learned from? It is less wrong about them.

The loss itself, and the loss less that of a reference model that was learned from other outsiders:
some people are hard for every model, which says nothing about membership (likelihood ratio, Watson
et al. 2022). Which of both, and from which loss on, is learned from every second person.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.audit.people.auxiliary_learner import held
from unspoken.audit.people.membership import EVERYBODY, threshold_risk
from unspoken.audit.published.model_losses import Published, inputs_of, losses_of
from unspoken.disclosure.people_risk import MEMBER, Risk
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

PEOPLE = 2000
KNOWS = "whole records of people, target included"


def model_membership(published: Published, table: Table, control: Table | None,
                     rng: np.random.Generator) -> list[Risk]:
    """Return the risk of being recognised as somebody the model was learned from."""
    members = _drawn(table.rows, rng)
    mine = _losses(published, table, members)
    if control is None:
        certain = np.log(2.0) if published.classifies else _blind(published.truth(table)[members])
        return [Risk(MEMBER, EVERYBODY, "loss", KNOWS, int((mine < certain).sum()), mine.size,
                     0.5)]
    outside = rng.permutation(control.rows)
    taught, tried = outside[:outside.size // 3], _few(outside[outside.size // 3:])
    away = _losses(published, control, tried)
    scores = {"loss": (-mine, -away)}
    reference = _reference(published, table, control, taught)
    if reference is not None:
        scores["loss ratio"] = (reference(table, members) - mine, reference(control, tried) - away)
    return [threshold_risk(scores, KNOWS)]


def _blind(truth: Floats) -> float:
    """Return the error that half of the people have if everybody is guessed to be in the middle."""
    held = truth[np.isfinite(truth)]
    return float(np.median(np.abs(held - np.median(held)))) if held.size else 0.0


def _drawn(rows: int, rng: np.random.Generator) -> Ints:
    return _few(rng.permutation(rows))


def _few(rows: Ints) -> Ints:
    return rows[:PEOPLE]


def _losses(published: Published, table: Table, rows: Ints) -> Floats:
    return published.losses(inputs_of(published, table, rows), published.truth(table)[rows])


def _reference(published: Published, table: Table, control: Table, taught: Ints) -> Any:
    """Return the losses of a model learned from outsiders, None where they are too few."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    truth = published.truth(control)[taught]
    known = taught[truth >= 0] if published.classifies else taught[np.isfinite(truth)]
    target = published.truth(control)[known]
    if known.size < 50 or (published.classifies and np.unique(target).size < 2):
        return None
    kind = HistGradientBoostingClassifier if published.classifies else HistGradientBoostingRegressor
    names = {n: _labels(published, table, n) for n in published.model.features}
    with threadpool_limits(1):
        model = kind(max_iter=50, max_bins=64, early_stopping=False, random_state=0)
        model.fit(_features(published, control, known, names), target)
    return lambda group, rows: _reference_losses(published, model, group, rows, names)


def _reference_losses(published: Published, model: Any, group: Table, rows: Ints,
                      names: dict[str, tuple[str, ...]]) -> Floats:
    data = _features(published, group, rows, names)
    truth = published.truth(group)[rows]
    if not published.classifies:
        return losses_of(np.asarray(model.predict(data))[:, None], truth, False)
    answers = np.zeros((rows.size, len(published.classes)))
    answers[:, model.classes_.astype(np.int64)] = model.predict_proba(data)
    return losses_of(answers, truth, True)


def _labels(published: Published, table: Table, name: str) -> tuple[str, ...]:
    column = table.arrow([name])[name]
    return () if is_number(column.type) else tuple(map(str, coded(column).values()))


def _features(published: Published, table: Table, rows: Ints,
              names: dict[str, tuple[str, ...]]) -> Floats:
    parts = []
    for name in published.model.features:
        column = table.arrow([name])[name]
        if names[name]:
            place = {text: i for i, text in enumerate(names[name])}
            found = coded(column)
            codes = np.array([place.get(str(v), -1) for v in found.values()] + [-1], np.float64)
            parts.append(codes[found.codes][rows])
        else:
            parts.append(np.asarray(to_numbers(column), np.float64)[rows])
    return np.column_stack([held(part) for part in parts])
