"""What a published classifier gives away about a sensitive attribute (vcz2006 section 2.2).

The adversary knows public attributes of a person, not the sensitive one, nor the unknown ones. The
measure is the Bayes error: how often its best guess of the sensitive value is wrong, with the
classifier and without it. The classifier is a black box. Two things decide what it discloses:

- whether the adversary knows training data, that is public and sensitive (not unknown) values of
  other people. If it does, a classifier of the sensitive attribute adds nothing that it could
  not have learned itself; if it does not, the classifier is all it has.
- whether it may only ask the black box, with a guess at what it does not know, or sees the
  answer about the very person, which was computed from the unknown values too.

Limits. The Bayes error itself is not computable from data: what is measured is the error of a
named learner on records that it has not seen, an upper bound of what the best adversary gets
wrong. The error is an average over people; `certain` says how many are found out beyond doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.audit.black_box import BlackBox, codes_of, features_of
from unspoken.disclosure.attribute_disclosure import Disclosure, Level, level_of
from unspoken.errors import DataError, InputError, SchemaError, explain
from unspoken.numerics.random import generator, seed_from
from unspoken.release.parameters import OneOf, Real, Rule, Whole, check
from unspoken.table.table import Table

MAX_VALUES = 100
_RULES: Mapping[str, tuple[Rule, str]] = {
    "folds": (Whole(2), "Use 5."),
    "draws": (Whole(1), "Use 10."),
    "records": (Whole(20), "Use 5000."),
    "known": (Real(0.0, 1.0), "Use a share below 1; 0.8 is what five folds leave."),
    "answers": (OneOf(("scores", "labels")), "Use 'labels' if only the class is disclosed."),
}


def bayes_error(joint: npt.ArrayLike) -> float:
    """Return the error of the best guess of z (column) from x (row) when their joint is known.

    Parameters
    ----------
    joint : array, (x, z)
        Probabilities that sum to one.

    Returns
    -------
    float

    Examples
    --------
    >>> bayes_error([[0.4, 0.1], [0.1, 0.4]])
    0.19999999999999996
    """
    table = np.asarray(joint, np.float64)
    if table.ndim != 2 or table.min() < 0 or not np.isclose(table.sum(), 1.0, atol=1e-9):
        raise InputError(explain("'joint'", "a table of probabilities that sums to one",
                                 f"a sum of {table.sum():g}"))
    return float(1.0 - table.max(axis=1).sum())


def mixture_error(epsilon: float, distance: float) -> float:
    """Return the Bayes error of the book's mixture (1 - e) N(0, 1) + e N(distance, 1).

    The best guess is 1 beyond t = distance / 2 + ln((1 - e) / e) / distance, so that the error is
    (1 - e) P(N > t) + e P(N <= t - distance).

    Parameters
    ----------
    epsilon : float
        The weight e of the second part.
    distance : float
        The distance of the two means.

    Returns
    -------
    float
    """
    from scipy.special import ndtr

    check("mixture_error", {"epsilon": (Real(0.0, 1.0), ""), "distance": (Real(0.0), "")},
          {"epsilon": epsilon, "distance": distance})
    cut = distance / 2 + np.log((1 - epsilon) / epsilon) / distance
    return float((1 - epsilon) * ndtr(-cut) + epsilon * ndtr(cut - distance))


def indirect(  # noqa: PLR0913
    table: Table, model: Any, *, sensitive: str | None = None,
    public: Sequence[str] | None = None, inputs: Sequence[str] | None = None,
    guesser: Any = None, answers: str = "scores", known: float | None = None, folds: int = 5,
    draws: int = 10, records: int = 5000, random_state: Any = None,
) -> Disclosure:
    """Measure how well the sensitive attribute is guessed with a classifier and without it.

    Parameters
    ----------
    table : Table
        The original.
    model : Tree or object with `predict`
        The classifier, a black box on rows of `inputs`; `predict_proba` is used if it is there.
    sensitive : str, default None
        The column to guess; by default the one with that role.
    public : sequence of str, default None
        What the adversary knows of everybody; by default the quasi-identifiers.
    inputs : sequence of str, default None
        The inputs of the model; by default the names it was fitted with. Inputs that are not public
        are unknown: the adversary draws them from other people and averages the answers.
    guesser : scikit-learn classifier, default None
        What the adversary learns with; by default a random forest.
    answers : {"scores", "labels"}, default "scores"
        What the black box returns.
    known : float, default None
        The share of records whose public and sensitive values the adversary knows; by default all
        but the fold that is scored.
    folds : int, default 5
        Folds of the cross-validation.
    draws : int, default 10
        Draws of the unknown inputs.
    records : int, default 5000
        The most records that are guessed at.
    random_state : int, default None
        Repeats the measurement.

    Returns
    -------
    Disclosure

    Examples
    --------
    >>> indirect(table, tree, sensitive="illness").summary()  # doctest: +SKIP
    """
    check("indirect", _RULES, {"folds": folds, "draws": draws, "records": records,
                               "known": 0.8 if known is None else known, "answers": answers})
    name, seen = _roles(table, sensitive, public)
    rng = generator(seed_from(random_state), "indirect")
    rows, values, codes = _people(table, name, records, rng)
    box = BlackBox.of(table, model, inputs, answers)
    _check_inputs(box, name)
    disclosed = box.answers(rows)
    asked = disclosed if set(box.inputs) <= set(seen) else box.asked(rows, seen, draws, rng)
    known_to_all = features_of(table, rows, seen)
    people = _Known(codes, len(values), folds, known, guesser, rng)
    same = box.predicts(values)
    levels = [level_of("unknown", "nothing", people.prior(), codes, rng)]
    if same:
        levels += [level_of("unknown", access, box.guesses(answer, values), codes, rng, levels[0])
                   for access, answer in (("queries", asked), ("answer", disclosed))]
    levels += _learned(people, known_to_all, {"queries": asked, "answer": disclosed}, codes, rng)
    return Disclosure(name, tuple(seen), tuple(n for n in box.inputs if n not in seen),
                      same, int(codes.size), people.taught, tuple(levels))


def _learned(people: _Known, public: Floats, answers: Mapping[str, Floats], codes: Ints,
             rng: np.random.Generator) -> list[Level]:
    base = level_of("known", "nothing", people.learned(public), codes, rng)
    return [base, *(level_of("known", access, people.learned(np.column_stack([public, answer])),
                             codes, rng, base) for access, answer in answers.items())]


def _roles(table: Table, sensitive: str | None,
           public: Sequence[str] | None) -> tuple[str, tuple[str, ...]]:
    named = [sensitive] if sensitive is not None else list(table.schema.with_role("sensitive"))
    if len(named) != 1:
        raise SchemaError(explain("'sensitive'", "the name of one column", named,
                                  "Name it, or give the role 'sensitive' to one column."))
    name = table.schema[named[0]].name
    seen = tuple(table.schema.with_role("quasi") if public is None else public)
    for one in seen:
        if table.schema[one].name == name:
            raise SchemaError(f"'public' must not name the sensitive column '{name}'.")
    return name, seen


def _people(table: Table, name: str, records: int,
            rng: np.random.Generator) -> tuple[Ints, list[Any], Ints]:
    """Return the rows that are scored, the sensitive values, and everybody's code."""
    values, codes = codes_of(table, name)
    rows = np.flatnonzero(codes >= 0)
    if not 2 <= len(values) <= MAX_VALUES:
        raise DataError(f"The sensitive column '{name}' must have 2 to {MAX_VALUES} distinct "
                        f"values. It has {len(values)}. Group numbers into intervals first.")
    if rows.size < 20:
        raise DataError("The table must have at least 20 records with a sensitive value. It has "
                        f"{rows.size}.")
    if rows.size > records:
        rows = np.sort(rng.choice(rows, records, replace=False))
    return rows, values, codes[rows]


