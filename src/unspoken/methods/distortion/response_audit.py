"""The audit of randomised response: how often the truth behind an answer is guessed.

The answers of a release are one draw. Trials draw them again for the same people by the published
matrix (the first trial is the release itself), so that the numbers say what the method leaves, with
the spread of chance. The baseline is the best guess without an answer: the most frequent value, for
everybody. Where people could choose, shares are of those who answered at random; true answers
are counted by an adversary of their own, who reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import chosen_of
from unspoken.disclosure.attribute_disclosure import SURE
from unspoken.disclosure.audit_request import AuditRequest
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.audit_rows import Row
from unspoken.disclosure.measures import estimate
from unspoken.methods.distortion.adversaries.response_answers import (
    AnswerAdversary,
    answer_view,
)
from unspoken.methods.distortion.known_laws import Answers, law_of
from unspoken.methods.distortion.reconstruct.reports import choices_of
from unspoken.numerics.random import generator, seed_from
from unspoken.release.key import Key
from unspoken.release.release import Release
from unspoken.table.table import Table

LEVEL = "ignorant"
MAX_CLASSES = 100
_LIMITS = (
    "only the listed adversaries were tried; a better one may exist",
    "every column is attacked alone: correlated answers to several questions disclose more",
    "the target is released unchanged and is not attacked",
    "where people chose, shares are of those who answered at random; true answers are known",
)


@dataclass(frozen=True)
class _Asked:
    """One column: how many people have each value, answer and class, and the true answers."""

    name: str
    matrix: Floats
    table: Ints
    truthful: Ints

    @property
    def people(self) -> Ints:
        """Return those who answered at random, by value and class."""
        return np.asarray(self.table.sum(axis=1))

    def drawn(self, rng: np.random.Generator) -> Ints:
        """Draw everybody's answer again."""
        out = np.zeros_like(self.table)
        for value, group in np.argwhere(self.people > 0).tolist():
            out[value, :, group] = rng.multinomial(int(self.people[value, group]),
                                                   self.matrix[value])
        return out


def audit_answers(table: Table, release: Release, key: Key | None,
                  request: AuditRequest) -> Audit:
    """Attack randomised answers; a guess is right or wrong, so that the radius plays no part."""
    asked, unscored = _asked(table, release)
    chosen = chosen_of(AnswerAdversary, release, request.adversaries)
    seed = seed_from(request.random_state)
    rows: list[Row] = []
    todo = [(column, one) for column in asked for one in chosen]
    for done, (column, one) in enumerate(todo, 1):
        rows += _rows(column, one, request.trials, generator(seed, "answers", column.name))
        if request.progress is not None:
            request.progress(done, len(todo))
    for column in asked:
        rows += _truthful_rows(column)
    about = {"fingerprint": release.fingerprint, "rows": release.table.rows,
             "mechanism": dict(release.mechanism), "data_sha256": release.data_sha256,
             "columns": {column.name: column.name for column in asked}}
    words = {one.name: one.gets for one in chosen}
    if any(column.truthful.sum() for column in asked):
        words |= {"truthful": "reads values that were reported truthfully"}
    return Audit(tuple(rows), request.radius, request.trials, about, words, unscored,
                 limits=_LIMITS)


def _asked(table: Table, release: Release) -> tuple[list[_Asked], dict[str, str]]:
    classes = _classes(release)
    asked, unscored = [], {}
    for name in release.mechanism.get("columns", {}):
        law = law_of(release.mechanism, name)
        assert isinstance(law, Answers)
        if name not in table.schema.names:
            unscored[name] = "the table has no column of this name"
            continue
        truth, answers = (_codes(source, name, law) for source in (table, release.table))
        asked.append(_counted(release, name, law, truth, answers, classes))
    kept = [n for n in release.schema.features if n not in release.mechanism.get("columns", {})
            and n not in release.mechanism.get("choices", {}).values()]
    return asked, unscored | dict.fromkeys(kept, "the column was released as it is")


def _counted(release: Release, name: str, law: Answers, truth: Ints, answers: Ints,
             classes: Ints) -> _Asked:
    choices = choices_of(release, name)
    true = np.zeros(truth.size, np.bool_) if choices is None \
        else np.asarray(choices, dtype=object) == "truth"
    known = (truth >= 0) & (answers >= 0)
    size = len(law.values)
    seen = answer_view(release, {name: np.where(known & ~true, answers, -1)}, classes)[name]
    groups = seen.table.shape[1]
    who = known & ~true
    flat = (truth[who] * size + answers[who]) * groups + classes[who]
    table = np.bincount(flat, minlength=size * size * groups).reshape(size, size, groups)
    return _Asked(name, law.matrix, table, np.bincount(truth[known & true], minlength=size))


def _codes(source: Table, name: str, law: Answers) -> Ints:
    place = {value: index for index, value in enumerate(law.values)}
    return np.array([place.get(value, -1)
                     for value in source.arrow([name])[name].to_pylist()], np.int64)


def _classes(release: Release) -> Ints:
    """Return everybody's class; a target of very many values counts as none."""
    if release.schema.target is None:
        return np.zeros(release.table.rows, np.int64)
    labels = [str(label) for label in release.table.labels().tolist()]
    distinct, codes = np.unique(labels, return_inverse=True)
    return codes.reshape(-1) if distinct.size <= MAX_CLASSES else np.zeros(len(labels), np.int64)


def _rows(column: _Asked, one: AnswerAdversary, trials: int,
          rng: np.random.Generator) -> Iterator[Row]:
    if column.people.sum() == 0:
        return
    shares: dict[str, list[float]] = {}
    for number in range(trials):
        drawn = column.table if number == 0 else column.drawn(rng)
        for measure, share in _scored(drawn, one, column.matrix).items():
            shares.setdefault(measure, []).append(share)
    for measure in one.measures:
        estimated = estimate(np.array(shares[measure]))
        yield Row(one.name, LEVEL, column.name, measure, estimated.value, estimated.low,
                  estimated.high, _blind(column.people.sum(axis=1))[measure], estimated.trials)


def _scored(table: Ints, one: AnswerAdversary, matrix: Floats) -> dict[str, float]:
    """Return the shares of values and of people that are guessed, and of those beyond doubt."""
    posterior = one.posteriors(table.sum(axis=0).astype(np.float64), matrix)
    best = posterior.argmax(axis=2)
    hit = best.T[None] == np.arange(table.shape[0])[:, None, None]
    sure = posterior.max(axis=2).T >= SURE
    right, people = (table * hit).sum(axis=(1, 2)), table.sum(axis=(1, 2))
    held = people > 0
    return {"domain": float((right[held] / people[held]).mean()),
            "records": float(right.sum() / people.sum()),
            "certain": float((table * (hit & sure)).sum() / people.sum())}


def _blind(people: Ints) -> dict[str, float]:
    share = float(people.max() / people.sum())
    return {"domain": 1.0 / int((people > 0).sum()), "records": share,
            "certain": share if share >= SURE else 0.0}


def _truthful_rows(column: _Asked) -> Iterator[Row]:
    """Yield what is simply known: the share of true answers, overall and per value."""
    if column.truthful.sum() == 0:
        return
    every = column.truthful + column.people.sum(axis=1)
    held = every > 0
    shares = {"domain": float((column.truthful[held] / every[held]).mean()),
              "records": float(column.truthful.sum() / every.sum())}
    for measure, share in shares.items():
        yield Row("truthful", LEVEL, column.name, measure, share, share, share,
                  _blind(every)[measure], 1)
