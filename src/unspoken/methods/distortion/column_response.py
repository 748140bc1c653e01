"""The public law of a randomised answer: its values, its matrix, and what it promises."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unspoken.arrays import Floats
from unspoken.errors import UnseenValueError
from unspoken.methods.distortion.declared_ranges import (
    epsilon_facts,
    epsilon_words,
    report_conditions,
)
from unspoken.methods.distortion.response_matrices import amplification
from unspoken.numerics.random import shares, words
from unspoken.release.distorted import Distorted

LEAST_PROBABILITY = 2.0**-40


@dataclass(frozen=True)
class ColumnResponse:
    """The public law of one column: its values in order, and the matrix of answers."""

    values: tuple[Any, ...]
    matrix: Floats
    declared: bool = False
    other: Any = None

    @property
    def gamma(self) -> float:
        """Return the amplification, infinite where the values were not declared.

        What is rarer than random numbers are fine counts as impossible.
        """
        rare = self.matrix[self.matrix > 0].min() < LEAST_PROBABILITY
        return math.inf if rare or not self.declared else amplification(self.matrix)

    def answer(self, where: Any, seed: bytes, start: int = 0) -> Any:
        """Return for every position of a true value the position of the answer."""
        share = shares(words(seed, start, where.size))
        steps = np.cumsum(self.matrix, axis=1)
        out = np.zeros(where.size, np.int64)
        for column in range(len(self.values) - 1):
            out += share > steps[where, column]
        return out

    def to_json(self) -> dict[str, Any]:
        """Return what the miner must know."""
        return {"values": list(self.values), "matrix": self.matrix.tolist(),
                "declared": self.declared}


def places_of(name: str, column: Any, known: Any, law: ColumnResponse) -> tuple[Any, Any, int]:
    """Return the place of every value, where there is none, and how many were not declared."""
    null = np.asarray(pc.is_null(column, nan_is_null=pa.types.is_floating(column.type)))
    places = pc.index_in(column, known)
    strange = np.flatnonzero(np.asarray(places.is_null()) & ~null)
    if strange.size and law.other is None:
        raise UnseenValueError(f"Column '{name}' holds {str(column[int(strange[0])])[:200]!r}, "
                               f"which was not declared. Declared: {known.to_pylist()[:10]}. "
                               "Add it to 'values', or name one of them as 'other'.")
    spare = 0 if law.other is None else law.values.index(law.other)
    filled = places.fill_null(spare).to_numpy(zero_copy_only=False).astype(np.intp)
    return filled, null, int(strange.size)


def promise(laws: Mapping[str, ColumnResponse], reports: int = 1) -> Distorted:
    """Return the guarantee of one release: the amplification of every column."""
    columns = {}
    for name, law in laws.items():
        bounded = math.isfinite(law.gamma)
        columns[name] = {"gamma": law.gamma if bounded else None, "declared": law.declared,
                         "epsilon": math.log(law.gamma) if bounded else None}
    facts = epsilon_facts(columns, reports)
    return Distorted("Every answer was drawn by a published matrix. The odds of any property of a "
                     "person change at most gamma-fold by one answer, where a gamma is stated. "
                     + epsilon_words(facts),
                     (*report_conditions(facts), "over several columns gammas multiply",
                      "a gamma of null means that some answer rules a value out, or that the "
                      "values were not declared"), facts)
