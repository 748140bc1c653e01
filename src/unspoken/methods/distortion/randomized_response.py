"""RandomizedResponse: people answer at random by a published matrix (vcz2006 section 3.2).

Who learns what. The collector learns every answer. Whatever was believed about a person, the odds
of any property change at most gamma-fold by the answer (epsilon = ln gamma, local differential
privacy), per column; over several columns the gammas multiply, and answering twice squares them.
What is missing stays visible as missing. Nothing is hidden about shares in the population: that
is what the method is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unspoken.arrays import Floats
from unspoken.errors import DataError, InputError, UnseenValueError, explain
from unspoken.methods.distortion.choices import (
    check_choices,
    chosen_changes,
    limited,
    markers_of,
    sent,
)
from unspoken.methods.distortion.column_response import ColumnResponse, places_of, promise
from unspoken.methods.distortion.declared_ranges import CLAMP, note_clamped
from unspoken.methods.distortion.method import RANDOMIZED_RESPONSE
from unspoken.methods.distortion.response_matrices import (
    check_matrix,
    keep_or_draw,
    least_variance,
    warner,
)
from unspoken.models.sklearn_fields import feature_names
from unspoken.numerics.random import derive
from unspoken.release.distorted import (
    Draws,
    Plan,
    chosen_columns,
    make_release,
    of_column,
)
from unspoken.release.key import Key
from unspoken.release.record_key import keyed
from unspoken.release.release import Release
from unspoken.table.any_table import from_any_table
from unspoken.table.column_counts import value_counts
from unspoken.table.formats.wide_numbers import of_floats
from unspoken.table.table import Table

MAX_VALUES = 1000


@dataclass(frozen=True)
class _Answering:
    name: str
    law: ColumnResponse
    seed: bytes

    def __call__(self, batch: Any, start: int) -> Any:
        column = batch.column(self.name)
        known = pa.array(list(self.law.values), column.type)
        where, null, _ = places_of(self.name, column, known, self.law)
        answers = self.law.answer(where, self.seed, start)
        return known.take(pa.array(np.where(null, 0, answers), mask=null))


class RandomizedResponse(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Answer questions with few possible answers at random by a matrix.

    Parameters
    ----------
    truth : probability of the true answer; every other answer is equally likely. For two values
        this is Warner's scheme: the first of two opposite questions is answered with it.
    gamma : in place of `truth`, the amplification wanted; the matrix of least variance is used.
    matrix : in place of both, any invertible response matrix (rows: true value).
    values : mapping from column to the possible answers, public knowledge; by default those that
        occur, which are thereby published, and no gamma or epsilon is stated.
    other : a declared value that stands for all that were not declared; one for all columns or a
        mapping. By default they are refused.
    reports : how often each question is answered; the total epsilon is stated for all of them.
    columns, choices, others, shuffle_rows : as for NoiseAdder; by default all categorical and
        ordinal features.
    random_state : for tests and experiments only; a release made with it says so.

    Attributes
    ----------
    laws_ : the values and the matrix of every column, by name.

    Examples
    --------
    >>> method = RandomizedResponse(gamma=5, values={"smoker": ["no", "yes"]})
    >>> release, _ = method.protect(table)  # doctest: +SKIP
    """

    def __init__(  # noqa: PLR0913
            self, truth: Any = None, gamma: Any = None, *, matrix: Any = None,
            values: Any = None, columns: Any = None, choices: Any = None, others: str = "refuse",
            other: Any = None, reports: int = 1, shuffle_rows: bool = True,
            random_state: Any = None) -> None:
        self.truth = truth
        self.gamma = gamma
        self.matrix = matrix
        self.values = values
        self.columns = columns
        self.choices = choices
        self.others = others
        self.other = other
        self.reports = reports
        self.shuffle_rows = shuffle_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RandomizedResponse:
        """Learn the possible answers of every column of X."""
        RANDOMIZED_RESPONSE.check(self)
        data = validate_data(self, X, dtype=None, ensure_all_finite=False)
        names = feature_names(self)
        RANDOMIZED_RESPONSE.check_columns(self, names)
        self._set({name: self._law(name, lambda i=i: _distinct(data[:, i]))
                   for i, name in enumerate(names)})
        return self

    def _set(self, laws: dict[str, ColumnResponse]) -> None:
        self.laws_ = laws
        self.draws_ = Draws(self.random_state)

    def _law(self, name: str, distinct: Any) -> ColumnResponse:
        declared = of_column(self.values, name)
        values = tuple(declared) if declared is not None else tuple(distinct())
        if not 2 <= len(values) <= MAX_VALUES:
            raise DataError(f"Column '{name}' must have 2 to {MAX_VALUES} values. Got "
                            f"{len(values)}, as of 1 sample or of a measurement. Declare "
                            "'values', discretise it, or add noise.")
        other = of_column(self.other, name)
        if other is not None and (declared is None or other not in values):
            raise InputError(f"RandomizedResponse: 'other' is {other!r}, which is not a "
                             f"declared value of '{name}'. Add it to 'values'.")
        return ColumnResponse(values, self._matrix(name, len(values)), declared is not None, other)

    def _matrix(self, name: str, size: int) -> Floats:
        declared = of_column(self.matrix, name)
        gamma, truth = of_column(self.gamma, name), of_column(self.truth, name)
        if sum(part is not None for part in (declared, gamma, truth)) > 1:
            raise InputError("RandomizedResponse: use one of truth, gamma and matrix for "
                             f"column '{name}', not several.")
        if declared is not None:
            return check_matrix(declared, size)
        if gamma is not None:
            return least_variance(size, float(gamma))
        share = 0.75 if truth is None else float(truth)
        return warner(share) if size == 2 else keep_or_draw(size, share)

    def transform(self, X: Any) -> Any:
        """Return answers drawn afresh at every call, as objects; missing stays missing."""
        check_is_fitted(self)
        data = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=False)
        seed, out = self.draws_.next(), np.empty(data.shape, dtype=data.dtype)
        for index, (name, law) in enumerate(self.laws_.items()):
            column = pa.array(data[:, index].tolist(), from_pandas=True)
            batch = pa.RecordBatch.from_arrays([column], [name])
            answers = _Answering(name, law, derive(seed, "answer", name))(batch, 0).to_pylist()
            out[:, index] = [np.nan if v is None and data.dtype.kind == "f" else v for v in answers]
        return out

    def distort(self, record: Mapping[str, Any],
                choices: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the answers of one person, or what the person chose, like NoiseAdder's."""
        if not hasattr(self, "laws_"):
            RANDOMIZED_RESPONSE.check(self)
            if not self.values:
                raise InputError("RandomizedResponse: 'values' is required where there is no "
                                 "table to fit.")
            RANDOMIZED_RESPONSE.check_columns(self, list(self.values))
            self._set({name: self._law(name, None) for name in self.values})
        check_choices(choices, self.laws_)
        seed = self.draws_.next()
        return sent(record, {name: _one(name, law, record.get(name), derive(seed, "answer", name))
                             for name, law in self.laws_.items()}, choices)

    @from_any_table
    @of_floats
    def protect(self, table: Table) -> tuple[Release, Key]:
        """Return the release of a table, and the key that says which record is which."""
        RANDOMIZED_RESPONSE.check(self, table)
        names = chosen_columns("RandomizedResponse", table.schema, ("categorical", "ordinal"),
                               self.columns)
        names, markers = markers_of("RandomizedResponse", table.schema, names, self.choices)
        self._set({name: self._law(name, lambda n=name: table.engine.distinct(table.frame, n))
                   for name in names})
        self._note(table)
        seed = self.draws_.next()
        changes = {name: _Answering(name, law, derive(seed, "answer", name))
                   for name, law in self.laws_.items()}
        known = table.engine.schema(table.frame)
        public = {name: law.to_json() for name, law in self.laws_.items()}
        plan = Plan("RandomizedResponse", chosen_changes(changes, markers),
                    {n: known.field(n).type for n in names},
                    {"name": RANDOMIZED_RESPONSE.name, "columns": public, "choices": markers},
                    limited(promise(self.laws_, self.reports), markers), self.others,
                    tuple(markers.values()))
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return keyed(make_release(table, plan, seed, self.random_state is not None), table, seed,
                     self.shuffle_rows)

    def _note(self, table: Table) -> None:
        """Count what was not declared and becomes 'other', before anything is drawn."""
        counts = {name: _undeclared(table, name, law) for name, law in self.laws_.items()
                  if law.other is not None}
        self.outside_ = note_clamped(counts, CLAMP)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _undeclared(table: Table, name: str, law: ColumnResponse) -> int:
    """Return how many rows hold a value that was not declared."""
    kind = table.engine.schema(table.frame).field(name).type
    known = set(pa.array(list(law.values), kind).to_pylist())
    return sum(rows for value, rows in value_counts(table, name).items()
               if value is not None and value == value and value not in known)


def _distinct(column: Any) -> list[Any]:
    return sorted({v for v in column.tolist() if v is not None and v == v})


def _one(name: str, law: ColumnResponse, value: Any, seed: bytes) -> Any:
    if value is None or value != value:
        return None
    if value not in law.values and law.other is not None:
        value = law.other
    if value not in law.values:
        raise UnseenValueError(explain(f"The answer to '{name}'",
                                       f"one of {list(law.values)[:10]}", value))
    return law.values[int(law.answer(np.array([law.values.index(value)]), seed)[0])]
