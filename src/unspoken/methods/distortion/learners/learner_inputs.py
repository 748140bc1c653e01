"""What learners over distorted columns know about each column, and releases as their input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, InputError, explain
from unspoken.methods.distortion.known_laws import Answers, law_of
from unspoken.methods.distortion.learners.chosen_columns import Mixed, mixed_column
from unspoken.methods.distortion.learners.distorted_column import (
    Distorted,
    Setting,
    as_law,
    column_of,
)
from unspoken.methods.distortion.noise_laws import Noise
from unspoken.methods.distortion.reconstruct.reports import CHOICES, as_choices, choices_of
from unspoken.release.method import method_of, name_in
from unspoken.release.release import Release

Column = Distorted | Mixed


def examples(learner: Any, X: Any, y: Any, choices: Any
             ) -> tuple[Floats, npt.NDArray[Any], Ints]:
    """Return checked reports, the classes in order, and everybody's class as its place there.

    Only where people chose may a value be missing.
    """
    finite: Any = True if choices is None else "allow-nan"
    data, labels = validate_data(learner, X, y, dtype=np.float64, ensure_all_finite=finite)
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise DataError("y has one class only: there is nothing to learn.")
    return data, classes, codes.reshape(-1)


@dataclass(frozen=True)
class LearnerInputs:
    """What the user says about the columns: laws, supports and the number of intervals."""

    owner: str
    names: Sequence[str]
    noise: Any
    support: Any
    bins: int | None

    def law(self, index: int) -> Any:
        """Return the law of one column, None if it is taken as it is."""
        return as_law(self._of(self.noise, "noise", index), self._support(index))

    def _of(self, by_column: Any, what: str, index: int) -> Any:
        if (by_column is None or isinstance(by_column, Noise | Answers)
            or hasattr(by_column, "kernel")):
            return by_column
        if isinstance(by_column, Mapping):
            return by_column.get(self.names[index], by_column.get(index))
        listed = isinstance(by_column, Sequence) and not isinstance(by_column, str)
        if listed and len(by_column) == len(self.names):
            return by_column[index]
        raise InputError(explain(f"{self.owner}: '{what}'",
                                 f"one for all, a mapping, or a sequence of {len(self.names)}",
                                 by_column))

    def _support(self, index: int) -> Any:
        support = self.support
        if isinstance(support, tuple) and len(support) == 2 and np.isscalar(support[0]):
            return support
        return self._of(support, "support", index)

    def columns(self, data: Floats, choices: Any, setting: Setting) -> list[Column | None]:
        """Return every column binned by its law; None for one that is taken as it is."""
        chosen = None if choices is None else as_choices(choices, data.shape)
        return [self._column(data[:, i], i, None if chosen is None else chosen[:, i], setting)
                for i in range(data.shape[1])]

    def _column(self, values: Floats, index: int, choices: Any, setting: Setting) -> Column | None:
        law = self.law(index)
        missing = np.isnan(values).any()
        if not missing and (choices is None or np.all(choices == "distort")):
            return column_of(values, law, self.bins, setting)
        everybody = np.full(values.size, "distort", dtype=object) if choices is None else choices
        return mixed_column(values, everybody, law, self.bins, setting)


@dataclass(frozen=True)
class Records:
    """The records of a release: reports, choices (None if nobody had any), labels and laws."""

    names: tuple[str, ...]
    laws: Mapping[str, Any]
    data: Floats
    choices: Any
    labels: npt.NDArray[Any]

    @property
    def said(self) -> Any:
        """Return the choices for a learner; it needs them where values are missing."""
        if self.choices is None and np.isnan(self.data).any():
            return np.full(self.data.shape, "distort", dtype=object)
        return self.choices


def records_of(release: Release) -> Records:
    """Return the distorted columns of a release; records without a class are left out."""
    names = tuple(release.mechanism.get("columns") or ())
    if not names or method_of(release.mechanism).law is None:
        raise InputError(explain("The release", "of a method that distorts columns",
                                 name_in(release.mechanism)))
    laws = {name: law_of(release.mechanism, name) for name in names}
    data = np.column_stack([_reports(release, name, laws[name]) for name in names])
    labels = release.table.labels()
    kept = np.array([label is not None and label == label for label in labels.tolist()])
    kept &= ~np.isnan(data).all(axis=1)
    if not kept.any():
        raise DataError("The release has no record with reports and a class.")
    choices = _choices(release, names)
    return Records(names, laws, data[kept], None if choices is None else choices[kept],
                   labels[kept])


def joint_column(release: Release, name: str, law: Any, bins: int, setting: Setting) -> Mixed:
    """Return a column of a release with everybody's kind of report, those withheld included."""
    choices = choices_of(release, name)
    values = _reports(release, name, law)
    chosen = np.full(values.size, CHOICES[2], dtype=object) if choices is None \
        else as_choices(choices, values.shape)
    return mixed_column(values, chosen, law, bins, setting)


def _reports(release: Release, name: str, law: Any) -> Floats:
    """Return one column as numbers; answers become the codes of their categories."""
    if not isinstance(law, Answers):
        return np.asarray(release.table.numbers([name])[:, 0])
    place = {value: float(i) for i, value in enumerate(law.values)}
    answers = release.table.arrow([name])[name].to_pylist()
    return np.array([place.get(value, np.nan) for value in answers])


def _choices(release: Release, names: Sequence[str]) -> Any:
    by_column = {name: choices_of(release, name) for name in names}
    if all(choices is None for choices in by_column.values()):
        return None
    everybody = [CHOICES[2]] * release.table.rows
    return np.column_stack([np.asarray(choices if choices is not None else everybody, dtype=object)
                            for choices in by_column.values()])
