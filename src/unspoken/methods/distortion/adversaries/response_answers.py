"""Adversaries against randomised response (vcz2006 sections 3.2 and 6.1.3).

The matrix is public, and the shares of the true values can be estimated from the answers. With
both, Bayes' rule gives everybody's own posterior. That is what the method leaves to an adversary
who knows nothing else; gamma bounds how far it can go from the prior. Where people could choose,
true answers are known, and only random ones are left to guess.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.disclosure.adversary import Adversary, ColumnView, View
from unspoken.disclosure.knowledge import Knowledge
from unspoken.errors import InputError
from unspoken.methods.distortion.known_laws import Answers, law_of
from unspoken.methods.distortion.reconstruct.column_estimate import counted_answers
from unspoken.methods.distortion.reconstruct.reports import choices_of
from unspoken.methods.distortion.response_matrices import by_em
from unspoken.release.release import Release


def answer_posteriors(matrix: Floats, shares: Floats) -> Floats:
    """Return P(value | answer): one row per answer, one column per value."""
    joint = matrix.T * shares
    total = joint.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, joint / np.maximum(total, 1e-300), shares))


def record_posteriors(release: Release, column: str) -> tuple[tuple[object, ...], Floats]:
    """Return the values of a column, and everybody's posterior over them, one row per record.

    True answers are certain; withheld ones get the estimated shares of the others.
    """
    law = law_of(release.mechanism, column)
    if not isinstance(law, Answers):
        raise InputError(f"Column '{column}' does not hold randomised answers.")
    answers = release.table.arrow([column])[column].to_pylist()
    choices = choices_of(release, column)
    random, exact = counted_answers(answers, choices, law)
    shares = by_em(random, law.matrix) if random.sum() else exact / exact.sum()
    place = {value: index for index, value in enumerate(law.values)}
    codes = np.array([place.get(value, -1) for value in answers], np.int64)
    out = np.vstack([answer_posteriors(law.matrix, shares), shares])[codes]
    if choices is not None:
        true = (np.asarray(choices, dtype=object) == "truth") & (codes >= 0)
        out[true] = np.eye(len(law.values))[codes[true]]
    return law.values, out


class AnswerAdversary(Adversary):
    """Base: looks at how often each answer was given at random, by class."""

    attacks: ClassVar[frozenset[str] | None] = frozenset({"randomized-response"})
    measures: ClassVar[tuple[str, ...]] = ("domain", "records", "certain")

    def posteriors(self, answers: Floats, matrix: Floats) -> Floats:
        """Return P(value | answer, class) for counts by (answer, class): (classes, answers, k)."""
        raise NotImplementedError

    def guess(self, view: View, column: str, knowledge: Knowledge,
              rng: np.random.Generator) -> Floats:
        """Return the place of the likeliest value for every answer, whatever the class."""
        law = law_of(view.mechanism, column)
        assert isinstance(law, Answers)
        counts = view[column].counts.astype(np.float64)[:, None]
        best = self.posteriors(counts, law.matrix)[0].argmax(axis=1)
        return np.asarray(best, np.float64)[None]


class Literal(AnswerAdversary):
    """Takes every answer for the truth."""

    name: ClassVar[str] = "literal"
    gets: ClassVar[str] = "treats every answer as true"

    def posteriors(self, answers: Floats, matrix: Floats) -> Floats:
        """Return certainty: the answer itself."""
        return np.repeat(np.eye(matrix.shape[0])[None], answers.shape[1], axis=0)


class AnswerPosterior(AnswerAdversary):
    """Reconstructs the shares and takes the likeliest value of every answer."""

    name: ClassVar[str] = "answer"
    gets: ClassVar[str] = "estimates the shares and takes the likeliest value of every answer"

    def posteriors(self, answers: Floats, matrix: Floats) -> Floats:
        """Return the posterior, the same in every class."""
        shares = by_em(answers.sum(axis=1), matrix)
        return np.repeat(answer_posteriors(matrix, shares)[None], answers.shape[1], axis=0)


class ClassPosterior(AnswerAdversary):
    """Does so in every class: the class is released beside the answer."""

    name: ClassVar[str] = "answer-class"
    gets: ClassVar[str] = "estimates the shares in every class and takes the likeliest value"

    def posteriors(self, answers: Floats, matrix: Floats) -> Floats:
        """Return the posterior of every class; one without answers has that of all."""
        whole = by_em(answers.sum(axis=1), matrix)
        return np.array([answer_posteriors(matrix, by_em(row, matrix) if row.sum() else whole)
                         for row in answers.T])


def answer_view(release: Release, codes: dict[str, Ints], classes: Ints) -> View:
    """Return a view of the answers given at random: codes are places in the list of values."""
    columns = {}
    for name, answers in codes.items():
        law = law_of(release.mechanism, name)
        assert isinstance(law, Answers)
        size, known = len(law.values), answers >= 0
        flat = answers[known] * (int(classes.max(initial=0)) + 1) + classes[known]
        table = np.bincount(flat, minlength=size * (int(classes.max(initial=0)) + 1))
        columns[name] = ColumnView(name, np.arange(size, dtype=np.float64),
                                   table.reshape(size, -1), np.arange(size),
                                   missing=int((~known).sum()))
    return View(dict(release.mechanism), columns, release.table.rows, release.schema.target)
