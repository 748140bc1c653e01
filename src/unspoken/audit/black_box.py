"""A classifier as a black box over a table: it can be asked, and nothing else is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, SchemaError, explain
from unspoken.table.arrow_arrays import to_numbers
from unspoken.table.table import Table

NUMBERS = ("numeric", "ordinal")


@dataclass(frozen=True)
class BlackBox:
    """The model, the table that it is asked about, and the columns that it takes, in order."""

    table: Table
    model: Any
    inputs: tuple[str, ...]
    labels: bool

    @classmethod
    def of(cls, table: Table, model: Any, inputs: Sequence[str] | None, answers: str) -> BlackBox:
        """Find the inputs of a model and check that the table has them."""
        if not callable(getattr(model, "predict", None)):
            raise InputError(explain("The classifier", "a Tree, or something with 'predict'",
                                     type(model).__name__))
        named = inputs if inputs is not None else getattr(
            model, "features", getattr(model, "feature_names_in_", None))
        if named is None:
            raise InputError("The classifier was fitted without column names. Pass them as "
                             "inputs=[...].")
        names = tuple(str(name) for name in named)
        for name in names:
            _ = table.schema[name]
        scores = answers == "scores" and callable(getattr(model, "predict_proba", None)) \
            and getattr(model, "task", "classification") == "classification"
        return cls(table, model, names, not scores)

    @property
    def classes(self) -> list[Any]:
        """Return the labels that it answers with, as plain values."""
        known = getattr(self.model, "classes", getattr(self.model, "classes_", None))
        if known is None:
            raise InputError("The classifier does not name its classes. Wrap it so that it has "
                             "'classes_'.")
        return [value.item() if isinstance(value, np.generic) else value for value in known]

    def answers(self, rows: Ints) -> Floats:
        """Return what it says about people, all inputs known: one column a class."""
        return self._said({name: rows for name in self.inputs})

    def asked(self, rows: Ints, public: Sequence[str], draws: int,
              rng: np.random.Generator) -> Floats:
        """Return what it says on average when unknown inputs are taken from others at random.

        All unknown inputs of one query come from one other person: who fills them in knows how
        they go together, but not how they go with the public ones.
        """
        total = np.zeros((rows.size, len(self.classes)))
        for _ in range(draws):
            others = rng.choice(rows, rows.size)
            total += self._said({n: rows if n in public else others for n in self.inputs})
        return total / draws

    def _said(self, rows_of: dict[str, Ints]) -> Floats:
        data = self._data(rows_of)
        if not self.labels:
            return np.asarray(self.model.predict_proba(data), np.float64)
        answers = np.asarray(self.model.predict(data))
        return np.column_stack([answers == label for label in self.classes]).astype(np.float64)

    def _data(self, rows_of: dict[str, Ints]) -> Any:
        """Return an array of numbers, or a frame where a column is none."""
        whole = self.table.arrow(list(self.inputs))
        kinds = {self.table.schema[name].kind for name in self.inputs}
        numeric = kinds <= set(NUMBERS)
        if numeric and not hasattr(self.model, "feature_names_in_"):
            return np.column_stack([to_numbers(whole[n])[rows] for n, rows in rows_of.items()])
        import pandas as pd

        return pd.DataFrame({n: (to_numbers(whole[n])[rows] if numeric
                                 else whole[n].take(rows).to_pandas().to_numpy())
                             for n, rows in rows_of.items()})

    def predicts(self, values: Sequence[Any]) -> bool:
        """Return True if its classes are values of the sensitive attribute."""
        return set(self.classes) <= set(values)

    def guesses(self, answers: Floats, values: Sequence[Any]) -> Floats:
        """Return answers as shares of the sensitive values."""
        place = {value: index for index, value in enumerate(values)}
        out = np.zeros((answers.shape[0], len(values)))
        out[:, [place[label] for label in self.classes]] = answers
        return out


def codes_of(table: Table, name: str) -> tuple[list[Any], Ints]:
    """Return the distinct values of a column and everybody's code, -1 where it is missing."""
    column = table.arrow([name])[name].combine_chunks()
    coded = pc.dictionary_encode(column)
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    values = coded.dictionary.to_pylist()
    strange = [i for i, value in enumerate(values) if value is None or value != value]
    return values, np.where(np.isin(codes, strange), -1, codes)


def features_of(table: Table, rows: Ints, names: Sequence[str]) -> Floats:
    """Return columns as numbers a tree can split: categories one by one, few, else by code."""
    if not names:
        return np.zeros((rows.size, 0))
    parts = []
    for name in names:
        if table.schema[name].kind in NUMBERS:
            parts.append(np.asarray(to_numbers(table.take(rows, [name])[name]), np.float64))
            continue
        if table.schema[name].kind == "basket":
            raise SchemaError(f"Public column '{name}' holds baskets. Use a column of numbers or "
                              "categories.")
        values, codes = codes_of(table, name)
        few = len(values) <= 20
        parts += [(codes[rows] == i).astype(np.float64) for i in range(len(values))] if few \
            else [codes[rows].astype(np.float64)]
    return np.column_stack(parts)
