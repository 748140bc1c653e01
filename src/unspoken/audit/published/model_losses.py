"""How wrong a published model is about every person, whatever kind of model it is.

Classes without names (XGBoost, LightGBM) are the sorted values of the target, as their
scikit-learn wrappers number them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.errors import DataError, ModelError, SchemaError
from unspoken.models.model import Predictor
from unspoken.table.arrow_arrays import is_number, to_numbers
from unspoken.table.category_codes import coded
from unspoken.table.table import Table

SMALLEST = 1e-6


@dataclass(frozen=True)
class Published:
    """A model with what it is asked about: its target, and the names of its classes."""

    model: Any
    target: str
    classes: tuple[str, ...]

    @classmethod
    def of(cls, model: Any, table: Table) -> Published:
        """Find the target and the classes of a model; what predicts nothing is refused."""
        if not isinstance(model, Predictor):
            raise ModelError(f"A {model.kind} predicts nothing about a person, so its audit looks "
                             "for memorised values only.")
        target = getattr(model, "target", None) or getattr(model, "response", None) or table.target
        if target not in table.schema.names:
            raise SchemaError(f"The model predicts '{target}', which the original does not have. "
                              "Name the column with --target.")
        missing = [n for n in model.features if n not in table.schema.names]
        if missing:
            raise SchemaError(f"The model takes '{missing[0]}', which the original does not have. "
                              "Decode the model first, or pass the table it was learned from.")
        return cls(model, str(target), _classes(model, table, str(target)))

    @property
    def classifies(self) -> bool:
        """Return True if it predicts classes."""
        return bool(self.classes)

    def answers(self, data: Any) -> Floats:
        """Return (people, classes) probabilities, or (people, 1) numbers."""
        if callable(getattr(self.model, "predict_proba", None)) and self.classifies:
            return _two(np.asarray(self.model.predict_proba(data), np.float64))
        if callable(getattr(self.model, "votes", None)):
            return np.asarray(self.model.votes(data))
        said = np.asarray(self.model.predict(data))
        if not self.classifies:
            return np.asarray(said, np.float64).reshape(said.shape[0], -1)[:, :1]
        if said.dtype.kind == "f" and (said.ndim == 2 or len(self.classes) == 2):
            return _two(np.asarray(said, np.float64))
        return np.column_stack([said.astype(str) == name for name in self.classes]).astype(float)

    def truth(self, table: Table) -> Floats:
        """Return everybody's target: the place of the class, or the number."""
        column = table.arrow([self.target])[self.target]
        if not self.classifies:
            return np.asarray(to_numbers(column), np.float64)
        found = coded(column)
        place = {name: i for i, name in enumerate(self.classes)}
        codes = np.array([place.get(_name(v), -1) for v in found.values()] + [-1], np.int64)
        return codes[found.codes].astype(np.float64)

    def losses(self, data: Any, truth: Floats) -> Floats:
        """Return the loss of every person: minus log likelihood, or the absolute error."""
        return losses_of(self.answers(data), truth, self.classifies)


def losses_of(answers: Floats, truth: Floats, classifies: bool) -> Floats:
    """Return minus the log of the probability of the truth, or the absolute error."""
    if not classifies:
        return np.nan_to_num(np.abs(answers[:, 0] - truth), nan=np.inf)
    place: Ints = truth.astype(np.int64)
    chance = np.where(place >= 0, answers[np.arange(place.size), np.maximum(place, 0)], 0.0)
    return np.asarray(-np.log(np.clip(chance, SMALLEST, 1.0)))


def _two(answers: Floats) -> Floats:
    """Return both classes where only the chance of the second is said."""
    return answers if answers.ndim == 2 else np.column_stack([1 - answers, answers])


def _name(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _classes(model: Any, table: Table, target: str) -> tuple[str, ...]:
    """Return the names of the classes, none for a model that predicts numbers."""
    named = tuple(_name(one) for one in getattr(model, "classes", None) or ())
    if named and named != tuple(map(str, range(len(named)))):
        return named
    if named:
        # Numbered classes stand for the sorted values, unless the target holds the numbers.
        values = tuple(_name(v) for v in coded(table.arrow([target])[target]).values())
        return values if len(values) == len(named) and not {*named} & {*values} else named
    goal = str(getattr(model, "objective", ""))
    logistic = type(model).__name__ == "LogisticModel"
    if getattr(model, "task", "") == "classification" or logistic or \
            goal.startswith(("binary", "multi", "cross_entropy")):
        return tuple(_name(v) for v in coded(table.arrow([target])[target]).values())
    if not is_number(table.arrow([target])[target].type):
        raise DataError(f"The model predicts numbers, and the target '{target}' holds texts. Name "
                        "the column that it predicts with --target.")
    return ()


def inputs_of(published: Published, table: Table, rows: Ints) -> dict[str, Any]:
    """Return the columns that a model takes, of some people, as it takes them."""
    some = table.take(rows, published.model.features)
    return {name: some[name] for name in published.model.features}