def _check_inputs(box: BlackBox, sensitive: str) -> None:
    if sensitive in box.inputs:
        raise SchemaError(f"The classifier takes the sensitive column '{sensitive}' as input. An "
                          "adversary who can ask it must know the value already.")


class _Known:
    """The adversary who knows other people's records: it learns from them by cross-validation."""

    def __init__(self, codes: Ints, values: int, folds: int, known: float | None, guesser: Any,
                 rng: np.random.Generator) -> None:
        self.codes, self.values = codes, values
        self.guesser, self.seed = guesser, int(rng.integers(2**31))
        fold = rng.permutation(np.arange(codes.size) % folds)
        self.splits = [self._split(fold == number, known, rng) for number in range(folds)]
        self.taught = min(int(taught.size) for taught, _ in self.splits)

    def _split(self, scored: Any, known: float | None,
               rng: np.random.Generator) -> tuple[Ints, Ints]:
        taught = np.flatnonzero(~scored)
        if known is not None:
            size = min(max(round(known * self.codes.size), 2), taught.size)
            taught = rng.choice(taught, size, replace=False)
        return taught, np.flatnonzero(scored)

    def prior(self) -> Floats:
        """Return the shares of the values among other people, the same for everybody scored."""
        out = np.zeros((self.codes.size, self.values))
        for taught, scored in self.splits:
            out[scored] = np.bincount(self.codes[taught], minlength=self.values) / taught.size
        return out

    def learned(self, data: Floats) -> Floats:
        """Return everybody's posterior, learned from people who are not scored."""
        if data.shape[1] == 0:
            return self.prior()
        out = np.zeros((self.codes.size, self.values))
        for taught, scored in self.splits:
            model = self._fit(data[taught], self.codes[taught])
            out[np.ix_(scored, model.classes_)] = model.predict_proba(data[scored])
        return out

    def _fit(self, data: Floats, codes: Ints) -> Any:
        from sklearn.base import clone
        from sklearn.ensemble import RandomForestClassifier

        leaf = max(5, round(codes.size**0.5 / 2))
        usual = RandomForestClassifier(50, min_samples_leaf=leaf, random_state=self.seed)
        return clone(usual if self.guesser is None else self.guesser).fit(data, codes)


__all__ = ["Disclosure", "Level", "bayes_error", "indirect", "mixture_error"]
